/*
 * The end of the transport that a rank which leads no node has for its
 * transfers: see rma_far.h.
 *
 * There is no thread for it: whoever waits polls, one thread at a time, and
 * rings a doorbell for the others when something has moved or another one is to
 * poll.
 */
#include <poll.h>
#include <pthread.h>
#include <sched.h>

#include "runtime/death.h"
#include "runtime/messages/messages.h"
#include "runtime/messages/progress.h"
#include "runtime/process.h"
#include "runtime/rma/far.h"
#include "runtime/say.h"
#include "runtime/shared.h"
#include "transport/sockets.h"

/* While nothing comes it polls for so long, then sleeps until something comes
 * on MPI's sockets, and for so long at most. */
#define FAR_POLL_US 2000
#define FAR_NAP_MS  1

/* What may be late is sent after so long. */
#define FAR_LATE_US 1000

/* How often who waits looks whether ranks of this host live. */
#define FAR_LOOK_US 500000

/* So often the processor is offered to a thread that wants to send. */
#define FAR_YIELDS_MAX 100

#define FAR_SETS_MAX 4

static struct transport *transport; /* NULL: a leader's, or not open */
static pthread_mutex_t turns = PTHREAD_MUTEX_INITIALIZER; /* who uses it */
static _Atomic int wanted;   /* threads that wait for `turns` to send */
static struct doorbell bell; /* something has moved, or nobody polls */
static uint64_t late_us;     /* since when messages wait; under `turns` */

/* --- What comes ----------------------------------------------------------- */

static const struct runtime_handler *handler_of(uint32_t kind)
{
    return kind == FAR_DONE   ? &far_done_handler
           : kind == FAR_DATA ? &far_data_handler
                              : NULL;
}

static int on_place(void *user, int from, uint32_t kind, const void *header,
                    size_t header_bytes, uint64_t bulk_bytes,
                    struct transport_sink *sink, uint64_t *context_out)
{
    const struct runtime_handler *handler = handler_of(kind);

    (void)user;
    *context_out = 0;
    if (handler && handler->place)
        return handler->place(from, header, header_bytes, bulk_bytes, sink,
                              context_out);
    return bulk_bytes ? DRASYNC_EINVAL : 0;
}

static void on_arrived(void *user, int from, uint32_t kind, const void *header,
                       size_t header_bytes, uint64_t context)
{
    const struct runtime_handler *handler = handler_of(kind);

    (void)user;
    if (handler)
        handler->arrived(from, header, header_bytes, context);
    else
        runtime_poison("rank %d sent a message of kind %u to a rank that leads "
                       "no node",
                       from, kind);
}

static void on_sent(void *user, int to, uint32_t kind, uint64_t context,
                    int result)
{
    (void)user;
    (void)kind; /* FAR_PUT: no other has data */
    far_put_handler.sent(to, context, result);
}

/* --- Polling -------------------------------------------------------------- */

static bool turns_try(void)
{
    return !pthread_mutex_trylock(&turns);
}

static void turns_take(void)
{
    if (turns_try())
        return;
    atomic_fetch_add(&wanted, 1);
    pthread_mutex_lock(&turns);
    atomic_fetch_sub(&wanted, 1);
}

/* Who found them taken may poll now.  Those who want to send come first; a
 * mutex would not see to that. */
static void turns_give(void)
{
    pthread_mutex_unlock(&turns);
    doorbell_ring(&bell);
    for (int i = 0; i < FAR_YIELDS_MAX && atomic_load(&wanted); i++)
        sched_yield();
}

/* With the turns.  How many things moved. */
static int turn(uint64_t now)
{
    int moved = transport_poll(transport);

    if (moved >= 0 && transport->late && now - late_us > FAR_LATE_US) {
        int late = transport_flush(transport);
        moved = late < 0 ? late : moved + late;
    }
    if (moved < 0 && !atomic_load(runtime_poisoned))
        runtime_poison("the network between nodes failed: %s",
                       drasync_strerror(moved));
    if (moved)
        doorbell_ring(&bell);
    return moved < 0 ? 0 : moved;
}

/* Until something comes on the sockets, a short time. */
static void nap(void)
{
    static _Thread_local int sets[FAR_SETS_MAX], count;
    struct pollfd fds[FAR_SETS_MAX];

    /* Others come with the first messages, or never. */
    if (!count && atomic_load(&runtime.shared->on_sockets))
        count = sockets_find_sets(sets, FAR_SETS_MAX);
    for (int i = 0; i < count; i++)
        fds[i] = (struct pollfd){.fd = sets[i], .events = POLLIN};
    poll(fds, (nfds_t)count, FAR_NAP_MS);
}

/* With the turns: until @w's event is here, or another wants them, or nothing
 * has come for a while, or the time is @until.  What it is then. */
static uint64_t poll_for(const struct waiter *w, uint64_t *active,
                         uint64_t until)
{
    uint64_t now = runtime_now_us();

    while (!waiter_done(w) && now < until) {
        if (turn(now))
            *active = now;
        else if (atomic_load(&wanted) || now - *active > FAR_POLL_US ||
                 atomic_load(runtime_poisoned))
            break;
        else if (!waiter_done(w))
            sched_yield();
        now = runtime_now_us();
    }
    return now;
}

/* For a rank that has an end of its own. */
static int wait_here(struct waiter *w)
{
    uint64_t begun = runtime_now_us(), active = begun, looked = begun;
    int err = 0;

    while (!waiter_done(w) && !err) {
        uint32_t seen = doorbell_read(&bell);

        if (waiter_done(w))
            break;
        if (!turns_try()) {
            err = doorbell_wait(&bell, seen, WAIT_FOREVER);
            continue;
        }
        uint64_t now = poll_for(w, &active, looked + FAR_LOOK_US);
        turns_give();
        if (waiter_done(w))
            break;
        if (now - looked >= FAR_LOOK_US || atomic_load(runtime_poisoned)) {
            err = death_check(begun);
            looked = now;
        } else if (now - active > FAR_POLL_US) {
            nap();
        }
    }
    return waiter_done(w) ? 0 : err;
}

int far_wait(struct waiter *w)
{
    int result;

    return runtime.leader ? runtime_wait_remote(w, WAIT_FOREVER, &result)
                          : wait_here(w);
}

void far_glance(void)
{
    if (runtime.leader) {
        progress_glance();
    } else if (turns_try()) {
        turn(runtime_now_us());
        turns_give();
    }
}

/* --- Sending -------------------------------------------------------------- */

int far_send(const struct runtime_message *m)
{
    const struct transport_message message = {
        .kind = m->kind,
        .header = m->header,
        .header_bytes = m->header_bytes,
        .pieces = m->pieces,
        .pieces_count = m->pieces_count,
        .context = m->context,
        .late = m->lazy,
    };
    uint64_t now;
    int err;

    if (runtime.leader)
        return runtime_send(m);
    now = runtime_now_us();
    turns_take();
    if (!transport->late)
        late_us = now;
    err = transport_send(transport, runtime.leader_of[m->node], &message);
    /* What the network keeps must be pushed. */
    if (!err && !transport_still(transport))
        turn(now);
    turns_give();
    return err;
}

/* --- Open and close ------------------------------------------------------- */

int far_end_open(void)
{
    static const struct transport_events events = {
        .place = on_place,
        .arrived = on_arrived,
        .sent = on_sent,
    };
    enum transport_data data = runtime.options.wire == RUNTIME_WIRE_PAGED
                                   ? TRANSPORT_PAGED
                                   : TRANSPORT_BULK;

    if (runtime.leader || transport)
        return 0;
    return boot_transport(runtime_boot, data, &events, NULL, true, &transport);
}

bool far_end_opened(void)
{
    return transport != NULL;
}

bool far_end_still(void)
{
    bool still;

    if (!transport)
        return true;
    pthread_mutex_lock(&turns);
    still = transport_still(transport);
    pthread_mutex_unlock(&turns);
    return still;
}

void far_end_close(void)
{
    transport_close(transport);
    transport = NULL;
}
