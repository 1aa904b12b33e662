/* process.h: what the runtime knows of the process. One `struct process` in private memory, shared by the runtime copies of all
 * profiled images; it belongs to no image, so it outlives each of them.
 *
 * Who may touch it: the thread that holds the lock. The lock is taken with all signals blocked, so a handler never finds it held
 * by its own thread. */
#ifndef BBPROF_PROCESS_H
#define BBPROF_PROCESS_H

#include "bbprof_abi.h"
#include "platform.h"
#include "raw_format.h"

#include <stdbool.h>

/* Changed with every change of these structures: runtimes of different versions do not share a process. */
#define PROCESS_ABI 24u
#define PATH_BYTES 4200u
#define BUFFER_BYTES 32768u
#define PIECE_BYTES 8192u

enum bank { BANK_TLS, BANK_GLOBAL, NUM_BANKS };

struct lock {
    uint32_t state;
    int32_t owner; /* thread id, 0 = none */
    uint32_t depth;
    uint64_t signals; /* the owner's signal mask from before */
};

/* Counters of one bank of one image, and who counts in them. */
struct segment {
    struct segment *next;
    uint64_t *view;   /* mapped all the time */
    uint64_t offset;  /* in the raw profile; 0 = in memory only */
    uint64_t *place;  /* where else the pages are mapped: over a thread's TLS bank or the image's global bank */
    uint64_t *aside;  /* a bank that could not be mapped over: its counts are to be added */
    void *parked;     /* where the stack's own pages are meanwhile; NULL: dropped */
    int32_t owner;    /* thread id; THREAD_NONE, THREAD_STARTING; of vfork's child its process id, negated */
    int32_t left_by;  /* the thread that last handed it back: nobody takes it over while that one is in its last instructions; 0 = none */
    uint16_t role;    /* enum raw_role */
    uint16_t rounds;  /* of thread-specific data destructors so far */
    void *(*start)(void *); /* of a thread that is starting */
    int (*start_c11)(void *);
    void *argument;
};
enum { THREAD_NONE = 0, THREAD_STARTING = -1 };

/* Paths that one thread at a time counts in one image; see path_table.c. path_count.c knows where the first four words are. */
struct path_table {
    struct raw_path **buckets;
    uint64_t mask;             /* number of buckets less 1 */
    uint64_t bases[NUM_BANKS]; /* taken from the address of one of the thread's counters they give its place in a record */
    struct path_table *next;
    struct path_chunk *chunks; /* the newest first */
    int32_t owner;             /* as of a segment */
};

/* What leads a forking thread to its counters: taken away from it between the handlers of the fork. See fork.c. */
struct withheld {
    uint64_t *delta; /* NULL: nothing is withheld */
    uint64_t delta_value;
    struct path_table **path_table; /* NULL: it has none */
    struct path_table *path_table_value;
};

/* What a library's copy of the runtime does around forks: see fork.c. False: it leaves, and has done nothing. fork_gate.c
 * knows where the fields are. */
struct fork_handlers {
    bool (*prepare)(struct process *process);
    bool (*in_parent)(struct process *process);
    bool (*in_child)(struct process *process);
    uint32_t inside; /* threads that run one of these through the gate */
    void (*withhold)(struct image *image);
};

/* Leads libc to the handlers of a library that is loaded: see fork_gate.c, which knows where the fields are. */
struct fork_gate {
    struct image *image; /* NULL: the last one has left */
    struct process *process;
    uint32_t entering; /* threads that are between reading `image` and being counted as inside */
};

struct image {
    struct fork_handlers forks;
    struct image *next;
    uint32_t index;
    uint32_t flags;
    bool loaded;
    uint8_t build_id[16], layout[16];
    uint64_t counters[NUM_BANKS];
    uint64_t *global_bank; /* valid while loaded */
    uint64_t optional_modules;
    const uint8_t *presence; /* one bit each */
    const char *path;
    struct segment *segments[NUM_BANKS]; /* the first has role counts and stays with the image's own storage */
    struct path_table *path_tables;
    struct withheld withheld;
    /* Its code is to handle the dump signal, which this does so far. */
    void (*take_dump_signal)(int number, void (*from)(int));
};

/* The file that is mapped over the counters. */
struct raw_file {
    bool in_use;
    bool is_new; /* nothing had its name when that was chosen */
    int file; /* only while it is being set up, else -1 */
    uint64_t device, inode;
    uint64_t length_bytes;
    struct raw_header *header;
    struct raw_header *forebears; /* in a fork's child without a file: of the closest process above it that has one, still mapped */
    struct raw_entry *next_entry;
    uint32_t entries_left;
    char path[PATH_BYTES];
};

/* Memory that is given out piece by piece, from its last chunk. */
struct arena {
    char *next, *end;
    struct arena_chunk *last;
};

/* What a thread is about to do when handlers have run. */
struct expected_end {
    uint32_t fate; /* enum raw_fate; FATE_NOT_SEEN = nothing */
    int status;
    int32_t thread;
    uintptr_t stack;
};

/* What glibc has a thread of its own for, which runs nothing of the program, once the program asked for it. */
enum libc_waits { LIBC_WAITS_FOR_TIMERS, LIBC_WAITS_FOR_QUEUES, NUM_LIBC_WAITS };

struct process {
    uint32_t abi;
    struct lock lock, guests; /* of who goes in beside a fork that has the lock: see lock.c */
    int32_t pid, parent_pid;
    uint64_t pid_namespace; /* 0 = not known */
    uint64_t start_ticks, begun_ns;
    struct file_identity stderr_at_start; /* all zero if there was none */
    bool wants_file;
    bool is_watched; /* by valgrind, which complains where memory is read that nothing was stored in */
    bool is_privileged; /* who started it must not choose its files */
    bool is_fork_child;
    bool is_forking; /* a fork is under way: its child may have its parent's number, in a namespace of its own */
    bool has_guests, had_guests; /* threads went in beside it, or beside an earlier one */
    bool forks_wait_for_end; /* musl's may, while the last destructors run: see lock.c */
    bool path_has_pid; /* so that no other process has it */
    bool has_program; /* it was begun by the program, which no dlclose takes away */
    bool has_threads; /* pthread_create or thrd_create made one, as far as a program's runtime was told */
    uint32_t libc_waits;     /* a bit for each `enum libc_waits` */
    uint32_t noted_for_good; /* a bit for each `enum note_for_good` */
    bool has_complained, has_noted_strangers;
    bool finished;
    uint32_t announced; /* enum raw_fate: the end that the process announced last */
    struct expected_end expected;
    uint32_t baseline, resets;
    uint32_t at_reset; /* at the last one, or at the fork: other threads that ran | handlers that did << 16 */
    uint32_t threads, num_dumps;
    uint64_t parked_bytes; /* of all segments */
    uint32_t interrupted; /* activations of the ending thread that handlers interrupted which still run */
    uint32_t left;        /* those that no handler returned to, and none will */
    uint32_t in_memory;   /* of enum raw_in_memory: counts are there, or were */
    int dump_signal;         /* 0 = none */
    uint64_t dump_period_ns; /* 0 = none */
    int32_t helper;          /* thread that dumps periodically, 0 = none */
    int32_t forking_thread;
    uintptr_t forking_storage; /* its thread-local storage, which the child's has at the same place */
    uint32_t forks_inside;     /* of which the first handler has run, and not the last: handlers may fork */
    uint64_t forks_to_go_on;   /* by bit, the innermost the lowest: another was marked as under way when it began */
    uint32_t depth_of_fork;    /* of the lock, between its handlers */
    uint32_t num_images, num_loaded;
    struct image *images;
    struct fork_gate *gate; /* NULL: libc calls handlers of an image that stays */
    struct raw_file raw;
    struct arena arena;
    uint8_t leader_build_id[16];
    size_t pool_at; /* where %m ends in the pool's path; 0 = no pool */
    uint64_t namespace; /* of its number, among those of all machines, if there is a pool; 0 = not known */
    char executable[PATH_BYTES];
    char pattern[PATH_BYTES]; /* of the raw profile's path, absolute if possible */
    char test_name[256];
    char pool_path[PATH_BYTES];
    char path_scratch[2][PATH_BYTES];
    char pool_scratch[PATH_BYTES], sweep_path[PATH_BYTES], inexact_path[PATH_BYTES];
    _Alignas(8) uint8_t buffer[BUFFER_BYTES]; /* what is written */
    _Alignas(8) uint8_t piece[PIECE_BYTES];   /* what is read */
};

/* The one that the runtime of this image has joined; NULL before that, and where nothing is recorded. */
static inline struct process *process_current(void) {
    return __atomic_load_n(&__bbprof_image.process, __ATOMIC_ACQUIRE);
}

/* lock.c */
void process_lock(struct process *process);
void process_unlock(struct process *process);
/* By who ends the process at once: signals stay blocked. */
void process_unlock_for_good(struct process *process);
/* When the lock is let go of. */
void process_keep_signals_blocked(struct process *process);
/* By the handlers of a fork, who have the lock from the first one, which marks the fork when it has it, to the last. */
bool process_lock_to_fork(struct process *process, bool (*has_left)(void));
void process_lock_for_fork(struct process *process);
void process_lock_behind_fork(struct process *process);
/* Behind one that a handler of another did. */
void process_lock_behind_inner_fork(struct process *process);
/* By the forking thread, where no handler will be called any more. */
void process_lock_leave_fork(struct process *process);
/* At the process's end, maybe in the last destructors. */
void process_lock_at_end(struct process *process);
/* In the middle of a block; what is given is for the other. */
uint64_t process_lock_in_block(struct process *process);
void process_unlock_in_block(struct process *process, uint64_t signals);
/* At the end, too: others may have the lock for this time, and change what it guards; the holder's signals stay blocked. */
void process_lock_pause(struct process *process, uint64_t nanoseconds);
/* True: a thread that the child does not have was about to change something. */
bool process_lock_inherit(struct process *process);

/* process.c */
struct process *process_create(char **environment, const struct bbprof_image *record);
/* Is it the calling one? A child of vfork, or of a bare clone, has its parent's memory,
 * and in a namespace of its own may have its parent's number. */
bool process_is_caller(const struct process *process);
/* Zeroed memory; NULL = none left. */
void *process_allocate(struct process *process, size_t num_bytes);
/* What is allocated from now on goes with `process_return_memory`, which takes what this gave. */
struct arena process_borrow_memory(struct process *process);
void process_return_memory(struct process *process, const struct arena *kept);
/* At most one line on stderr for each process, if that is still what it was. */
void process_complain(struct process *process, const char *what, const char *path, const char *why, const char *consequence);

/* api.c */
/* To `path`, or beside the raw profile with a running number. */
int process_dump(struct process *process, const char *path);

/* schedule.c: BBPROF_DUMP */
void schedule_read(struct process *process, const char *setting);
void schedule_start(struct process *process);
/* The runtime's code goes with its image: another one's takes over. */
void schedule_join(struct image *image);
void schedule_leave(struct process *process, struct image *image);
/* In a fork's child, which has the handler but not the thread. */
void schedule_restart(struct process *process);

/* pattern.c: path of the raw profile */
int path_of_process(struct process *process, char *path, size_t size);
void path_of_dump(struct process *process, char *path, size_t size, uint64_t number);
void path_insert_number(char *path, size_t size, const char *from, const char *what, uint64_t number);

/* objects.c */
/* The name that the dynamic loader has for what is loaded at this address, the same string for all addresses of a library; NULL =
 * nothing. Not to be asked with the lock held: whoever lists libraries keeps the loader's lock, and may ask for ours. */
const char *object_name(const void *address);

/* image.c */
/* Of a library, as the dynamic loader has it; NULL = it is the program. Not to be asked with the lock held, either. */
const char *image_name(const struct bbprof_image *record);
struct image *image_join(struct process *process, struct bbprof_image *record, const char *name);
/* The calling thread owns the image's own storage of the bank: maps its first segment there. */
void image_adopt_storage(struct process *process, struct image *image);
void image_leave(struct process *process, struct bbprof_image *record);

static inline uint64_t bank_bytes(const struct image *image, enum bank bank) {
    return (image->counters[bank] * 8 + BBPROF_PAGE_BYTES - 1) & ~(uint64_t)(BBPROF_PAGE_BYTES - 1);
}

/* segment.c */
/* The calling thread, as who owns what it counts in. vfork's child has its parent's memory,
 * and its thread-local storage, but goes before that goes on. */
int32_t owner_calling(const struct process *process);
bool owner_is_gone(const struct process *process, int32_t owner);
/* Is it alive, and not past its last instruction in user space? */
bool thread_goes_on(const struct process *process, int32_t thread);
struct segment *segment_create(struct process *process, struct image *image, enum bank bank);
/* NULL, and why: there is no place for it where the counts are. */
struct segment *segment_create_baseline(struct process *process, struct image *image, enum bank bank, enum raw_role role, int *why);
/* The owner's segment, one that nobody counts in any more, or a new one. */
struct segment *segment_acquire(struct process *process, struct image *image, enum bank bank, int32_t owner);
/* The bank at `place` counts in the segment from now on; what was counted there is added. */
void segment_attach(struct process *process, const struct image *image, enum bank bank, struct segment *segment, uint64_t *place);
/* The pages at the segment's place become those that were there, or fresh ones. False:
 * memory was refused, and the place still is the segment. */
bool segment_detach(struct process *process, const struct image *image, enum bank bank, struct segment *segment);
/* Those that were there have no place to go back to. */
void segment_forget_parked(struct process *process, const struct image *image, struct segment *segment);
/* Adds counters to others and makes them zero. */
void counters_move(uint64_t *to, uint64_t *from, uint64_t num_counters);
/* Counts that are only in memory go to the file, but for those of other threads that go on counting. True: those it looked at are
 * in the file, and none of them will be in memory if `counts_on`: the caller goes on. */
bool segments_rescue(const struct image *image, enum bank bank, bool others_count, bool counts_on);
/* Nobody counts in memory alone, or did. */
bool segments_are_in_file(const struct image *image, enum bank bank);
/* Counts since the last reset of counters `first..first + num`. */
void segments_sum(const struct process *process, const struct image *image, enum bank bank, uint64_t first, uint64_t num, uint64_t *sums);

/* The sum of all counts in the file, modulo 2^64, those before a reset, too. */
uint64_t segments_total(const struct image *image, enum bank bank);

/* replace.c: files are made under a temporary name, which goes to `temporary`, and renamed when they are whole. */
#define TEMPORARY_SUFFIX ".tmp" /* then the process's number, and, where that was taken, another */
int replace_begin(struct process *process, const char *path, char *temporary, size_t size);
int replace_finish(const char *temporary, const char *path);
/* Does the path lead to this open file? */
bool file_is_at(int file, const char *path);

/* path_table.c */
/* 2^64 over the golden ratio: products of neighbours lie far apart. */
#define PATH_MULTIPLIER 0x9e3779b97f4a7c15u
/* A table that nobody counts in any more, or a new one; NULL = no memory. */
struct path_table *path_table_acquire(struct process *process, struct image *image);
/* One more execution. False: there is no memory to count it in. */
bool path_table_count(struct process *process, const struct image *image, struct path_table *table, uint64_t place, uint64_t number);
/* Nobody counts in the image's tables any more. */
void path_tables_disown(struct image *image);
/* The counts of now become the baseline of this role. */
void path_tables_reset(struct image *image, enum raw_role role);
/* In a fork's child: all tables are empty; the forking thread keeps its own, and its
 * records, without counts, if it was interrupted. */
void path_tables_restart(struct process *process, struct image *image, bool interrupted);
/* What is only in memory is added to the counters in the file that stand for its functions: the reader names these, and how much it
 * was. Not of threads that go on counting. True: nowhere it looked was there room for paths in memory alone. */
bool path_tables_rescue(const struct process *process, struct image *image, bool others_count);
/* The sum of all counts, those before a reset, too. */
uint64_t path_tables_total(const struct image *image);
/* How many records there are; those that come later are not among them. */
uint64_t path_tables_freeze(struct image *image);
uint64_t path_tables_frozen(const struct image *image);
/* The frozen records, with their counts since the last reset. */
typedef void (*path_sink)(void *context, const struct raw_path *path);
void path_tables_each(const struct process *process, const struct image *image, path_sink sink, void *context);

/* raw_file.c */
int raw_begin(struct process *process);
int raw_publish(struct process *process);
/* Is that its name, or another? */
bool raw_is_at(const struct process *process, const char *path);
/* Another file has its name: what that means, said once. */
void raw_complain_of_taken_name(struct process *process);
void raw_abandon(struct process *process);
/* Zeroed counters, in the file if there is one (*offset != 0) and it can grow, else in memory. */
uint64_t *raw_reserve(struct process *process, uint64_t num_bytes, uint64_t *offset);
/* The same, but never in memory where there is a file: NULL, and why. */
uint64_t *raw_reserve_beside_counts(struct process *process, uint64_t num_bytes, uint64_t *offset, int *why);
/* Maps reserved counters a second time, in place of the pages at `place`. On failure there are fresh pages. */
int raw_map_over(struct process *process, void *place, void *view, uint64_t offset, uint64_t num_bytes);
/* False: it is not there. */
bool raw_append(struct process *process, struct raw_entry *entry);
/* The same, as an `entry_sink`. */
void raw_log(void *process, struct raw_entry *entry);
/* The same, for who has to know whether all of it is there. */
struct raw_told {
    struct process *process;
    bool is_there; /* true before the first */
};
void raw_tell(void *told, struct raw_entry *entry);
/* How many threads the last entry tells of that wait; 0 = it does not count. */
void raw_set_waiting(struct process *process, uint32_t threads);
void raw_set_fate(struct process *process, enum raw_fate fate, int status, int live_threads);
/* A reset: this baseline is in force; what may have been in the middle of an activation, as the header has it. */
void raw_set_baseline(struct process *process, uint32_t baseline, uint32_t at_reset);
void raw_set_interrupted(struct process *process, uint32_t interrupted);
void raw_set_threads(struct process *process, uint32_t threads);
/* Somebody begins to count in memory, for this reason or, where it is 0, for those of
 * before: from now on counts may be missing in the file. */
void raw_tell_in_memory(struct process *process, uint32_t kinds);
/* All of them are in the file. */
void raw_tell_none_in_memory(struct process *process);
/* A child that was forked from the process of this header has no file. */
void raw_note_lost_child(struct raw_header *header);
void raw_fill_header(struct raw_header *header, const struct process *process, const char *state, uint64_t length_bytes);
uint32_t raw_fate_word(enum raw_fate fate, int status, int live_threads);

/* entries.c: what the log says of process and images */
typedef void (*entry_sink)(void *context, struct raw_entry *entry);
void entry_seal(struct raw_entry *entry, const char *kind);
void entries_of_process(const struct process *process, entry_sink sink, void *context);
void entries_of_image(const struct image *image, entry_sink sink, void *context);
bool entry_is_whole(const struct raw_entry *entry);
void entry_of_counters(uint32_t image, enum bank bank, uint64_t offset, uint64_t counters, enum raw_role role, entry_sink sink,
                       void *context);
void entry_of_segment(const struct image *image, enum bank bank, uint64_t offset, enum raw_role role, entry_sink sink, void *context);
void entry_of_paths(uint32_t image, uint64_t offset, uint32_t record_bytes, uint64_t records, entry_sink sink, void *context);
/* Of all other threads that wait: in which system calls, and the sum of all counts meanwhile. */
void entry_of_waits(uint64_t counted, const struct call_told calls[CALLS_TOLD], entry_sink sink, void *context);
void entries_of_note(const char *note, entry_sink sink, void *context);
/* Notes that are also true of complete profiles: what they tell of is lost. Each once. */
enum note_for_good { NOTE_SHARED_COUNTERS, NOTE_CLEARED_BANK, NOTE_UNTOLD_THREADS, NOTE_THREAD_WITHOUT_COUNTERS, NOTE_CHANGE_IN_FORK, NOTE_CHANGE_BY_KILLED, NUM_NOTES_FOR_GOOD };
void note_for_good(struct process *process, enum note_for_good note);
void entries_of_exec(const char *path, entry_sink sink, void *context);

/* snapshot.c: the complete profile */
typedef int (*byte_sink)(void *context, const void *bytes, size_t num_bytes);
int snapshot_write(struct process *process, enum raw_fate fate, int status, int live_threads, byte_sink sink, void *context);
/* In memory: to be unmapped. `since`: as below. */
struct snapshot_copy {
    uint8_t *bytes;
    uint64_t length, filled;
};
int snapshot_copy(struct process *process, int live_threads, struct snapshot_copy *copy, const struct threads_look *since);
/* To a file, which nobody sees before it is whole. -EAGAIN: other threads have done anything since that look, if one is given. */
int snapshot_save(struct process *process, enum raw_fate fate, int status, int live_threads, const char *path,
                  const struct threads_look *since);

/* handlers.c */
/* How many activations of the calling thread were interrupted, in the middle of a block, by signal handlers that still run. */
uint32_t handlers_running(struct process *process);
/* The calling thread leaves for ever what lies on its stack up to this stack pointer (0: all of it): notes the activations that
 * handlers had interrupted there, as handlers_running counts them. */
void handlers_leave(struct process *process, uintptr_t target);
/* The same of another thread, which waits with this stack pointer. */
uint32_t handlers_running_elsewhere(struct process *process, uintptr_t stack);
/* What ran when counting began anew, as the header has it. */
static inline uint32_t at_beginning(int threads, uint32_t handlers) {
    return (threads > 0xffff ? 0xffffu : (uint32_t)threads) | (handlers > 0xffff ? 0xffffu : handlers) << 16;
}

/* pool.c: `%m` */
void pool_running_path(const struct process *process, uint32_t pid, uint64_t begun_ns, char *path, size_t size);
/* Adds some profiles that processes left, if nobody else is at it. */
void pool_tidy(struct process *process);
/* The process has ended, its fate stands in its file: adds that to the pool, and all that others left. False: it keeps its file. */
bool pool_take(struct process *process);
/* Adds what others left, and not its own: it has still to end. */
void pool_help(struct process *process);

/* others.c: other threads */
/* Those that are known to have counters in these banks, up to the last, or to have handed them back, and are not yet dead. */
int others_with_counters(const struct process *process, enum bank first, enum bank last);
int others_alive(const struct process *process);
/* The same, when the process's end is all that is left to record: threads that may come back from system calls are told in the log.
 * Who locked for the end may pause for those that are about to end. */
int others_running_at_end(struct process *process, int running, bool may_pause);
/* How many will run in a moment, if that is better. */
int others_running_soon(struct process *process, int others);
void others_look(struct process *process, struct threads_look *look);
/* Has each of them been in one and the same system call since that look? */
bool others_have_waited(struct process *process, const struct threads_look *since);

/* ThreadSanitizer, where the program has it; it makes a thread for itself, without pthread_create. */
extern void __tsan_init(void) __attribute__((weak));

/* several_threads.c */
/* Notes what several threads may have lost. Called whenever that may have become so. */
void several_threads_look(struct process *process);

/* thread_block.c: what is added to the address of a counter of the image to get the calling thread's own. */
uint64_t bbprof_thread_block(void);

/* finish.c */
#define SIGNAL_OF_ABORT 6
/* The process ends: completes the raw profile if nobody counts any more, else says so in it. */
void process_finish(struct process *process, enum raw_fate fate, int status);
/* Handlers run on the way to this end, called with this stack pointer, and may do
 * anything: what libc does behind them is announced as that. */
void process_expect(struct process *process, enum raw_fate fate, int status, uintptr_t stack);
/* The calling thread leaves what lies on its stack up to there (0: all of it), and with it that end, if it is there. */
void process_expect_no_more(struct process *process, uintptr_t target);
/* The process is about to end without destructors: says so in the raw profile, which is
 * right as it is. `for_good`: by a system call that comes next. */
void process_announce(struct process *process, enum raw_fate fate, int status, const char *exec_path, bool for_good);
/* It has not ended. */
void process_revoke(struct process *process, enum raw_fate fate);
/* This many activations were left for ever in the middle of a block. */
void process_leave(struct process *process, uint32_t activations);

/* interpose_*.c: finds libc's own functions, while that is easy. */
void interposer_prepare(void);
void leaving_prepare(void);
void threading_prepare(void);

/* thread_bank.c */
/* Counts of the calling thread that are in no segment: it was not started through the interposed pthread_create, or has ended. */
void thread_absorb_own_bank(struct process *process);

/* fork.c: around each fork, and in its child before anything else */
/* Of the process's first image. */
void fork_register(const struct process *process);
/* The image takes part in forks. */
void fork_join(struct process *process, struct image *image);
/* Of a library, the process's first: what libc is to call once it is registered. False: there can be no such thing. */
bool fork_prepare_gate(struct process *process);
/* A library takes no part any more, not in a fork that is under way, either. */
void fork_leave(struct process *process, struct image *image);
/* Until no thread is in this library's handlers, without the lock. */
void fork_wait_for_others(const struct process *process, const struct image *image);
/* Forks by this, which calls no handlers, with ours around it. */
int32_t fork_between_handlers(int32_t (*real_fork)(void));
/* path_count.c's way to the word that leads the calling thread to its table. NULL: nobody
 * has one yet, in this image. It goes with the image. */
extern BBPROF_HIDDEN struct path_table **(*fork_path_table_of_caller)(void);
/* What the handler in the child does, where the child reaches the runtime before it. */
void fork_begin_child(struct process *process);

/* fork_gate.c: NULL = there is no memory that may be executed */
struct fork_gate *fork_gate_make(struct process *process);
/* Hands on what libc is to call: before a fork, then in the parent, or in the child. */
void fork_gate_entries(const struct fork_gate *gate, void (*use)(void (*)(void), void (*)(void), void (*)(void)));
/* May a thread be in a handler of this image, which the gate does not lead to any more? */
bool fork_gate_is_in_use(const struct fork_gate *gate, const struct image *image);

/* Whether the calling thread is between the handlers of a fork, in who forks or in the child, and handlers of the program may be
 * called there. The child has a copy of the thread-local storage; vfork's has that of another thread. */
static inline bool fork_is_callers(const struct process *process) {
    return process->is_forking && !process->has_program && process->forking_storage == platform_thread_storage();
}

/* Whether its counters in this image are withheld meanwhile. */
static inline bool fork_withholds(const struct image *image) {
    return image->withheld.delta != NULL && image->withheld.delta == &__bbprof_delta;
}

#endif
