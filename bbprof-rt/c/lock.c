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

/* A state that is not free has the number of the thread that holds it. */
#define FREE 0u
#define CONTENDED 0x80000000u

#define SPINS 100u /* a guess: most holders are done after one or two system calls */
/* Who waits looks again after a while, longer each time: a thousand threads that did so
 * each millisecond would leave the holder no processor. */
#define FIRST_PAUSE_NS UINT64_C(1000000)
#define LONGEST_PAUSE_NS UINT64_C(100000000)

static bool change(uint32_t *state, uint32_t *from, uint32_t to) {
    return __atomic_compare_exchange_n(state, from, to, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static bool acquire_at_once(uint32_t *state) {
    uint32_t self = (uint32_t)platform_thread_id();
    for (unsigned spin = 0; spin < SPINS; spin++) {
        uint32_t free = FREE;
        if (change(state, &free, self))
            return true;
        __builtin_ia32_pause();
    }
    return false;
}

/* Who waits, for whom, and for how long one thread has had what is waited for. */
struct wait {
    uint32_t self, holder;
    uint64_t pause_ns, held_ns;
};

static struct wait waiting(void) {
    return (struct wait){(uint32_t)platform_thread_id(), 0, FIRST_PAUSE_NS, 0};
}

#define LONGEST_OF_THE_LIVING_NS UINT64_C(100000000) /* who lives in a pid namespace of its own has another number there than here */

/* A child of vfork, or of a bare clone, that was killed while it held what its parent has, too. */
static bool inherit_from_dead(struct process *process, uint32_t *state, struct wait *wait) {
    uint32_t found = __atomic_load_n(state, __ATOMIC_RELAXED);
    int32_t holder = (int32_t)(found & ~CONTENDED);
    bool is_the_same = holder != 0 && wait->holder == (uint32_t)holder;
    wait->holder = (uint32_t)holder;
    wait->held_ns = is_the_same ? wait->held_ns + wait->pause_ns : 0;
    if (wait->held_ns < LONGEST_OF_THE_LIVING_NS)
        return false;
    wait->held_ns = 0;
    bool is_gone = !platform_thread_exists(process->pid, holder) && platform_process_is_gone(holder);
    if (!is_gone || !change(state, &found, wait->self | CONTENDED))
        return false;
    note_for_good(process, NOTE_CHANGE_BY_KILLED);
    return true;
}

/* False: it waited a moment for it. */
static bool acquire_or_pause(struct process *process, uint32_t *state, struct wait *wait) {
    uint32_t found = FREE;
    /* Others may wait, too. */
    if (change(state, &found, wait->self | CONTENDED))
        return true;
    if ((found & CONTENDED) != 0 || change(state, &found, found | CONTENDED))
        platform_wait(state, found | CONTENDED, wait->pause_ns);
    bool has_inherited = inherit_from_dead(process, state, wait);
    wait->pause_ns = wait->pause_ns * 2 < LONGEST_PAUSE_NS ? wait->pause_ns * 2 : LONGEST_PAUSE_NS;
    return has_inherited;
}

static void acquire(struct process *process, uint32_t *state) {
    if (acquire_at_once(state))
        return;
    for (struct wait wait = waiting(); !acquire_or_pause(process, state, &wait);)
        continue;
}

static void release_state(uint32_t *state) {
    if ((__atomic_exchange_n(state, FREE, __ATOMIC_RELEASE) & CONTENDED) != 0)
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

#define LONGEST_FORK_NS UINT64_C(1000000000) /* a guess: up to musl 1.2.1 forks go on, and take a second in huge memory only */
#define LONGEST_OF_THE_NEXT_NS UINT64_C(20000000) /* of a process whose forks have waited for others before */

static bool fork_holds(const struct process *process) {
    return __atomic_load_n(&process->is_forking, __ATOMIC_RELAXED) &&
           __atomic_load_n(&process->lock.owner, __ATOMIC_RELAXED) == process->forking_thread;
}

/* False: a fork holds it for so long that it seems to wait for the caller: libc, or a
 * handler of the program's, for a lock that the caller has. */
static bool acquire_beside_forks(struct process *process) {
    uint32_t *state = &process->lock.state;
    if (acquire_at_once(state))
        return true;
    uint64_t patience_ns = __atomic_load_n(&process->had_guests, __ATOMIC_RELAXED) ? LONGEST_OF_THE_NEXT_NS : LONGEST_FORK_NS, fork_ns = 0;
    for (struct wait wait = waiting(); !acquire_or_pause(process, state, &wait);) {
        fork_ns = fork_holds(process) ? fork_ns + wait.pause_ns : 0;
        if (fork_ns > patience_ns || (fork_ns != 0 && __atomic_load_n(&process->has_guests, __ATOMIC_RELAXED))) {
            platform_wake(state); /* it may have been woken, in another's place */
            return false;
        }
    }
    return true;
}

/* Only it can end a fork. */
static bool is_last_library(const struct process *process) {
    return !process->has_program && process->num_loaded <= 1;
}

/* Between its handlers a fork has nothing in hand: who cannot wait for it goes in beside it, one at a time. It does not come to its
 * end, nor does the forking thread to anything of ours, while one is in. The last library has to stay. */
static void take(struct process *process, uint64_t signals, uint32_t depth, bool may_be_last) {
    while (!acquire_beside_forks(process)) {
        acquire(process, &process->guests.state);
        bool holds = fork_holds(process), has_to_stay = may_be_last && is_last_library(process);
        if (holds && !has_to_stay) {
            __atomic_store_n(&process->has_guests, true, __ATOMIC_RELAXED);
            __atomic_store_n(&process->had_guests, true, __ATOMIC_RELAXED);
            own(&process->guests, signals, depth);
            return;
        }
        release_state(&process->guests.state);
        if (holds) {
            acquire(process, &process->lock.state);
            break;
        }
    }
    own(&process->lock, signals, depth);
}

/* Is this the forking thread, on its first way in behind its handler? */
static bool is_beside_guests(const struct process *process, const struct lock *lock) {
    return lock == &process->lock && process->is_forking && lock->depth == process->depth_of_fork + 1;
}

/* In a fork's child that no handler of ours has begun yet. */
static void begin_child_first(struct process *process) {
    if (fork_is_callers(process) && process->pid != platform_process_id())
        fork_begin_child(process);
}

void process_lock(struct process *process) {
    begin_child_first(process);
    struct lock *lock = held_by_caller(process);
    if (lock == NULL) {
        take(process, platform_block_signals(), 1, false);
        return;
    }
    lock->depth++;
    if (is_beside_guests(process, lock))
        acquire(process, &process->guests.state);
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
    begin_child_first(process);
    if (held_by_caller(process) != NULL) {
        process_lock(process);
        return true;
    }
    /* Forks go one behind the other, and who leaves beside one of them waits until nobody is in its handlers. */
    uint64_t signals = platform_block_signals();
    for (struct wait wait = waiting(); !has_left();) {
        if (acquire_or_pause(process, &process->lock.state, &wait)) {
            own(&process->lock, signals, 1);
            return true;
        }
    }
    platform_restore_signals(signals);
    return false;
}

void process_lock_for_fork(struct process *process) {
    struct lock *lock = &process->lock;
    if (is_beside_guests(process, lock))
        release_state(&process->guests.state);
    process->forking_thread = platform_thread_id();
    process->forking_storage = platform_thread_storage();
    process->depth_of_fork = lock->depth;
    __atomic_store_n(&process->is_forking, true, __ATOMIC_RELAXED);
}

void process_lock_behind_fork(struct process *process) {
    acquire(process, &process->guests.state);
    __atomic_store_n(&process->is_forking, false, __ATOMIC_RELAXED);
    __atomic_store_n(&process->has_guests, false, __ATOMIC_RELAXED);
    release_state(&process->guests.state);
}

void process_lock_behind_inner_fork(struct process *process) {
    process->lock.depth--;
    process->depth_of_fork--;
}

void process_lock_leave_fork(struct process *process) {
    if (held_by_caller(process) != &process->lock || process->forks_inside == 0)
        return;
    bool keeps_guests_out = is_beside_guests(process, &process->lock);
    process->lock.depth -= process->forks_inside;
    process->forks_inside = 0;
    __atomic_store_n(&process->is_forking, false, __ATOMIC_RELAXED);
    __atomic_store_n(&process->has_guests, false, __ATOMIC_RELAXED);
    if (keeps_guests_out)
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

/* musl holds a lock of its own while the last destructors run, and each fork takes that behind our handlers: who has taken ours
 * around a fork waits for the process's end, and touches nothing any more. So its lock is taken away from it. */
static void take_at_end(struct process *process, uint64_t signals, uint32_t depth) {
    if (!process->forks_wait_for_end) {
        take(process, signals, depth, true);
        return;
    }
    acquire_beside_forks(process);
    own(&process->lock, signals, depth);
}

void process_lock_at_end(struct process *process) {
    begin_child_first(process);
    if (held_by_caller(process) != NULL)
        process_lock(process);
    else
        take_at_end(process, platform_block_signals(), 1);
}

void process_lock_pause(struct process *process, uint64_t nanoseconds) {
    struct lock *lock = held(process);
    uint32_t depth = lock->depth;
    uint64_t signals = lock->signals;
    /* A handler of a fork: the fork goes on behind it, and nobody else comes in. */
    if (is_beside_guests(process, lock)) {
        platform_sleep(nanoseconds);
        return;
    }
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
    __atomic_store_n(&process->lock.state, (uint32_t)platform_thread_id(), __ATOMIC_RELAXED);
    return was_changing;
}
