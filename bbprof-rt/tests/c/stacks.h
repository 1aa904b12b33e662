/* stacks.h: threads on small stacks, and on those that the program made; a part of scenario.c. */
static size_t get_stack(pthread_t thread, void **address, size_t *size) {
    pthread_attr_t attributes;
    size_t guard;
    check(pthread_getattr_np(thread, &attributes) != 0, "pthread_getattr_np");
    pthread_attr_getstack(&attributes, address, size);
    pthread_attr_getguardsize(&attributes, &guard);
    pthread_attr_destroy(&attributes);
    return guard;
}
#define SMALL_STACK (64 << 10)
/* Has all of it but what glibc takes in any program, 4.3 KB. */
static void *thread_on_small_stack(void *bytes) {
    char here;
    void *address;
    size_t size;
    get_stack(pthread_self(), &address, &size);
    check(&here - (char *)address < SMALL_STACK - 4608, "room on the stack");
    return recursing_thread(bytes);
}
/* Larger than memory, and not used. */
#define LARGE_STACK ((size_t)1 << 42)
static char *own_stack;
static size_t own_stack_size;
static void leave_marked(void *marked) {
    *(bool *)marked = true;
}
/* In static programs, libc's stack. */
static void expect_own_stack(pthread_t thread) {
    void *address;
    size_t size, guard = get_stack(thread, &address, &size);
    if (((FLAGS)&BBPROF_FLAG_STATIC) == 0)
        check(address != own_stack || size != own_stack_size || guard != 0, "what it tells");
}
static void *ask_of_starter(void *starter) {
    expect_own_stack(*(pthread_t *)starter);
    return NULL;
}
/* A key's destructor, on libc's stack. */
static pthread_key_t leaving;
static void expect_other_stack(void *marked) {
    char here;
    void *address;
    size_t size;
    (void)marked;
    get_stack(pthread_self(), &address, &size);
    check(&here < (char *)address || &here >= (char *)address + size, "what it tells in the end");
}
/* Runs on the stack that the program made, uses seven eighths of it, and ends in one of two ways. */
static void *thread_on_own_stack(void *marked) {
    char here;
    check(&here < own_stack || &here >= own_stack + own_stack_size, "own stack");
    pthread_t self = pthread_self();
    expect_own_stack(self);
    pthread_join(spawn(ask_of_starter, &self, NULL), NULL);
    pthread_setspecific(leaving, &leaving);
    if (own_stack_size < LARGE_STACK)
        recursing_thread((void *)(own_stack_size / 8 * 7));
    pthread_cleanup_push(leave_marked, marked);
    if (marked != NULL)
        pthread_exit((void *)5);
    pthread_cleanup_pop(0);
    return (void *)6;
}
static void run_on_own_stacks(size_t size) {
    static const size_t below = 65536;
    char *memory = size < LARGE_STACK ? aligned_alloc(4096, below + size)
                                      : mmap(NULL, below + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    pthread_key_create(&leaving, expect_other_stack);
    bool marked = false;
    void *result;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    check(pthread_attr_setstack(&attributes, memory + below, size) != 0, "setstack");
    own_stack = memory + below;
    own_stack_size = size;
    memset(memory, 'd', below);
    pthread_join(spawn(thread_on_own_stack, NULL, &attributes), &result);
    check(result != (void *)6, "the result");
    pthread_join(spawn(thread_on_own_stack, &marked, &attributes), &result);
    check(result != (void *)5 || !marked, "pthread_exit");
    for (size_t i = 0; i < below; i++)
        check(memory[i] != 'd', "what lies below the stack");
    /* It is the program's. */
    if (size < LARGE_STACK)
        memset(memory, 0, below + size);
}
