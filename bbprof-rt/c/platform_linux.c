/* platform_linux.c: memory, processes, threads and surroundings by bare system calls. */
#include "platform.h"
#include "platform_linux_call.h"

#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <link.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>

/* memory */

static void *map(void *place, size_t num_bytes, int flags, int file, uint64_t offset, int *why) {
    long result = CALL6(__NR_mmap, place, num_bytes, PROT_READ | PROT_WRITE, flags, file, offset);
    *why = failed(result) ? (int)result : 0;
    return failed(result) ? NULL : (void *)result;
}

void *platform_map_private(size_t num_bytes) {
    int why;
    return map(NULL, num_bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0, &why);
}

#define PAGE_BYTES 4096u

void *platform_map_shared(int file, uint64_t offset, size_t num_bytes, int *why) {
    return map(NULL, num_bytes, file < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED, file, offset, why);
}

void *platform_map_shared_apart(int file, uint64_t offset, size_t num_bytes, int *why) {
    const size_t all_bytes = num_bytes + PAGE_BYTES;
    long place = CALL6(__NR_mmap, NULL, all_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (failed(place)) {
        *why = (int)place;
        return NULL;
    }
    void *view = map((void *)place, num_bytes, MAP_SHARED | MAP_FIXED, file, offset, why);
    if (view == NULL)
        platform_unmap((void *)place, all_bytes);
    return view;
}

int platform_map_over(void *place, void *view, size_t num_bytes) {
    /* An old size of 0 makes mremap map a shared page a second time; no file descriptor is needed. */
    long result = CALL6(__NR_mremap, view, 0, num_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place, 0);
    if (!failed(result))
        return 0;
    /* The kernel may have taken the old pages away before it failed. */
    platform_map_fresh(place, num_bytes);
    return (int)result;
}

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

void *platform_move_pages(void *place, size_t num_bytes) {
    long result = CALL6(__NR_mremap, place, num_bytes, num_bytes, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, 0, 0);
    return failed(result) ? NULL : (void *)result;
}

bool platform_move_pages_back(void *from, void *place, size_t num_bytes) {
    return !failed(CALL6(__NR_mremap, from, num_bytes, num_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place, 0));
}

bool platform_is_shared_memory(const void *memory, size_t num_bytes) {
    /* As in `platform_map_over`. */
    long twice = CALL6(__NR_mremap, memory, 0, num_bytes, MREMAP_MAYMOVE, 0, 0);
    if (!failed(twice))
        platform_unmap((void *)twice, num_bytes);
    return twice != -EINVAL && twice != -EFAULT;
}

int platform_map_file_over(void *place, int file, uint64_t offset, size_t num_bytes) {
    int why;
    map(place, num_bytes, MAP_SHARED | MAP_FIXED, file, offset, &why);
    if (why != 0)
        platform_map_fresh(place, num_bytes);
    return why;
}

int platform_map_fresh(void *place, size_t num_bytes) {
    int why;
    map(place, num_bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE | MAP_STACK, -1, 0, &why);
    return why;
}

void platform_unmap(void *view, size_t num_bytes) {
    CALL3(__NR_munmap, view, num_bytes, 0);
}

int platform_make_executable(void *place, size_t num_bytes) {
    return (int)CALL3(__NR_mprotect, place, num_bytes, PROT_READ | PROT_EXEC);
}

/* The pages move, and the kernel (since Linux 5.13) reads those that the image needs from its file again. */
int platform_map_code_again(const void *code, void *place, size_t num_bytes) {
    long result = CALL6(__NR_mremap, code, num_bytes, num_bytes, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, place, 0);
    return failed(result) ? (int)result : 0;
}

/* Of a word that lies in one page. The kernel reads it before it finds that there is no such change of a mask. */
static bool is_readable(uintptr_t word) {
    return CALL6(__NR_rt_sigprocmask, -1, word, 0, KERNEL_SIGNAL_SET_BYTES, 0, 0) == -EINVAL;
}

/* Page by page. */
static long copy_readable(uintptr_t from, char *to, size_t num_bytes) {
    size_t copied = 0;
    while (copied < num_bytes && is_readable((from + copied) & ~(uintptr_t)7)) {
        size_t rest = num_bytes - copied, of_page = PAGE_BYTES - ((from + copied) & (PAGE_BYTES - 1));
        size_t piece = rest < of_page ? rest : of_page;
        bytes_copy(to + copied, (const void *)(from + copied), piece);
        copied += piece;
    }
    return (long)copied;
}

long platform_read_memory(const void *from, void *to, size_t num_bytes) {
    struct iovec local = {to, num_bytes}, remote = {(void *)(uintptr_t)from, num_bytes};
    long result = CALL6(__NR_process_vm_readv, platform_process_id(), &local, 1, &remote, 1, 0);
    if (result < 0 && result != -EFAULT) /* a sandbox refuses it */
        return copy_readable((uintptr_t)from, to, num_bytes);
    return result < 0 ? 0 : result;
}

bool platform_call_is_of_allocators(uint64_t number) {
    switch (number) {
    case __NR_mmap:
    case __NR_munmap:
    case __NR_mremap:
    case __NR_mprotect:
    case __NR_madvise:
    case __NR_brk:
    case __NR_getrandom:         /* glibc's, the first time */
    case __NR_sched_getaffinity: /* for its ninth arena, in some versions; others read a file */
        return true;
    default:
        return false;
    }
}

/* process and threads */

int32_t platform_process_id(void) {
    return (int32_t)CALL3(__NR_getpid, 0, 0, 0);
}

uintptr_t platform_thread_storage(void) {
    uintptr_t storage;
    __asm__("mov %%fs:0, %0" : "=r"(storage));
    return storage;
}

int32_t platform_parent_id(void) {
    return (int32_t)CALL3(__NR_getppid, 0, 0, 0);
}

int32_t platform_process_group(void) {
    return (int32_t)CALL3(__NR_getpgid, 0, 0, 0);
}

int32_t platform_thread_id(void) {
    return (int32_t)CALL3(__NR_gettid, 0, 0, 0);
}

bool platform_thread_exists(int32_t process, int32_t thread) {
    return CALL3(__NR_tgkill, process, thread, 0) != -ESRCH;
}

bool platform_process_exists(int32_t process) {
    return CALL3(__NR_kill, process, 0, 0) != -ESRCH;
}

void platform_wait(uint32_t *word, uint32_t value, uint64_t nanoseconds) {
    struct timespec longest = {(time_t)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u)};
    CALL6(__NR_futex, word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, value, nanoseconds == 0 ? NULL : &longest, 0, 0);
}

void platform_wake(uint32_t *word) {
    CALL6(__NR_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, 0, 0, 0);
}

void platform_sleep(uint64_t nanoseconds) {
    struct timespec pause = {(time_t)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u)};
    CALL3(__NR_nanosleep, &pause, 0, 0);
}

#define HELPER_STACK_BYTES 65536u
#define HELPER_FLAGS                                                                                                               \
    (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID)

long bbprof_clone(void (*function)(void *), void *context, void *stack_end, int32_t *thread, long flags, void *block);
__asm__(".text\n"
        ".globl bbprof_clone\n"
        ".hidden bbprof_clone\n"
        ".type bbprof_clone, @function\n"
        "bbprof_clone:\n"
        "    mov %rdi, -16(%rdx)\n"
        "    mov %rsi, -8(%rdx)\n"
        "    lea -16(%rdx), %rsi\n"
        "    mov %rcx, %rdx\n"
        "    mov %r8, %rdi\n"
        "    mov %r9, %r8\n"
        "    mov $56, %eax\n"
        "    syscall\n"
        "    test %rax, %rax\n"
        "    jz 1f\n"
        "    ret\n"
        "1:  xor %ebp, %ebp\n"
        "    pop %rax\n"
        "    pop %rdi\n"
        "    call *%rax\n"
        "    xor %edi, %edi\n"
        "    mov $60, %eax\n"
        "    syscall\n"
        ".size bbprof_clone, .-bbprof_clone\n");

extern const ElfW(Ehdr) __ehdr_start __attribute__((weak, visibility("hidden")));

/* What a program has below each thread's pointer, in whole pages. */
static size_t tls_bytes_of(const ElfW(Ehdr) *header) {
    const ElfW(Phdr) *segments = (const void *)((const char *)header + header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_TLS)
            return (segments[i].p_memsz + segments[i].p_align + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1);
    return 0;
}

/* The caller's thread-local storage goes with the caller. It has to do in a program that was linked without its headers. */
int platform_start_helper(void (*function)(void *), void *context, int32_t *thread) {
    bool has_header = &__ehdr_start != NULL;
    size_t tls_bytes = has_header ? tls_bytes_of(&__ehdr_start) : 0, all_bytes = tls_bytes + PAGE_BYTES + HELPER_STACK_BYTES;
    char *memory = platform_map_private(all_bytes);
    if (memory == NULL)
        return -ENOMEM;
    void **block = (void **)(void *)(memory + tls_bytes);
    *block = block; /* as psABI has it */
    long result = bbprof_clone(function, context, memory + all_bytes, thread, has_header ? HELPER_FLAGS : HELPER_FLAGS & ~CLONE_SETTLS, block);
    if (failed(result))
        platform_unmap(memory, all_bytes);
    return failed(result) ? (int)result : 0;
}

struct kernel_signal_action {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

void bbprof_return_from_signal(void);
__asm__(".text\n"
        ".globl bbprof_return_from_signal\n"
        ".hidden bbprof_return_from_signal\n"
        ".type bbprof_return_from_signal, @function\n"
        "    nop\n" /* unwinders look at the byte before */
        "bbprof_return_from_signal:\n"
        "    mov $15, %rax\n"
        "    syscall\n"
        ".size bbprof_return_from_signal, .-bbprof_return_from_signal\n");

static int signal_action(int number, const struct kernel_signal_action *action, struct kernel_signal_action *before) {
    return (int)CALL6(__NR_rt_sigaction, number, action, before, KERNEL_SIGNAL_SET_BYTES, 0, 0);
}

/* If `from` is there. */
static int change_handler(int number, void (*from)(int), void (*to)(int)) {
    const unsigned long restart = 0x10000000, has_restorer = 0x04000000;
    struct kernel_signal_action now, action = {to, restart | has_restorer, bbprof_return_from_signal, 0}, none = {NULL, 0, NULL, 0};
    int why = signal_action(number, NULL, &now);
    if (why == 0 && now.handler != from)
        why = -EBUSY;
    return why != 0 ? why : signal_action(number, to == NULL ? &none : &action, NULL);
}

int platform_handle_signal(int number, void (*handler)(int)) {
    return change_handler(number, NULL, handler);
}

void platform_unhandle_signal(int number, void (*handler)(int)) {
    change_handler(number, handler, NULL);
}

void platform_take_signal(int number, void (*from)(int), void (*handler)(int)) {
    change_handler(number, from, handler);
}

/* Signals that do nothing, or stop and continue, by default. */
#define HARMLESS_SIGNALS                                                                                                           \
    (SIGNAL_BIT(SIGCHLD) | SIGNAL_BIT(SIGCONT) | SIGNAL_BIT(SIGURG) | SIGNAL_BIT(SIGWINCH) | SIGNAL_BIT(SIGSTOP) |                 \
     SIGNAL_BIT(SIGTSTP) | SIGNAL_BIT(SIGTTIN) | SIGNAL_BIT(SIGTTOU))

bool platform_signal_is_fatal(int number) {
    struct kernel_signal_action now;
    if (number < 1 || number > 64 || (HARMLESS_SIGNALS & SIGNAL_BIT(number)) != 0)
        return false;
    return signal_action(number, NULL, &now) == 0 && now.handler == NULL;
}

uint64_t platform_blocked_signals(void) {
    uint64_t mask = 0;
    CALL6(__NR_rt_sigprocmask, 0 /* SIG_BLOCK */, 0, &mask, KERNEL_SIGNAL_SET_BYTES, 0, 0);
    return mask;
}

bool platform_signal_is_blocked(int number) {
    return number >= 1 && number <= 64 && (platform_blocked_signals() & SIGNAL_BIT(number)) != 0;
}

/* Does the program handle one of these signals, with these flags? */
static bool signals_are_handled(uint64_t signals, unsigned long flags) {
    struct kernel_signal_action now;
    for (int number = 1; number <= 64; number++)
        if ((signals & SIGNAL_BIT(number)) != 0 && signal_action(number, NULL, &now) == 0 && now.handler != SIG_DFL &&
            now.handler != SIG_IGN && (now.flags & flags) == flags)
            return true;
    return false;
}

bool platform_signal_is_handled(int number) {
    return signals_are_handled(SIGNAL_BIT(number), 0);
}

void platform_unblock_signal(int number) {
    uint64_t mask = SIGNAL_BIT(number);
    CALL6(__NR_rt_sigprocmask, 1 /* SIG_UNBLOCK */, &mask, 0, KERNEL_SIGNAL_SET_BYTES, 0, 0);
}

void platform_reset_signal(int number) {
    struct kernel_signal_action action = {NULL, 0, NULL, 0};
    signal_action(number, &action, NULL);
}

bool platform_signals_may_nest(void) {
    return signals_are_handled(UINT64_MAX, SA_NODEFER);
}

/* Signals that say what the code itself has done. */
#define FAULTS (SIGNAL_BIT(SIGSEGV) | SIGNAL_BIT(SIGBUS) | SIGNAL_BIT(SIGILL) | SIGNAL_BIT(SIGFPE) | SIGNAL_BIT(SIGTRAP))
/* libc's own, by which it reaches all threads: handled in every program that makes some. */
#define SIGNALS_OF_LIBC (SIGNAL_BIT(32) | SIGNAL_BIT(33))

bool platform_handlers_may_run(void) {
    return signals_are_handled(~(FAULTS | SIGNALS_OF_LIBC), 0);
}

#define ALONE_BYTES (UINT64_C(1) << 27) /* the kernel maps nothing else as near below the first thread's stack (mmap_base) */
#define LARGEST_STACK_BYTES (UINT64_C(1) << 34) /* a guess: what lies farther away is not this stack's */

/* glibc's; mold finds no weak reference to it in the loader, and other libcs have none. */
extern void *__libc_stack_end __attribute__((weak));

uintptr_t platform_first_stack_end(void) {
    enum { NOT_ASKED = 1 };
    static uintptr_t kernel_says = NOT_ASKED;
    if (&__libc_stack_end != NULL)
        return (uintptr_t)__libc_stack_end;
    uintptr_t end = __atomic_load_n(&kernel_says, __ATOMIC_RELAXED);
    if (end == NOT_ASKED) {
        uint64_t start = 0;
        end = platform_stat_field("/proc/self/stat", 28, &start) ? start : 0;
        __atomic_store_n(&kernel_says, end, __ATOMIC_RELAXED);
    }
    return end;
}

/* Who begins with a greater limit has that much kept free, too. */
static uintptr_t first_stack_bytes(void) {
    struct rlimit64 limit;
    if (failed(CALL6(__NR_prlimit64, 0, RLIMIT_STACK, NULL, &limit, 0, 0)) || limit.rlim_cur > LARGEST_STACK_BYTES)
        return LARGEST_STACK_BYTES;
    return limit.rlim_cur < ALONE_BYTES ? ALONE_BYTES : limit.rlim_cur;
}

uintptr_t platform_stack_end(uintptr_t at) {
    stack_t alternate;
    if (!failed(CALL3(__NR_sigaltstack, NULL, &alternate, 0)) && (alternate.ss_flags & SS_DISABLE) == 0 &&
        at - (uintptr_t)alternate.ss_sp < alternate.ss_size)
        return (uintptr_t)alternate.ss_sp + alternate.ss_size;
    if (platform_thread_id() == platform_process_id()) {
        uintptr_t end = platform_first_stack_end();
        return end - at < first_stack_bytes() ? end : at;
    }
    /* glibc and musl put a thread's own block at the end of its stack. */
    uintptr_t block;
    __asm__("mov %%fs:0, %0" : "=r"(block));
    return block - at < LARGEST_STACK_BYTES ? block : at;
}

/* The seventh word of glibc's and musl's; glibc hides it by a key in the thread's block and a rotation. */
#define JUMP_STACK_WORD 6
#define JUMP_ROTATION 17

uintptr_t platform_jump_target(const void *environment, uintptr_t at) {
    uintptr_t stack = ((const uintptr_t *)environment)[JUMP_STACK_WORD], key;
    if (stack - at < LARGEST_STACK_BYTES)
        return stack;
    __asm__("mov %%fs:0x30, %0" : "=r"(key));
    return (stack >> JUMP_ROTATION | stack << (64 - JUMP_ROTATION)) ^ key;
}

bool platform_is_first_stack(uintptr_t at, uintptr_t end) {
    uintptr_t first_end = platform_first_stack_end();
    return at < end && end <= first_end && first_end - at < ALONE_BYTES;
}

void platform_exit_as_first_thread(void) {
    uint64_t status = 0;
    platform_stat_field("/proc/self/stat", 52, &status);
    for (;;)
        CALL3(__NR_exit, status >> 8 & 0xff, 0, 0);
}

void platform_exit(int status) {
    for (;;)
        CALL3(__NR_exit_group, status, 0, 0);
}

static const uint64_t all_signals = ~(uint64_t)0;

uint64_t platform_block_signals(void) {
    uint64_t before = 0;
    CALL6(__NR_rt_sigprocmask, SIG_BLOCK, &all_signals, &before, KERNEL_SIGNAL_SET_BYTES, 0, 0);
    return before;
}

void platform_restore_signals(uint64_t mask) {
    CALL6(__NR_rt_sigprocmask, SIG_SETMASK, &mask, 0, KERNEL_SIGNAL_SET_BYTES, 0, 0);
}

#define BYTES(...) BYTES_AGAIN(__VA_ARGS__)
#define BYTES_AGAIN(...) ".byte " #__VA_ARGS__ "\n"

static void change_signals_in_block(long how, const uint64_t *mask, uint64_t *before) {
    register long num_bytes __asm__("r10") = KERNEL_SIGNAL_SET_BYTES;
    long result;
    __asm__ volatile("syscall\n" BYTES(PLATFORM_IN_BLOCK)
                     : "=a"(result)
                     : "a"(__NR_rt_sigprocmask), "D"(how), "S"(mask), "d"(before), "r"(num_bytes)
                     : "rcx", "r11", "memory");
}

uint64_t platform_block_signals_in_block(void) {
    uint64_t before = 0;
    change_signals_in_block(SIG_BLOCK, &all_signals, &before);
    return before;
}

void platform_restore_signals_in_block(uint64_t mask) {
    change_signals_in_block(SIG_SETMASK, &mask, NULL);
}

extern unsigned long getauxval(unsigned long type) __attribute__((weak));
/* What getauxval reads. A weak reference finds that function in a dynamic program, but does not
 * pull it into a static one, where this array is always linked. */
extern const ElfW(auxv_t) *_dl_auxv __attribute__((weak));

/* Other static libcs keep it to themselves: it is behind the arguments and the environment, with which the first stack begins. */
static const ElfW(auxv_t) *auxiliary_vector(void) {
    if (&_dl_auxv != NULL)
        return _dl_auxv;
    const uintptr_t *word = (const uintptr_t *)platform_first_stack_end();
    if (word == NULL)
        return NULL;
    uintptr_t num_arguments = *word;
    for (word += 1 + num_arguments + 1; *word != 0; word++)
        ;
    return (const ElfW(auxv_t) *)(const void *)(word + 1);
}

bool platform_runs_with_raised_privileges(void) {
    if (getauxval != NULL)
        return getauxval(AT_SECURE) != 0;
    for (const ElfW(auxv_t) *about = auxiliary_vector(); about != NULL && about->a_type != AT_NULL; about++)
        if (about->a_type == AT_SECURE)
            return about->a_un.a_val != 0;
    return CALL3(__NR_getuid, 0, 0, 0) != CALL3(__NR_geteuid, 0, 0, 0) || CALL3(__NR_getgid, 0, 0, 0) != CALL3(__NR_getegid, 0, 0, 0);
}

/* surroundings */

static size_t terminated(char *text, size_t size, long length) {
    size_t end = length <= 0 ? 0 : (size_t)length < size ? (size_t)length : size - 1;
    text[end] = '\0';
    return end;
}

size_t platform_executable(char *path, size_t size) {
    return terminated(path, size, CALL3(__NR_readlink, "/proc/self/exe", path, size));
}

size_t platform_working_directory(char *path, size_t size) {
    long length = CALL3(__NR_getcwd, path, size, 0);
    /* The kernel counts the terminator, and answers "(unreachable)..." outside of a chroot. */
    return terminated(path, size, length > 1 && path[0] == '/' ? length - 1 : 0);
}

size_t platform_host(char *name, size_t size) {
    struct utsname system;
    if (failed(CALL3(__NR_uname, &system, 0, 0)))
        return terminated(name, size, 0);
    struct text text = text_in(name, size);
    text_add(&text, system.nodename);
    return text.length;
}

uint64_t platform_start_ticks(void) {
    uint64_t ticks = 0;
    return platform_stat_field("/proc/self/stat", 22, &ticks) ? ticks : 0;
}

uint64_t platform_pid_namespace(void) {
    return platform_number_behind("/proc/self/ns/pid");
}

uint64_t platform_namespace(void) {
    char boot[40] = {0};
    uint64_t identity = platform_pid_namespace();
    int file = platform_open("/proc/sys/kernel/random/boot_id", OPEN_READ);
    if (file < 0 || identity == 0)
        return 0;
    platform_read(file, boot, sizeof boot);
    platform_close(file);
    for (size_t i = 0; i < sizeof boot; i++)
        identity = identity * 31 + (uint8_t)boot[i];
    return identity;
}

uint64_t platform_wall_clock_ns(void) {
    struct timespec now = {0, 0};
    CALL3(__NR_clock_gettime, CLOCK_REALTIME, &now, 0);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

const char *platform_error_text(int why) {
    switch (-why) {
    case EACCES: return "permission denied";
    case EPERM: return "operation not permitted";
    case ENOENT: return "no such directory";
    case ENOTDIR: return "a part of the path is not a directory";
    case EISDIR: return "is a directory";
    case EEXIST: return "something that is not a regular file is there";
    case ENAMETOOLONG: return "path too long";
    case ENOSPC: return "no space left on device";
    case EDQUOT: return "disk quota exceeded";
    case EFBIG: return "larger than the file size limit";
    case EROFS: return "read-only file system";
    case EMFILE: case ENFILE: return "too many open files";
    case ENOMEM: return "out of memory";
    case ENODEV: return "the file system cannot map files into memory";
    case ELOOP: return "too many symbolic links";
    case EIO: return "input/output error";
    case ETXTBSY: return "is a program that runs";
    case EBADMSG: return "is damaged, or something else";
    case EBUSY: return "the program was started with its own setting";
    case EINVAL: return "not possible for this one";
    case ENOSYS: return "not counted in this process";
    case EREMCHG: return "another file has this name now";
    case EIDRM: return "no file has this name any more";
    case EDOM: return "%m stands in the name of the file, not in that of its folder";
    default: return "system call refused";
    }
}
