/* schedule.c: BBPROF_DUMP: dumps on a signal or periodically. `exit` and `mmap` are what always happens.
 *
 * The period is kept by a thread that libc knows nothing of: a timer's signals would interrupt the program's system calls. */
#include "process.h"

#include "text.h"

#include <errno.h>
#include <signal.h>

static const struct {
    const char *name;
    int number;
} signals[] = {{"USR1", SIGUSR1}, {"USR2", SIGUSR2},   {"HUP", SIGHUP},     {"ALRM", SIGALRM}, {"VTALRM", SIGVTALRM}, {"PROF", SIGPROF},
               {"URG", SIGURG},   {"WINCH", SIGWINCH}, {"QUIT", SIGQUIT}, {"INT", SIGINT},   {"TERM", SIGTERM}};

static const struct {
    const char *name;
    uint64_t nanoseconds;
} units[] = {{"ms", 1000000u}, {"s", 1000000000u}, {"m", 60000000000u}, {"h", 3600000000000u}};

#define LONGEST_PERIOD 1000000u /* of any unit; hours of it do not overflow */

/* One signal, and one period: a second would take the place of the first. */
static bool read_signal(struct process *process, const char *name) {
    int found = 0;
    if (text_starts_with(name, "SIG"))
        name += 3;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (text_equals(name, signals[i].name))
            found = signals[i].number;
    if (found == 0 || (process->dump_signal != 0 && process->dump_signal != found))
        return false;
    process->dump_signal = found;
    return true;
}

static bool read_period(struct process *process, const char *period) {
    uint64_t value, found = 0;
    const char *unit = text_number(period, 10, &value);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (text_equals(unit, units[i].name) && value <= LONGEST_PERIOD)
            found = value * units[i].nanoseconds;
    if (found == 0 || (process->dump_period_ns != 0 && process->dump_period_ns != found))
        return false;
    process->dump_period_ns = found;
    return true;
}

void schedule_read(struct process *process, const char *setting) {
    while (setting != NULL && *setting != '\0') {
        char word[32];
        size_t length = 0;
        while (setting[length] != '\0' && setting[length] != ',')
            length++;
        struct text text = text_in(word, sizeof word);
        text_add_bytes(&text, setting, length);
        bool known = length == 0 || text_equals(word, "exit") || text_equals(word, "mmap") ||
                     (text_starts_with(word, "signal:") && read_signal(process, word + 7)) ||
                     (text_starts_with(word, "every:") && read_period(process, word + 6));
        if (!known || text.cut)
            process_complain(process, "BBPROF_DUMP=", setting, "expected exit, mmap, one signal:USR2, one every:10s",
                             "the profile is written at exit, and is right at any moment before");
        setting += length + (setting[length] == ',');
    }
}

static void on_signal(int number) {
    struct process *process = __atomic_load_n(&__bbprof_image.process, __ATOMIC_ACQUIRE);
    (void)number;
    if (process != NULL)
        process_dump(process, NULL);
}

#ifdef BBPROF_RT_EXEC
#define LOOK_NS UINT64_C(500000000)

/* False: all others have gone, by bare system calls, and the process with them but for the caller. */
static bool sleep_beside_others(const struct process *process) {
    for (uint64_t left = process->dump_period_ns; left != 0;) {
        uint64_t some = left < LOOK_NS ? left : LOOK_NS;
        platform_sleep(some);
        left -= some;
        if (platform_living_threads(process->helper) == 0)
            return false;
    }
    return true;
}

static void dump_periodically(void *context) {
    struct process *process = context;
    while (sleep_beside_others(process)) {
        process_lock(process);
        bool finished = process->finished;
        if (!finished)
            process_dump(process, NULL);
        process_unlock(process);
        if (finished)
            return;
    }
    platform_exit_as_first_thread();
}
#endif

void schedule_restart(struct process *process) {
    process->helper = 0;
    if (process->dump_period_ns == 0)
        return;
#ifdef BBPROF_RT_EXEC
    /* Its signal mask is that of the lock's holder: all blocked. */
    process_lock(process);
    int why = platform_start_helper(dump_periodically, process, &process->helper);
    process_unlock(process);
#else
    int why = -EINVAL; /* its code may be unloaded */
#endif
    if (why != 0)
        process_complain(process, "BBPROF_DUMP=every: ", "", platform_error_text(why), "the profile is written at exit");
}

void schedule_start(struct process *process) {
    int why = process->dump_signal == 0 ? 0 : platform_handle_signal(process->dump_signal, on_signal);
    if (why != 0)
        process_complain(process, "BBPROF_DUMP=signal: ", "", platform_error_text(why), "the profile is written at exit");
    schedule_restart(process);
}

static void take_dump_signal(int number, void (*from)(int)) {
    platform_take_signal(number, from, on_signal);
}

void schedule_join(struct image *image) {
    image->take_dump_signal = take_dump_signal;
}

void schedule_leave(struct process *process, struct image *image) {
    if (process->dump_signal == 0)
        return;
    for (struct image *other = process->images; other != NULL; other = other->next)
        if (other != image && other->loaded)
            other->take_dump_signal(process->dump_signal, on_signal);
    platform_unhandle_signal(process->dump_signal, on_signal);
}
