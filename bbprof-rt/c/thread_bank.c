/* thread_bank.c: maps a segment over the TLS bank of each new thread, and takes it away when the thread ends.
 *
 * The end is the last of the rounds in which thread-specific data is destroyed: all other destructors of the program (C++ and Rust
 * thread locals come before them) still count. The pages must go back then, because libc clears TLS when it reuses a stack.
 * libc functions are weak: a program without threads need not have them. */
#include "thread_bank.h"

#include "own_stack.h"
#include "process.h"

#include <errno.h>
#include <threads.h>

extern __typeof__(pthread_key_create) pthread_key_create __attribute__((weak));
extern __typeof__(pthread_key_delete) pthread_key_delete __attribute__((weak));
extern __typeof__(pthread_setspecific) pthread_setspecific __attribute__((weak));
extern __typeof__(pthread_getspecific) pthread_getspecific __attribute__((weak));
extern __typeof__(pthread_attr_destroy) pthread_attr_destroy __attribute__((weak));
extern __typeof__(pthread_attr_getstacksize) pthread_attr_getstacksize __attribute__((weak));
extern __typeof__(pthread_attr_setstacksize) pthread_attr_setstacksize __attribute__((weak));
extern int pthread_getattr_default_np(pthread_attr_t *attributes) __attribute__((weak));

/* glibc and musl call destructors in the order of keys, and glibc has room for this many in the thread itself: with the last of
 * them ours comes last, without any allocation. */
#define LATE_KEY 31u
/* PTHREAD_DESTRUCTOR_ITERATIONS of both. */
#define ROUNDS 4u

static enum { KEY_UNTRIED, KEY_READY, KEY_NONE } key_state;
static pthread_key_t key;

static void release(struct process *process, struct segment *segment) {
    const struct image *image = __bbprof_image.image;
    process_lock(process);
    if (segment_detach(process, image, BANK_TLS, segment)) {
        segment->left_by = segment->owner;
        segment->owner = THREAD_NONE;
    }
    process_unlock(process);
}

/* The first thread's value of the key: what it counts in stays as it is when it ends before the others. */
static struct segment first_thread;
static bool first_has_ended;

/* No other thread has a segment: this one goes on to run the process's exit. */
static bool is_last(const struct segment *own) {
    const struct segment *first = __bbprof_image.image->segments[BANK_TLS];
    for (const struct segment *segment = first; segment != NULL; segment = segment->next)
        if (segment != own && segment->owner != THREAD_NONE && !(segment == first && first_has_ended))
            return false;
    return true;
}

/* Behind this, the thread's counters are in no segment: no handler may count in them. libc blocks signals a moment later itself. */
static void destructor(void *value) {
    struct process *process = process_current();
    struct segment *segment = value;
    if (++segment->rounds < ROUNDS && pthread_setspecific(key, segment) == 0)
        return;
    if (segment == &first_thread) {
        first_has_ended = true;
        return;
    }
    process_lock(process);
    if (!is_last(segment))
        process_keep_signals_blocked(process);
    release(process, segment);
    process_unlock(process);
}

static bool make_key(void) {
    pthread_key_t earlier[LATE_KEY];
    unsigned num_earlier = 0;
    if (pthread_key_create == NULL || pthread_key_delete == NULL || pthread_setspecific == NULL)
        return false;
    int why = pthread_key_create(&key, destructor);
    while (why == 0 && key < LATE_KEY && num_earlier < LATE_KEY) {
        earlier[num_earlier++] = key;
        why = pthread_key_create(&key, destructor);
    }
    if (why != 0 && num_earlier > 0) {
        key = earlier[--num_earlier];
        why = 0;
    }
    while (num_earlier > 0)
        pthread_key_delete(earlier[--num_earlier]);
    return why == 0;
}

/* Whose stack this thread got without having handed its segment back has ended unseen, and libc has cleared its counters. */
static void look_for_unseen_end(struct process *process, const struct image *image) {
    uintptr_t own = (uintptr_t)__bbprof_tls_bank, bytes = bank_bytes(image, BANK_TLS);
    for (struct segment *segment = image->segments[BANK_TLS]; segment != NULL; segment = segment->next) {
        if (segment->left_by == platform_thread_id())
            segment->left_by = 0; /* an earlier thread of the same number */
        if (segment->place == NULL || (uintptr_t)segment->place + bytes <= own || own + bytes <= (uintptr_t)segment->place)
            continue;
        segment->place = NULL;
        segment->owner = THREAD_NONE;
        segment_forget_parked(process, image, segment);
        note_for_good(process, NOTE_CLEARED_BANK);
    }
}

static void tell_of_lost_thread(struct process *process) {
    note_for_good(process, NOTE_THREAD_WITHOUT_COUNTERS);
    process_complain(process, "", "", "no memory or thread-specific data left", "counts of some threads are lost");
}

/* The calling thread counts in a segment that was prepared for it. */
static void begin(struct process *process, struct segment *segment) {
    const struct image *image = __bbprof_image.image;
    segment->owner = platform_thread_id();
    look_for_unseen_end(process, image);
    segment_attach(process, image, BANK_TLS, segment, __bbprof_tls_bank);
    if (pthread_setspecific(key, segment) != 0) {
        release(process, segment);
        tell_of_lost_thread(process);
    }
}

static void *trampoline(void *argument) {
    struct process *process = process_current();
    struct segment *segment = argument;
    process_lock(process);
    void *(*start)(void *) = segment->start;
    int (*start_c11)(void *) = segment->start_c11;
    argument = segment->argument;
    begin(process, segment);
    process_unlock(process);
    return start != NULL ? start(argument) : (void *)(intptr_t)start_c11(argument);
}

/* What the bank takes of a thread's stack, where TLS is: its pages; up to one each that its alignment wastes above
 * and below it, of all TLS (glibc rounds its size up to the same), and between TLS and what libc knows of the thread;
 * and one that the beginning and the end of a thread may take. */
static size_t stack_taken(void) {
    uint64_t bytes = __bbprof_image.tls_counters * 8 + BBPROF_PAGE_BYTES - 1;
    return (bytes & ~(uint64_t)(BBPROF_PAGE_BYTES - 1)) + (uint64_t)5 * BBPROF_PAGE_BYTES;
}

int thread_stack_choose(struct thread_stack *stack, const pthread_attr_t *attributes) {
    pthread_attr_t *ours = &stack->attributes;
    bool is_named = own_stack_is_named(attributes);
    size_t bytes, usual;
    stack->is_chosen = stack->owns = false;
    if (is_named) {
        int why = own_stack_leave_out(attributes, ours);
        if (why != 0)
            return why;
        stack->owns = true;
    } else if (attributes != NULL) {
        *ours = *attributes; /* by value: the original keeps what it owns */
    } else if (pthread_getattr_default_np != NULL && pthread_getattr_default_np(ours) == 0) {
        stack->owns = true;
    } else {
        return 0;
    }
    stack->is_chosen = true;
    if (pthread_attr_getstacksize == NULL || pthread_attr_setstacksize == NULL || pthread_attr_getstacksize(attributes == NULL ? ours : attributes, &bytes) != 0)
        return 0;
    /* A stack by the program may be larger than memory. What libc runs beside it,
     * destructors, has no more than threads usually have. */
    if (is_named && pthread_attr_getstacksize(ours, &usual) == 0 && usual < bytes)
        bytes = usual;
    pthread_attr_setstacksize(ours, bytes + stack_taken());
    return 0;
}

void thread_stack_done(struct thread_stack *stack) {
    if (stack->owns && pthread_attr_destroy != NULL)
        pthread_attr_destroy(&stack->attributes);
}

/* A segment for a thread to come, or NULL. */
static struct segment *prepare_segment(struct process *process, void *(*start)(void *), int (*start_c11)(void *), void *argument) {
    process_lock(process);
    if (key_state == KEY_UNTRIED)
        key_state = make_key() ? KEY_READY : KEY_NONE;
    struct segment *segment = NULL;
    if (key_state == KEY_READY && __bbprof_image.image->segments[BANK_TLS]->owner == process->pid && process->pid == platform_thread_id())
        pthread_setspecific(key, &first_thread);
    if (key_state == KEY_READY)
        segment = segment_acquire(process, __bbprof_image.image, BANK_TLS, THREAD_STARTING);
    if (segment != NULL) {
        segment->start = start;
        segment->start_c11 = start_c11;
        segment->argument = argument;
        segment->rounds = 0;
        raw_set_threads(process, process->threads + 1);
    } else {
        tell_of_lost_thread(process);
    }
    process_unlock(process);
    return segment;
}

static int create_enlarged(create_function create, pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                           void *argument) {
    struct thread_stack stack;
    int why = thread_stack_choose(&stack, attributes);
    if (why == 0)
        why = create(thread, stack.is_chosen ? &stack.attributes : attributes, start, argument);
    thread_stack_done(&stack);
    return why;
}

static int create_with(create_function create, pthread_t *thread, const pthread_attr_t *attributes, struct segment *segment) {
    struct process *process = process_current();
    int why = create_enlarged(create, thread, attributes, trampoline, segment);
    if (why != 0) {
        process_lock(process);
        segment->owner = THREAD_NONE;
        process_unlock(process);
    }
    return why;
}

/* There is room for the counters in every thread, also where nothing is recorded. */
static int create_without(create_function create, pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                          void *argument) {
    return __bbprof_image.tls_counters == 0 ? create(thread, attributes, start, argument)
                                            : create_enlarged(create, thread, attributes, start, argument);
}

static bool counts_in_tls(void) {
    return process_current() != NULL && __bbprof_image.tls_counters != 0;
}

/* Before there is one: it may end the process at once. */
static void tell_of_threads(void) {
    struct process *process = process_current();
    if (process == NULL)
        return;
    process_lock(process);
    process->has_threads = true;
    several_threads_look(process);
    process_unlock(process);
}

bool threads_expect_libcs(void) {
    bool need_segments = counts_in_tls() && pthread_getspecific != NULL;
    if (need_segments)
        tell_of_threads();
    return need_segments;
}

void threads_adopt(void) {
    /* musl's call one function after the other. */
    if (key_state == KEY_READY && pthread_getspecific(key) != NULL)
        return;
    struct process *process = process_current();
    struct segment *segment = prepare_segment(process, NULL, NULL, NULL);
    if (segment == NULL)
        return;
    process_lock(process);
    begin(process, segment);
    process_unlock(process);
}

int threads_create(create_function create, pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
    tell_of_threads();
    struct own_stack *own = __bbprof_image.tls_counters == 0 ? NULL : own_stack_begin(attributes, start, argument);
    if (own != NULL) {
        start = own_stack_run;
        argument = own;
    }
    struct segment *segment = counts_in_tls() ? prepare_segment(process_current(), start, NULL, argument) : NULL;
    return segment == NULL ? create_without(create, thread, attributes, start, argument) : create_with(create, thread, attributes, segment);
}

/* On all systems with this runtime a function that returns int may be called as if it returned a pointer; who joins the thread cuts
 * the result to int. */
int threads_create_c11(create_function create, pthread_t *thread, int (*start)(void *), void *argument) {
    tell_of_threads();
    struct segment *segment = counts_in_tls() ? prepare_segment(process_current(), NULL, start, argument) : NULL;
    union {
        int (*c11)(void *);
        void *(*posix)(void *);
    } plain = {start};
    int why = segment == NULL ? create_without(create, thread, NULL, plain.posix, argument) : create_with(create, thread, NULL, segment);
    return why == 0 ? thrd_success : why == ENOMEM ? thrd_nomem : thrd_error;
}
