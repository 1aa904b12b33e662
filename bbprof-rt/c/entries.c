/* entries.c: the log entries that describe a process and its images; the running file and complete ones hold the same. */
#include "process.h"

#include "text.h"

static void clear(struct raw_entry *entry) {
    for (int i = 0; i < 7; i++)
        entry->words[i] = 0;
}

static uint32_t check_of(const struct raw_entry *entry, const char *kind) {
    struct raw_entry copy = *entry;
    bytes_copy(copy.kind, kind, 4);
    copy.check = 0;
    uint64_t sum = raw_checksum(RAW_CHECKSUM_SEED, &copy, sizeof copy);
    return (uint32_t)(raw_checksum_step(sum, 0) >> 32);
}

/* Gives an entry its check and, last, its kind: before that it does not exist. */
void entry_seal(struct raw_entry *entry, const char *kind) {
    uint32_t kind_word;
    bytes_copy(&kind_word, kind, 4);
    entry->check = check_of(entry, kind);
    __atomic_store_n((uint32_t *)(void *)entry->kind, kind_word, __ATOMIC_RELEASE);
}

bool entry_is_whole(const struct raw_entry *entry) {
    return entry->check == check_of(entry, entry->kind);
}

static void entries_of_text(const char *kind, uint32_t image, const char *bytes, entry_sink sink, void *context) {
    size_t length = text_length(bytes);
    for (size_t at = 0; at < length; at += RAW_TEXT_BYTES) {
        struct raw_entry entry;
        clear(&entry);
        entry.text.image = image;
        entry.text.part = (uint16_t)(at / RAW_TEXT_BYTES);
        entry.text.length = (uint16_t)(length - at < RAW_TEXT_BYTES ? length - at : RAW_TEXT_BYTES);
        bytes_copy(entry.text.bytes, bytes + at, entry.text.length);
        entry_seal(&entry, kind);
        sink(context, &entry);
    }
}

static const char *const NOTES_FOR_GOOD[NUM_NOTES_FOR_GOOD] = {
    [NOTE_SHARED_COUNTERS] = "Several threads may have counted in storage shared, whose counters are plain: increments that two of them made at once are "
                             "lost; --storage=thread and atomic lose none.",
    [NOTE_UNTOLD_THREADS] = "Threads were made of which the runtime was not told: by libc (for aio and look-ups), around libc (jemalloc does), or as something hides "
                            "the program's pthread_create (a version script, RTLD_DEEPBIND): what such threads counted is lost; --storage=atomic counts it.",
    [NOTE_CLEARED_BANK] = "A thread ended by a bare system call, and another one got its stack, or memory was refused for the counters of a thread that ended: what it "
                          "counted is lost; --storage=atomic keeps it.",
    [NOTE_CHANGE_BY_KILLED] = "A child of vfork was killed while it changed what it had of its parent's memory: counts may be off.",
    [NOTE_CHANGE_IN_FORK] = "At the fork, which had waited for it, another thread was beginning or ending to count, or dumped, or opened or closed a library: counts of "
                            "before the fork may be among this process's.",
    [NOTE_THREAD_WITHOUT_COUNTERS] = "There was no memory, or no thread-specific data, left for the counters of a thread: what it counted is lost.",
};

void note_for_good(struct process *process, enum note_for_good note) {
    if ((process->noted_for_good & 1u << note) != 0)
        return;
    process->noted_for_good |= 1u << note;
    entries_of_note(NOTES_FOR_GOOD[note], raw_log, process);
}

void entries_of_process(const struct process *process, entry_sink sink, void *context) {
    entries_of_text("PATH", RAW_PROCESS, process->executable, sink, context);
    for (unsigned note = 0; note < NUM_NOTES_FOR_GOOD; note++)
        if ((process->noted_for_good & 1u << note) != 0)
            entries_of_note(NOTES_FOR_GOOD[note], sink, context);
}

void entries_of_note(const char *note, entry_sink sink, void *context) {
    entries_of_text("NOTE", RAW_PROCESS, note, sink, context);
}

void entries_of_exec(const char *path, entry_sink sink, void *context) {
    entries_of_text("EXEC", RAW_PROCESS, path, sink, context);
}

void entries_of_image(const struct image *image, entry_sink sink, void *context) {
    struct raw_entry entry;
    clear(&entry);
    entry.image.image = image->index;
    entry.image.flags = image->flags;
    bytes_copy(entry.image.build_id, image->build_id, sizeof image->build_id);
    bytes_copy(entry.image.layout, image->layout, sizeof image->layout);
    entry.image.tls_counters = image->counters[BANK_TLS];
    entry.image.global_counters = image->counters[BANK_GLOBAL];
    entry_seal(&entry, "IMAG");
    sink(context, &entry);
    entries_of_text("PATH", image->index, image->path, sink, context);
    const uint64_t modules_per_entry = RAW_TEXT_BYTES * 8;
    for (uint64_t at = 0; at < image->optional_modules; at += modules_per_entry) {
        uint64_t left = image->optional_modules - at;
        clear(&entry);
        entry.text.image = image->index;
        entry.text.part = (uint16_t)(at / modules_per_entry);
        entry.text.length = (uint16_t)(left < modules_per_entry ? left : modules_per_entry);
        bytes_copy(entry.text.bytes, image->presence + at / 8, (entry.text.length + 7u) / 8);
        entry_seal(&entry, "PRES");
        sink(context, &entry);
    }
}

void entry_of_counters(uint32_t image, enum bank bank, uint64_t offset, uint64_t counters, enum raw_role role, entry_sink sink,
                       void *context) {
    struct raw_entry entry;
    clear(&entry);
    entry.segment.image = image;
    entry.segment.bank = bank;
    entry.segment.offset = offset;
    entry.segment.counters = counters;
    entry.segment.role = role;
    entry_seal(&entry, "SEGM");
    sink(context, &entry);
}

void entry_of_paths(uint32_t image, uint64_t offset, uint32_t record_bytes, uint64_t records, entry_sink sink, void *context) {
    struct raw_entry entry;
    clear(&entry);
    entry.hash.image = image;
    entry.hash.record_bytes = record_bytes;
    entry.hash.offset = offset;
    entry.hash.records = records;
    entry_seal(&entry, "HASH");
    sink(context, &entry);
}

void entry_of_waits(uint64_t counted, const struct call_told calls[CALLS_TOLD], entry_sink sink, void *context) {
    struct raw_entry entry;
    clear(&entry);
    entry.waits.counted = counted;
    for (unsigned i = 0; i < CALLS_TOLD; i++)
        entry.waits.calls[i] = (struct raw_call){calls[i].number, calls[i].threads};
    entry_seal(&entry, "WAIT");
    sink(context, &entry);
}

void entry_of_segment(const struct image *image, enum bank bank, uint64_t offset, enum raw_role role, entry_sink sink, void *context) {
    entry_of_counters(image->index, bank, offset, image->counters[bank], role, sink, context);
}
