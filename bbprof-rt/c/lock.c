/* lock.c: the process's lock. Recursive, because a callback of bbprof_write may reach the runtime again. */
#include "process.h"

void process_lock(struct process *process) {
    struct lock *lock = &process->lock;
    int32_t self = platform_thread_id();
    if (__atomic_load_n(&lock->owner, __ATOMIC_RELAXED) == self) {
        lock->depth++;
        return;
    }
    uint64_t signals = platform_block_signals();
    for (unsigned attempts = 0;; attempts++) {
        int32_t nobody = 0;
        if (__atomic_compare_exchange_n(&lock->owner, &nobody, self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            break;
        if (attempts > 64)
            platform_yield();
        else
            __builtin_ia32_pause();
    }
    lock->depth = 1;
    lock->signals = signals;
}

void process_unlock(struct process *process) {
    struct lock *lock = &process->lock;
    if (--lock->depth > 0)
        return;
    uint64_t signals = lock->signals;
    __atomic_store_n(&lock->owner, 0, __ATOMIC_RELEASE);
    platform_restore_signals(signals);
}
