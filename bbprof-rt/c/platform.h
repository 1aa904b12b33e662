/* platform.h: all the runtime needs of the operating system. Everything is async-signal-safe and leaves errno alone.
 *
 * Results below zero are negated errno values. */
#ifndef BBPROF_PLATFORM_H
#define BBPROF_PLATFORM_H

#include "private_names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* files */
struct file_identity {
    uint64_t device, inode;
    bool regular;
    bool link;
};
/* OPEN_ASK: only to learn whether it could be written; OPEN_CREATE: nothing may be there; OPEN_LOCK: made if it is not there. */
enum open_mode { OPEN_READ, OPEN_UPDATE, OPEN_ASK, OPEN_CREATE, OPEN_LOCK };
int platform_open(const char *path, enum open_mode mode);
void platform_close(int file);
long platform_read(int file, void *bytes, size_t num_bytes);
/* All of it: -EBADMSG where the file ends before. */
int platform_read_at(int file, uint64_t offset, void *bytes, size_t num_bytes);
int platform_write_all(int file, const void *bytes, size_t num_bytes);
/* As far as that is possible at once, and without a signal. */
void platform_write_line(int file, const char *line, size_t num_bytes);
int platform_identify(int file, struct file_identity *identity);
int platform_identify_path(const char *path, struct file_identity *identity);
/* Of what a link leads to. Links into /proc, as /dev/stdout is one, stand for open files,
 * whatever these are: not for a regular one. */
int platform_identify_target(const char *path, struct file_identity *identity);
int platform_rename(const char *from, const char *to);
/* The same, if nothing is there: else -EEXIST. */
int platform_rename_new(const char *from, const char *to);
/* Until the file is closed, no other process has this lock; -EWOULDBLOCK if one has it. */
int platform_lock(int file);
/* Gives it back, though children have the file open, too. */
void platform_unlock(int file);
/* Hands on the name of everything in a folder. */
int platform_list(const char *folder, void (*each)(void *context, const char *name), void *context);
void platform_remove(const char *path);
/* May the file have this length? 0, or why not; without it the kernel would send SIGXFSZ. */
int platform_length_allowed(uint64_t num_bytes);
/* Makes the file `to` bytes long, with room on the disk for all of it, so that no access to it can fail later. */
int platform_extend(int file, uint64_t from, uint64_t to);

/* memory: NULL = none left */
void *platform_map_private(size_t num_bytes);
/* Pages of a file, or (file < 0) of memory that can be mapped a second time. */
void *platform_map_shared(int file, uint64_t offset, size_t num_bytes, int *why);
/* The same, with a page behind it that is no file's and stays. */
void *platform_map_shared_apart(int file, uint64_t offset, size_t num_bytes, int *why);
/* Maps the pages behind `view` a second time, in place of those at `place`. On failure there are fresh pages. */
int platform_map_over(void *place, void *view, size_t num_bytes);
/* Is it a shared mapping, or not to be found out? */
bool platform_is_shared_memory(const void *memory, size_t num_bytes);
/* The same as `platform_map_over` for pages of a file. */
int platform_map_file_over(void *place, int file, uint64_t offset, size_t num_bytes);
/* Moves private pages elsewhere, and leaves empty ones, so that nothing else gets in there; NULL: the
 * kernel cannot (before Linux 5.7), and nothing has changed. */
void *platform_move_pages(void *place, size_t num_bytes);
bool platform_move_pages_back(void *from, void *place, size_t num_bytes);
/* Puts fresh private pages there. */
int platform_map_fresh(void *place, size_t num_bytes);
void platform_unmap(void *view, size_t num_bytes);
/* Private memory that was written, and is not any more. */
int platform_make_executable(void *place, size_t num_bytes);
/* Maps the pages of an image's code a second time, at `place`. */
int platform_map_code_again(const void *code, void *place, size_t num_bytes);

/* Copies memory of our own that may not be there; how many bytes could be. */
long platform_read_memory(const void *from, void *to, size_t num_bytes);
/* Is it what malloc and free call, to come back at once? */
bool platform_call_is_of_allocators(uint64_t number);

/* process and threads */
int32_t platform_process_id(void);
int32_t platform_parent_id(void);
int32_t platform_process_group(void);
int32_t platform_thread_id(void);
/* Where the calling thread's thread-local storage is. */
uintptr_t platform_thread_storage(void);
bool platform_thread_exists(int32_t process, int32_t thread);
/* Of this process: is it past its last instruction in user space? The kernel has it for a
 * moment longer, the first thread as long as there are others. */
bool platform_thread_is_ending(int32_t thread);
bool platform_process_exists(int32_t process);
/* Has this process ended, so that nothing more comes from it? */
bool platform_process_is_gone(int32_t process);
/* What tells the process ids of now and here from others; 0 = cannot be told. */
uint64_t platform_namespace(void);
/* The same among the namespaces of this machine. */
uint64_t platform_pid_namespace(void);
/* How many threads of this process are still running, without the caller and `helper`; -1 = cannot be told. */
int platform_other_threads(int32_t helper);
/* The same, but never those that have left user space for ever, which may be among many. */
int platform_living_threads(int32_t helper);
/* How many of them wait in a system call; the last may stand for various ones. */
#define CALLS_TOLD 11
#define CALL_VARIOUS 0xffffu
struct call_told {
    uint16_t number, threads;
};
/* What all of them do at one moment. Two equal looks: none of them ran between the two. */
struct threads_look {
    bool told;    /* they could be looked at; else the rest says nothing */
    bool resting; /* each waits for as long as none of this process's threads wakes it */
    bool blocked; /* each waits in a system call */
    bool settled; /* the same, or in a handler that interrupted other code */
    uint64_t fingerprint;
    struct call_told calls[CALLS_TOLD]; /* of those that wait; 0 threads = unused */
};
/* Who waits at a word of these bytes neither rests nor is blocked: it is in the middle of the runtime; nor is who is in an
 * allocator's call. Nor does one whose stack, from this pointer on, is told to be that of an interrupted activation. */
void platform_look_at_threads(int32_t helper, void *own, size_t num_bytes, bool (*is_interrupted)(void *own, uintptr_t stack),
                              struct threads_look *look);
/* Processor time that all other threads have had, dead ones, too, up to the kernel's last
 * reckoning; out of two clocks, so that it may seem to go back. */
int64_t platform_time_of_others_ns(void);
/* A thread that libc knows nothing of, with the caller's signal mask and thread-local storage of zeros. Stores its id. */
int platform_start_helper(void (*function)(void *), void *context, int32_t *thread);
void platform_sleep(uint64_t nanoseconds);
/* Handles a signal whose disposition is the default; else -EBUSY. `NULL` puts the default back if `handler` is there. */
int platform_handle_signal(int number, void (*handler)(int));
void platform_unhandle_signal(int number, void (*handler)(int));
/* The same with a handler in place of another, if that is there. */
void platform_take_signal(int number, void (*from)(int), void (*handler)(int));
/* Would the calling process be ended by this signal, if it were not blocked? */
bool platform_signal_is_fatal(int number);
bool platform_signal_is_blocked(int number);
bool platform_signal_is_handled(int number);
/* It may come to the calling thread; it does what it does by default. */
void platform_unblock_signal(int number);
void platform_reset_signal(int number);
uint64_t platform_blocked_signals(void);
/* May a handler be interrupted by its own signal? */
bool platform_signals_may_nest(void);
/* May a handler of the program run at any time: for more than faults of the code itself? */
bool platform_handlers_may_run(void);
/* Where the stack of the process's first thread ends; 0 = nobody tells. To be asked once early: /proc may be out of reach later. */
uintptr_t platform_first_stack_end(void);
/* Is all of this on the stack of the process's first thread? */
bool platform_is_first_stack(uintptr_t at, uintptr_t end);
/* The stack pointer that a jump to this environment of setjmp brings; `at`: of who jumps. */
uintptr_t platform_jump_target(const void *environment, uintptr_t at);
/* Where the stack ends that this address is on, as far as can be told; else the address itself. */
uintptr_t platform_stack_end(uintptr_t at);
void platform_exit(int status) __attribute__((noreturn));
/* Ends the calling thread, the last, with the status of the first, which ended before: some
 * kernels take the process's from one, some from the other. */
void platform_exit_as_first_thread(void) __attribute__((noreturn));
/* Sleeps while *word is `value`, until woken or for no reason, and not longer than that, if it is not 0. */
void platform_wait(uint32_t *word, uint32_t value, uint64_t nanoseconds);
void platform_wake(uint32_t *word);
uint64_t platform_block_signals(void);
void platform_restore_signals(uint64_t mask);
/* The same in the middle of a block of the program, which handlers interrupt there: these bytes, an
 * instruction that does nothing, stand behind the system call. */
#define PLATFORM_IN_BLOCK 0x0f, 0x1f, 0x80, 0x62, 0x62, 0x70, 0x72
uint64_t platform_block_signals_in_block(void);
void platform_restore_signals_in_block(uint64_t mask);
bool platform_runs_with_raised_privileges(void);

/* surroundings: texts are cut to their buffers, always terminated; length without the terminator, 0 = not known */
size_t platform_executable(char *path, size_t size);
size_t platform_working_directory(char *path, size_t size);
size_t platform_host(char *name, size_t size);
uint64_t platform_start_ticks(void);
uint64_t platform_wall_clock_ns(void);
const char *platform_error_text(int why);

#endif
