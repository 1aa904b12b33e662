/* scenario.c: a program that counts by hand and ends in the way its first argument says. Counter 0: before main; 1: main; 2:
 * threads; 3: children; 4: handlers and destructors; global 0: plain; global 1: through delta. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef NUM_TLS
#define NUM_TLS 1000
#endif
#define NUM_GLOBAL 700
#ifndef FLAGS
#define FLAGS BBPROF_FLAG_DELTA
#endif
#define BUILD_ID 0xe0
#include "record.h"

#include "bbprof.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

__attribute__((constructor)) static void before_main(void) {
    HIT(0);
}
__attribute__((destructor)) static void after_main(void) {
    HIT(4);
}

static void work(unsigned k, unsigned long times) {
    while (times-- > 0)
        HIT(k);
}

static void *counting_thread(void *times) {
    work(2, (unsigned long)times);
    return NULL;
}
static void *delta_thread(void *times) {
    for (unsigned long i = 0; i < (unsigned long)times; i++)
        hit_delta(1);
    return NULL;
}
static void *exiting_thread(void *times) {
    work(2, (unsigned long)times);
    pthread_exit(NULL);
}
static void *endless_thread(void *ready) {
    work(2, 100);
    if (write((int)(long)ready, "", 1) != 1)
        abort();
    for (;;)
        pause();
    return NULL;
}
static pthread_key_t late_key;
/* Re-arms itself to the last round. */
static void late_destructor(void *rounds) {
    work(4, 1);
    if ((long)rounds > 1)
        pthread_setspecific(late_key, (void *)((long)rounds - 1));
}
static void *late_thread(void *unused) {
    (void)unused;
    work(2, 1);
    pthread_setspecific(late_key, (void *)4);
    return NULL;
}
static void *recursing_thread(void *bytes) {
    volatile char stack[1024];
    stack[0] = 0;
    work(2, 1);
    if ((long)bytes > 1024)
        recursing_thread((void *)((long)bytes - 1024));
    return (void *)(long)stack[0];
}
static pthread_barrier_t all_there;
static void *meeting_thread(void *unused) {
    (void)unused;
    work(2, 1);
    pthread_barrier_wait(&all_there);
    return NULL;
}
/* Whether it counts where another thread does. */
static void *neighbour_thread(void *delta) {
    hit_delta(1);
    return (void *)(long)(__bbprof_delta == (uint64_t)delta);
}
/* Counts for the first time as vfork's child. */
static void *vforking_thread(void *unused) {
    pthread_t neighbour;
    void *is_shared;
    (void)unused;
    pid_t child = vfork();
    if (child == 0) {
        hit_delta(1);
        hit_delta(1);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    hit_delta(1);
    if (pthread_create(&neighbour, NULL, neighbour_thread, (void *)__bbprof_delta) != 0 || pthread_join(neighbour, &is_shared) != 0 || is_shared)
        _exit(96);
    return NULL;
}
static int c11_thread(void *times) {
    work(2, (unsigned long)times);
    return 7;
}
static void *process_exiting_thread(void *unused) {
    (void)unused;
    work(2, 5);
    exit(9);
}
static void *forking_thread(void *unused) {
    (void)unused;
    work(2, 10);
    pid_t child = fork();
    if (child == 0) {
        work(3, 20);
        hit_delta(1);
        exit(0);
    }
    waitpid(child, NULL, 0);
    work(2, 10);
    return NULL;
}

/* The program's own tally in shared memory: each count is done first, then told. */
static volatile unsigned long *tally;
static void *telling_thread(void *slot) {
    for (int i = 0; i < 200; i++) {
        HIT(2);
        tally[(long)slot]++;
        hit_delta(1);
        tally[8 + (long)slot]++;
    }
    return NULL;
}

/* Calls the runtime as instrumented code does, with all registers in use; what they hold before and after. */
struct registers {
    uint64_t general[13]; /* rcx rdx rsi rdi r8 r9 r10 r12..r15 rbx rbp */
    uint64_t vector[16][2];
};
__attribute__((used)) static volatile struct registers before, after;
__attribute__((used)) static volatile uint64_t returned;
__asm__(".text\n.globl call_thread_block\n.type call_thread_block, @function\ncall_thread_block:\n"
        "push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15; sub $8, %rsp\n"
#define EACH(op_load, base)                                                                                                        \
    "lea " base "(%rip), %rax\n" op_load(0, rcx) op_load(8, rdx) op_load(16, rsi) op_load(24, rdi) op_load(32, r8) op_load(40, r9) \
        op_load(48, r10) op_load(56, r12) op_load(64, r13) op_load(72, r14) op_load(80, r15) op_load(88, rbx) op_load(96, rbp)
#define LOAD(at, reg) "mov " #at "(%rax), %" #reg "\n"
#define STORE(at, reg) "mov %" #reg ", " #at "(%rax)\n"
        EACH(LOAD, "before")
        ".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n movups 104+16*\\n(%rax), %xmm\\n\n .endr\n"
        "lea 1f(%rip), %r11; jmp __bbprof_thread_block; 1:\n"
        "mov %rax, returned(%rip)\n"
        EACH(STORE, "after")
        ".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n movups %xmm\\n, 104+16*\\n(%rax)\n .endr\n"
        "add $8, %rsp; pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx; ret\n"
        ".size call_thread_block, .-call_thread_block\n");
extern void call_thread_block(void);
static void *register_thread(void *unused) {
    (void)unused;
    for (unsigned i = 0; i < sizeof before / 8; i++)
        ((uint64_t *)&before)[i] = 0x0123456789abcdef * (i + 3);
    call_thread_block();
    if (memcmp((void *)&before, (void *)&after, sizeof before) != 0 || __bbprof_delta == BBPROF_DELTA_NONE || returned != __bbprof_delta + BBPROF_DELTA_NONE)
        _exit(97);
    hit_delta(1);
    return NULL;
}

static void check(int failed, const char *what) {
    if (failed) {
        perror(what);
        exit(99);
    }
}
static int has_dumped(pid_t process, int number) {
    char name[64];
    snprintf(name, sizeof name, "x.%d.%d.bbraw", (int)process, number);
    return access(name, F_OK) == 0;
}
/* Until there is this dump of this process, or for a minute; not interrupted by whatever dumps meanwhile. */
static void sleep_for_dumps(pid_t process, int number) {
    for (int i = 0; i < 600 && !has_dumped(process, number); i++)
        check(usleep(100000) != 0, "usleep");
}
/* The same, and counts all the while. */
static void count_for_dumps(pid_t process, int number) {
    for (int i = 0; i < 6000 && !has_dumped(process, number); i++)
        for (int k = 0; k < 10000000; k++)
            HIT(2);
}
static pthread_t spawn(void *(*start)(void *), void *argument, const pthread_attr_t *attributes) {
    pthread_t thread;
    errno = pthread_create(&thread, attributes, start, argument);
    check(errno != 0, "pthread_create");
    return thread;
}
#include "stacks.h"
static void run_threads(unsigned num, void *(*start)(void *), void *argument) {
    pthread_t threads[64];
    for (unsigned i = 0; i < num; i++)
        threads[i] = spawn(start, argument, NULL);
    for (unsigned i = 0; i < num; i++)
        pthread_join(threads[i], NULL);
}
static void leave_at_once(void) {
    _exit(6);
}
static void on_signal(int signal) {
    (void)signal;
    work(4, 10);
    _exit(3);
}

/* The context is a descriptor, or an error to return. */
static int write_out(void *context, const void *bytes, size_t num_bytes) {
    int file = *(int *)context;
    return file < 0 ? file : write(file, bytes, num_bytes) == (ssize_t)num_bytes ? 0 : -EIO;
}

/* Waits for a thread that begins and ends meanwhile. */
static int write_by_thread(void *context, const void *bytes, size_t num_bytes) {
    run_threads(1, counting_thread, (void *)10);
    return write_out(context, bytes, num_bytes);
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "return";
    work(1, 100);
    HIT_SHARED(0);
    hit_delta(1);
#define IS(name) (strcmp(how, name) == 0)
    if (IS("return"))
        return 0;
    if (IS("exit"))
        exit(42);
    if (IS("_exit"))
        _exit(3);
    if (IS("abort"))
        abort();
    if (IS("kill"))
        kill(getpid(), SIGKILL);
    if (IS("quick_exit"))
        quick_exit(5);
    if (IS("quick_exit-_exit")) {
        at_quick_exit(leave_at_once);
        quick_exit(5);
    }
    if (IS("segv"))
        *(volatile int *)0 = 0;
    if (IS("handler")) {
        signal(SIGTERM, on_signal);
        raise(SIGTERM);
    }
    if (IS("threads"))
        run_threads(8, counting_thread, (void *)1000000);
    if (IS("delta-threads"))
        run_threads(8, delta_thread, (void *)100000);
    if (IS("delta-short-threads"))
        for (int i = 0; i < 200; i++)
            run_threads(4, delta_thread, (void *)1);
    if (IS("registers"))
        run_threads(3, register_thread, NULL);
    if (IS("short-threads"))
        for (int i = 0; i < 1250; i++)
            run_threads(8, counting_thread, (void *)1);
    if (IS("pthread_exit"))
        run_threads(4, exiting_thread, (void *)10);
    if (IS("main-pthread_exit")) {
        spawn(counting_thread, (void *)10, NULL);
        pthread_exit(NULL);
    }
    if (IS("exit-in-thread")) {
        spawn(process_exiting_thread, NULL, NULL);
        pause();
    }
    if (IS("cancel") || IS("detached")) {
        int ready[2];
        char byte;
        check(pipe(ready) != 0, "pipe");
        pthread_t threads[4];
        for (int i = 0; i < 4; i++)
            threads[i] = spawn(endless_thread, (void *)(long)ready[1], NULL);
        for (int i = 0; i < 4; i++)
            check(read(ready[0], &byte, 1) != 1, "read");
        for (int i = 0; i < 4; i++) {
            if (IS("detached")) {
                pthread_detach(threads[i]);
            } else {
                pthread_cancel(threads[i]);
                pthread_join(threads[i], NULL);
            }
        }
    }
    if (IS("late")) {
        pthread_key_create(&late_key, late_destructor);
        run_threads(3, late_thread, NULL);
    }
    if (IS("small-stack")) {
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        check(pthread_attr_setstacksize(&attributes, SMALL_STACK) != 0, "setstacksize");
        pthread_join(spawn(thread_on_small_stack, (void *)(40L << 10), &attributes), NULL);
    }
    if (IS("tally")) {
        int file = open(argv[2], O_RDWR);
        tally = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        check(tally == MAP_FAILED, "mmap");
        for (int round = 0; round < 40; round++) {
            pthread_t threads[4];
            for (long i = 0; i < 4; i++)
                threads[i] = spawn(telling_thread, (void *)i, NULL);
            for (long i = 0; i < 4; i++)
                pthread_join(threads[i], NULL);
        }
    }
    if (IS("own-stack"))
        run_on_own_stacks((size_t)atol(argv[2]));
    if (IS("c11")) {
        thrd_t thread;
        int result;
        check(thrd_create(&thread, c11_thread, (void *)30) != thrd_success, "thrd_create");
        thrd_join(thread, &result);
        check(result != 7, "thrd_join");
    }
    if (IS("fork")) {
        pid_t child = fork();
        if (child == 0) {
            work(3, 50);
            hit_delta(1);
            exit(1);
        }
        waitpid(child, NULL, 0);
    }
    if (IS("_Fork")) {
        pid_t child = _Fork();
        if (child == 0) {
            work(3, 50);
            _exit(1);
        }
        waitpid(child, NULL, 0);
    }
    if (IS("fork-_exit")) {
        pid_t child = fork();
        if (child == 0) {
            work(3, 50);
            _exit(1);
        }
        waitpid(child, NULL, 0);
    }
    if (IS("fork-in-thread"))
        run_threads(1, forking_thread, NULL);
    if (IS("fork-then-threads")) {
        run_threads(2, counting_thread, (void *)10);
        pid_t child = fork();
        if (child == 0) {
            run_threads(4, counting_thread, (void *)25);
            exit(0);
        }
        waitpid(child, NULL, 0);
        run_threads(2, counting_thread, (void *)10);
    }
    if (IS("vfork")) {
        pid_t child = vfork();
        if (child == 0) {
            execl("/bin/true", "true", (char *)NULL);
            _exit(1);
        }
        waitpid(child, NULL, 0);
    }
    if (IS("exec")) {
        execl(argv[0], argv[0], "return", (char *)NULL);
        check(1, "execl");
    }
    if (IS("execveat")) {
        char *const words[] = {argv[0], "return", NULL};
        execveat(AT_FDCWD, argv[0], words, environ, 0);
        check(1, "execveat");
    }
    if (IS("dump-exec")) {
        work(1, 5);
        check(bbprof_dump(NULL) != 0, "bbprof_dump");
        execl(argv[0], argv[0], "dump", "first.bbraw", (char *)NULL);
        check(1, "execl");
    }
    if (IS("dump")) {
        check(bbprof_dump(argv[2]) != 0, "bbprof_dump");
        work(1, 11);
        check(bbprof_reset() != 0, "bbprof_reset");
        work(1, 22);
        check(bbprof_dump(NULL) != 0, "bbprof_dump");
        check(bbprof_reset() != 0, "bbprof_reset");
        work(1, 33);
        if (argc > 3)
            _exit(0);
    }
    if (IS("write")) {
        int refused = -EBADF, file = 1;
        check(bbprof_write(write_out, &refused) != -EBADF, "a callback's refusal is passed on");
        check(bbprof_write(write_out, &file) != 0, "bbprof_write");
        HIT(1);
    }
    if (IS("write-by-thread")) {
        int file = 1;
        sigset_t blocked;
        check(bbprof_write(write_by_thread, &file) != 0, "bbprof_write");
        check(sigprocmask(SIG_BLOCK, NULL, &blocked) != 0 || sigismember(&blocked, SIGTERM) != 0, "signals are blocked");
    }
    if (IS("reset-without-room")) {
        check(setrlimit(RLIMIT_NOFILE, &(struct rlimit){3, 3}) != 0, "setrlimit");
        check(bbprof_reset() != -EMFILE, "a reset that has no place for what was");
        HIT(1);
    }
    if (IS("signals")) {
        for (int i = 0; i < 3; i++) {
            raise(SIGUSR2);
            work(1, 10);
        }
    }
    if (IS("sleep") || IS("spin")) {
        void (*wait_for_dumps)(pid_t, int) = IS("sleep") ? sleep_for_dumps : count_for_dumps;
        wait_for_dumps(getpid(), 2);
        if (fork() == 0)
            wait_for_dumps(getpid(), 2);
        else
            wait(NULL);
    }
    if (IS("wait")) {
        if (fork() == 0)
            sleep_for_dumps(getppid(), 8);
        else
            wait(NULL);
    }
    if (IS("closed")) {
        for (int i = 0; i < 100; i++)
            close(i);
        run_threads(2, counting_thread, (void *)10);
    }
    if (IS("descriptors")) {
        char name[64], target[4096] = "";
        for (int i = 0; i < 1000; i++) {
            snprintf(name, sizeof name, "/proc/self/fd/%d", i);
            if (readlink(name, target, sizeof target - 1) > 0 && strstr(target, "bbraw") != NULL)
                return 50;
        }
        close(2);
        int mine = open("/dev/null", O_RDONLY);
        return mine == 2 ? 0 : 1;
    }
    if (IS("many-at-once")) {
        rlim_t limit = (rlim_t)atol(argv[2]);
        check(setrlimit(RLIMIT_FSIZE, &(struct rlimit){limit, limit}) != 0, "setrlimit");
        pthread_barrier_init(&all_there, NULL, 64);
        run_threads(64, meeting_thread, NULL);
        _exit(0);
    }
    if (IS("no-keys")) {
        pthread_key_t key;
        while (pthread_key_create(&key, NULL) == 0)
            continue;
        run_threads(2, counting_thread, (void *)10);
    }
    if (IS("one-descriptor")) {
        int ready[2];
        char byte;
        check(pipe(ready) != 0, "pipe");
        spawn(endless_thread, (void *)(long)ready[1], NULL);
        check(read(ready[0], &byte, 1) != 1, "read");
        rlim_t limit = (rlim_t)dup(0) + 1;
        close((int)limit - 1);
        check(setrlimit(RLIMIT_NOFILE, &(struct rlimit){limit, limit}) != 0, "setrlimit");
    }
    if (IS("vfork-counts"))
        run_threads(1, vforking_thread, NULL);
    if (IS("fork-namespace")) {
        check(unshare(CLONE_NEWPID) != 0, "unshare");
        pid_t child = fork();
        if (child == 0) {
            work(3, 50);
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    if (IS("fork-without-memory")) {
        struct rlimit before, now;
        int status;
        unsigned long pages;
        FILE *memory = fopen("/proc/self/statm", "r");
        check(memory == NULL || fscanf(memory, "%lu", &pages) != 1 || getrlimit(RLIMIT_AS, &before) != 0, "statm");
        now = (struct rlimit){argc > 3 ? 1 : pages * 4096, before.rlim_max};
        check(setrlimit(RLIMIT_AS, &now) != 0, "setrlimit");
        pid_t child = fork();
        if (child == 0) {
            setrlimit(RLIMIT_AS, &before);
            work(3, 50);
            run_threads(1, counting_thread, (void *)10);
            _exit(bbprof_dump(argv[2]) != 0);
        }
        check(setrlimit(RLIMIT_AS, &before) != 0, "setrlimit");
        waitpid(child, &status, 0);
        return status != 0;
    }
    if (IS("dlopen")) {
        int rounds = atoi(argv[3]);
        for (int i = 0; i < rounds; i++) {
            void *library = dlopen(argv[2], RTLD_NOW);
            if (library == NULL) {
                puts(dlerror());
                return 98;
            }
            void *(*count)(void *) = (void *(*)(void *))dlsym(library, "library_count");
            count((void *)10);
            run_threads(3, count, (void *)100);
            check(dlclose(library) != 0, "dlclose");
        }
    }
    return 0;
}
