/* loader.c: loads and unloads libraries that are profiled; it is not itself. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

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

int main(int argc, char **argv) {
    (void)argc;
    void *first = load(argv[1], 5);
    void *second = load(argv[2], 10);
    dlclose(first);
    dlclose(second);
    load(argv[1], 6);
    return 0;
}
