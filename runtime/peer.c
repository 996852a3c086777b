/* Whether another process of this host lives: see peer.h. */
#include "runtime/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

/* For headers that are older than the kernel; the same on all machines. */
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

/* Of the descriptors that a process may have, at most 1 of so many is a pidfd
 * of ours. */
#define PROCESS_HELD_SHARE 4

static _Atomic uint64_t held_count;

/* What /proc/PID/stat says. */
struct stat_line {
    char state;
    long threads;
    unsigned long long start_ticks;
};

/* 0, or an errno; ESRCH: there is no such process. */
static int read_stat(int pid, struct stat_line *line)
{
    char path[32], text[512];
    int error, fd;

    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? ESRCH : errno;
    ssize_t got = read(fd, text, sizeof(text) - 1);
    error = errno;
    close(fd);
    if (got <= 0)
        return got < 0 ? error : EIO;
    text[got] = 0;
    /* The name, in parentheses, may hold anything; field 3 comes after it. */
    const char *rest = strrchr(text, ')');
    if (!rest || sscanf(rest + 1,
                        " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                        "%*s %*s %*s %*s %ld %*s %llu",
                        &line->state, &line->threads, &line->start_ticks) != 3)
        return EIO;
    return 0;
}

uint64_t process_start_ticks(int pid)
{
    struct stat_line line;
    int saved = errno;
    int error = read_stat(pid, &line);

    errno = saved;
    return error ? 0 : line.start_ticks;
}

void process_hold(struct process *process)
{
    struct rlimit limit = {0};
    int saved = errno;

    process->fd = -1;
    process->seen = false;
    getrlimit(RLIMIT_NOFILE, &limit);
    /* A count, which orders nothing. */
    if (atomic_fetch_add_explicit(&held_count, 1, memory_order_relaxed) <
        limit.rlim_cur / PROCESS_HELD_SHARE)
        process->fd = (int)syscall(SYS_pidfd_open, process->pid, 0);
    if (process->fd < 0)
        atomic_fetch_sub_explicit(&held_count, 1, memory_order_relaxed);
    errno = saved;
}

void process_drop(struct process *process)
{
    if (process->fd < 0)
        return;
    close(process->fd);
    process->fd = -1;
    atomic_fetch_sub_explicit(&held_count, 1, memory_order_relaxed);
}

/*
 * What the pidfd says: 1: ended, 0: lives.  -1: it is none any more, as the
 * program has closed what it did not know, and may use the number for itself.
 */
static int ask_held(const struct process *process)
{
    struct pollfd wait = {.fd = process->fd, .events = POLLIN};

    if (syscall(SYS_pidfd_send_signal, process->fd, 0, NULL, 0) &&
        errno != EPERM)
        return errno == ESRCH ? 1 : -1;
    /* One that ended can be sent signals until its parent has asked for it. */
    return poll(&wait, 1, 0) == 1 && (wait.revents & POLLIN) != 0;
}

/* Is the pidfd of another process, to which the number had passed on when it was
 * opened?  Once it is seen not to be, it stays so. */
static bool passed_on(struct process *process)
{
    if (process->seen)
        return false;
    uint64_t ticks = process_start_ticks(process->pid);
    process->seen = ticks && ticks == process->start_ticks;
    return ticks && ticks != process->start_ticks;
}

/* By number: needs a descriptor for a moment. */
static bool ask_system(const struct process *process)
{
    struct stat_line line;

    if (kill(process->pid, 0) && errno == ESRCH)
        return true;
    if (!process->start_ticks || read_stat(process->pid, &line))
        return false; /* what cannot be read says nothing */
    return line.start_ticks != process->start_ticks || line.state == 'X' ||
           (line.state == 'Z' && line.threads <= 1);
}

/* Relaxed: who looks at once finds the same. */
static bool dumps_when_ended(void)
{
    static _Atomic int known; /* 1: no, 2: yes */
    int is = atomic_load_explicit(&known, memory_order_relaxed), major, minor;
    struct utsname name;

    if (!is) {
        bool later = !uname(&name) &&
                     sscanf(name.release, "%d.%d", &major, &minor) == 2 &&
                     (major > 5 || (major == 5 && minor >= 16));

        is = later ? 1 : 2;
        atomic_store_explicit(&known, is, memory_order_relaxed);
    }
    return is == 2;
}

bool process_dumps_core(const struct process *process)
{
    char path[32], line[128];
    bool dumps = false;
    int saved = errno;

    if (!dumps_when_ended())
        return false;
    snprintf(path, sizeof(path), "/proc/%d/status", (int)process->pid);
    FILE *file = fopen(path, "re");
    while (file && !dumps && fgets(line, sizeof(line), file))
        dumps = !strncmp(line, "CoreDumping:\t1", 14);
    if (file)
        fclose(file);
    errno = saved;
    return dumps;
}

bool process_ended(struct process *process)
{
    int saved = errno, ended = -1;

    if (process->fd >= 0 && passed_on(process))
        process_drop(process);
    if (process->fd >= 0) {
        ended = ask_held(process);
        if (ended < 0) {
            process->fd = -1;
            atomic_fetch_sub_explicit(&held_count, 1, memory_order_relaxed);
        }
    }
    if (ended < 0)
        ended = ask_system(process);
    errno = saved;
    return ended != 0;
}
