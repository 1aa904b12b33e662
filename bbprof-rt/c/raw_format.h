/* raw_format.h: the raw profile's bytes, mirror of bbprof-format/src/raw.rs (which explains them). */
#ifndef BBPROF_RAW_FORMAT_H
#define BBPROF_RAW_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#define RAW_MAGIC "BBPROFRW"
#define RAW_VERSION 8u
#define RAW_STATE_RUNNING "RUN "
#define RAW_STATE_COMPLETE "DONE"
#define RAW_PAGE_BYTES 4096u
#define RAW_TEXT_BYTES 48u
/* Stands for the process where an entry asks for an image. */
#define RAW_PROCESS 0xffffffffu

struct raw_header {
    char magic[8];
    uint32_t version;
    char state[4];
    uint32_t pid;
    uint32_t parent_pid;
    uint64_t start_ticks;
    uint64_t begun_ns;
    uint64_t length_bytes;
    uint64_t check;
    uint64_t waiting;
    uint64_t fate;
    uint64_t baseline;
    uint64_t threads;
    uint64_t interrupted;
    uint64_t namespace, namespace_complement;
    uint64_t resets;
    uint64_t at_reset;
    uint64_t lost_children;
    uint64_t in_memory; /* of enum raw_in_memory */
    uint64_t zeros[6];
};
_Static_assert(sizeof(struct raw_header) == 192, "HEADER_BYTES");
_Static_assert(offsetof(struct raw_header, length_bytes) == 40 && offsetof(struct raw_header, fate) == 64, "header");

enum raw_fate {
    FATE_NOT_SEEN,
    FATE_EXIT,
    FATE_EXIT_UNKNOWN,
    FATE_SNAPSHOT,
    FATE_EXIT_AT_ONCE, /* _exit, _Exit */
    FATE_QUICK_EXIT,
    FATE_ABORT,
    FATE_EXEC,
    FATE_OWN_SIGNAL, /* raise, kill */
    FATE_POOL,       /* the log tells those of many processes */
    FATE_SIGNAL,     /* told by who had started it and waited for it; never by the runtime */
};
/* Why counts are in memory only. */
enum raw_in_memory { IN_MEMORY_NO_ROOM = 1, IN_MEMORY_NOT_MAPPED = 2 };
enum raw_role { ROLE_COUNTS, ROLE_BASELINE_1, ROLE_BASELINE_2 };

struct raw_entry {
    char kind[4];
    uint32_t check;
    union {
        struct {
            uint32_t image, flags;
            uint8_t build_id[16], layout[16];
            uint64_t tls_counters, global_counters;
        } image;
        struct {
            uint32_t image;
            uint16_t part, length;
            uint8_t bytes[RAW_TEXT_BYTES];
        } text; /* "PATH", "NOTE", "EXEC", and "PRES" with length = number of modules */
        struct {
            uint32_t image, bank;
            uint64_t offset, counters;
            uint32_t role, zero;
            uint64_t zeros[3];
        } segment;
        struct {
            uint32_t image, record_bytes;
            uint64_t offset, records;
            uint64_t zeros[4];
        } hash;
        struct {
            uint32_t fate, waiting; /* as in the header of each of them, like what follows */
            uint64_t processes;
            uint32_t interrupted, resets, at_reset, lost_children, in_memory, zero;
            uint64_t zeros[2];
        } fate;
        struct {
            uint64_t counted;
            uint32_t zero;
            struct raw_call {
                uint16_t number, threads;
            } calls[11];
        } waits;
        struct {
            uint64_t offset, entries;
            uint64_t zeros[5];
        } more;
        uint64_t words[7];
    };
};
_Static_assert(sizeof(struct raw_entry) == 64, "ENTRY_BYTES");

/* How often a path was taken whose function has more of them than an array holds. */
struct raw_path {
    uint64_t place; /* stored last: 8 * (1 + the function's counter among those of the image, thread-local ones first); 0 = no record */
    uint64_t number;
    uint64_t count;
    /* Only in running files: */
    uint64_t baseline[2];
    struct raw_path *next; /* the process's own */
};
_Static_assert(sizeof(struct raw_path) == 48, "RUNNING_RECORD_BYTES");
/* In complete files a record ends here. */
#define RAW_PATH_COMPLETE_BYTES 24u
_Static_assert(offsetof(struct raw_path, baseline) == RAW_PATH_COMPLETE_BYTES, "COMPLETE_RECORD_BYTES");

#define RAW_CHECKSUM_SEED 0x626270726f667261u

/* One step of the checksum: one-to-one in `sum` and in `word`. */
static inline uint64_t raw_checksum_step(uint64_t sum, uint64_t word) {
    uint64_t product = (sum ^ word) * 0x9e3779b97f4a7c15u;
    return product ^ (product >> 32);
}

/* Whatever the bytes are. */
typedef uint64_t __attribute__((may_alias)) raw_word;

static inline uint64_t raw_checksum(uint64_t sum, const void *bytes, size_t num_bytes) {
    const raw_word *words = bytes;
    size_t num = num_bytes / 8, i = 0;
    /* Eight in one turn: the rest of a turn is three instructions, and a step five. */
    for (; num - i >= 8; i += 8) {
        sum = raw_checksum_step(raw_checksum_step(sum, words[i]), words[i + 1]);
        sum = raw_checksum_step(raw_checksum_step(sum, words[i + 2]), words[i + 3]);
        sum = raw_checksum_step(raw_checksum_step(sum, words[i + 4]), words[i + 5]);
        sum = raw_checksum_step(raw_checksum_step(sum, words[i + 6]), words[i + 7]);
    }
    for (; i < num; i++)
        sum = raw_checksum_step(sum, words[i]);
    return sum;
}

/* A value with its complement above it: one store, and damage shows. */
static inline uint64_t raw_guarded(uint32_t value) {
    return (uint64_t)value | (uint64_t)~value << 32;
}

static inline int raw_is_guarded(uint64_t word) {
    return word == raw_guarded((uint32_t)word);
}

#endif
