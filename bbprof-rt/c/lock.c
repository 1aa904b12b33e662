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

static void acquire(uint32_t *state) {
    for (unsigned spin = 0; spin < SPINS; spin++) {
        uint32_t free = FREE;
        if (__atomic_compare_exchange_n(state, &free, HELD, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return;
        __builtin_ia32_pause();
    }
    while (__atomic_exchange_n(state, CONTENDED, __ATOMIC_ACQUIRE) != FREE)
        platform_wait(state, CONTENDED);
}

static void release(struct lock *lock) {
    tell_unlocking(lock);
    __atomic_store_n(&lock->owner, 0, __ATOMIC_RELAXED);
    if (__atomic_exchange_n(&lock->state, FREE, __ATOMIC_RELEASE) == CONTENDED)
        platform_wake(&lock->state);
}

static void take(struct lock *lock, uint64_t signals, uint32_t depth) {
    acquire(&lock->state);
    tell_locked(lock);
    __atomic_store_n(&lock->owner, platform_thread_id(), __ATOMIC_RELAXED);
    lock->depth = depth;
    lock->signals = signals;
}

void process_lock(struct process *process) {
    struct lock *lock = &process->lock;
    int32_t self = platform_thread_id();
    if (__atomic_load_n(&lock->owner, __ATOMIC_RELAXED) == self) {
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

/* In the middle of a block: handlers interrupt none of the system calls between these two. */
uint64_t process_lock_in_block(struct process *process) {
    uint64_t signals = platform_block_signals_in_block();
    process_lock(process);
    return signals;
}

void process_unlock_in_block(struct process *process, uint64_t signals) {
    process_unlock(process);
    platform_restore_signals_in_block(signals);
}

void process_lock_pause(struct process *process, uint64_t nanoseconds) {
    struct lock *lock = &process->lock;
    uint32_t depth = lock->depth;
    uint64_t signals = lock->signals;
    release(lock);
    platform_sleep(nanoseconds);
    take(lock, signals, depth);
}

/* In a fork's child: the lock is held by the thread that forked, which has another number now; nobody else waits. */
void process_lock_inherit(struct process *process) {
    __atomic_store_n(&process->lock.owner, platform_thread_id(), __ATOMIC_RELAXED);
    __atomic_store_n(&process->lock.state, HELD, __ATOMIC_RELAXED);
}
