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
        platform_wait(state, CONTENDED, 0);
}

static void release_state(uint32_t *state) {
    if (__atomic_exchange_n(state, FREE, __ATOMIC_RELEASE) == CONTENDED)
        platform_wake(state);
}

static void release(struct lock *lock) {
    tell_unlocking(lock);
    __atomic_store_n(&lock->owner, 0, __ATOMIC_RELAXED);
    release_state(&lock->state);
}

static void own(struct lock *lock, uint64_t signals, uint32_t depth) {
    tell_locked(lock);
    __atomic_store_n(&lock->owner, platform_thread_id(), __ATOMIC_RELAXED);
    lock->depth = depth;
    lock->signals = signals;
}

/* NULL = neither. */
static struct lock *held_by_caller(struct process *process) {
    int32_t caller = platform_thread_id();
    if (__atomic_load_n(&process->lock.owner, __ATOMIC_RELAXED) == caller)
        return &process->lock;
    return __atomic_load_n(&process->guests.owner, __ATOMIC_RELAXED) == caller ? &process->guests : NULL;
}

/* Of a caller who has one of them. */
static struct lock *held(struct process *process) {
    int32_t guest = __atomic_load_n(&process->guests.owner, __ATOMIC_RELAXED);
    return guest != 0 && guest == platform_thread_id() ? &process->guests : &process->lock;
}

#define PAUSE_NS 1000000u
#define PAUSES_OF_A_FORK 1000u /* a guess: up to musl 1.2.1 forks go on, and take a second in huge memory only */
#define PAUSES_OF_THE_NEXT 20u /* of a process whose forks have waited for others before */

static bool fork_holds(const struct process *process) {
    return __atomic_load_n(&process->is_forking, __ATOMIC_RELAXED) &&
           __atomic_load_n(&process->lock.owner, __ATOMIC_RELAXED) == process->forking_thread;
}

/* False: a fork holds it for so long that it seems to wait for the caller: libc, or a handler of the program's, for a lock that the caller has. */
static bool acquire_beside_forks(struct process *process) {
    uint32_t *state = &process->lock.state;
    if (acquire_at_once(state))
        return true;
    unsigned patience = __atomic_load_n(&process->had_guests, __ATOMIC_RELAXED) ? PAUSES_OF_THE_NEXT : PAUSES_OF_A_FORK;
    for (unsigned pauses = 0; __atomic_exchange_n(state, CONTENDED, __ATOMIC_ACQUIRE) != FREE;) {
        pauses = fork_holds(process) ? pauses + 1 : 0;
        if (pauses > patience || (pauses != 0 && __atomic_load_n(&process->has_guests, __ATOMIC_RELAXED)))
            return false;
        platform_wait(state, CONTENDED, PAUSE_NS);
    }
    return true;
}

static bool takes_part_in_fork(void) {
    return __bbprof_image.image != NULL && __bbprof_image.image->withheld.delta != NULL;
}

/* Between its handlers a fork has nothing in hand: who cannot wait for it goes in beside it, one at a time. It does not come to its end, nor does
 * the forking thread to anything of ours, while one is in. The last library with handlers in the fork has to stay. */
static void take(struct process *process, uint64_t signals, uint32_t depth, bool may_be_last) {
    while (!acquire_beside_forks(process)) {
        acquire(&process->guests.state);
        bool holds = fork_holds(process), has_to_stay = may_be_last && takes_part_in_fork() && process->depth_of_fork <= 1;
        if (holds && !has_to_stay) {
            __atomic_store_n(&process->has_guests, true, __ATOMIC_RELAXED);
            __atomic_store_n(&process->had_guests, true, __ATOMIC_RELAXED);
            own(&process->guests, signals, depth);
            return;
        }
        release_state(&process->guests.state);
        if (holds) {
            acquire(&process->lock.state);
            break;
        }
    }
    own(&process->lock, signals, depth);
}

/* Is this the forking thread, on its first way in behind its handler? */
static bool is_beside_guests(const struct process *process, const struct lock *lock) {
    return lock == &process->lock && process->is_forking && lock->depth == process->depth_of_fork + 1;
}

void process_lock(struct process *process) {
    if (fork_is_callers(process) && process->pid != platform_process_id())
        fork_begin_child(process);
    struct lock *lock = held_by_caller(process);
    if (lock == NULL) {
        take(process, platform_block_signals(), 1, false);
        return;
    }
    lock->depth++;
    if (is_beside_guests(process, lock))
        acquire(&process->guests.state);
}

void process_unlock(struct process *process) {
    struct lock *lock = held(process);
    if (is_beside_guests(process, lock))
        release_state(&process->guests.state);
    if (--lock->depth > 0)
        return;
    uint64_t signals = lock->signals;
    release(lock);
    platform_restore_signals(signals);
}

void process_unlock_for_good(struct process *process) {
    release(held(process));
}

void process_keep_signals_blocked(struct process *process) {
    held(process)->signals = ~(uint64_t)0;
}

bool process_lock_to_fork(struct process *process, bool (*has_left)(void)) {
    if (held_by_caller(process) != NULL) {
        process_lock(process);
        return true;
    }
    /* Forks go one behind the other, and who leaves beside one of them waits until nobody is in its handlers. */
    uint64_t signals = platform_block_signals();
    while (!has_left()) {
        if (__atomic_exchange_n(&process->lock.state, CONTENDED, __ATOMIC_ACQUIRE) == FREE) {
            own(&process->lock, signals, 1);
            return true;
        }
        platform_wait(&process->lock.state, CONTENDED, PAUSE_NS);
    }
    platform_restore_signals(signals);
    return false;
}

void process_lock_for_fork(struct process *process) {
    struct lock *lock = &process->lock;
    if (is_beside_guests(process, lock))
        release_state(&process->guests.state);
    process->forking_thread = platform_thread_id();
    process->depth_of_fork = lock->depth;
    __atomic_store_n(&process->is_forking, true, __ATOMIC_RELAXED);
}

void process_lock_leave_fork(struct process *process) {
    process->lock.depth--;
    process->depth_of_fork--;
}

void process_lock_behind_fork(struct process *process) {
    acquire(&process->guests.state);
    __atomic_store_n(&process->is_forking, false, __ATOMIC_RELAXED);
    __atomic_store_n(&process->has_guests, false, __ATOMIC_RELAXED);
    release_state(&process->guests.state);
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

/* musl holds a lock of its own while the last destructors run, and each fork takes that behind our handlers: who has taken ours around a fork waits
 * for the process's end, and touches nothing any more. So its lock is taken away from it. */
static void take_at_end(struct process *process, uint64_t signals, uint32_t depth) {
    if (!process->forks_wait_for_end) {
        take(process, signals, depth, true);
        return;
    }
    acquire_beside_forks(process);
    own(&process->lock, signals, depth);
}

void process_lock_at_end(struct process *process) {
    if (held_by_caller(process) != NULL)
        process_lock(process);
    else
        take_at_end(process, platform_block_signals(), 1);
}

void process_lock_pause(struct process *process, uint64_t nanoseconds) {
    struct lock *lock = held(process);
    uint32_t depth = lock->depth;
    uint64_t signals = lock->signals;
    release(lock);
    platform_sleep(nanoseconds);
    if (lock == &process->guests)
        take(process, signals, depth, false);
    else
        take_at_end(process, signals, depth);
}

/* In a fork's child: the lock is held by the thread that forked, which has another number now; nobody else waits. */
bool process_lock_inherit(struct process *process) {
    bool was_changing = __atomic_exchange_n(&process->guests.state, FREE, __ATOMIC_RELAXED) != FREE;
    process->guests.owner = 0;
    process->is_forking = process->has_guests = false;
    __atomic_store_n(&process->lock.owner, platform_thread_id(), __ATOMIC_RELAXED);
    __atomic_store_n(&process->lock.state, HELD, __ATOMIC_RELAXED);
    return was_changing;
}
