/* Packets of runs leave: see run.h. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "memory/control.h"
#include "runtime/messages/messages.h"
#include "runtime/native/run.h"
#include "runtime/native/state.h"
#include "runtime/native/table.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/shared.h"

#define PACKET_KEPT_BYTES_MIN ((size_t)32 << 10)

/* Streams that are sorted by node at a time. */
#define PORTION 256

struct run_shared *run_shared;

/* --- Where ---------------------------------------------------------------- */

/* Read without a lock: it may be what was true at some time. */
__attribute__((no_sanitize("thread"))) int run_where(uint64_t address,
                                                     const struct run_stream *s)
{
    const struct proto_region *r;
    int home;

    if (runtime.nodes == 1)
        return runtime.node;
    r = native_find(address);
    if (r && *(const volatile bool *)&r->owned)
        return runtime.node;
    if (s && s->node >= 0 && s->node != runtime.node)
        return s->node;
    /* Without a move there is no hint: an ancestor of what was met here. */
    if (r && *(const volatile uint64_t *)&r->incarnation &&
        *(const volatile uint64_t *)&r->epoch)
        return (int)*(const volatile uint32_t *)&r->hint;
    home = native_home(address);
    return home >= 0 ? home : runtime.node;
}

/* --- Results -------------------------------------------------------------- */

/* Relaxed: who flushes has seen the end of the run, which orders it. */
void run_error(struct run_caller *c, int err)
{
    int32_t none = 0;

    if (err)
        atomic_compare_exchange_strong_explicit(
            &c->error, &none, err, memory_order_relaxed, memory_order_relaxed);
}

void run_request_end(struct run_request *q, int result)
{
    waiter_wake(&q->waiter, result);
    /* The thread that waited goes on from here: the second of the two frees
     * @q. */
    if (atomic_fetch_or(&q->ends, RUN_DONE) & RUN_LEFT)
        control_free(&runtime.space, q);
}

void run_requests_end(struct run_request *q, int err)
{
    struct run_request *next;

    for (; q; q = next) {
        next = q->next;
        run_request_end(q, err);
    }
}

/* --- Flights -------------------------------------------------------------- */

/* A free one, with a ticket; NULL: none, or *short_out: no memory. */
static struct run_flight *flight_new(struct run_caller *c, uint32_t units,
                                     bool *short_out)
{
    uint64_t ticket = atomic_fetch_add(&run_shared->tickets, 1) + 1;
    void *v;

    if (control_alloc_zero(&runtime.space,
                           units * sizeof(struct run_flight_unit), &v)) {
        *short_out = true;
        return NULL;
    }
    for (uint32_t i = 0; i < RUN_PACKETS_MAX; i++) {
        struct run_flight *f =
            &run_shared->flights[(ticket + i) % RUN_PACKETS_MAX];
        uint64_t none = 0;

        if (atomic_load_explicit(&f->ticket, memory_order_relaxed) ||
            !atomic_compare_exchange_strong(&f->ticket, &none, ticket))
            continue;
        f->caller = c;
        f->count = units;
        f->units = v;
        atomic_store(&f->left, units);
        return f;
    }
    control_free(&runtime.space, v);
    return NULL;
}

static void flight_free(struct run_flight *f)
{
    control_free(&runtime.space, f->units);
    f->units = NULL;
    /* Release pairs with the exchange of flight_new(). */
    atomic_store_explicit(&f->ticket, 0, memory_order_release);
}

void run_unit_end(struct run_flight *f, struct run_flight_unit *u,
                  struct run_stream *s, int node)
{
    struct run_caller *c = f->caller;

    if (node >= 0)
        s->node = node;
    /* Release: who sends the next unit comes after this one. */
    atomic_store_explicit(&s->flying, false, memory_order_release);
    atomic_fetch_sub(&c->flying, u->bytes);
    if (atomic_fetch_sub(&f->left, 1) == 1)
        flight_free(f);
}

void run_unit_fails(struct run_caller *c, const struct run_flight_unit *u,
                    int err)
{
    run_requests_end(u->requests, err);
    if (u->posts)
        run_error(c, err);
}

/* --- Sending -------------------------------------------------------------- */

struct ready {
    struct run_stream *stream;
    int node;
};

static int by_node(const void *a, const void *b)
{
    const struct ready *x = a, *y = b;

    return (x->node > y->node) - (x->node < y->node);
}

/* Some of the streams that may go, by node. */
static size_t collect(struct run_caller *c, bool own,
                      struct ready ready[PORTION])
{
    size_t count = 0;

    for (struct run_stream *s = c->busy; s && count < PORTION; s = s->next) {
        int node;

        if (atomic_load_explicit(&s->flying, memory_order_acquire))
            continue;
        node = run_where(s->address, s);
        if (node != runtime.node || own)
            ready[count++] = (struct ready){s, node};
    }
    qsort(ready, count, sizeof(*ready), by_node);
    return count;
}

/* The last long one, for the next: malloc() would give it back to the system. */
static _Atomic(void *) kept;

static bool is_kept(size_t bytes)
{
    return bytes >= PACKET_KEPT_BYTES_MIN && bytes <= RUN_PACKET_BYTES_MAX;
}

static void *packet_take(size_t bytes)
{
    void *v = is_kept(bytes) ? atomic_exchange(&kept, NULL) : NULL;

    return v ? v : malloc(is_kept(bytes) ? RUN_PACKET_BYTES_MAX : bytes);
}

static void packet_give(void *packet, size_t bytes)
{
    free(is_kept(bytes) ? atomic_exchange(&kept, packet) : packet);
}

/* How many of the @count at @ready go in one packet, and its size. */
static size_t packet_size(const struct ready *ready, size_t count,
                          size_t *bytes_out)
{
    size_t n = 0, bytes = sizeof(struct run_packet_head);

    while (n < count && ready[n].node == ready[0].node &&
           (n == 0 || bytes + ready[n].stream->used < RUN_PACKET_BYTES_MAX))
        bytes += sizeof(struct run_unit) + ready[n++].stream->used;
    *bytes_out = bytes;
    return n;
}

/* Take the unit of @s into @u and to @at; behind it. */
static char *take(struct run_caller *c, struct run_stream *s,
                  struct run_flight_unit *u, uint32_t index, char *at)
{
    struct run_unit *unit = (void *)at;

    *unit = (struct run_unit){
        .address = s->address, .index = index, .bytes = s->used};
    run_stream_end(s);
    memcpy(unit + 1, s->bytes, s->used);
    u->requests = s->requests;
    u->bytes = s->used;
    u->posts = s->posts;
    atomic_store_explicit(&u->stream, s, memory_order_relaxed);
    atomic_fetch_add(&c->flying, s->used);
    /* Under the lock, as are all who look whether it may go. */
    atomic_store_explicit(&s->flying, true, memory_order_relaxed);
    run_stream_taken(c, s);
    return at + sizeof(*unit) + u->bytes;
}

/* The flight did not leave. */
static void flight_fails(struct run_flight *f, int err)
{
    for (uint32_t i = 0, count = f->count; i < count; i++) {
        struct run_flight_unit *u = &f->units[i];
        struct run_stream *s = atomic_exchange(&u->stream, NULL);

        run_unit_fails(f->caller, u, err);
        run_unit_end(f, u, s, -1);
    }
}

/* There is no memory to send these, and nothing of @c is under way that would give
 * some back: a thread that waits for them would wait for ever. */
static void streams_fail(struct run_caller *c, const struct ready *ready,
                         uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct run_stream *s = ready[i].stream;
        const struct run_flight_unit u = {.requests = s->requests,
                                          .posts = s->posts};

        run_stream_taken(c, s);
        run_unit_fails(c, &u, DRASYNC_ENOMEM);
    }
}

/* Send the @count streams at @ready, all to one node.  False: there is no
 * flight for them now. */
static bool send_packet(struct run_caller *c, const struct ready *ready,
                        uint32_t count, size_t bytes)
{
    struct run_packet_head *head = packet_take(bytes);
    bool no_memory = !head;
    struct run_flight *f = head ? flight_new(c, count, &no_memory) : NULL;
    struct runtime_message message = {
        .node = ready->node,
        .kind = RUNTIME_KIND_RUN,
        .header = head,
        .header_bytes = bytes,
    };
    char *at = (char *)(head + 1);
    int err = 0;

    if (!f) {
        packet_give(head, bytes);
        if (!no_memory || atomic_load(&c->flying))
            return false;
        streams_fail(c, ready, count);
        return true;
    }
    *head = (struct run_packet_head){
        .node = runtime.node,
        .slot = (uint32_t)(f - run_shared->flights),
        .ticket = atomic_load_explicit(&f->ticket, memory_order_relaxed),
        .units = count,
    };
    for (uint32_t i = 0; i < count; i++)
        at = take(c, ready[i].stream, &f->units[i], i, at);
    if (ready->node == runtime.node)
        run_serve_put(head, (const char *)(head + 1), at);
    else
        err = runtime_send(&message);
    if (err)
        flight_fails(f, err);
    packet_give(head, bytes);
    return true;
}

void run_send_all(struct run_caller *c, bool own)
{
    struct ready ready[PORTION];
    size_t count, n, bytes;

    do {
        count = collect(c, own, ready);
        for (size_t i = 0; i < count; i += n) {
            n = packet_size(ready + i, count - i, &bytes);
            if (!send_packet(c, ready + i, (uint32_t)n, bytes))
                return;
        }
    } while (count == PORTION);
}

/* --- The engine ----------------------------------------------------------- */

static bool stale(struct run_caller *c, uint64_t now)
{
    return atomic_load_explicit(&c->queued, memory_order_relaxed) &&
           now - atomic_load_explicit(&c->since_us, memory_order_relaxed) >
               RUN_STALE_US;
}

void run_send_turn(void)
{
    static uint64_t looked_us; /* with the turns */
    struct run_caller *c = atomic_load(&run_shared->callers);
    uint64_t now;

    if (!c)
        return;
    now = runtime_now_us();
    if (now - looked_us < RUN_STALE_US / 4)
        return;
    looked_us = now;
    for (; c; c = c->next) {
        if (!stale(c, now) || !run_try(c))
            continue;
        atomic_store_explicit(&c->since_us, now, memory_order_relaxed);
        run_send_all(c, true);
        run_unlock_send(c);
    }
}

int run_shared_new(void **shared_out)
{
    return control_alloc_zero(&runtime.space, sizeof(struct run_shared),
                              shared_out);
}

void run_send_start(void)
{
    run_shared = atomic_load(&runtime.shared->anchors[RUNTIME_ANCHOR_RUN]);
    run_answer_start();
}
