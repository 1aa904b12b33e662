/* notified.c: gives threads that libc makes to call a function of the program (timer_create, mq_notify) counters, when
 * they are about to call it, and room for them on their stacks. glibc makes them past its own pthread_create, and for each
 * kind one more that waits and runs nothing of the program. */
#include "notified.h"

#include "process.h"

/* A function and its argument. Threads that are to call it may come at any time, so it
 * stays; the next event that is the same has it, too. */
struct notified {
    struct notified *next;
    void (*function)(union sigval);
    union sigval value;
};

#define BUCKETS 64u
static struct notified *all[BUCKETS];

static struct notified *keep(struct process *process, const struct sigevent *event) {
    uintptr_t number = (uintptr_t)event->sigev_notify_function ^ (uintptr_t)event->sigev_value.sival_ptr;
    struct notified **bucket = &all[(number >> 4 ^ number >> 10) % BUCKETS];
    process_lock(process);
    struct notified *found = *bucket;
    while (found != NULL && (found->function != event->sigev_notify_function || found->value.sival_ptr != event->sigev_value.sival_ptr))
        found = found->next;
    if (found == NULL && (found = process_allocate(process, sizeof *found)) != NULL) {
        *found = (struct notified){*bucket, event->sigev_notify_function, event->sigev_value};
        *bucket = found;
    }
    process_unlock(process);
    return found;
}

static void run(union sigval value) {
    const struct notified *notified = value.sival_ptr;
    threads_adopt();
    notified->function(notified->value);
}

/* An event in place of the program's. */
struct notice {
    struct sigevent event;
    struct thread_stack stack;
    bool is_ours;
};

/* The event to be asked for: the program's own where it names no function, or no thread needs anything. */
static struct sigevent *begin(struct notice *notice, const struct sigevent *event) {
    struct sigevent *own = (struct sigevent *)(uintptr_t)event;
    notice->is_ours = event != NULL && event->sigev_notify == SIGEV_THREAD && threads_expect_libcs();
    struct notified *notified = notice->is_ours ? keep(process_current(), event) : NULL;
    notice->is_ours = notified != NULL && thread_stack_choose(&notice->stack, event->sigev_notify_attributes) == 0;
    if (!notice->is_ours)
        return own;
    notice->event = *event;
    notice->event.sigev_notify_function = run;
    notice->event.sigev_value.sival_ptr = notified;
    if (notice->stack.is_chosen)
        notice->event.sigev_notify_attributes = &notice->stack.attributes;
    return &notice->event;
}

static int end(struct notice *notice, enum libc_waits waits, int result) {
    if (!notice->is_ours)
        return result;
    thread_stack_done(&notice->stack);
    if (result == 0)
        __atomic_fetch_or(&process_current()->libc_waits, 1u << waits, __ATOMIC_RELAXED);
    return result;
}

int notified_by_timer(create_timer_function create, clockid_t clock, struct sigevent *event, timer_t *timer) {
    struct notice notice;
    struct sigevent *asked = begin(&notice, event);
    return end(&notice, LIBC_WAITS_FOR_TIMERS, create(clock, asked, timer));
}

int notified_by_queue(notify_function notify, mqd_t queue, const struct sigevent *event) {
    struct notice notice;
    const struct sigevent *asked = begin(&notice, event);
    return end(&notice, LIBC_WAITS_FOR_QUEUES, notify(queue, asked));
}
