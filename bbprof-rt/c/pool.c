/* pool.c: one profile for many processes: `%m` in BBPROF_OUT.
 *
 * While a process runs, it counts in a file of its own, `NAME_r<pid>-<begin>`. When it has ended, in a way that leaves no
 * doubt about its counts, they are added to the pool, `NAME`: by itself, or else by the next process that comes to it. Those
 * of which more is to be said (no end was seen, threads ran on, and so on) are added to a pool of their own, `NAME_inexact`,
 * together with what is to be said, so that the other is exact.
 *
 * Who holds the lock writes the sum to a file beside the pool, renames it over the pool, and removes
 * the file that was added. The pool's header tells whose that was: so where a kill came between the
 * two, the file is removed by the next, and left out by readers. */
#include "pool.h"

#include "text.h"

#include <errno.h>

#define LOCK_SUFFIX ".lock"
#define SUM_SUFFIX ".new"
#define INEXACT_SUFFIX "_inexact"
#define FIRST_PAUSE_NS 200000u
#define LONGEST_PAUSE_NS 20000000u
#define PATIENCE_NS UINT64_C(10000000000) /* a guess: a stopped process may hold the lock */
#define BEGIN_DIGITS 16u
/* If more are left than this, who begins waits for its turn to add them all: so they do not become more and
 * more where processes end faster than they are added. A guess. */
#define MOST_LEFT 100u

static const char *with_suffix(const char *pool_path, char *path, const char *suffix) {
    struct text text = text_in(path, PATH_BYTES);
    text_add(&text, pool_path);
    text_add(&text, suffix);
    return path;
}

/* The file of a process that runs: what stands behind the pool's name. */
static void add_running(struct text *text, uint32_t pid, uint64_t begun_ns) {
    text_add(text, "_r");
    text_add_number(text, pid);
    text_add(text, "-");
    for (unsigned shift = 64; shift > 0; shift -= 8)
        text_add_hex(text, &(uint8_t){(uint8_t)(begun_ns >> (shift - 8))}, 1);
}

void pool_running_path(const struct process *process, uint32_t pid, uint64_t begun_ns, char *path, size_t size) {
    struct text text = text_in(path, size);
    text_add_bytes(&text, process->pool_path, process->pool_at);
    add_running(&text, pid, begun_ns);
    text_add(&text, process->pool_path + process->pool_at);
}

/* The lock's file; below zero: who has it does not give it back, or it cannot be had. */
static int lock(struct process *process, bool patient) {
    const char *path = with_suffix(process->pool_path, process->path_scratch[0], LOCK_SUFFIX);
    uint64_t pause = FIRST_PAUSE_NS, waited = 0;
    for (;;) {
        int file = platform_open(path, OPEN_LOCK);
        if (file < 0)
            return file;
        int why;
        while ((why = platform_lock(file)) == -EWOULDBLOCK && patient && waited < PATIENCE_NS) {
            platform_sleep(pause);
            waited += pause;
            pause = pause * 3 / 2 < LONGEST_PAUSE_NS ? pause * 3 / 2 : LONGEST_PAUSE_NS;
        }
        if (why == 0 && file_is_at(file, path))
            return file;
        platform_close(file);
        if (why != 0 || waited >= PATIENCE_NS)
            return why != 0 ? why : -EWOULDBLOCK;
        waited += FIRST_PAUSE_NS; /* somebody has removed it */
    }
}

/* Children that other threads have made meanwhile have the file open, too: closing it is not enough. */
static void unlock(int file) {
    platform_unlock(file);
    platform_close(file);
}

static const char *inexact_path(struct process *process) {
    struct text text = text_in(process->inexact_path, PATH_BYTES);
    text_add_bytes(&text, process->pool_path, process->pool_at);
    text_add(&text, INEXACT_SUFFIX);
    text_add(&text, process->pool_path + process->pool_at);
    return process->inexact_path;
}

/* Are these the counts of one process, to the end that it came to? */
static bool is_of_one_process(const struct raw_contents *contents) {
    uint32_t kind = (uint32_t)contents->header.fate & 0xff;
    return !contents->complete && kind != FATE_SNAPSHOT && kind != FATE_POOL && kind <= FATE_SIGNAL;
}

/* What was added and stays would be added again, once the pool tells of another that it was the last. */
static int remove_for_good(const char *path) {
    struct file_identity there;
    platform_remove(path);
    return platform_identify_path(path, &there) == -ENOENT ? 0 : -EPERM;
}

/* The lock is held; nobody counts in the file any more. */
static int add(struct process *process, const char *path, int file) {
    struct raw_contents added, pool;
    raw_contents_none(process, &pool);
    int why = raw_contents_read(process, file, &added);
    if (why == 0 && !is_of_one_process(&added))
        why = -EAGAIN;
    if (why != 0)
        return why;
    const char *pool_path = ending_is_exact(added.endings) ? process->pool_path : inexact_path(process);
    int pool_file = platform_open(pool_path, OPEN_UPDATE);
    bool is_first = pool_file == -ENOENT;
    if (pool_file < 0 && !is_first)
        return pool_file;
    if (!is_first) {
        why = raw_contents_read(process, pool_file, &pool);
        if (why == 0 && (!pool.complete || (uint32_t)pool.header.fate != FATE_POOL))
            why = -EBADMSG;
    }
    char *last = process->pool_scratch, *sum_path = process->path_scratch[0];
    with_suffix(pool_path, sum_path, SUM_SUFFIX);
    if (why == 0 && !is_first) {
        pool_running_path(process, pool.header.pid, pool.header.begun_ns, last, PATH_BYTES);
        why = remove_for_good(last);
        if (text_equals(last, path)) {
            platform_close(pool_file);
            return 0;
        }
    }
    if (why != 0)
        process_complain(process, "cannot add to ", pool_path, platform_error_text(why), "each process keeps its own file");
    if (why == 0) {
        platform_remove(sum_path);
        int sum_file = platform_open(sum_path, OPEN_CREATE);
        why = sum_file < 0 ? sum_file : pool_sum_write(process, &pool, &added, sum_file);
        if (sum_file >= 0)
            platform_close(sum_file);
        if (why == 0)
            why = is_first ? platform_rename_new(sum_path, pool_path) : platform_rename(sum_path, pool_path);
        if (why == 0)
            platform_remove(path);
        else if (sum_file >= 0)
            platform_remove(sum_path);
    }
    if (pool_file >= 0)
        platform_close(pool_file);
    return why;
}

/* As `add`; gives the memory back that it took. */
static int add_and_forget(struct process *process, const char *path, int file) {
    struct arena kept = process_borrow_memory(process);
    int why = add(process, path, file);
    process_return_memory(process, &kept);
    return why;
}

/* A sweep through the folder. */
struct sweep {
    struct process *process;
    uint64_t left; /* files that may still be added, or that were counted */
};

/* `.tmp`, the process, and a number where it was not the first name tried. */
static bool is_temporary_suffix(const char *suffix) {
    uint64_t number;
    if (!text_starts_with(suffix, TEMPORARY_SUFFIX))
        return false;
    const char *digits = suffix + text_length(TEMPORARY_SUFFIX), *next = text_number(digits, 10, &number);
    if (next != digits && *next == '-')
        next = text_number(digits = next + 1, 10, &number);
    return next != digits && *next == '\0';
}

/* What stands behind the name of a running process's file; NULL = it is no such name. */
static const char *read_name(const struct process *process, const char *name, uint64_t *pid, uint64_t *begun_ns) {
    const char *base = text_base_name(process->pool_path);
    size_t stem = process->pool_at - (size_t)(base - process->pool_path);
    for (size_t i = 0; i < stem; i++)
        if (name[i] != base[i])
            return NULL;
    if (name[stem] != '_' || name[stem + 1] != 'r')
        return NULL;
    const char *next = text_number(name + stem + 2, 10, pid);
    if (*next != '-')
        return NULL;
    const char *begin = next + 1;
    next = text_number(begin, 16, begun_ns);
    return next - begin == BEGIN_DIGITS && text_starts_with(next, base + stem) ? next + text_length(base + stem) : NULL;
}

/* The same process executes another program now: nothing more comes from what it was before. */
static bool is_before_exec(const struct process *process, const struct raw_header *header) {
    return header->pid == (uint32_t)process->pid && header->start_ticks == process->start_ticks && header->start_ticks != 0 &&
           ((uint32_t)header->fate & 0xff) == FATE_EXEC;
}

static bool is_gone(const struct process *process, uint64_t pid, uint64_t begun_ns) {
    return pid == (uint32_t)process->pid ? begun_ns != process->begun_ns : platform_process_is_gone((int32_t)pid);
}

/* Is this the file of a process that is gone, or of what this one was before? */
static bool is_left(const struct process *process, const char *name, uint64_t *pid, uint64_t *begun_ns) {
    const char *behind = read_name(process, name, pid, begun_ns);
    return behind != NULL && *behind == '\0' && is_gone(process, *pid, *begun_ns);
}

/* Removes what a process has left that was killed while it began. Who still begins, in another namespace, holds the lock. */
static void remove_unpublished(struct process *process, const char *name) {
    uint64_t pid, begun_ns;
    const char *behind = read_name(process, name, &pid, &begun_ns);
    if (behind == NULL || !is_temporary_suffix(behind) || !is_gone(process, pid, begun_ns))
        return;
    char *path = process->sweep_path;
    size_t folder = (size_t)(text_base_name(process->pool_path) - process->pool_path);
    struct text text = text_in(path, PATH_BYTES);
    text_add_bytes(&text, process->pool_path, folder);
    text_add(&text, name);
    int file = text.cut ? -ENAMETOOLONG : platform_open(path, OPEN_UPDATE);
    if (file < 0)
        return;
    if (platform_lock(file) == 0 && file_is_at(file, path))
        platform_remove(path);
    platform_close(file);
}

static void count_one(void *context, const char *name) {
    struct sweep *sweep = context;
    uint64_t pid, begun_ns;
    sweep->left += is_left(sweep->process, name, &pid, &begun_ns);
}

static void sweep_one(void *context, const char *name) {
    struct sweep *sweep = context;
    struct process *process = sweep->process;
    uint64_t pid, begun_ns;
    struct raw_header header;
    remove_unpublished(process, name);
    if (sweep->left == 0 || !is_left(process, name, &pid, &begun_ns))
        return;
    pool_running_path(process, (uint32_t)pid, begun_ns, process->sweep_path, PATH_BYTES);
    int file = platform_open(process->sweep_path, OPEN_UPDATE);
    if (file < 0)
        return;
    bool is_from_here = platform_read_at(file, 0, &header, sizeof header) == 0 && header.pid == pid && header.begun_ns == begun_ns &&
                        header.namespace == process->namespace;
    if (is_from_here && (pid != (uint32_t)process->pid || is_before_exec(process, &header)) &&
        add_and_forget(process, process->sweep_path, file) == 0)
        sweep->left--;
    platform_close(file);
}

/* Hands on what is in the pool's folder. */
static void each_in_folder(struct process *process, void (*each)(void *context, const char *name), struct sweep *state) {
    char *folder = process->path_scratch[1];
    if (process->namespace == 0)
        return;
    size_t length = (size_t)(text_base_name(process->pool_path) - process->pool_path);
    bytes_copy(folder, process->pool_path, length);
    folder[length] = '\0';
    platform_list(length == 0 ? "." : folder, each, state);
}

/* Adds the profiles of processes that have not done so themselves. */
static void sweep(struct process *process, uint64_t most) {
    struct sweep state = {process, most};
    each_in_folder(process, sweep_one, &state);
}

static uint64_t count_left(struct process *process) {
    struct sweep state = {process, 0};
    each_in_folder(process, count_one, &state);
    return state.left;
}

static void help(struct process *process, bool patient, uint64_t most) {
    int file = lock(process, patient);
    if (file < 0)
        return;
    sweep(process, most);
    unlock(file);
}

/* Whose threads run on does not wait for the lock: who has it is at just this. */
void pool_help(struct process *process) {
    if (process->pool_at != 0 && process->raw.in_use)
        help(process, false, UINT64_MAX);
}

/* Who begins has no threads yet that could run on meanwhile. */
void pool_tidy(struct process *process) {
    if (process->pool_at == 0 || !process->raw.in_use)
        return;
    uint64_t left = count_left(process);
    if (left != 0)
        help(process, left > MOST_LEFT, left > MOST_LEFT ? UINT64_MAX : 2);
}

bool pool_take(struct process *process) {
    if (process->pool_at == 0 || !process->raw.in_use)
        return false;
    int locked = lock(process, true);
    if (locked < 0)
        return false;
    int own = platform_open(process->raw.path, OPEN_UPDATE);
    bool added = own >= 0 && add_and_forget(process, process->raw.path, own) == 0;
    if (own >= 0)
        platform_close(own);
    if (added)
        process->raw.in_use = false;
    sweep(process, UINT64_MAX);
    unlock(locked);
    return added;
}
