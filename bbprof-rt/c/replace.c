/* replace.c: a file takes its place when it is whole: it is made beside it, under a temporary name, and renamed.
 *
 * Renaming asks for rights to the folder only. So the right to the file that is there is asked for before: what the process could
 * not overwrite is not replaced, nor is a device, a pipe or a socket, also behind a link. */
#include "process.h"

#include "text.h"

#include <errno.h>

#define TEMPORARY_NAMES_TRIED 16u /* a guess: processes in containers have the same numbers */

static int may_replace(const char *path) {
    struct file_identity there;
    int why = platform_identify_target(path, &there);
    if (why == -ENOENT)
        return 0; /* nothing is there, or making the temporary file tells what is wrong */
    if (why != 0)
        return why;
    if (!there.regular)
        return -EEXIST;
    int file = platform_open(path, OPEN_ASK);
    if (file < 0)
        return file;
    platform_close(file);
    return 0;
}

bool file_is_at(int file, const char *path) {
    struct file_identity here, there;
    return platform_identify(file, &here) == 0 && platform_identify_path(path, &there) == 0 && here.device == there.device &&
           here.inode == there.inode;
}

/* Others of the pool remove files of this kind that nobody holds, but not this one any more, if it
 * is still there. Where there are no locks, they remove none. */
static bool is_held(int file, const char *temporary) {
    return platform_lock(file) != -EWOULDBLOCK && file_is_at(file, temporary);
}

int replace_begin(struct process *process, const char *path, char *temporary, size_t size) {
    int why = may_replace(path);
    for (unsigned number = 0; why == 0 && number < TEMPORARY_NAMES_TRIED; number++) {
        struct text text = text_in(temporary, size);
        text_add(&text, path);
        text_add(&text, TEMPORARY_SUFFIX);
        text_add_number(&text, (uint64_t)process->pid);
        if (number > 0) {
            text_add(&text, "-");
            text_add_number(&text, number);
        }
        if (text.cut)
            return -ENAMETOOLONG;
        int file = platform_open(temporary, OPEN_CREATE);
        if (file >= 0 && process->pool_at != 0 && !is_held(file, temporary))
            platform_close(file);
        else if (file != -EEXIST)
            return file;
    }
    return why != 0 ? why : -EEXIST;
}

int replace_finish(const char *temporary, const char *path) {
    int why = may_replace(path);
    if (why == 0)
        why = platform_rename(temporary, path);
    if (why != 0)
        platform_remove(temporary);
    return why;
}
