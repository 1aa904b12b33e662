// Hashed paths of one thread after another, and of vfork's child. PART: the function that is compiled
// as for a shared library, and so has its counters elsewhere.
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEP(bit)                                                                                                                  \
    if (turns >> bit & 1)                                                                                                          \
        sum += bit + 3;                                                                                                            \
    else                                                                                                                           \
        sum ^= bit + 5;
#define WALK(name)                                                                                                                 \
    __attribute__((noinline)) unsigned name(unsigned turns) {                                                                      \
        unsigned sum = 0;                                                                                                          \
        STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7)                                                            \
        return sum;                                                                                                                \
    }

#ifdef PART
WALK(walk_of_library)
#else
WALK(walk)
unsigned walk_of_library(unsigned turns);

static void *walking_thread(void *times) {
    unsigned sum = 0;
    for (long i = 0; i < (long)times; i++)
        sum += walk((unsigned)i) + walk_of_library((unsigned)i);
    return (void *)(long)sum;
}

int main(void) {
    pthread_t thread;
    pid_t child = vfork();
    if (child == 0) {
        walk(1);
        walk_of_library(2);
        walk(3);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    if (pthread_create(&thread, NULL, walking_thread, (void *)100) != 0 || pthread_join(thread, NULL) != 0)
        return 1;
    walking_thread((void *)50);
    return 0;
}
#endif
