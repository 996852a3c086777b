/*
 * Counts by userfaultfd: an armed unit is write-protected, and the kernel tells a
 * thread of ours which thread of the program wrote to it first.  No signal is
 * involved and system calls wait as the program does, but who only reads is not
 * seen.  See source.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "upm/host.h"
#include "upm/huge.h"
#include "upm/intercept.h"
#include "upm/signals.h"
#include "upm/source.h"

/* Faults that are read at once. */
#define MESSAGES_MAX 64

static int fault_fd = -1, stop_fd = -1;
static pthread_t reader;

/* Time that answers took.  A sum: no order is needed. */
static _Atomic uint64_t reader_ns;

/* The processor that thread @tid runs on, or ran on last; -1 if it has ended. */
static int processor_of(unsigned tid)
{
    char path[64], line[1024];
    int cpu = -1;

    snprintf(path, sizeof(path), "/proc/self/task/%u/stat", tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t bytes = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
    if (fd >= 0)
        close(fd);
    if (bytes <= 0)
        return -1;
    line[bytes] = 0;
    /* Field 39; the name, field 2, may have blanks and parentheses. */
    const char *at = strrchr(line, ')');
    for (int field = 2; at && field < 39; field++)
        at = strchr(at + 1, ' ');
    if (at)
        cpu = atoi(at + 1);
    return cpu;
}

static int protect(uintptr_t start, size_t bytes, uint64_t mode)
{
    struct uffdio_writeprotect request = {
        .range = {.start = start, .len = bytes}, .mode = mode};

    return ioctl(fault_fd, UFFDIO_WRITEPROTECT, &request);
}

static size_t unit_bytes(const struct upm_area *area, size_t first,
                         size_t count)
{
    size_t from = first * area->unit_bytes, bytes = count * area->unit_bytes;

    return bytes < area->bytes - from ? bytes : area->bytes - from;
}

static void answer(uintptr_t at, unsigned tid)
{
    upm_areas_enter();
    struct upm_area *area = upm_area_find(at);
    if (area) {
        size_t unit = (at - area->start) / area->unit_bytes;
        int cpu = processor_of(tid);

        if (cpu >= 0)
            upm_area_count_access(area, unit, upm_host_of_cpu((unsigned)cpu));
        protect(area->start + unit * area->unit_bytes,
                unit_bytes(area, unit, 1), 0);
    } else {
        protect(at & ~(uintptr_t)(UPM_PAGE_BYTES - 1), UPM_PAGE_BYTES, 0);
    }
    upm_areas_leave();
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* As much again until the thread that waits runs on. */
static uint64_t spent_ns(void)
{
    return 2 * atomic_exchange_explicit(&reader_ns, 0, memory_order_relaxed);
}

static void *read_faults(void *argument)
{
    struct pollfd wait[2] = {{.fd = fault_fd, .events = POLLIN},
                             {.fd = stop_fd, .events = POLLIN}};
    struct uffd_msg messages[MESSAGES_MAX];

    while (!(wait[1].revents & POLLIN)) {
        if (poll(wait, 2, -1) < 0 && errno != EINTR)
            break;
        ssize_t bytes = read(fault_fd, messages, sizeof(messages));
        uint64_t began = now_ns();

        for (size_t i = 0; bytes > 0 && i < (size_t)bytes / sizeof(messages[0]);
             i++) {
            if (messages[i].event == UFFD_EVENT_PAGEFAULT)
                answer(messages[i].arg.pagefault.address,
                       messages[i].arg.pagefault.feat.ptid);
        }
        atomic_fetch_add_explicit(&reader_ns, now_ns() - began,
                                  memory_order_relaxed);
    }
    return argument;
}

static void close_userfaultfd(void)
{
    uint64_t one = 1;

    if (stop_fd >= 0) {
        if (write(stop_fd, &one, sizeof(one)) == (ssize_t)sizeof(one))
            pthread_join(reader, NULL);
        close(stop_fd);
    }
    if (fault_fd >= 0)
        close(fault_fd);
    fault_fd = stop_fd = -1;
}

static int start_reader(void)
{
    sigset_t before;

    stop_fd = eventfd(0, EFD_CLOEXEC);
    if (stop_fd < 0)
        return -errno;
    upm_signals_block(&before);
    int err = upm_thread_create(&reader, NULL, read_faults, NULL);
    upm_signals_restore(&before);
    if (err) {
        close(stop_fd);
        stop_fd = -1;
    }
    return -err;
}

static int open_userfaultfd(const char *argument, char *why, size_t why_bytes)
{
    struct uffdio_api api = {.api = UFFD_API,
                             .features = UFFD_FEATURE_THREAD_ID |
                                         UFFD_FEATURE_PAGEFAULT_FLAG_WP};

    (void)argument;
    fault_fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
    if (fault_fd < 0) {
        snprintf(why, why_bytes,
                 errno == EPERM ? "it is not permitted (sysctl "
                                  "vm.unprivileged_userfaultfd)"
                                : "this kernel has none");
        return -ENOTSUP;
    }
    int err = ioctl(fault_fd, UFFDIO_API, &api) ? -errno : start_reader();
    if (err) {
        snprintf(why, why_bytes,
                 "this kernel does not tell who writes (errno %d)", -err);
        close_userfaultfd();
        return -ENOTSUP;
    }
    return 0;
}

static int watch(struct upm_area *area)
{
    struct uffdio_register request = {
        .range = {.start = area->start, .len = area->bytes},
        .mode = UFFDIO_REGISTER_MODE_WP};

    upm_huge_split(area);
    if (!area->bytes || !ioctl(fault_fd, UFFDIO_REGISTER, &request))
        return 0;
    return errno == ENOMEM ? -ENOMEM : -ENOTSUP;
}

static void unwatch(struct upm_area *area)
{
    struct uffdio_range range = {.start = area->start, .len = area->bytes};

    if (area->bytes)
        ioctl(fault_fd, UFFDIO_UNREGISTER, &range);
    upm_huge_join(area);
}

static void arm(struct upm_area *area, size_t first, size_t count)
{
    if (count)
        protect(area->start + first * area->unit_bytes,
                unit_bytes(area, first, count), UFFDIO_WRITEPROTECT_MODE_WP);
}

static void disarm(struct upm_area *area)
{
    if (area->bytes)
        protect(area->start, area->bytes, 0);
}

/* The child has neither the thread nor the registrations. */
static void forked(void)
{
    if (stop_fd >= 0)
        close(stop_fd);
    if (fault_fd >= 0)
        close(fault_fd);
    fault_fd = stop_fd = -1;
}

const struct upm_source upm_source_userfaultfd = {
    .name = "userfaultfd",
    .open = open_userfaultfd,
    .close = close_userfaultfd,
    .watch = watch,
    .unwatch = unwatch,
    .arm = arm,
    .disarm = disarm,
    .rearms = true,
    .spent_ns = spent_ns,
    .forked = forked,
};
