/* start.c: the runtime's beginning and end in an image.
 *
 * Programs begin in .preinit_array, before the constructors of any library, and end behind everything: what `on_exit`
 * registers so early runs after all destructors in a dynamic program, or without any where a constructor or a
 * destructor calls exit; in a static one it runs before them, and the last destructor ends it. Libraries begin with
 * their first constructor and end with their last destructor. */
#include "bbprof.h"
#include "process.h"

#include "text.h"

#include <link.h>

extern int on_exit(void (*function)(int, void *), void *argument) __attribute__((weak));
extern int __cxa_atexit(void (*function)(void *), void *argument, void *object) __attribute__((weak));
extern int dl_iterate_phdr(int (*callback)(struct dl_phdr_info *, size_t, void *), void *context) __attribute__((weak));
extern char **environ __attribute__((weak));
extern void *__libc_stack_end __attribute__((weak));
extern const char *gnu_get_libc_version(void) __attribute__((weak));
extern const char bbprof_interposer[] BBPROF_HIDDEN;

/* The generated object refers to it, and so pulls the runtime in. */
BBPROF_HIDDEN void __bbprof_runtime(void);

/* A weak reference finds gnu_get_libc_version in a dynamic program, but does not pull it into a static one. There, __libc_stack_end
 * is always linked; in a dynamic one it is the loader's, where mold does not look for weak references. No other libc has either. */
static bool is_glibc(void) {
    return gnu_get_libc_version != NULL || &__libc_stack_end != NULL;
}

static bool is_record(const char *place, const char *build_id) {
    const struct bbprof_image *record = (const struct bbprof_image *)(const void *)place;
    return bytes_equal(record->magic, BBPROF_IMAGE_MAGIC, 8) && record->version == BBPROF_IMAGE_VERSION &&
           bytes_equal(record->build_id, build_id, sizeof record->build_id);
}

/* The record of an image, by what its note says; NULL: it is of another version. patchelf moves notes away from where their
 * distance was right: then it is searched for among the image's data. */
static const struct bbprof_image *record_of(const struct dl_phdr_info *info, const char *description) {
    int64_t distance;
    bytes_copy(&distance, description + 16, sizeof distance);
    const char *told = description + 16 + distance;
    for (int searches = 0; searches < 2; searches++) {
        for (int i = 0; i < info->dlpi_phnum; i++) {
            const ElfW(Phdr) *header = &info->dlpi_phdr[i];
            if (header->p_type != PT_LOAD || (header->p_flags & PF_W) == 0 || header->p_filesz < sizeof(struct bbprof_image))
                continue;
            const char *begin = (const char *)(info->dlpi_addr + header->p_vaddr), *last = begin + header->p_filesz - sizeof(struct bbprof_image);
            if (searches == 0 && told >= begin && told <= last && is_record(told, description))
                return (const struct bbprof_image *)(const void *)told;
            begin += -(uintptr_t)begin % _Alignof(struct bbprof_image);
            for (; searches == 1 && begin <= last; begin += _Alignof(struct bbprof_image))
                if (is_record(begin, description))
                    return (const struct bbprof_image *)(const void *)begin;
        }
    }
    return NULL;
}

/* Another profiled image, found by its note. */
static int look_at_object(struct dl_phdr_info *info, size_t size, void *context) {
    struct process **found = context;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type != PT_NOTE)
            continue;
        const char *note = (const char *)(info->dlpi_addr + header->p_vaddr), *end = note + header->p_memsz;
        while ((size_t)(end - note) >= sizeof(ElfW(Nhdr))) {
            const ElfW(Nhdr) *head = (const ElfW(Nhdr) *)(const void *)note;
            const char *name = note + sizeof *head;
            const char *description = name + ((head->n_namesz + 3u) & ~3u);
            note = description + ((head->n_descsz + 3u) & ~3u);
            if (note > end)
                break;
            if (head->n_type != BBPROF_NOTE_TYPE || head->n_namesz != sizeof BBPROF_NOTE_NAME || head->n_descsz != 24 ||
                !bytes_equal(name, BBPROF_NOTE_NAME, sizeof BBPROF_NOTE_NAME))
                continue;
            /* A runtime of another version counts apart. */
            const struct bbprof_image *record = record_of(info, description);
            struct process *process = record == NULL ? NULL : __atomic_load_n(&record->process, __ATOMIC_ACQUIRE);
            /* Nor does one go on that is complete, whose last image is still there. */
            if (process != NULL && process->abi == PROCESS_ABI && process->num_loaded != 0) {
                *found = process;
                return 1;
            }
        }
    }
    return 0;
}

/* The process of those that began before this image: with glibc a program does before its
 * libraries, with others, which know no .preinit_array, behind them. */
static struct process *find_process(void) {
    struct process *process = NULL;
#ifdef BBPROF_RT_EXEC
    if (is_glibc())
        return NULL;
#endif
    if (dl_iterate_phdr != NULL)
        dl_iterate_phdr(look_at_object, &process);
    return process;
}

#ifdef BBPROF_RT_EXEC

static bool exit_seen, exit_handler_registered, destructors_done;
static int exit_status;

static void end(enum raw_fate fate) {
    struct process *process = __bbprof_image.process;
    if (process != NULL)
        process_finish(process, fate, exit_status);
}

static void at_exit(int status, void *argument) {
    (void)argument;
    exit_seen = true;
    exit_status = status;
    if (destructors_done || (__bbprof_image.flags & BBPROF_FLAG_STATIC) == 0)
        end(FATE_EXIT);
}

/* glibc hands the status to these, too. */
static void at_exit_cxa(void *argument, int status) {
    at_exit(status, argument);
}

/* A weak reference to on_exit finds it in a dynamic program, but does not pull it into a static one; __cxa_atexit is in each. */
static bool register_at_exit(void) {
    if (on_exit != NULL)
        return on_exit(at_exit, NULL) == 0;
    if (__cxa_atexit == NULL || !is_glibc())
        return false;
    union {
        void (*with_status)(void *, int);
        void (*function)(void *);
    } handler = {at_exit_cxa};
    return __cxa_atexit(handler.function, NULL, NULL) == 0;
}

static void after_destructors(void) {
    destructors_done = true;
    if (exit_seen)
        end(FATE_EXIT);
    else if (!exit_handler_registered)
        end(FATE_EXIT_UNKNOWN);
}

#else

/* At dlclose or at exit, it cannot be told. The last image to go completes the profile, unless the program does. */
static void after_destructors(void) {
    struct process *process = __bbprof_image.process;
    if (process == NULL)
        return;
    process_lock_at_end(process);
    schedule_leave(process, __bbprof_image.image);
    fork_leave(process, __bbprof_image.image);
    image_leave(process, &__bbprof_image);
    if (process->num_loaded == 0)
        process_finish(process, FATE_EXIT_UNKNOWN, 0);
    process_unlock(process);
    fork_wait_for_others(process, __bbprof_image.image);
}

#endif

static void start(int argc, char **argv, char **environment) {
    struct bbprof_image *record = &__bbprof_image;
    (void)argc;
    (void)argv;
    static bool has_started;
    if (has_started)
        return;
    has_started = true;
#ifdef BBPROF_RT_EXEC
    /* Nothing happens the second time. Its place in .preinit_array may be behind ours, and the
     * functions that it interposes work only from there on. */
    if (__tsan_init != NULL)
        __tsan_init();
#endif
    /* glibc hands the environment to constructors, and stores it too late for the first; others only store it. */
    if (&environ != NULL && environ != NULL)
        environment = environ;
    else if (&environ != NULL && !is_glibc())
        environment = NULL;
    /* A program without libc may have no TLS at all. */
    if ((record->flags & BBPROF_FLAG_DELTA) != 0)
        __bbprof_delta = 0;
    if (!bytes_equal(record->magic, BBPROF_IMAGE_MAGIC, 8) || record->version != BBPROF_IMAGE_VERSION)
        return;
#ifdef BBPROF_RT_EXEC
    interposer_prepare();
#endif
    struct process *process = find_process();
    bool first = process == NULL;
    if (first)
        process = process_create(environment, record);
    if (process == NULL)
        return;
#ifndef BBPROF_RT_EXEC
    if (first && !fork_prepare_gate(process)) {
        process_complain(process, "", "", "there is no memory for what forks call, which has to stay when this library is unloaded and may be executed",
                         "nothing is recorded");
        platform_unmap(process, sizeof *process);
        return;
    }
#endif
    const char *name = image_name(record);
    process_lock(process);
    process->forks_wait_for_end = !is_glibc();
    if (first)
        raw_begin(process);
#ifdef BBPROF_RT_EXEC
    process->has_program = true;
#endif
    record->image = image_join(process, record, name);
    if (record->image != NULL)
        image_adopt_storage(process, record->image);
    if (first)
        raw_publish(process);
    if (record->image != NULL)
        __atomic_store_n(&record->process, process, __ATOMIC_RELEASE);
    process_unlock(process);
    if (record->image == NULL)
        return;
    if (first)
        schedule_start(process);
    if (first)
        fork_register(process);
#ifdef BBPROF_RT_EXEC
    exit_handler_registered = register_at_exit();
#endif
}

void bbprof_begin(char **environment) {
    start(0, NULL, environment);
}

void bbprof_end(int status) {
    struct process *process = __bbprof_image.process;
    if (process != NULL)
        process_finish(process, FATE_EXIT, status);
}

BBPROF_HIDDEN void __bbprof_runtime(void) {
#ifdef BBPROF_RT_EXEC
    __asm__ volatile("" : : "r"(bbprof_interposer));
#endif
}

#ifdef BBPROF_RT_EXEC
__attribute__((section(".preinit_array"), used)) static void (*const before_libraries)(int, char **, char **) = start;
#endif
/* Again in programs, as not every libc knows .preinit_array. */
__attribute__((section(".init_array.0"), used)) static void (*const before_constructors)(int, char **, char **) = start;
__attribute__((section(".fini_array.0"), used)) static void (*const behind_destructors)(void) = after_destructors;
