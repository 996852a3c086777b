/* What threads have collected of runs, by region: see run.h. */
#include <sched.h>
#include <string.h>

#include "memory/control.h"
#include "memory/space.h"
#include "runtime/native/look.h"
#include "runtime/native/run.h"
#include "runtime/native/state.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/shared.h"
#include "runtime/thread.h"

/* A bucket with so many streams uses an idle one again for the next region. */
#define CHAIN_MAX 16

#define BUFFER_BYTES_MIN  256
#define BUFFER_BYTES_KEPT ((uint32_t)16 << 10)

/* Looks at whether a thread is inside, which it is for some ten instructions. */
#define INSIDE_SPINS 100

/* --- A thread's ----------------------------------------------------------- */

_Thread_local struct run_caller *run_callers_mine
    __attribute__((tls_model("initial-exec")));

/* The first error of threads of this rank that have ended without a flush.  No
 * other data depends on it: relaxed would do. */
static _Atomic int32_t left;

int run_callers_left(void)
{
    return atomic_exchange(&left, 0);
}

/* The second look at `queued` pairs with run_returned() of run_answer.c, which
 * adds there what has come back before it takes that off `flying`: release
 * there, acquire here.  What came back may have been sent again before that look,
 * which sees then that it flies (run_stream_taken()): hence the last one. */
bool run_is_done(const struct run_caller *c)
{
    return !atomic_load_explicit(&c->queued, memory_order_acquire) &&
           !atomic_load_explicit(&c->flying, memory_order_acquire) &&
           !atomic_load_explicit(&c->queued, memory_order_acquire) &&
           !atomic_load_explicit(&c->flying, memory_order_acquire);
}

bool native_look_runs(int32_t rank)
{
    const struct run_caller *c =
        run_shared ? atomic_load(&run_shared->callers) : NULL;

    while (c && (c->rank != rank || run_is_done(c)))
        c = c->next;
    return c != NULL;
}

/* The caller of a thread of this rank that has ended, with all its runs done;
 * or NULL. */
static struct run_caller *used_before(void)
{
    struct run_caller *c;

    for (c = atomic_load(&run_shared->callers); c; c = c->next) {
        uint32_t ended = RUN_ENDED;
        int32_t none = 0, err;

        if (c->local != runtime.local || !run_is_done(c) ||
            !atomic_compare_exchange_strong(&c->taken, &ended, RUN_TAKEN))
            continue;
        atomic_fetch_sub(&c->urgent, 1);
        err = atomic_exchange(&c->error, 0);
        if (err)
            atomic_compare_exchange_strong(&left, &none, err);
        return c;
    }
    return NULL;
}

static struct run_caller *caller_new(void)
{
    struct run_caller *c = used_before();
    void *v;

    if (c)
        return c;
    if (control_alloc_zero(&runtime.space, sizeof(*c), &v))
        return NULL;
    c = v;
    c->rank = runtime.rank;
    c->local = runtime.local;
    atomic_store(&c->taken, RUN_TAKEN);
    c->next = atomic_load(&run_shared->callers);
    while (!atomic_compare_exchange_weak(&run_shared->callers, &c->next, c))
        continue;
    return c;
}

struct run_caller *run_caller_new(void)
{
    struct run_caller *c = thread_watch() ? NULL : caller_new();

    if (c)
        c->may_bias = !biased_open(BIASED_NODE);
    run_callers_mine = c;
    return c;
}

/* What is left after this the engine sends or serves (run_send_turn()). */
void run_thread_ends(void)
{
    struct run_caller *c = run_callers_mine;

    if (!c || run_lock(c))
        return;
    run_callers_mine = NULL;
    run_own_all(c, 0);
    run_send_all(c, false);
    run_caller_trim(c);
    atomic_fetch_add(&c->urgent, 1);
    run_unlock_send(c);
    /* From here on another thread may have it: used_before(), take_over(). */
    atomic_store(&c->taken, RUN_ENDED);
}

/* --- Its lock ------------------------------------------------------------- */

/* R2 and R3: is the thread of @c, whose bias is gone, out of what the lock
 * protects? */
static bool is_out(struct run_caller *c)
{
    if (biased_barrier(BIASED_NODE)) {
        runtime_poison("rank %d cannot take what a thread of rank %d has "
                       "collected: the system refuses membarrier(); let a "
                       "filter of system calls allow it, or install the same "
                       "in all ranks before MPI_Init",
                       runtime.rank, c->rank);
        return false;
    }
    for (int i = 0; i < INSIDE_SPINS; i++)
        if (!atomic_load(&c->inside))
            return true;
    return false;
}

bool run_unbias(struct run_caller *c)
{
    bool mine = c == run_callers_mine;

    if (!mine || !atomic_load_explicit(&c->inside, memory_order_relaxed)) {
        /* R1 to R3 of biased_lock.h, where it says why that suffices. */
        atomic_store(&c->bias, 0);
        if (mine || is_out(c))
            return true;
        /* Nothing was changed that its thread would have to see. */
        atomic_store(&c->bias, run_biased);
    }
    run_unlock(c);
    return false;
}

int run_lock(struct run_caller *c)
{
    while (!run_try(c)) {
        if (atomic_load_explicit(runtime_poisoned, memory_order_relaxed))
            return DRASYNC_EPEER;
        sched_yield();
    }
    return 0;
}

/* Sequentially consistent: `lock` is written, then `again` read; who wants
 * something sent writes `again`, then looks at `lock`.  One sees the other; but
 * who is kept out by the bias leaves `again` for the next one, or the engine. */
void run_unlock_send(struct run_caller *c)
{
    atomic_store(&c->lock, 0);
    while (atomic_load(&c->again) && run_try(c)) {
        atomic_store(&c->again, false);
        run_send_all(c, false);
        atomic_store(&c->lock, 0);
    }
}

/* --- Streams -------------------------------------------------------------- */

static bool is_idle(const struct run_stream *s)
{
    return !s->listed &&
           !atomic_load_explicit(&s->flying, memory_order_acquire);
}

static struct run_stream *stream_new(struct run_stream **bucket)
{
    struct run_stream *s;
    int length = 0;
    void *v;

    for (s = *bucket; s; s = s->chain)
        if (++length >= CHAIN_MAX && is_idle(s))
            return s;
    if (control_alloc_zero(&runtime.space, sizeof(*s), &v))
        return NULL;
    s = v;
    s->chain = *bucket;
    *bucket = s;
    return s;
}

struct run_stream *run_stream_of(struct run_caller *c, uint64_t address)
{
    struct run_stream *s = run_stream_find(c, address);

    if (!s) {
        s = stream_new(run_bucket_of(c, address));
        if (!s)
            return NULL;
        s->address = address;
        s->node = -1;
    }
    return s;
}

static void buffer_free(struct run_caller *c, struct run_stream *s)
{
    control_free(&runtime.space, s->bytes);
    c->room -= s->room;
    s->bytes = NULL;
    s->room = 0;
}

void run_caller_trim(struct run_caller *c)
{
    for (int i = 0; i < RUN_BUCKETS; i++)
        for (struct run_stream *s = c->buckets[i]; s; s = s->chain)
            if (s->room && !s->used)
                buffer_free(c, s);
}

static int stream_grow(struct run_caller *c, struct run_stream *s, size_t bytes)
{
    uint32_t room = s->room ? s->room : BUFFER_BYTES_MIN;
    void *v;

    if (bytes > RUN_STREAM_BYTES_MAX)
        return DRASYNC_EAGAIN;
    while (room < bytes)
        room *= 4;
    if (control_alloc(&runtime.space, room, &v))
        return DRASYNC_ENOMEM;
    if (s->used)
        memcpy(v, s->bytes, s->used);
    buffer_free(c, s);
    s->bytes = v;
    s->room = room;
    c->room += room;
    return 0;
}

static void stream_list(struct run_caller *c, struct run_stream *s)
{
    s->listed = true;
    s->next = NULL;
    s->previous = c->busy ? c->busy_last : NULL;
    if (c->busy)
        c->busy_last->next = s;
    else
        c->busy = s;
    c->busy_last = s;
    if (!atomic_load_explicit(&c->queued, memory_order_relaxed))
        atomic_store_explicit(&c->since_us, runtime_now_us(),
                              memory_order_relaxed);
}

/* Can @work be added to the group @g? */
static bool same_group(const struct run_group *g, const struct run_work *work)
{
    return g->function == work->function->hash && g->mode == work->mode &&
           g->arg_bytes == work->arg_bytes &&
           g->answer_bytes == work->answer_bytes &&
           g->asks == (work->request != NULL) && g->count < UINT16_MAX;
}

static void append_request(struct run_stream *s, struct run_request *q)
{
    q->next = NULL;
    if (s->requests)
        s->requests_last->next = q;
    else
        s->requests = q;
    s->requests_last = q;
    s->answers +=
        (uint32_t)(sizeof(struct run_answer_one) + RUN_PADDED(q->answer_bytes));
}

void run_stream_end(struct run_stream *s)
{
    memcpy(s->bytes + s->last_at, &s->last, sizeof(s->last));
}

/* A new group for @work. */
static void group_begin(struct run_stream *s, const struct run_work *work)
{
    if (s->used)
        run_stream_end(s);
    s->last_at = s->used;
    s->last = (struct run_group){
        .function = work->function->hash,
        .arg_bytes = (uint32_t)work->arg_bytes,
        .answer_bytes = (uint32_t)work->answer_bytes,
        .mode = (uint16_t)work->mode,
        .asks = work->request != NULL,
    };
    s->used += (uint32_t)sizeof(s->last);
}

/* How far `used` of @s may grow by runs of @padded bytes that are added to the
 * last group, until something else has to be done. */
static uint32_t soon_used(const struct run_stream *s, uint32_t padded)
{
    uint32_t used = s->used / RUN_OWN_BYTES * RUN_OWN_BYTES + RUN_OWN_BYTES - 1;
    uint32_t more = (UINT16_MAX - s->last.count) * padded;

    if (used > s->room)
        used = s->room;
    return used - s->used > more ? s->used + more : used;
}

int run_stream_add(struct run_caller *c, struct run_stream *s,
                   const struct run_work *work)
{
    size_t padded = RUN_PADDED(work->arg_bytes);
    bool more = s->used && same_group(&s->last, work);
    size_t bytes = padded + (more ? 0 : sizeof(s->last));
    int err = 0;

    if (s->answers > RUN_STREAM_BYTES_MAX)
        return DRASYNC_EAGAIN;
    if (s->used + bytes > s->room)
        err = stream_grow(c, s, s->used + bytes);
    if (err)
        return err;
    if (!s->listed)
        stream_list(c, s);
    if (!more)
        group_begin(s, work);
    s->last.count++;
    s->soon = !work->request && padded && padded <= RUN_SOON_BYTES_MAX &&
                      padded == work->arg_bytes
                  ? work->function
                  : NULL;
    if (work->arg_bytes)
        memcpy(s->bytes + s->used, work->arg, work->arg_bytes);
    s->used += (uint32_t)padded;
    s->soon_used = soon_used(s, (uint32_t)padded);
    if (work->request)
        append_request(s, work->request);
    else
        s->posts = true;
    if (work->mode == DRASYNC_WRITE)
        s->writes = true;
    atomic_store_explicit(
        &c->queued,
        atomic_load_explicit(&c->queued, memory_order_relaxed) + bytes,
        memory_order_relaxed);
    return 0;
}

/* The groups at @groups, of @bytes, were put in front of what @s has: note what
 * they say of it. */
static void count_groups(struct run_stream *s, const char *groups,
                         uint32_t bytes)
{
    const char *at = groups, *end = groups + bytes, *args;
    const struct run_group *g;
    const bool last = !s->used;

    for (const char *from = at; (g = run_group_next(&at, end, &args));
         from = at) {
        s->posts |= !g->asks;
        s->writes |= g->mode == DRASYNC_WRITE;
        if (last) {
            s->last = *g;
            s->last_at = (uint32_t)(from - groups);
        }
    }
    if (!last)
        s->last_at += bytes;
}

static void requests_put_back(struct run_stream *s, struct run_request *first)
{
    struct run_request *last = NULL;

    for (struct run_request *q = first; q; q = q->next) {
        s->answers += (uint32_t)(sizeof(struct run_answer_one) +
                                 RUN_PADDED(q->answer_bytes));
        last = q;
    }
    if (!last)
        return;
    last->next = s->requests;
    if (!s->requests)
        s->requests_last = last;
    s->requests = first;
}

int run_stream_put_back(struct run_caller *c, struct run_stream *s,
                        const char *groups, uint32_t bytes,
                        struct run_request *requests)
{
    uint32_t room = BUFFER_BYTES_KEPT;
    void *v;

    while (room < bytes + s->used)
        room *= 2;
    if (control_alloc(&runtime.space, room, &v))
        return DRASYNC_ENOMEM;
    memcpy(v, groups, bytes);
    if (s->used)
        memcpy((char *)v + bytes, s->bytes, s->used);
    buffer_free(c, s);
    s->bytes = v;
    s->room = room;
    c->room += room;
    if (!s->listed)
        stream_list(c, s);
    s->soon = NULL;
    count_groups(s, groups, bytes);
    requests_put_back(s, requests);
    s->used += bytes;
    atomic_store_explicit(
        &c->queued,
        atomic_load_explicit(&c->queued, memory_order_relaxed) + bytes,
        memory_order_relaxed);
    return 0;
}

static void unlist(struct run_caller *c, struct run_stream *s)
{
    if (s->previous)
        s->previous->next = s->next;
    else
        c->busy = s->next;
    if (s->next)
        s->next->previous = s->previous;
    else
        c->busy_last = s->previous;
    s->listed = false;
}

void run_stream_taken(struct run_caller *c, struct run_stream *s)
{
    unlist(c, s);
    /* Release: who sees that nothing is queued sees what flies instead
     * (run_is_done()). */
    atomic_store_explicit(
        &c->queued,
        atomic_load_explicit(&c->queued, memory_order_relaxed) - s->used,
        memory_order_release);
    s->used = s->answers = 0;
    s->soon = NULL;
    s->posts = s->writes = false;
    s->requests = s->requests_last = NULL;
    if (s->room > BUFFER_BYTES_KEPT || c->room > RUN_KEPT_BYTES)
        buffer_free(c, s);
}
