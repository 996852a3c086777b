/* The stack of queued messages, and the pipe that wakes who sends them. */
#include "runtime/messages/outbox.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "memory/control.h"
#include "memory/limit.h"
#include "memory/passed.h"
#include "runtime/messages/dispatch.h"
#include "runtime/messages/messages.h"
#include "runtime/messages/progress.h"
#include "runtime/process.h"
#include "runtime/shared.h"

/* A message that waits for the progress thread, in control memory. */
struct runtime_outgoing {
    struct runtime_outgoing *next;
    int32_t node;
    uint32_t kind;
    uint64_t context;
    size_t header_bytes;
    size_t pieces_count;
    struct transport_piece pieces[]; /* then the header */
};

int outbox_pipe_new(int *fd_out)
{
    char path[64];
    int ends[2];

    if (pipe2(ends, O_CLOEXEC))
        return DRASYNC_ENOMEM;
    /* Open for both, so that it is never broken. */
    snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[0]);
    *fd_out = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    close(ends[0]);
    close(ends[1]);
    return *fd_out < 0 ? DRASYNC_ENOMEM : 0;
}

/*
 * Dekker's pair with sleep_for() of progress_idle.c, all four sequentially
 * consistent: who queues writes `head` (or `chores`), then reads `asleep` here;
 * the progress thread writes `asleep`, then reads those.  One sees the other.
 */
void outbox_wake(void)
{
    struct runtime_outbox *box = &runtime.shared->outbox;

    if (runtime.nodes == 1 || !atomic_exchange(&box->asleep, OUTBOX_AWAKE))
        return;
    /* If the pipe is full it has been woken. */
    int saved = errno;
    while (write(runtime.wake_fd, "", 1) < 0 && errno == EINTR)
        continue;
    errno = saved;
}

void runtime_nudge(void)
{
    outbox_wake();
}

bool outbox_sleep(int alarm, int watch)
{
    struct runtime_outbox *box = &runtime.shared->outbox;
    struct pollfd fds[] = {{.fd = runtime.wake_fd, .events = POLLIN},
                           {.fd = alarm, .events = POLLIN},
                           {.fd = watch, .events = POLLIN}};
    char rings[64];

    int ready = poll(fds, 3, -1);
    /* Only spares ranks the pipe. */
    atomic_store_explicit(&box->asleep, OUTBOX_AWAKE, memory_order_relaxed);
    if (ready <= 0)
        return false;
    if (fds[0].revents)
        while (read(runtime.wake_fd, rings, sizeof(rings)) ==
               (ssize_t)sizeof(rings))
            continue;
    return fds[2].revents != 0;
}

void runtime_remote_wait(int by)
{
    struct runtime_outbox *box = &runtime.shared->outbox;

    atomic_fetch_add(&box->remote_waits, (uint32_t)by);
    if (by > 0)
        outbox_wake();
}

/* For as long as this thread may help.  Sequentially consistent, and so is the
 * look at who helps in progress_help(): pairs with turns_help_end(),
 * progress_turns.h, 5. */
static void help(struct waiter *const *waiters, int count, uint64_t deadline_us)
{
    atomic_fetch_add(&runtime.shared->outbox.remote_waits, 1);
    progress_help(waiters, count, deadline_us);
    if (!waiter_done_any(waiters, count))
        outbox_wake();
}

static void helped(void)
{
    atomic_fetch_sub(&runtime.shared->outbox.remote_waits, 1);
}

int runtime_wait_near(struct waiter *waiter, uint64_t deadline_us,
                      int *result_out)
{
    int err = progress_own_beside(&waiter, 1, deadline_us);

    return err ? err : waiter_wait(waiter, deadline_us, result_out);
}

int runtime_wait_remote(struct waiter *waiter, uint64_t deadline_us,
                        int *result_out)
{
    int err;

    if (runtime.nodes == 1)
        return waiter_wait(waiter, deadline_us, result_out);
    help(&waiter, 1, deadline_us);
    err = runtime_wait_near(waiter, deadline_us, result_out);
    helped();
    return err;
}

int runtime_wait_remote_any(struct waiter *const *waiters, int count,
                            uint64_t deadline_us)
{
    int err;

    if (runtime.nodes == 1)
        return waiter_wait_any(waiters, count, deadline_us);
    help(waiters, count, deadline_us);
    err = progress_own_beside(waiters, count, deadline_us);
    if (!err)
        err = waiter_wait_any(waiters, count, deadline_us);
    helped();
    return err;
}

bool outbox_empty(void)
{
    return atomic_load(&runtime.shared->outbox.pending) == 0;
}

static bool message_valid(const struct runtime_message *m)
{
    return runtime.shared && m->node >= 0 && m->node < runtime.nodes &&
           m->node != runtime.node && m->kind < RUNTIME_KINDS_MAX &&
           m->header_bytes <= RUNTIME_HEADER_BYTES_MAX &&
           m->pieces_count <= SIZE_MAX / (2 * sizeof(*m->pieces));
}

int runtime_send(const struct runtime_message *m)
{
    struct runtime_outgoing *out, *head;
    size_t pieces_bytes = m->pieces_count * sizeof(*m->pieces);
    void *slot;
    int err;

    if (!message_valid(m))
        return DRASYNC_EINVAL;
    if (progress_send(m, &err))
        return err;
    /* The step that it is of is done, and cannot be undone. */
    limit_reserve_enter();
    err = control_alloc(&runtime.space,
                        sizeof(*out) + pieces_bytes + m->header_bytes, &slot);
    limit_reserve_leave();
    if (err)
        return err;
    out = slot;
    out->node = m->node;
    out->kind = m->kind;
    out->context = m->context;
    out->header_bytes = m->header_bytes;
    out->pieces_count = m->pieces_count;
    if (pieces_bytes)
        memcpy(out->pieces, m->pieces, pieces_bytes);
    if (m->header_bytes)
        memcpy((char *)out->pieces + pieces_bytes, m->header, m->header_bytes);

    struct runtime_outbox *box = &runtime.shared->outbox;
    /* Before it can be sent, or it would be counted off first. */
    atomic_fetch_add(&box->pending, 1);
    /* Release pairs with the acquire of take_all(); the rest is for
     * outbox_wake(). */
    head = atomic_load_explicit(&box->head, memory_order_relaxed);
    do {
        out->next = head;
        passed_give();
    } while (!atomic_compare_exchange_weak(&box->head, &head, out));
    outbox_wake();
    return 0;
}

/* The oldest first. */
static struct runtime_outgoing *take_all(struct runtime_outbox *box)
{
    struct runtime_outgoing *stack = atomic_exchange(&box->head, NULL);
    struct runtime_outgoing *first = NULL;

    passed_take();
    while (stack) {
        struct runtime_outgoing *next = stack->next;
        stack->next = first;
        first = stack;
        stack = next;
    }
    return first;
}

int outbox_drain(struct transport *transport)
{
    struct runtime_outbox *box = &runtime.shared->outbox;
    int count = 0, err = 0;

    /* A hint; take_all() acquires. */
    if (!atomic_load_explicit(&box->head, memory_order_relaxed))
        return 0;
    transport_cork(transport);
    for (struct runtime_outgoing *out = take_all(box), *next; out; out = next) {
        struct transport_message message = {
            .kind = out->kind,
            .header = out->pieces + out->pieces_count,
            .header_bytes = out->header_bytes,
            .pieces = out->pieces,
            .pieces_count = out->pieces_count,
            .context = out->context,
        };
        next = out->next;
        if (!err)
            err = dispatch_send(transport, out->node, &message);
        control_free(&runtime.space, out);
        atomic_fetch_sub(&box->pending, 1);
        count++;
    }
    int flushed = transport_uncork(transport);
    if (!err && flushed < 0)
        err = flushed;
    return err ? err : count;
}
