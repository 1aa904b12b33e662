/* plain.c: a program that is not profiled, but uses libraries that are. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void *library_count(void *times);

static void check(int failed, const char *what) {
    if (failed) {
        perror(what);
        abort();
    }
}
static void *count_and_wait(void *pipes) {
    char byte;
    library_count((void *)20);
    check(write(((int *)pipes)[1], "", 1) != 1, "write");
    check(read(((int *)pipes)[2], &byte, 1) != 1, "read");
    return NULL;
}

static void run_thread(void *(*start)(void *), long times) {
    pthread_t thread;
    check(pthread_create(&thread, NULL, start, (void *)times) != 0, "pthread_create");
    pthread_join(thread, NULL);
}

/* A thread that outlives the library, and counts again when it is loaded again. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static int turns;
static void *(*count)(void *);
static void *persistent_thread(void *rounds) {
    for (long i = 0; i < (long)rounds; i++) {
        pthread_mutex_lock(&turn);
        while (turns != 2 * i + 1)
            pthread_cond_wait(&turned, &turn);
        count((void *)7);
        turns++;
        pthread_cond_broadcast(&turned);
        pthread_mutex_unlock(&turn);
    }
    return NULL;
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "return";
    library_count((void *)10);
    run_thread(library_count, 20);
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(how, "fork") == 0) {
        if (fork() == 0) {
            library_count((void *)1);
            run_thread(library_count, 2);
            exit(0);
        }
        wait(NULL);
    }
    if (strcmp(how, "fork-in-thread") == 0) {
        /* The child's only thread has a block of its own. */
        run_thread((void *(*)(void *))(void *)library_count, 5);
        pthread_t thread;
        void *forking(void *unused) {
            (void)unused;
            library_count((void *)3);
            if (fork() == 0) {
                library_count((void *)4);
                exit(0);
            }
            wait(NULL);
            return NULL;
        }
        check(pthread_create(&thread, NULL, forking, NULL) != 0, "pthread_create");
        pthread_join(thread, NULL);
    }
    if (strcmp(how, "live") == 0) {
        int there[2], back[2];
        check(pipe(there) != 0 || pipe(back) != 0, "pipe");
        int pipes[3] = {0, there[1], back[0]};
        char byte;
        pthread_t thread;
        check(pthread_create(&thread, NULL, count_and_wait, pipes) != 0, "pthread_create");
        check(read(there[0], &byte, 1) != 1, "read");
        exit(6);
    }
    if (strcmp(how, "reopen") == 0) {
        pthread_t thread;
        long rounds = 10;
        check(pthread_create(&thread, NULL, persistent_thread, (void *)rounds) != 0, "pthread_create");
        for (int i = 0; i < rounds; i++) {
            void *other = dlopen(argv[2], RTLD_NOW);
            check(other == NULL, "dlopen");
            count = (void *(*)(void *))dlsym(other, "library_count");
            count((void *)1);
            pthread_mutex_lock(&turn);
            turns++;
            pthread_cond_broadcast(&turned);
            while (turns != 2 * i + 2)
                pthread_cond_wait(&turned, &turn);
            pthread_mutex_unlock(&turn);
            check(dlclose(other) != 0, "dlclose");
        }
        pthread_join(thread, NULL);
    }
    return 6;
}
