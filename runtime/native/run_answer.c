/* What comes back for packets of runs: see run.h. */
#include <string.h>

#include "runtime/messages/messages.h"
#include "runtime/native/run.h"
#include "runtime/native/state.h"
#include "runtime/process.h"
#include "runtime/say.h"

/* The results of the runs that ask, behind @r.  False: they cannot be. */
static bool answer_requests(struct run_request *q, const struct run_answer *r)
{
    const char *at = (const char *)(r + 1), *end = at + r->bytes;
    struct run_request *next;

    for (; q; q = next) {
        const struct run_answer_one *one = (const void *)at;
        size_t left = (size_t)(end - at);

        next = q->next;
        if (left < sizeof(*one) || one->bytes != q->answer_bytes ||
            left - sizeof(*one) < RUN_PADDED(one->bytes)) {
            run_requests_end(q, DRASYNC_EINTERNAL);
            return false;
        }
        memcpy(q->answer, one + 1, one->bytes);
        at += sizeof(*one) + RUN_PADDED(one->bytes);
        run_request_end(q, one->result);
    }
    return at == end;
}

static bool answer_unit(struct run_flight *f, int node,
                        const struct run_answer *r)
{
    struct run_flight_unit *u;
    struct run_stream *s;
    bool good = true;

    if (r->index >= f->count)
        return false;
    u = &f->units[r->index];
    /* Units of this node may be answered by several threads. */
    s = atomic_exchange(&u->stream, NULL);
    if (!s)
        return false;
    if (r->failed) {
        run_unit_fails(f->caller, u, r->failed);
    } else {
        good = answer_requests(u->requests, r);
        run_error(f->caller, r->error);
    }
    run_unit_end(f, u, s, node);
    return good;
}

/* Something of @c is over, or is to be run by it: let it go on, if it waits. */
static void wake(struct run_caller *c)
{
    struct waiter *waits;

    /* Before `waits`; wait_any() writes that, then looks here. */
    atomic_fetch_add(&c->answers, 1);
    waits = atomic_exchange(&c->waits, NULL);
    if (waits)
        waiter_wake(waits, 0);
}

/*
 * Something of @c is over: let it, or send on for it, who waits.  If nobody does,
 * its thread collects, and sends at its next look at `again`, or computes, and the
 * engine sends what has become stale.  What is for this node its thread runs
 * itself, in place, unless it has ended or others wait.
 */
static void caller_goes_on(struct run_caller *c)
{
    uint32_t urgent = atomic_load(&c->urgent);

    wake(c);
    if (!atomic_load(&c->queued))
        return;
    atomic_store(&c->again, true); /* see run_unlock_send() */
    if (!urgent || !run_try(c))
        return;
    atomic_store(&c->again, false);
    run_send_all(c, runtime.leader && (urgent >= RUN_URGENT_OTHER ||
                                       atomic_load(&c->taken) == RUN_ENDED));
    run_unlock_send(c);
}

/* The flight of @slot with that ticket, or NULL. */
static struct run_flight *flight_of(uint32_t slot, uint64_t ticket)
{
    struct run_flight *f =
        slot < RUN_PACKETS_MAX ? &run_shared->flights[slot] : NULL;

    return f && ticket && atomic_load(&f->ticket) == ticket ? f : NULL;
}

int32_t run_caller_rank(const struct run_packet_head *head)
{
    const struct run_flight *f =
        head->node == runtime.node ? flight_of(head->slot, head->ticket) : NULL;

    return f ? f->caller->rank : -1;
}

bool run_returned(const struct run_packet_head *head,
                  const struct run_unit *unit)
{
    struct run_flight *f = flight_of(head->slot, head->ticket);
    struct run_caller *c = f ? f->caller : NULL;
    struct run_flight_unit *u;
    struct run_stream *s;
    int err;

    /* Whoever has the lock may be what this thread was called from. */
    if (c && !run_try(c))
        return false;
    u = f && unit->index < f->count ? &f->units[unit->index] : NULL;
    s = u ? atomic_exchange(&u->stream, NULL) : NULL;
    if (s) {
        err = run_stream_put_back(c, s, (const char *)(unit + 1), unit->bytes,
                                  u->requests);
        if (err)
            run_unit_fails(c, u, err);
        run_unit_end(f, u, s, runtime.node);
    } else {
        runtime_broken("node %d returned a run that was not sent",
                       runtime.node);
    }
    if (c)
        run_unlock(c);
    if (s)
        wake(c);
    return true;
}

void run_answered(int node, const void *answer, size_t bytes)
{
    const struct run_answer_head *head = answer;
    const char *at = (const char *)(head + 1);
    struct run_flight *f =
        bytes >= sizeof(*head) ? flight_of(head->slot, head->ticket) : NULL;
    struct run_caller *c = NULL;
    uint32_t units = 0;

    if (f) {
        c = f->caller;
        units = head->units;
    }
    if (units) {
        const char *end = (const char *)answer + bytes;

        while (units) {
            const struct run_answer *r = (const void *)at;
            size_t left = (size_t)(end - at);

            if (left < sizeof(*r) || left - sizeof(*r) < r->bytes ||
                atomic_load(&f->ticket) != head->ticket ||
                !answer_unit(f, node, r))
                break;
            at += sizeof(*r) + r->bytes;
            units--;
        }
        caller_goes_on(c);
    }
    if (!c || units)
        runtime_broken("node %d answered a run that was not sent", node);
}

static void answer_arrived(int from, const void *header, size_t bytes,
                           uint64_t context)
{
    (void)context;
    run_answered(from, header, bytes);
}

void run_answer_start(void)
{
    static const struct runtime_handler handler = {.arrived = answer_arrived};

    runtime_handle(RUNTIME_KIND_RUN_ANSWER, &handler);
}
