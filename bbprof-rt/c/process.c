/* process.c: sets up what the runtime knows of the process, from its environment. */
#include "process.h"

#include "text.h"

#define ARENA_BYTES 65536u
#define STDERR 2
#define DEFAULT_PATTERN "bbprof-%e-%p.bbraw"

struct arena_chunk {
    struct arena_chunk *before;
    uint64_t num_bytes;
};

static const char *setting(char **environment, const char *name) {
    size_t length = text_length(name);
    for (; environment != NULL && *environment != NULL; environment++)
        if (text_starts_with(*environment, name) && (*environment)[length] == '=')
            return *environment + length + 1;
    return NULL;
}

void *process_allocate(struct process *process, size_t num_bytes) {
    num_bytes = (num_bytes + 15) & ~(size_t)15;
    struct arena *arena = &process->arena;
    if (num_bytes > (size_t)(arena->end - arena->next)) {
        size_t all_bytes = sizeof(struct arena_chunk) + num_bytes;
        if (all_bytes < ARENA_BYTES)
            all_bytes = ARENA_BYTES;
        struct arena_chunk *chunk = platform_map_private(all_bytes);
        if (chunk == NULL)
            return NULL;
        *chunk = (struct arena_chunk){arena->last, all_bytes};
        *arena = (struct arena){(char *)(chunk + 1), (char *)chunk + all_bytes, chunk};
    }
    void *memory = arena->next;
    arena->next += num_bytes;
    return memory;
}

struct arena process_borrow_memory(struct process *process) {
    struct arena kept = process->arena;
    process->arena = (struct arena){NULL, NULL, NULL};
    return kept;
}

void process_return_memory(struct process *process, const struct arena *kept) {
    for (struct arena_chunk *chunk = process->arena.last, *before; chunk != NULL; chunk = before) {
        before = chunk->before;
        platform_unmap(chunk, chunk->num_bytes);
    }
    process->arena = *kept;
}

void process_complain(struct process *process, const char *what, const char *path, const char *why, const char *consequence) {
    char line[1024];
    struct file_identity now;
    if (process->has_complained)
        return;
    process->has_complained = true;
    /* The program may have closed it, and opened a file of its own under its number. */
    if (platform_identify(STDERR, &now) != 0 || now.device != process->stderr_at_start.device ||
        now.inode != process->stderr_at_start.inode)
        return;
    struct text text = text_in(line, sizeof line - 1);
    text_add(&text, "bbprof: ");
    text_add(&text, what);
    if (path[0] != '\0') {
        text_add(&text, text_length(path) > 700 ? "(a very long path)" : path);
        text_add(&text, ": ");
    }
    text_add(&text, why);
    text_add(&text, "; ");
    text_add(&text, consequence);
    line[text.length] = '\n';
    platform_write_line(STDERR, line, text.length + 1);
}

static void read_pattern(struct process *process, const char *pattern) {
    struct text text = text_in(process->pattern, sizeof process->pattern);
    if (pattern == NULL || pattern[0] == '\0')
        pattern = DEFAULT_PATTERN;
    /* The program may change its directory before it forks. */
    if (pattern[0] != '/') {
        text.length = platform_working_directory(text.start, text.size);
        if (text.length > 0 && text.start[text.length - 1] != '/')
            text_add(&text, "/");
    }
    /* A percent sign in the directory is no pattern. */
    size_t directory = text.length;
    for (size_t i = 0; i < directory; i++) {
        if (text.start[i] == '%' && text.length + 1 < text.size) {
            for (size_t j = ++text.length; j > i; j--)
                text.start[j] = text.start[j - 1];
            directory++;
            i++;
        }
    }
    text_add(&text, pattern);
    if (text.cut) {
        process_complain(process, "cannot write ", pattern, platform_error_text(-36 /* ENAMETOOLONG */), "nothing is recorded");
        process->wants_file = false;
    }
}

bool process_is_caller(const struct process *process) {
    if (process->pid != platform_process_id())
        return false;
    uint64_t namespace = process->pid_namespace == 0 ? 0 : platform_pid_namespace();
    return namespace == 0 || namespace == process->pid_namespace;
}

struct process *process_create(char **environment, const struct bbprof_image *record) {
    const char *off = setting(environment, "BBPROF_OFF");
    if (off != NULL && off[0] != '\0' && !text_equals(off, "0"))
        return NULL;
    struct process *process = platform_map_private(sizeof *process);
    if (process == NULL)
        return NULL;
    process->abi = PROCESS_ABI;
    platform_identify(STDERR, &process->stderr_at_start);
    process->pid = platform_process_id();
    process->pid_namespace = platform_pid_namespace();
    process->parent_pid = platform_parent_id();
    process->start_ticks = platform_start_ticks();
    platform_first_stack_end();
    process->begun_ns = platform_wall_clock_ns();
    process->raw.file = -1;
    process->is_privileged = platform_runs_with_raised_privileges();
    process->wants_file = !process->is_privileged;
    if (process->is_privileged) {
        /* The environment is not its own: no path is taken from it. */
        environment = NULL;
        process_complain(process, "", "", "the program runs with raised privileges (set-user-id, set-group-id or file capabilities)",
                         "no profile is written where who started it might not: run a copy without them, or start it as its owner");
    }
    bytes_copy(process->leader_build_id, record->build_id, sizeof process->leader_build_id);
    platform_executable(process->executable, sizeof process->executable);
    for (const char *preloaded = setting(environment, "LD_PRELOAD"); preloaded != NULL && *preloaded != '\0'; preloaded++)
        process->is_watched = process->is_watched || text_starts_with(preloaded, "vgpreload_");
    const char *test = setting(environment, "NEXTEST_TEST_NAME");
    struct text text = text_in(process->test_name, sizeof process->test_name);
    text_add(&text, test != NULL && test[0] != '\0' ? test : "test");
    read_pattern(process, setting(environment, "BBPROF_OUT"));
    schedule_read(process, setting(environment, "BBPROF_DUMP"));
    return process;
}
