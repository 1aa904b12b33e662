/* interpose_static_execveat.c: execveat of a statically linked program, by the linker's --wrap. Not each libc has it. */
#include "endings.h"

WRAPPED(int, execveat, int folder, const char *path, char *const words[], char *const environment[], int flags) {
    EXEC(path, __real_execveat(folder, path, words, environment, flags));
}
