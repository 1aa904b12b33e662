/* plain.c: a program that is not profiled, but uses a library that is. */
#include <pthread.h>
#include <stdlib.h>

void *library_count(void *times);

int main(void) {
    pthread_t thread;
    library_count((void *)10);
    if (pthread_create(&thread, NULL, library_count, (void *)20) != 0)
        abort();
    pthread_join(thread, NULL);
    return 6;
}
