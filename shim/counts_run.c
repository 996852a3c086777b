/* What this rank sends and waits for inside MPI: see counts.h. */
#include "shim/counts.h"

#include "runtime/process.h"

/* Pairs of a rank and a tag that are received from; with more the rank is
 * unsure. */
#define POSTED_MAX 16384

/* Requests that are remembered, by a hash; a later one takes an earlier one's
 * place, whose wait then says nothing. */
#define REQUESTS 4096

static struct waiting_need posted[POSTED_MAX]; /* count 0: unused */
static struct request {
    uint64_t request;
    struct waiting_need need;
} requests[REQUESTS];

static _Thread_local bool counting __attribute__((tls_model("initial-exec")));
static _Thread_local bool is_mine __attribute__((tls_model("initial-exec")));
static _Atomic int taken;

bool drasync_counts_begin(void)
{
    if (__builtin_expect(!waiting_mpi_self, 1) || counting)
        return false;
    if (!is_mine && atomic_exchange(&taken, 1)) {
        drasync_counts_unsure();
        return false;
    }
    is_mine = true;
    counting = true;
    return true;
}

void drasync_counts_end(const bool *counted)
{
    if (!*counted)
        return;
    counting = false;
    if (waiting_mpi_self && waiting_mpi_self->inside.call)
        waiting_mpi_leave();
}

void drasync_counts_unsure(void)
{
    if (waiting_mpi_self)
        atomic_store(&waiting_mpi_self->unsure, 1);
}

/* Sequentially consistent, as all here: who sees this rank wait later sees what
 * it sent before. */
void drasync_counts_send(int to, int tag)
{
    if (to >= 0)
        atomic_fetch_add(&waiting_mpi_self->sent[waiting_sent_index(to, tag)],
                         1);
}

void drasync_counts_post(int from, int tag, struct waiting_need *need)
{
    uint32_t at = ((uint32_t)from * UINT32_C(2654435761) ^
                   (uint32_t)tag * UINT32_C(2246822519)) %
                  POSTED_MAX;

    *need = (struct waiting_need){.count = 0};
    if (from < 0 || tag < 0)
        return;
    for (int i = 0; i < POSTED_MAX; i++, at = (at + 1) % POSTED_MAX) {
        struct waiting_need *p = &posted[at];

        if (p->count && (p->peer != from || p->tag != tag))
            continue;
        p->peer = from;
        p->tag = tag;
        p->count++;
        *need = *p;
        return;
    }
    drasync_counts_unsure();
}

static struct request *place_of(uint64_t request)
{
    return &requests[request * UINT64_C(0x9E3779B97F4A7C15) >> 52];
}

_Static_assert(REQUESTS == 1 << 12, "place_of() keeps 12 bits");

void drasync_counts_request(uint64_t request, const struct waiting_need *need)
{
    *place_of(request) = (struct request){request, *need};
}

/* An entry of a finished request whose handle was used again is harmless: its
 * message was sent. */
bool drasync_counts_awaited(uint64_t request, struct waiting_need *need)
{
    const struct request *r = place_of(request);

    *need = r->need;
    return r->request == request && r->need.count;
}

void drasync_counts_inside(struct waiting_inside *inside, const void *pc)
{
    inside->pc = (uint64_t)(uintptr_t)pc;
    waiting_mpi_enter(inside);
}

void drasync_counts_collective(enum waiting_mpi_call call,
                               enum counts_whom whom, int root, const void *pc)
{
    struct waiting_inside inside = {
        .call = call,
        .collective = atomic_fetch_add(&waiting_mpi_self->collectives, 1) + 1,
        .root = whom == COUNTS_FROM_ROOT ? root : -1,
    };
    bool is_root = root == runtime.rank;

    if (whom == COUNTS_ALL || (whom == COUNTS_FROM_ROOT && !is_root) ||
        (whom == COUNTS_TO_ROOT && is_root))
        drasync_counts_inside(&inside, pc);
}
