/* pattern.c: expands BBPROF_OUT. */
#include "process.h"

#include "text.h"

#include <errno.h>

#define POOL_ID_BYTES 8u

static void add_file_name_part(struct text *text, const char *part) {
    for (; *part != '\0'; part++)
        text_add_bytes(text, *part == '/' ? "_" : part, 1);
}

/* `%m`, or as LLVM writes it with a number of files, `%4m`. */
static const char *end_of_pool(const char *next) {
    while (*next >= '0' && *next <= '9')
        next++;
    return *next == 'm' ? next : NULL;
}

/* The path; where `%m` ends in it, or 0. */
static size_t expand(struct process *process, char *path, size_t size) {
    char host[65];
    size_t pool_at = 0;
    process->path_has_pid = false;
    struct text text = text_in(path, size);
    for (const char *next = process->pattern; *next != '\0'; next++) {
        if (*next != '%' || next[1] == '\0') {
            text_add_bytes(&text, next, 1);
            continue;
        }
        const char *pool = end_of_pool(++next);
        if (pool != NULL && pool_at == 0) {
            next = pool;
            text_add_hex(&text, process->leader_build_id, POOL_ID_BYTES);
            pool_at = text.length;
            continue;
        }
        switch (*next) {
        case 'p':
            text_add_number(&text, (uint64_t)process->pid);
            process->path_has_pid = true;
            break;
        case 'e':
            add_file_name_part(&text, process->executable[0] != '\0' ? text_base_name(process->executable) : "program");
            break;
        case 'h':
            platform_host(host, sizeof host);
            add_file_name_part(&text, host);
            break;
        case 't': text_add_number(&text, process->begun_ns / 1000000000u); break;
        case 'T': add_file_name_part(&text, process->test_name); break;
        case 'b': text_add_hex(&text, process->leader_build_id, sizeof process->leader_build_id); break;
        case '%': text_add(&text, "%"); break;
        default: text_add_bytes(&text, next - 1, 2); break;
        }
    }
    if (process->is_fork_child && !process->path_has_pid && pool_at == 0) {
        path_insert_number(path, size, path, "", (uint64_t)process->pid);
        process->path_has_pid = true;
    }
    return pool_at;
}

int path_of_process(struct process *process, char *path, size_t size) {
    process->pool_at = expand(process, path, size);
    if (process->pool_at == 0)
        return 0;
    if (process->pool_at < (size_t)(text_base_name(path) - path))
        return -EDOM;
    bytes_copy(process->pool_path, path, text_length(path) + 1);
    pool_running_path(process, (uint32_t)process->pid, process->begun_ns, path, size);
    return 0;
}

/* The file's path with a number, and with the process id: a number alone may be that of a child. */
void path_of_dump(struct process *process, char *path, size_t size, uint64_t number) {
    if (process->raw.in_use)
        bytes_copy(path, process->raw.path, text_length(process->raw.path) + 1);
    else
        path_of_process(process, path, size);
    if (!process->path_has_pid && process->pool_at == 0)
        path_insert_number(path, size, path, "", (uint64_t)process->pid);
    path_insert_number(path, size, path, "", number);
}

/* Puts `.<what><number>` before the extension. `path` may be `from`. */
void path_insert_number(char *path, size_t size, const char *from, const char *what, uint64_t number) {
    char middle[32];
    struct text inserted = text_in(middle, sizeof middle);
    text_add(&inserted, ".");
    text_add(&inserted, what);
    text_add_number(&inserted, number);
    size_t length = text_length(from), dot = length;
    size_t base = (size_t)(text_base_name(from) - from);
    for (size_t i = base + 1; i < length; i++)
        if (from[i] == '.')
            dot = i;
    if (length + inserted.length >= size) {
        /* Too long for any system: fails in words when it is opened. */
        bytes_copy(path, from, path == from ? 0 : length + 1);
        return;
    }
    for (size_t i = length + 1; i-- > dot;)
        path[i + inserted.length] = from[i];
    if (path != from)
        bytes_copy(path, from, dot);
    bytes_copy(path + dot, middle, inserted.length);
}
