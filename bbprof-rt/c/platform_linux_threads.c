/* platform_linux_threads.c: what the other threads do, by /proc. */
#include "platform.h"
#include "platform_linux_call.h"

#include "text.h"

#include <linux/futex.h>

bool platform_stat_field(const char *path, int number, uint64_t *value) {
    char bytes[512];
    int file = platform_open(path, OPEN_READ);
    if (file < 0)
        return false;
    long length = platform_read(file, bytes, sizeof bytes - 1);
    platform_close(file);
    long at = length;
    while (at > 0 && bytes[at - 1] != ')')
        at--;
    if (length <= 0 || at == 0)
        return false;
    for (int field = 2; field < number; field++) {
        while (at < length && bytes[at] != ' ')
            at++;
        at++;
    }
    *value = 0;
    while (at < length && bytes[at] >= '0' && bytes[at] <= '9')
        *value = *value * 10 + (uint64_t)(bytes[at++] - '0');
    return at < length;
}

uint64_t platform_number_behind(const char *path) {
    char target[64];
    long length = CALL3(__NR_readlink, path, target, sizeof target);
    uint64_t number = 0;
    bool within = false;
    for (long at = 0; at < length; at++) {
        bool is_digit = target[at] >= '0' && target[at] <= '9';
        if (is_digit)
            number = (within ? number * 10 : 0) + (uint64_t)(target[at] - '0');
        within = is_digit;
    }
    return number;
}

/* A thread that is past its last instruction in user space stays listed for a moment; only this flag of the kernel tells. */
#define FLAG_EXITING 4u

static void name_task_file(char path[64], int32_t thread, const char *name) {
    struct text text = text_in(path, 64);
    text_add(&text, "/proc/self/task/");
    text_add_number(&text, (uint64_t)thread);
    text_add(&text, name);
}

static bool thread_runs(int32_t thread) {
    char path[64];
    uint64_t flags;
    name_task_file(path, thread, "/stat");
    return platform_stat_field(path, 9, &flags) && (flags & FLAG_EXITING) == 0;
}

/* Threads have other numbers in /proc where that is an outer namespace's. */
static int32_t thread_id_in_proc(void) {
    int32_t thread = (int32_t)platform_number_behind("/proc/thread-self");
    return thread != 0 ? thread : platform_thread_id();
}

/* Who is asked of each other thread that has not ended, until it refuses. */
struct visit {
    bool (*visitor)(int32_t thread, void *context);
    void *context;
    int32_t self;
    bool willing;
};

static void visit_entry(void *context, const char *name) {
    struct visit *visit = context;
    int32_t thread = 0;
    for (; *name >= '0' && *name <= '9'; name++)
        thread = thread * 10 + (*name - '0');
    if (visit->willing && thread != 0 && thread != visit->self && thread_runs(thread))
        visit->willing = visit->visitor(thread, visit->context);
}

/* False if one was refused, or they cannot be listed. */
static bool each_other_thread(bool (*visitor)(int32_t thread, void *context), void *context) {
    struct visit visit = {visitor, context, thread_id_in_proc(), true};
    return platform_list("/proc/self/task", visit_entry, &visit) >= 0 && visit.willing;
}

static bool count(int32_t thread, void *context) {
    (void)thread;
    ++*(int *)context;
    return true;
}

int platform_other_threads(int32_t helper) {
    int others = helper != 0 && platform_thread_exists(platform_process_id(), helper) ? -1 : 0;
    if (!each_other_thread(count, &others))
        return -1;
    return others < 0 ? 0 : others;
}

/* A fingerprint of all that is seen of the threads, but the helper. */
struct look {
    int32_t helper;
    const char *own, *own_end;
    uint64_t fingerprint;
};

static long read_task_file(int32_t thread, const char *name, char *bytes, size_t room) {
    char path[64];
    name_task_file(path, thread, name);
    int file = platform_open(path, OPEN_READ);
    if (file < 0)
        return 0;
    long length = platform_read(file, bytes, room);
    platform_close(file);
    return length < 0 ? 0 : length;
}

/* The next number, decimal or hexadecimal behind 0x. */
static uint64_t next_number(const char **at, const char *end) {
    while (*at < end && **at == ' ')
        ++*at;
    unsigned base = end - *at > 2 && (*at)[0] == '0' && (*at)[1] == 'x' ? 16 : 10;
    *at += base == 16 ? 2 : 0;
    uint64_t number = 0;
    for (; *at < end; ++*at) {
        unsigned digit = **at >= 'a' ? (unsigned)(**at - 'a' + 10) : (unsigned)(**at - '0');
        if (digit >= base)
            break;
        number = number * base + digit;
    }
    return number;
}

/* Does it wait in the kernel until a thread of this process wakes it, but not for us? By proc(5), `syscall`: the call's number, its six
 * arguments, stack pointer and program counter; or that it runs. */
static bool waits_for_a_thread(const struct look *look, const char *call, long length) {
    const char *at = call, *end = call + length;
    if (length < 4 || *at < '0' || *at > '9' || next_number(&at, end) != __NR_futex)
        return false;
    uint64_t word = next_number(&at, end);
    uint64_t operation = next_number(&at, end);
    next_number(&at, end);
    uint64_t timeout = next_number(&at, end);
    uint64_t command = operation & ~(uint64_t)(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
    bool is_ours = word >= (uintptr_t)look->own && word < (uintptr_t)look->own_end;
    return (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET) && (operation & FUTEX_PRIVATE_FLAG) != 0 && timeout == 0 && !is_ours;
}

static void mix(struct look *look, const char *bytes, long length) {
    for (long at = 0; at < length; at++)
        look->fingerprint = (look->fingerprint ^ (unsigned char)bytes[at]) * UINT64_C(0x100000001b3);
}

/* `schedstat` has the time and the times that it ran: two looks with the same had no run between them. */
static bool look_at(int32_t thread, void *context) {
    struct look *look = context;
    if (thread == look->helper)
        return true;
    char bytes[256];
    mix(look, (const char *)&thread, sizeof thread);
    long length = read_task_file(thread, "/syscall", bytes, sizeof bytes);
    if (!waits_for_a_thread(look, bytes, length))
        return false;
    mix(look, bytes, length);
    length = read_task_file(thread, "/schedstat", bytes, sizeof bytes);
    mix(look, bytes, length);
    return length > 0;
}

bool platform_threads_rest(int32_t helper, const void *own, size_t num_bytes) {
    struct look first = {helper, own, (const char *)own + num_bytes, 0}, second = first;
    return each_other_thread(look_at, &first) && each_other_thread(look_at, &second) && first.fingerprint == second.fingerprint;
}
