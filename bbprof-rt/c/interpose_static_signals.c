/* interpose_static_signals.c: signals that a statically linked program sends by other functions than raise, by the linker's
 * --wrap. */
#include "endings.h"

#include <pthread.h>
#include <signal.h>

WRAPPED(int, kill, pid_t process, int number) {
    SEND(comes_to_us(process), number, __real_kill(process, number));
}

WRAPPED(int, killpg, pid_t group, int number) {
    SEND(group >= 0 && comes_to_us(-group), number, __real_killpg(group, number));
}

WRAPPED(int, sigqueue, pid_t process, int number, const union sigval value) {
    SEND(process > 0 && comes_to_us(process), number, __real_sigqueue(process, number, value));
}

/* To another thread a signal comes when that runs next: nobody can say here whether it will. */
WRAPPED(int, pthread_kill, pthread_t thread, int number) {
    SEND(thread == pthread_self() && !platform_signal_is_blocked(number), number, __real_pthread_kill(thread, number));
}
