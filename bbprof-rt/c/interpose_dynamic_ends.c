/* interpose_dynamic_ends.c: _exit and its like of a dynamically linked program, for the program and all its libraries. What libc
 * does within itself is not seen: an abort for a broken heap, for instance.
 *
 * The definitions are weak, so that a program may have functions of its own by these names. */
#include "endings.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>

#define EXPORTED __attribute__((visibility("default"), weak))

extern __typeof__(dlsym) dlsym __attribute__((weak));
extern int *__errno_location(void) __attribute__((weak));
extern int __cxa_at_quick_exit(void (*function)(void *), void *object) __attribute__((weak));

/* Sanitizers that are linked into the program have some of them, too. */
extern __attribute__((weak, visibility("default"))) void __interceptor__exit(int);
extern __attribute__((weak, visibility("default"))) void __interceptor_abort(void);
extern __attribute__((weak, visibility("default"))) int __interceptor_raise(int);
extern __attribute__((weak, visibility("default"))) int __interceptor_kill(pid_t, int);
extern __attribute__((weak, visibility("default"))) int __interceptor_pthread_kill(pthread_t, int);

/* libc's own. They are looked up at the start: the functions are async-signal-safe, dlsym is not. */
static struct {
    void (*exit_at_once)(int);
    void (*exit_at_once_c99)(int);
    void (*quick_exit)(int);
    void (*abort)(void);
    void (*assert_fail)(const char *, const char *, unsigned, const char *);
    int (*daemon)(int, int);
    int (*raise)(int);
    int (*kill)(pid_t, int);
    int (*killpg)(pid_t, int);
    int (*sigqueue)(pid_t, int, const union sigval);
    int (*pthread_kill)(pthread_t, int);
    int (*execv)(const char *, char *const[]);
    int (*execve)(const char *, char *const[], char *const[]);
    int (*execvp)(const char *, char *const[]);
    int (*execvpe)(const char *, char *const[], char *const[]);
    int (*fexecve)(int, char *const[], char *const[]);
    int (*execveat)(int, const char *, char *const[], char *const[], int);
    bool prepared;
} real;

/* glibc hands the status to these, too. */
static void behind_quick_exit_handlers(void *argument, int status) {
    (void)argument;
    announce(FATE_QUICK_EXIT, status, NULL);
}

/* The first that is registered runs behind all others. Other libcs have no such function. */
static bool is_told_behind_handlers;

static void register_quick_exit(void) {
    union {
        void (*with_status)(void *, int);
        void (*function)(void *);
    } handler = {behind_quick_exit_handlers};
    is_told_behind_handlers = __cxa_at_quick_exit != NULL && __cxa_at_quick_exit(handler.function, NULL) == 0;
}

void interposer_prepare(void) {
    if (__atomic_load_n(&real.prepared, __ATOMIC_ACQUIRE) || dlsym == NULL)
        return;
#define FIND(member, name) real.member = (__typeof__(real.member))dlsym(RTLD_NEXT, name)
    FIND(exit_at_once, "_exit");
    FIND(exit_at_once_c99, "_Exit");
    FIND(quick_exit, "quick_exit");
    FIND(abort, "abort");
    FIND(assert_fail, "__assert_fail");
    FIND(daemon, "daemon");
    FIND(raise, "raise");
    FIND(kill, "kill");
    FIND(killpg, "killpg");
    FIND(sigqueue, "sigqueue");
    FIND(pthread_kill, "pthread_kill");
    FIND(execv, "execv");
    FIND(execve, "execve");
    FIND(execvp, "execvp");
    FIND(execvpe, "execvpe");
    FIND(fexecve, "fexecve");
    FIND(execveat, "execveat");
#undef FIND
    if (__interceptor__exit != NULL)
        real.exit_at_once = __interceptor__exit;
    if (__interceptor_abort != NULL)
        real.abort = __interceptor_abort;
    if (__interceptor_raise != NULL)
        real.raise = __interceptor_raise;
    if (__interceptor_kill != NULL)
        real.kill = __interceptor_kill;
    if (__interceptor_pthread_kill != NULL)
        real.pthread_kill = __interceptor_pthread_kill;
    leaving_prepare();
    threading_prepare();
    register_quick_exit();
    __atomic_store_n(&real.prepared, true, __ATOMIC_RELEASE);
}

static int missing(void) {
    if (__errno_location != NULL)
        *__errno_location() = ENOSYS;
    return -1;
}

/* Before the start, in a resolver for instance, they are looked up on demand. */
#define REAL(member) (interposer_prepare(), real.member)

EXPORTED void _exit(int status) {
    announce_exit(status);
    if (REAL(exit_at_once) != NULL)
        real.exit_at_once(status);
    platform_exit(status);
}

EXPORTED void _Exit(int status) {
    announce_exit(status);
    if (REAL(exit_at_once_c99) != NULL)
        real.exit_at_once_c99(status);
    platform_exit(status);
}

EXPORTED void quick_exit(int status) {
    interposer_prepare();
    expect(FATE_QUICK_EXIT, status, FRAME);
    if (!is_told_behind_handlers)
        announce(FATE_QUICK_EXIT, status, NULL);
    if (REAL(quick_exit) != NULL)
        real.quick_exit(status);
    platform_exit(status);
}

EXPORTED void abort(void) {
    announce_abort(__interceptor_abort == NULL ? REAL(raise) : NULL, FRAME);
    if (REAL(abort) != NULL)
        real.abort();
    __builtin_trap();
}

/* glibc's assert, which calls abort within libc. */
EXPORTED void __assert_fail(const char *assertion, const char *file, unsigned line, const char *function) {
    announce_abort(NULL, FRAME);
    if (REAL(assert_fail) != NULL)
        real.assert_fail(assertion, file, line, function);
    __builtin_trap();
}

/* The caller ends within libc, its child comes back. */
EXPORTED int daemon(int stays, int keeps) {
    announce(FATE_EXIT_AT_ONCE, 0, NULL);
    int failed = REAL(daemon) != NULL ? real.daemon(stays, keeps) : missing();
    if (failed != 0)
        take_back(FATE_EXIT_AT_ONCE);
    return failed;
}

EXPORTED int raise(int number) {
    SEND(!platform_signal_is_blocked(number), number, REAL(raise) != NULL ? real.raise(number) : missing());
}

EXPORTED int kill(pid_t process, int number) {
    SEND(comes_to_us(process), number, REAL(kill) != NULL ? real.kill(process, number) : missing());
}

EXPORTED int killpg(pid_t group, int number) {
    SEND(group >= 0 && comes_to_us(-group), number, REAL(killpg) != NULL ? real.killpg(group, number) : missing());
}

EXPORTED int sigqueue(pid_t process, int number, const union sigval value) {
    SEND(process > 0 && comes_to_us(process), number, REAL(sigqueue) != NULL ? real.sigqueue(process, number, value) : missing());
}

/* To another thread a signal comes when that runs next: nobody can say here whether it will. */
extern __typeof__(pthread_self) pthread_self __attribute__((weak));
EXPORTED int pthread_kill(pthread_t thread, int number) {
    SEND(pthread_self != NULL && thread == pthread_self() && !platform_signal_is_blocked(number), number,
         REAL(pthread_kill) != NULL ? real.pthread_kill(thread, number) : ENOSYS);
}

EXPORTED int execv(const char *path, char *const words[]) {
    EXEC(path, REAL(execv) != NULL ? real.execv(path, words) : missing());
}

EXPORTED int execve(const char *path, char *const words[], char *const environment[]) {
    EXEC(path, REAL(execve) != NULL ? real.execve(path, words, environment) : missing());
}

EXPORTED int execvp(const char *file, char *const words[]) {
    EXEC(file, REAL(execvp) != NULL ? real.execvp(file, words) : missing());
}

EXPORTED int execvpe(const char *file, char *const words[], char *const environment[]) {
    EXEC(file, REAL(execvpe) != NULL ? real.execvpe(file, words, environment) : missing());
}

EXPORTED int fexecve(int file, char *const words[], char *const environment[]) {
    EXEC("", REAL(fexecve) != NULL ? real.fexecve(file, words, environment) : missing());
}

/* glibc 2.34 and later have it. */
EXPORTED int execveat(int folder, const char *path, char *const words[], char *const environment[], int flags) {
    EXEC(path, REAL(execveat) != NULL ? real.execveat(folder, path, words, environment, flags) : missing());
}

EXPORTED int execl(const char *path, const char *word, ...) {
    va_list rest;
    GATHER(words, rest, word);
    va_end(rest);
    EXEC(path, REAL(execv) != NULL ? real.execv(path, words) : missing());
}

EXPORTED int execlp(const char *file, const char *word, ...) {
    va_list rest;
    GATHER(words, rest, word);
    va_end(rest);
    EXEC(file, REAL(execvp) != NULL ? real.execvp(file, words) : missing());
}

EXPORTED int execle(const char *path, const char *word, ...) {
    va_list rest;
    GATHER(words, rest, word);
    char **environment = va_arg(rest, char **);
    va_end(rest);
    EXEC(path, REAL(execve) != NULL ? real.execve(path, words, environment) : missing());
}
