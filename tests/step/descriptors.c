/*
 * descriptors.c - pipes and timers of the code under test.  A pipe keeps a count
 * of bytes; both ends are one descriptor.
 */
#include "calls.h"
#include "engine.h"

#define PC       ((uintptr_t)__builtin_return_address(0))
#define FDS_MAX  8
#define FD_FIRST 1000

enum descriptor_kind { FD_CLOSED, FD_PIPE, FD_TIMER };

static struct descriptor {
    enum descriptor_kind kind;
    size_t bytes;
    uint64_t until_us; /* 0: not set */
} descriptors[FDS_MAX];
static int descriptors_count;

/* What each thread polls. */
static struct polled {
    struct pollfd *fds;
    nfds_t count;
    uint64_t until_us; /* its own limit */
} polled[STEP_THREADS];

void descriptors_reset(void)
{
    memset(descriptors, 0, sizeof(descriptors));
    memset(polled, 0, sizeof(polled));
    descriptors_count = 0;
}

static struct descriptor *descriptor_of(int fd)
{
    int i = fd - FD_FIRST;

    if (i < 0 || i >= descriptors_count || descriptors[i].kind == FD_CLOSED) {
        step_fail("descriptor %d is not open", fd);
        i = 0;
    }
    return &descriptors[i];
}

static int descriptor_new(enum descriptor_kind kind)
{
    if (descriptors_count == FDS_MAX)
        step_fail("the scenario opens too many descriptors");
    descriptors[descriptors_count] = (struct descriptor){.kind = kind};
    return FD_FIRST + descriptors_count++;
}

int step_pipe2(int ends[2], int flags)
{
    (void)flags;
    ends[0] = ends[1] = descriptor_new(FD_PIPE);
    return 0;
}

int step_timerfd_create(int clock, int flags)
{
    (void)clock;
    (void)flags;
    return descriptor_new(FD_TIMER);
}

int step_close(int fd)
{
    descriptor_of(fd)->kind = FD_CLOSED;
    return 0;
}

static bool readable(int fd)
{
    struct descriptor *d = descriptor_of(fd);

    return d->kind == FD_PIPE ? d->bytes > 0
                              : d->until_us && d->until_us <= run.now_us;
}

static bool any_readable(void *arg)
{
    struct polled *p = arg;

    for (nfds_t i = 0; i < p->count; i++)
        if (p->fds[i].fd >= 0 && readable(p->fds[i].fd))
            return true;
    return false;
}

static uint64_t deadline_of(const struct polled *p)
{
    uint64_t first = p->until_us;

    for (nfds_t i = 0; i < p->count; i++) {
        int fd = p->fds[i].fd;
        const struct descriptor *d = fd < 0 ? NULL : descriptor_of(fd);

        if (d && d->kind == FD_TIMER && d->until_us && d->until_us < first)
            first = d->until_us;
    }
    return first;
}

int step_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    struct polled *p = &polled[run.self];
    int ready = 0;

    run_point();
    *p = (struct polled){fds, count,
                         timeout_ms < 0
                             ? STEP_FOREVER
                             : run.now_us + 1000 * (uint64_t)timeout_ms};
    if (!any_readable(p)) {
        run_trace(STEP_CALL, PC, 0)->what = "sleeps in poll()";
        run_block(any_readable, p, deadline_of(p), false);
    }
    for (nfds_t i = 0; i < count; i++) {
        fds[i].revents = fds[i].fd >= 0 && readable(fds[i].fd) ? POLLIN : 0;
        ready += fds[i].revents != 0;
    }
    p->count = 0;
    run_trace(STEP_CALL, PC, 0)->what = "returns from poll()";
    return ready;
}

ssize_t step_read(int fd, void *to, size_t bytes)
{
    struct descriptor *d = descriptor_of(fd);

    run_point();
    if (!d->bytes) {
        errno = EAGAIN;
        return -1;
    }
    if (bytes > d->bytes)
        bytes = d->bytes;
    memset(to, 0, bytes);
    d->bytes -= bytes;
    run_trace(STEP_CALL, PC, 0)->what = "reads from the pipe";
    return (ssize_t)bytes;
}

ssize_t step_write(int fd, const void *from, size_t bytes)
{
    struct descriptor *d = descriptor_of(fd);
    enum step_effect effect;
    struct trace *t;

    (void)from;
    run_point();
    t = run_trace(STEP_CALL, PC, 0);
    t->what = "writes to the pipe";
    t->fault = run_fault(STEP_CALL, 0, 0, &effect);
    if (!t->fault)
        d->bytes += bytes;
    return (ssize_t)bytes;
}

int step_timerfd_settime(int fd, int flags, const struct itimerspec *to,
                         struct itimerspec *before_out)
{
    struct descriptor *d = descriptor_of(fd);
    struct trace *t;

    (void)flags;
    (void)before_out;
    run_point();
    d->until_us = (uint64_t)to->it_value.tv_sec * 1000000u +
                  (uint64_t)to->it_value.tv_nsec / 1000u;
    t = run_trace(STEP_CALL, PC, 0);
    t->what = "sets the timer, in us:";
    t->after = d->until_us > run.now_us ? d->until_us - run.now_us : 0;
    for (int i = 0; i < STEP_THREADS; i++)
        if (polled[i].count)
            run_set_deadline(i, deadline_of(&polled[i]));
    return 0;
}
