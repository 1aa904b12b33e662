/* raw_file.c: the running raw profile: made under a temporary name, published whole, then only ever appended to.
 *
 * Space is added before the entry that names it, and an entry's kind is stored last; so the file can be read whenever the process
 * is killed. The file stays closed; to grow it, it is opened again by its path, if that is still the same file. */
#include "process.h"

#include "text.h"

#include <errno.h>

#define NUMBERED_NAMES_TRIED 10000u

uint32_t raw_fate_word(enum raw_fate fate, int status, int live_threads) {
    uint32_t alive = live_threads < 0 ? 0 : live_threads > 0xffff ? 0xffff : (uint32_t)live_threads;
    return (uint32_t)fate | ((uint32_t)status & 0xff) << 8 | alive << 16;
}

static uint32_t interrupted_in_all(const struct process *process) {
    return process->left > UINT32_MAX - process->interrupted ? UINT32_MAX : process->left + process->interrupted;
}

void raw_fill_header(struct raw_header *header, const struct process *process, const char *state, uint64_t length_bytes) {
    bytes_copy(header->magic, RAW_MAGIC, sizeof header->magic);
    header->version = RAW_VERSION;
    bytes_copy(header->state, state, sizeof header->state);
    header->pid = (uint32_t)process->pid;
    header->parent_pid = (uint32_t)process->parent_pid;
    header->start_ticks = process->start_ticks;
    header->begun_ns = process->begun_ns;
    header->length_bytes = length_bytes;
    header->check = raw_checksum(RAW_CHECKSUM_SEED, header, offsetof(struct raw_header, check));
    header->waiting = raw_guarded(0);
    header->fate = raw_guarded(raw_fate_word(FATE_NOT_SEEN, 0, 0));
    header->baseline = raw_guarded(0);
    header->threads = raw_guarded(process->threads);
    header->interrupted = raw_guarded(interrupted_in_all(process));
    header->namespace = process->namespace;
    header->namespace_complement = process->namespace == 0 ? 0 : ~process->namespace;
    header->resets = raw_guarded(process->resets);
    header->at_reset = raw_guarded(process->at_reset);
    header->lost_children = process->raw.in_use ? __atomic_load_n(&process->raw.header->lost_children, __ATOMIC_RELAXED) : raw_guarded(0);
    header->in_memory = raw_guarded(0);
    for (size_t i = 0; i < sizeof header->zeros / sizeof *header->zeros; i++)
        header->zeros[i] = 0;
}

/* Whose counts are in the file of this name? */
enum owner { NOBODY, OURS_BEFORE_EXEC, ANOTHERS };

/* An exec keeps process id and start. Of another process only the same id may have
 * brought it here: it came round, or is of another namespace. */
static enum owner owner_of(const struct process *process, const char *path) {
    struct raw_header header;
    int file = platform_open(path, OPEN_READ);
    if (file < 0)
        return NOBODY;
    bool is_raw = platform_read(file, &header, sizeof header) == (long)sizeof header && bytes_equal(header.magic, RAW_MAGIC, 8);
    platform_close(file);
    if (is_raw && header.pid == (uint32_t)process->pid && header.start_ticks == process->start_ticks)
        return OURS_BEFORE_EXEC;
    return is_raw && process->path_has_pid ? ANOTHERS : NOBODY;
}

static int choose_path(struct process *process) {
    char *wanted = process->path_scratch[0], *path = process->raw.path;
    int why = path_of_process(process, wanted, PATH_BYTES);
    if (process->pool_at != 0)
        process->namespace = platform_namespace();
    bytes_copy(path, wanted, text_length(wanted) + 1);
    for (uint64_t number = 1; why == 0 && number <= NUMBERED_NAMES_TRIED; number++) {
        struct file_identity there;
        /* Where nothing is, or nothing that may be replaced, making the file tells what is wrong. */
        process->raw.is_new = platform_identify_path(path, &there) == -ENOENT;
        enum owner owner = process->raw.is_new || !there.regular ? NOBODY : owner_of(process, path);
        if (owner == NOBODY)
            return 0;
        path_insert_number(path, sizeof process->raw.path, wanted, owner == ANOTHERS ? "again" : "exec", number);
    }
    return why != 0 ? why : -EEXIST;
}

/* The temporary name, while the file is being set up. */
static char *temporary_path(struct process *process) {
    return process->path_scratch[1];
}

static void close_file(struct raw_file *raw) {
    if (raw->file >= 0)
        platform_close(raw->file);
    raw->file = -1;
}

/* Of the file's name, which another has now: no call on files fails so by itself. */
#define IS_ANOTHERS (-EREMCHG)

/* The file, opened again; it must still be the same. */
static int reopen(struct raw_file *raw) {
    struct file_identity now;
    int file = platform_open(raw->path, OPEN_UPDATE);
    if (file < 0)
        return file == -ENOENT ? -EIDRM : file;
    int why = platform_identify(file, &now);
    if (why == 0 && (now.device != raw->device || now.inode != raw->inode))
        why = IS_ANOTHERS;
    if (why != 0)
        platform_close(file);
    return why != 0 ? why : file;
}

bool raw_is_at(const struct process *process, const char *path) {
    const struct raw_file *raw = &process->raw;
    struct file_identity there;
    return raw->in_use && platform_identify_path(path, &there) == 0 && there.device == raw->device && there.inode == raw->inode;
}

/* Adds space at the end. valgrind 3.19 joins neighbouring pages of a file, and stops
 * where the file had another name when the first were mapped. */
static void *grow(struct process *process, uint64_t num_bytes, uint64_t *offset, int *why) {
    struct raw_file *raw = &process->raw;
    int file = raw->file >= 0 ? raw->file : reopen(raw);
    if (file < 0) {
        *why = file;
        return NULL;
    }
    void *view = NULL;
    *why = platform_extend(file, raw->length_bytes, raw->length_bytes + num_bytes);
    if (*why == 0)
        view = (process->is_watched ? platform_map_shared_apart : platform_map_shared)(file, raw->length_bytes, num_bytes, why);
    if (*why == 0) {
        *offset = raw->length_bytes;
        raw->length_bytes += num_bytes;
    }
    if (file != raw->file)
        platform_close(file);
    return view;
}

static int begin(struct process *process) {
    struct raw_file *raw = &process->raw;
    struct file_identity identity;
    uint64_t offset;
    int why = choose_path(process);
    if (why != 0)
        return why;
    raw->length_bytes = 0;
    raw->file = replace_begin(process, raw->path, temporary_path(process), PATH_BYTES);
    if (raw->file < 0)
        return raw->file;
    why = platform_identify(raw->file, &identity);
    if (why != 0)
        return why;
    raw->device = identity.device;
    raw->inode = identity.inode;
    raw->header = grow(process, RAW_PAGE_BYTES, &offset, &why);
    if (why != 0)
        return why;
    raw_fill_header(raw->header, process, RAW_STATE_RUNNING, 0);
    raw->next_entry = (struct raw_entry *)(raw->header + 1);
    raw->entries_left = (RAW_PAGE_BYTES - sizeof(struct raw_header)) / sizeof(struct raw_entry);
    raw->in_use = true;
    entries_of_process(process, raw_log, process);
    return 0;
}

void raw_abandon(struct process *process) {
    if (process->raw.file >= 0)
        platform_remove(temporary_path(process));
    close_file(&process->raw);
    process->raw.in_use = false;
}

void raw_complain_of_taken_name(struct process *process) {
    process_complain(process, "cannot keep ", process->raw.path, platform_error_text(IS_ANOTHERS),
                     "this process's counts are lost if it was replaced; %p in BBPROF_OUT makes names differ");
}

static void complain_of_growth(struct process *process, int why, const char *consequence) {
    if (why == IS_ANOTHERS)
        raw_complain_of_taken_name(process);
    else
        process_complain(process, "cannot extend ", process->raw.path, platform_error_text(why), consequence);
}

static void complain(struct process *process, int why) {
    process_complain(process, "cannot write ", process->raw.path, platform_error_text(why), "the program runs on, its counts are lost");
}

/* Better no file than half of one. */
static void drop_unpublished(struct process *process, int why) {
    complain(process, why);
    raw_abandon(process);
    process->wants_file = false;
}

/* Begins the file, under its temporary name. Without a file counting goes on in memory. */
int raw_begin(struct process *process) {
    process->raw.in_use = false;
    if (!process->wants_file)
        return 0;
    int why = begin(process);
    if (why != 0)
        drop_unpublished(process, why);
    return why;
}

/* Gives it its name. */
int raw_publish(struct process *process) {
    if (process->raw.file < 0)
        return 0;
    int why;
    /* Another process of the same id may have taken the name meanwhile. */
    do {
        why = process->raw.is_new ? platform_rename_new(temporary_path(process), process->raw.path)
                                  : replace_finish(temporary_path(process), process->raw.path);
    } while (why == -EEXIST && process->raw.is_new && choose_path(process) == 0);
    if (why != 0) {
        drop_unpublished(process, why);
        return why;
    }
    close_file(&process->raw);
    pool_tidy(process);
    return 0;
}

uint64_t *raw_reserve_beside_counts(struct process *process, uint64_t num_bytes, uint64_t *offset, int *why) {
    *offset = 0;
    return process->raw.in_use ? grow(process, num_bytes, offset, why) : platform_map_shared(-1, 0, num_bytes, why);
}

uint64_t *raw_reserve(struct process *process, uint64_t num_bytes, uint64_t *offset) {
    int why = 0;
    *offset = 0;
    if (process->raw.in_use) {
        uint64_t *view = grow(process, num_bytes, offset, &why);
        if (view != NULL)
            return view;
        if (process->raw.file >= 0) {
            drop_unpublished(process, why);
        } else {
            complain_of_growth(process, why, "some counts are lost if the program does not end by exit");
            raw_tell_in_memory(process, IN_MEMORY_NO_ROOM);
        }
    }
    return platform_map_shared(-1, 0, num_bytes, &why);
}

int raw_map_over(struct process *process, void *place, void *view, uint64_t offset, uint64_t num_bytes) {
    struct raw_file *raw = &process->raw;
    int why = platform_map_over(place, view, num_bytes);
    if (why == 0 || offset == 0 || !raw->in_use)
        return why;
    /* Not all systems map pages twice by themselves (valgrind does not). */
    int file = raw->file >= 0 ? raw->file : reopen(raw);
    if (file < 0)
        return file;
    why = platform_map_file_over(place, file, offset, num_bytes);
    if (file != raw->file)
        platform_close(file);
    return why;
}

static void store(struct raw_entry *to, const struct raw_entry *entry) {
    for (int i = 0; i < 7; i++)
        to->words[i] = entry->words[i];
    to->check = entry->check;
    uint32_t kind;
    bytes_copy(&kind, entry->kind, 4);
    __atomic_store_n((uint32_t *)(void *)to->kind, kind, __ATOMIC_RELEASE);
}

static void put_last(void *file, struct raw_entry *entry) {
    struct raw_file *raw = file;
    store(raw->next_entry, entry);
    raw->entries_left = 0;
}

/* What does not fit into the log any more is not said, but that there was something: in
 * the place that was for the way to more of it. */
static void close_log(struct process *process, int why) {
    static const char note[] = "No room for more was left in this file.";
    _Static_assert(sizeof note - 1 <= RAW_TEXT_BYTES, "there is one place left");
    if (process->raw.file >= 0) {
        drop_unpublished(process, why);
        return;
    }
    complain_of_growth(process, why, "the profile is not complete");
    entries_of_note(note, put_last, &process->raw);
}

/* Appends a sealed entry. The last place of each page is for the way to the next. */
bool raw_append(struct process *process, struct raw_entry *entry) {
    struct raw_file *raw = &process->raw;
    if (!raw->in_use || raw->entries_left == 0)
        return false;
    if (raw->entries_left == 1) {
        struct raw_entry more;
        uint64_t offset;
        int why;
        void *page = grow(process, RAW_PAGE_BYTES, &offset, &why);
        if (page == NULL) {
            close_log(process, why);
            return false;
        }
        for (int i = 0; i < 7; i++)
            more.words[i] = 0;
        more.more.offset = offset;
        more.more.entries = RAW_PAGE_BYTES / sizeof more;
        entry_seal(&more, "MORE");
        store(raw->next_entry, &more);
        raw->next_entry = page;
        raw->entries_left = RAW_PAGE_BYTES / sizeof more;
    }
    store(raw->next_entry++, entry);
    raw->entries_left--;
    return true;
}

void raw_log(void *process, struct raw_entry *entry) {
    raw_append(process, entry);
}

void raw_tell(void *told, struct raw_entry *entry) {
    struct raw_told *log = told;
    log->is_there = raw_append(log->process, entry) && log->is_there;
}

static void set(uint64_t *word, uint32_t value) {
    __atomic_store_n(word, raw_guarded(value), __ATOMIC_RELEASE);
}

void raw_set_fate(struct process *process, enum raw_fate fate, int status, int live_threads) {
    if (process->raw.in_use)
        set(&process->raw.header->fate, raw_fate_word(fate, status, live_threads));
}

void raw_set_waiting(struct process *process, uint32_t threads) {
    if (process->raw.in_use)
        set(&process->raw.header->waiting, threads);
}

void raw_set_baseline(struct process *process, uint32_t baseline, uint32_t at_reset) {
    process->baseline = baseline;
    process->at_reset = at_reset;
    process->resets++;
    process->left = 0; /* the baseline has what they lack */
    raw_set_interrupted(process, process->interrupted);
    if (!process->raw.in_use)
        return;
    set(&process->raw.header->baseline, baseline);
    set(&process->raw.header->at_reset, at_reset);
    set(&process->raw.header->resets, process->resets);
}

void raw_set_interrupted(struct process *process, uint32_t interrupted) {
    process->interrupted = interrupted;
    if (process->raw.in_use)
        set(&process->raw.header->interrupted, interrupted_in_all(process));
}

void raw_set_threads(struct process *process, uint32_t threads) {
    process->threads = threads;
    if (process->raw.in_use)
        set(&process->raw.header->threads, threads);
}

void raw_tell_in_memory(struct process *process, uint32_t kinds) {
    process->in_memory |= kinds;
    if (process->raw.in_use)
        set(&process->raw.header->in_memory, process->in_memory);
}

void raw_tell_none_in_memory(struct process *process) {
    if (process->raw.in_use)
        set(&process->raw.header->in_memory, 0);
}

/* Several children may be about to say so, while the process counts on. */
void raw_note_lost_child(struct raw_header *header) {
    uint64_t before = __atomic_load_n(&header->lost_children, __ATOMIC_RELAXED), after;
    do {
        if (!raw_is_guarded(before) || (uint32_t)before == UINT32_MAX)
            return;
        after = raw_guarded((uint32_t)before + 1);
    } while (!__atomic_compare_exchange_n(&header->lost_children, &before, after, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}
