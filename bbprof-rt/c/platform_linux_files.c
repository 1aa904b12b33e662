/* platform_linux_files.c: files by bare system calls. */
#include "platform.h"
#include "platform_linux_call.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

int platform_open(const char *path, enum open_mode mode) {
    static const int flags[] = {
        [OPEN_READ] = O_RDONLY | O_NONBLOCK,
        [OPEN_UPDATE] = O_RDWR | O_NOFOLLOW,
        [OPEN_ASK] = O_WRONLY | O_NONBLOCK,
        [OPEN_CREATE] = O_RDWR | O_CREAT | O_EXCL,
        [OPEN_LOCK] = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK,
    };
    int file = (int)CALL3(__NR_open, path, flags[mode] | O_CLOEXEC | O_NOCTTY, 0666);
    if (file < 0 || file > 2)
        return file;
    /* The program has closed a standard stream: its number must stay free. */
    int higher = (int)CALL3(__NR_fcntl, file, F_DUPFD_CLOEXEC, 3);
    platform_close(file);
    return higher;
}

void platform_close(int file) {
    CALL3(__NR_close, file, 0, 0);
}

long platform_read(int file, void *bytes, size_t num_bytes) {
    long result;
    do
        result = CALL3(__NR_read, file, bytes, num_bytes);
    while (result == -EINTR);
    return result;
}

int platform_read_at(int file, uint64_t offset, void *bytes, size_t num_bytes) {
    char *next = bytes;
    while (num_bytes > 0) {
        long result = CALL6(__NR_pread64, file, next, num_bytes, offset, 0, 0);
        if (result == -EINTR)
            continue;
        if (result <= 0)
            return result == 0 ? -EBADMSG : (int)result;
        next += result;
        offset += (uint64_t)result;
        num_bytes -= (size_t)result;
    }
    return 0;
}

/* What is written may bring a signal upon the calling thread: SIGPIPE, when nobody reads a pipe any more, SIGXFSZ, when a file gets
 * too long. These are not the program's own: they are kept out and taken back, unless such a one was waiting already. */
struct hush {
    uint64_t mask, waiting;
};

static struct hush begin_hush(void) {
    struct hush hush = {platform_block_signals(), 0};
    CALL3(__NR_rt_sigpending, &hush.waiting, KERNEL_SIGNAL_SET_BYTES, 0);
    return hush;
}

static void end_hush(const struct hush *hush, long result) {
    uint64_t ours = result == -EPIPE ? SIGNAL_BIT(SIGPIPE) : result == -EFBIG ? SIGNAL_BIT(SIGXFSZ) : 0;
    if ((ours & ~hush->waiting) != 0) {
        const struct timespec at_once = {0, 0};
        CALL6(__NR_rt_sigtimedwait, &ours, NULL, &at_once, KERNEL_SIGNAL_SET_BYTES, 0, 0);
    }
    platform_restore_signals(hush->mask);
}

static int write_all(int file, const void *bytes, size_t num_bytes) {
    const char *next = bytes;
    while (num_bytes > 0) {
        long written = CALL3(__NR_write, file, next, num_bytes);
        if (written == -EINTR)
            continue;
        if (written <= 0)
            return written == 0 ? -EIO : (int)written;
        next += written;
        num_bytes -= (size_t)written;
    }
    return 0;
}

int platform_write_all(int file, const void *bytes, size_t num_bytes) {
    struct hush hush = begin_hush();
    int why = write_all(file, bytes, num_bytes);
    end_hush(&hush, why);
    return why;
}

void platform_write_line(int file, const char *line, size_t num_bytes) {
    struct pollfd room = {file, POLLOUT, 0};
    if (CALL3(__NR_poll, &room, 1, 0) == 1 && room.revents == POLLOUT)
        platform_write_all(file, line, num_bytes);
}

static int identity_of(long result, const struct stat *status, struct file_identity *identity) {
    if (failed(result))
        return (int)result;
    identity->device = status->st_dev;
    identity->inode = status->st_ino;
    identity->regular = S_ISREG(status->st_mode);
    identity->link = S_ISLNK(status->st_mode);
    return 0;
}

int platform_identify(int file, struct file_identity *identity) {
    struct stat status;
    return identity_of(CALL3(__NR_fstat, file, &status, 0), &status, identity);
}

int platform_identify_path(const char *path, struct file_identity *identity) {
    struct stat status;
    return identity_of(CALL3(__NR_lstat, path, &status, 0), &status, identity);
}

int platform_identify_target(const char *path, struct file_identity *identity) {
    struct stat status;
    static const char proc[] = "/proc/";
    char target[sizeof proc - 1];
    int why = identity_of(CALL3(__NR_stat, path, &status, 0), &status, identity);
    if (why == 0 && CALL3(__NR_readlink, path, target, sizeof target) == (long)sizeof target && bytes_equal(target, proc, sizeof target))
        identity->regular = false;
    return why;
}

int platform_rename(const char *from, const char *to) {
    return (int)CALL3(__NR_rename, from, to, 0);
}

int platform_rename_new(const char *from, const char *to) {
    int why = (int)CALL6(__NR_renameat2, AT_FDCWD, from, AT_FDCWD, to, 1 /* RENAME_NOREPLACE */, 0);
    if (why != -EINVAL && why != -ENOSYS)
        return why;
    /* Not every file system can do that. */
    why = (int)CALL3(__NR_link, from, to, 0);
    if (why == 0)
        platform_remove(from);
    return why;
}

int platform_lock(int file) {
    return (int)CALL3(__NR_flock, file, LOCK_EX | LOCK_NB, 0);
}

void platform_unlock(int file) {
    CALL3(__NR_flock, file, LOCK_UN, 0);
}

void platform_remove(const char *path) {
    CALL3(__NR_unlink, path, 0, 0);
}

int platform_length_allowed(uint64_t num_bytes) {
    struct rlimit limit;
    if (failed(CALL6(__NR_prlimit64, 0, RLIMIT_FSIZE, 0, &limit, 0, 0)))
        return 0;
    return num_bytes > limit.rlim_cur ? -EFBIG : 0;
}

static int extend(int file, uint64_t from, uint64_t to) {
    int why;
    do
        why = (int)CALL6(__NR_fallocate, file, 0, from, to - from, 0, 0);
    while (why == -EINTR);
    if (why != -EOPNOTSUPP && why != -ENOSYS)
        return why;
    /* This file system cannot promise room: take it, a byte in each (smallest) block. */
    for (uint64_t at = from; at < to; at += 512) {
        long written = CALL6(__NR_pwrite64, file, "", 1, at, 0, 0);
        if (written != 1)
            return written < 0 ? (int)written : -EIO;
    }
    return (int)CALL3(__NR_ftruncate, file, to, 0);
}

int platform_extend(int file, uint64_t from, uint64_t to) {
    int why = platform_length_allowed(to);
    if (why != 0)
        return why;
    struct hush hush = begin_hush();
    why = extend(file, from, to);
    end_hush(&hush, why);
    return why;
}

struct directory_entry {
    uint64_t inode;
    int64_t next;
    uint16_t length;
    uint8_t type;
    char name[];
};

int platform_list(const char *folder, void (*each)(void *context, const char *name), void *context) {
    int file = (int)CALL3(__NR_open, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (file < 0)
        return file;
    _Alignas(8) char bytes[1024];
    long length;
    while ((length = CALL3(__NR_getdents64, file, bytes, sizeof bytes)) > 0) {
        for (long at = 0; at < length;) {
            const struct directory_entry *entry = (const struct directory_entry *)(bytes + at);
            each(context, entry->name);
            at += entry->length;
        }
    }
    platform_close(file);
    return (int)length;
}
