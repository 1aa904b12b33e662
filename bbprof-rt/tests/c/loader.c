/* loader.c: loads and unloads libraries that are profiled; it is not itself. */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *load(const char *path, long times) {
    void *library = dlopen(path, RTLD_NOW);
    if (library == NULL) {
        puts(dlerror());
        exit(1);
    }
    void *(*count)(void *) = (void *(*)(void *))dlsym(library, "library_count");
    count((void *)times);
    return library;
}

static pid_t parent;
static void wait_for_parents_end(void) {
    while (getppid() == parent)
        sched_yield();
}

/* A child that comes to the runtime when its parent is gone. */
static int make_orphan(const char *path) {
    parent = getpid();
    pthread_atfork(NULL, NULL, wait_for_parents_end);
    load(path, 5);
    if (fork() == 0)
        load(path, 3);
    return 0;
}

int main(int argc, char **argv) {
    if (strcmp(argv[1], "orphan") == 0)
        return make_orphan(argv[2]);
    void *first = load(argv[1], 5);
    void *second = load(argv[2], 10);
    dlclose(first);
    if (argc > 3)
        raise(SIGUSR2);
    dlclose(second);
    load(argv[1], 6);
    return 0;
}
