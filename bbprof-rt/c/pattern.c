/* pattern.c: expands BBPROF_OUT. */
#include "process.h"

#include "text.h"

static void add_file_name_part(struct text *text, const char *part) {
    for (; *part != '\0'; part++)
        text_add_bytes(text, *part == '/' ? "_" : part, 1);
}

void pattern_expand(const struct process *process, char *path, size_t size) {
    char host[65];
    bool has_pid = false;
    struct text text = text_in(path, size);
    for (const char *next = process->pattern; *next != '\0'; next++) {
        if (*next != '%' || next[1] == '\0') {
            text_add_bytes(&text, next, 1);
            continue;
        }
        switch (*++next) {
        case 'p':
            text_add_number(&text, (uint64_t)process->pid);
            has_pid = true;
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
    if (process->is_fork_child && !has_pid)
        path_insert_number(path, size, path, (uint64_t)process->pid);
}

/* Puts `.<number>` before the extension. `path` may be `from`. */
void path_insert_number(char *path, size_t size, const char *from, uint64_t number) {
    char middle[24];
    struct text inserted = text_in(middle, sizeof middle);
    text_add(&inserted, ".");
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
