/* platform_linux_threads.c: what the other threads do, by /proc. */
#include "platform.h"
#include "platform_linux_call.h"

#include "text.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/stat.h>
#include <time.h>

/* What /proc tells of a process or thread at one moment. */
struct stat_line {
    char bytes[512];
    long length;
};

/* 0, or why it cannot be read. */
static int read_stat(const char *path, struct stat_line *line) {
    int file = platform_open(path, OPEN_READ);
    if (file < 0)
        return file;
    line->length = platform_read(file, line->bytes, sizeof line->bytes - 1);
    platform_close(file);
    return line->length > 0 ? 0 : line->length < 0 ? (int)line->length : -ESRCH;
}

/* Where the field with this number, from 3 on, begins; none: at the end. Fields before may hold anything but a bracket. */
static long find_field(const struct stat_line *line, int number) {
    long at = line->length;
    while (at > 0 && line->bytes[at - 1] != ')')
        at--;
    for (int field = 2; at > 0 && field < number; field++) {
        while (at < line->length && line->bytes[at] != ' ')
            at++;
        at++;
    }
    return at > 0 && at < line->length ? at : line->length;
}

static bool number_at(const struct stat_line *line, long at, uint64_t *value) {
    *value = 0;
    while (at < line->length && line->bytes[at] >= '0' && line->bytes[at] <= '9')
        *value = *value * 10 + (uint64_t)(line->bytes[at++] - '0');
    return at < line->length;
}

bool platform_stat_field(const char *path, int number, uint64_t *value) {
    struct stat_line line;
    return read_stat(path, &line) == 0 && number_at(&line, find_field(&line, number), value);
}

bool platform_process_is_gone(int32_t process) {
    struct stat_line line;
    char path[40];
    uint64_t threads;
    if (!platform_process_exists(process))
        return true;
    struct text text = text_in(path, sizeof path);
    text_add(&text, "/proc/");
    text_add_number(&text, (uint64_t)process);
    text_add(&text, "/stat");
    /* A /proc that was mounted in another namespace tells of other processes. */
    if (platform_number_behind("/proc/self") != (uint64_t)platform_process_id() || read_stat(path, &line) != 0)
        return false;
    /* Who only waits to be waited for has no memory any more; but a first thread waits so for the others, too. */
    long state = find_field(&line, 3);
    return state < line.length && line.bytes[state] == 'Z' && number_at(&line, find_field(&line, 20), &threads) && threads == 1;
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

/* Flags of the kernel: a thread that is past its last instruction in user space stays
 * listed for a moment; helpers of io_uring never have any. */
#define FLAG_EXITING 4u
#define FLAG_IO_WORKER 16u

static void name_task_file(char path[64], int32_t thread, const char *name) {
    struct text text = text_in(path, 64);
    text_add(&text, "/proc/self/task/");
    text_add_number(&text, (uint64_t)thread);
    text_add(&text, name);
}

static int read_flags(int32_t thread, uint64_t *flags) {
    char path[64];
    struct stat_line line;
    name_task_file(path, thread, "/stat");
    int why = read_stat(path, &line);
    return why != 0 ? why : number_at(&line, find_field(&line, 9), flags) ? 0 : -EBADMSG;
}

/* Has it not ended? Below zero: that cannot be told, as where no descriptor is left. */
static int thread_runs(int32_t thread) {
    uint64_t flags;
    int why = read_flags(thread, &flags);
    if (why != 0)
        return why == -ENOENT || why == -ESRCH ? 0 : why;
    return (flags & (FLAG_EXITING | FLAG_IO_WORKER)) == 0;
}

bool platform_thread_is_ending(int32_t thread) {
    uint64_t flags;
    return read_flags(thread, &flags) == 0 && (flags & FLAG_EXITING) != 0;
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
    if (!visit->willing || thread == 0 || thread == visit->self)
        return;
    int runs = thread_runs(thread);
    if (runs != 0)
        visit->willing = runs > 0 && visit->visitor(thread, visit->context);
}

/* False if one was refused, or they cannot be listed and looked at. */
static bool each_other_thread(bool (*visitor)(int32_t thread, void *context), void *context) {
    struct visit visit = {visitor, context, thread_id_in_proc(), true};
    return platform_list("/proc/self/task", visit_entry, &visit) >= 0 && visit.willing;
}

static bool count(int32_t thread, void *context) {
    (void)thread;
    ++*(int *)context;
    return true;
}

/* As the kernel counts them, those included that are past their last instruction in user space; a folder has a link for each, and
 * two more. Few are looked at one by one. 0: it cannot be told. */
#define MANY_THREADS 62
static int threads_listed(void) {
    struct stat status;
    bool is_told = CALL3(__NR_stat, "/proc/self/task", &status, 0) == 0 && status.st_nlink > 2;
    return is_told ? (int)(status.st_nlink - 2) : 0;
}

/* The helper that is listed and is not the caller, who is left out anyway. */
static bool another_is_helper(int32_t helper) {
    return helper != 0 && helper != platform_thread_id() && platform_thread_exists(platform_process_id(), helper);
}

int platform_other_threads(int32_t helper) {
    int listed = threads_listed(), others = listed <= MANY_THREADS ? platform_living_threads(helper) : -1;
    return others >= 0 || listed == 0 ? others : listed - 1 - another_is_helper(helper);
}

int platform_living_threads(int32_t helper) {
    int others = -another_is_helper(helper);
    if (!each_other_thread(count, &others))
        return -1;
    return others < 0 ? 0 : others;
}

/* Looks at the threads, but the helper. */
struct looker {
    int32_t helper;
    char *own, *own_end;
    bool (*is_interrupted)(void *own, uintptr_t stack);
    struct threads_look *look;
    bool has_seen_enough; /* one runs: nothing that the others do makes a difference */
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

static void tell_call(struct threads_look *look, uint64_t number) {
    struct call_told *call = look->calls;
    while (call < &look->calls[CALLS_TOLD - 1] && call->threads != 0 && call->number != number)
        call++;
    call->number = call->threads == 0 || call->number == number ? (uint16_t)number : (uint16_t)CALL_VARIOUS;
    call->threads += call->threads < UINT16_MAX;
}

/* By proc(5), `syscall`: of a thread that waits in one its number, its six arguments, stack pointer and program counter;
 * -1 for the number if it waits elsewhere; or that it runs. */
static void judge_call(const struct looker *looker, const char *call, long length) {
    struct threads_look *look = looker->look;
    const char *at = call, *end = call + length;
    if (length < 4 || *at < '0' || *at > '9') {
        look->resting = look->blocked = look->settled = false;
        return;
    }
    uint64_t call_number = next_number(&at, end), arguments[6];
    for (unsigned i = 0; i < 6; i++)
        arguments[i] = next_number(&at, end);
    tell_call(look, call_number);
    bool is_within = call_number == __NR_futex && arguments[0] >= (uintptr_t)looker->own && arguments[0] < (uintptr_t)looker->own_end;
    if (is_within || platform_call_is_of_allocators(call_number))
        look->blocked = look->settled = false;
    else if (looker->is_interrupted(looker->own, next_number(&at, end)))
        look->blocked = false;
    uint64_t command = arguments[1] & ~(uint64_t)(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
    bool is_for_ever = (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET) && (arguments[1] & FUTEX_PRIVATE_FLAG) != 0 && arguments[3] == 0;
    look->resting = look->resting && look->blocked && call_number == __NR_futex && is_for_ever;
}

static void mix(struct threads_look *look, const char *bytes, long length) {
    for (long at = 0; at < length; at++)
        look->fingerprint = (look->fingerprint ^ (unsigned char)bytes[at]) * UINT64_C(0x100000001b3);
}

/* `schedstat` has the time and the times that it ran: two looks with the same had no run between them. */
static bool look_at(int32_t thread, void *context) {
    struct looker *looker = context;
    struct threads_look *look = looker->look;
    if (thread == looker->helper)
        return true;
    char bytes[256];
    mix(look, (const char *)&thread, sizeof thread);
    long length = read_task_file(thread, "/syscall", bytes, sizeof bytes);
    /* It may not be asked: the process has changed its user, or the kernel has no such file. That does not get better. */
    if (length == 0)
        return thread_runs(thread) == 0;
    judge_call(looker, bytes, length);
    if (!look->settled) {
        looker->has_seen_enough = true;
        return false;
    }
    mix(look, bytes, length);
    length = read_task_file(thread, "/schedstat", bytes, sizeof bytes);
    mix(look, bytes, length);
    return length > 0 || thread_runs(thread) == 0;
}

void platform_look_at_threads(int32_t helper, void *own, size_t num_bytes, bool (*is_interrupted)(void *own, uintptr_t stack),
                              struct threads_look *look) {
    *look = (struct threads_look){.resting = true, .blocked = true, .settled = true};
    struct looker looker = {helper, own, (char *)own + num_bytes, is_interrupted, look, false};
    look->told = each_other_thread(look_at, &looker) || looker.has_seen_enough;
}

static int64_t time_of(clockid_t clock) {
    struct timespec time = {0, 0};
    CALL3(__NR_clock_gettime, clock, &time, 0);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t platform_time_of_others_ns(void) {
    return time_of(CLOCK_PROCESS_CPUTIME_ID) - time_of(CLOCK_THREAD_CPUTIME_ID);
}
