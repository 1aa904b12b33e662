/* lock.c: the process's lock. Recursive, because a callback of bbprof_write may reach the runtime again. */
#include "process.h"

/* helgrind knows the mutexes of libc; a build for it tells of this one. What the lock is made of is not helgrind's to check. */
#ifdef BBPROF_RT_ANNOTATED
#include <valgrind/helgrind.h>
static void tell_locked(struct lock *lock) {
    VALGRIND_HG_DISABLE_CHECKING(lock, sizeof *lock);
    ANNOTATE_RWLOCK_ACQUIRED(lock, 1);
}
static void tell_unlocking(struct lock *lock) {
    ANNOTATE_RWLOCK_RELEASED(lock, 1);
}
#else
static void tell_locked(struct lock *lock) {
    (void)lock;
}
static void tell_unlocking(struct lock *lock) {
    (void)lock;
}
#endif

enum { FREE, HELD, CONTENDED };

#define SPINS 100u /* a guess: most holders are done after one or two system calls */

static bool acquire_at_once(uint32_t *state) {
    for (unsigned spin = 0; spin < SPINS; spin++) {
        uint32_t free = FREE;
        if (__atomic_compare_exchange_n(state, &free, HELD, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return true;
        __builtin_ia32_pause();
    }
    return false;
}

static void acquire(uint32_t *state) {
    if (acquire_at_once(state))
        return;
    while (__atomic_exchange_n(state, CONTENDED, __ATOMIC_ACQUIRE) != FREE)
        platform_wait(state, CONTENDED);
}

static void release(struct lock *lock) {
    tell_unlocking(lock);
    __atomic_store_n(&lock->owner, 0, __ATOMIC_RELAXED);
    if (__atomic_exchange_n(&lock->state, FREE, __ATOMIC_RELEASE) == CONTENDED)
        platform_wake(&lock->state);
}

static void own(struct lock *lock, uint64_t signals, uint32_t depth) {
    tell_locked(lock);
    __atomic_store_n(&lock->owner, platform_thread_id(), __ATOMIC_RELAXED);
    lock->depth = depth;
    lock->signals = signals;
}

static void take(struct lock *lock, uint64_t signals, uint32_t depth) {
    acquire(&lock->state);
    own(lock, signals, depth);
}

static bool is_held_by_caller(const struct lock *lock) {
    return __atomic_load_n(&lock->owner, __ATOMIC_RELAXED) == platform_thread_id();
}

void process_lock(struct process *process) {
    struct lock *lock = &process->lock;
    if (fork_is_callers(process) && process->pid != platform_process_id())
        fork_begin_child(process);
    if (is_held_by_caller(lock)) {
        lock->depth++;
        return;
    }
    take(lock, platform_block_signals(), 1);
}

void process_unlock(struct process *process) {
    struct lock *lock = &process->lock;
    if (--lock->depth > 0)
        return;
    uint64_t signals = lock->signals;
    release(lock);
    platform_restore_signals(signals);
}

void process_unlock_for_good(struct process *process) {
    release(&process->lock);
}

#define PAUSE_NS 1000000u
#define SHORT_PAUSE_NS 20000u /* while the holder does nothing but what it must */
#define PAUSES_OF_A_FORK 1000u /* a guess: up to musl 1.2.1 forks go on, and take a second in huge memory only */

/* False: a fork holds it for so long that its handlers seem to wait for the caller, or did for another one. */
static bool acquire_unless_for_a_fork(const struct process *process, struct lock *lock) {
    for (unsigned pauses = 0; pauses < PAUSES_OF_A_FORK;) {
        if (acquire_at_once(&lock->state))
            return true;
        bool is_forkers = __atomic_load_n(&process->is_forking, __ATOMIC_RELAXED) &&
                          __atomic_load_n(&lock->owner, __ATOMIC_RELAXED) == process->forking_thread;
        pauses = is_forkers ? pauses + 1 : 0;
        if (is_forkers && __atomic_load_n(&process->has_refused, __ATOMIC_RELAXED))
            return false;
        platform_sleep(is_forkers ? PAUSE_NS : SHORT_PAUSE_NS);
    }
    return false;
}

/* In the middle of a block: handlers interrupt none of the system calls between these two. In a program that is not profiled, a fork's handlers of its own
 * run while ours have the lock, and may wait for a thread that asks for its first counters. */
bool process_lock_in_block(struct process *process, uint64_t *signals) {
    struct lock *lock = &process->lock;
    *signals = platform_block_signals_in_block();
    if (process->has_program || is_held_by_caller(lock) || fork_is_callers(process)) {
        process_lock(process);
        return true;
    }
    uint64_t others = platform_block_signals();
    if (acquire_unless_for_a_fork(process, lock)) {
        own(lock, others, 1);
        return true;
    }
    __atomic_store_n(&process->has_refused, true, __ATOMIC_RELAXED);
    platform_restore_signals(others);
    platform_restore_signals_in_block(*signals);
    return false;
}

void process_unlock_in_block(struct process *process, uint64_t signals) {
    process_unlock(process);
    platform_restore_signals_in_block(signals);
}

/* musl holds a lock of its own while the last destructors run, and each fork takes that behind our handlers: who has taken ours around a fork waits
 * for the process's end, and touches nothing any more. So its lock is taken away from it. */
static void take_at_end(struct process *process, uint64_t signals, uint32_t depth) {
    struct lock *lock = &process->lock;
    if (process->forks_wait_for_end)
        acquire_unless_for_a_fork(process, lock);
    else
        acquire(&lock->state);
    own(lock, signals, depth);
}

void process_lock_at_end(struct process *process) {
    if (is_held_by_caller(&process->lock))
        process->lock.depth++;
    else
        take_at_end(process, platform_block_signals(), 1);
}

void process_lock_pause(struct process *process, uint64_t nanoseconds) {
    struct lock *lock = &process->lock;
    uint32_t depth = lock->depth;
    uint64_t signals = lock->signals;
    release(lock);
    platform_sleep(nanoseconds);
    take_at_end(process, signals, depth);
}

/* In a fork's child: the lock is held by the thread that forked, which has another number now; nobody else waits. */
void process_lock_inherit(struct process *process) {
    __atomic_store_n(&process->lock.owner, platform_thread_id(), __ATOMIC_RELAXED);
    __atomic_store_n(&process->lock.state, HELD, __ATOMIC_RELAXED);
}
