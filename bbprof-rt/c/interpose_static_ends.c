/* interpose_static_ends.c: _exit and its like of a statically linked program, by the
 * linker's --wrap; libc's own calls are seen, too. */
#include "endings.h"

WRAPPED(void, _exit, int status) {
    announce_exit(status);
    __real__exit(status);
}

WRAPPED(void, _Exit, int status) {
    announce_exit(status);
    __real__Exit(status);
}

WRAPPED(void, quick_exit, int status) {
    expect(FATE_QUICK_EXIT, status, FRAME);
    __real_quick_exit(status);
}

WRAPPED(int, raise, int number) {
    SEND(!platform_signal_is_blocked(number), number, __real_raise(number));
}

WRAPPED(void, abort, void) {
    announce_abort(__real_raise, FRAME);
    __real_abort();
}

WRAPPED(int, execv, const char *path, char *const words[]) {
    EXEC(path, __real_execv(path, words));
}

WRAPPED(int, execve, const char *path, char *const words[], char *const environment[]) {
    EXEC(path, __real_execve(path, words, environment));
}

WRAPPED(int, execvp, const char *file, char *const words[]) {
    EXEC(file, __real_execvp(file, words));
}

WRAPPED(int, execvpe, const char *file, char *const words[], char *const environment[]) {
    EXEC(file, __real_execvpe(file, words, environment));
}

WRAPPED(int, fexecve, int file, char *const words[], char *const environment[]) {
    EXEC("", __real_fexecve(file, words, environment));
}

BBPROF_HIDDEN int __wrap_execl(const char *path, const char *word, ...);
BBPROF_HIDDEN int __wrap_execl(const char *path, const char *word, ...) {
    va_list rest;
    GATHER(words, rest, word);
    va_end(rest);
    EXEC(path, __real_execv(path, words));
}

BBPROF_HIDDEN int __wrap_execlp(const char *file, const char *word, ...);
BBPROF_HIDDEN int __wrap_execlp(const char *file, const char *word, ...) {
    va_list rest;
    GATHER(words, rest, word);
    va_end(rest);
    EXEC(file, __real_execvp(file, words));
}

BBPROF_HIDDEN int __wrap_execle(const char *path, const char *word, ...);
BBPROF_HIDDEN int __wrap_execle(const char *path, const char *word, ...) {
    va_list rest;
    GATHER(words, rest, word);
    char **environment = va_arg(rest, char **);
    va_end(rest);
    EXEC(path, __real_execve(path, words, environment));
}
