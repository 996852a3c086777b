/* What this node knows about waits and holds: see facts.h. */
#include "runtime/diagnose/facts.h"

#include <string.h>

#include "runtime/diagnose/threads.h"
#include "runtime/process.h"
#include "runtime/shared.h"

static const struct facts_shared *shared(void)
{
    return atomic_load(&runtime.shared->anchors[RUNTIME_ANCHOR_DIAGNOSE]);
}

uint64_t facts_shape(void)
{
    return sizeof(struct waiting_rank) << 40 ^
           sizeof(struct facts_shared) << 28 ^
           sizeof(struct runtime_shared) << 16 ^ native_look_shape();
}

/* Of a job of another version the anchor may be anything. */
bool facts_there(void)
{
    const struct facts_shared *s =
        runtime.shared->magic == RUNTIME_MAGIC ? shared() : NULL;
    uint64_t offset =
        (uint64_t)((uintptr_t)s - (uintptr_t)runtime.space.control);

    return (uintptr_t)s % 8 == 0 &&
           offset < runtime.space.layout.control_bytes &&
           sizeof(*s) <= runtime.space.layout.control_bytes - offset &&
           s->shape == facts_shape();
}

const struct waiting_rank *facts_waiting(uint32_t local)
{
    return &shared()->ranks[local];
}

static uint64_t age_of(uint64_t since_us)
{
    uint64_t now = runtime_now_us();

    return now > since_us ? now - since_us : 0;
}

/* What is run, waits until somebody writes, or deletes, waits where the region
 * is. */
static void asked_there(struct facts_wait *out)
{
    struct native_look look = {.hint = NATIVE_LOOK_ANY};

    native_look(out->seen.address, &look);
    out->asked.at = out->seen.address;
    out->asked.here = look.owned;
    out->asked.hint = look.hint;
}

bool (*facts_gift_left)(int local, int32_t *from_out, int32_t *tag_out);

/* What has come for a rank that waits for another gift.  One that it would take
 * is behind that for whose data it waits. */
static void left_there(struct facts_wait *out)
{
    int local = facts_local(out->seen.rank), tag = (int)out->seen.mode;

    if (!facts_gift_left || local < 0 ||
        !facts_gift_left(local, &out->gift_from, &out->gift_tag) ||
        ((out->seen.peer == WAITING_NOBODY ||
          out->seen.peer == out->gift_from) &&
         (tag == DRASYNC_ANY || tag == out->gift_tag)))
        out->gift_from = -1;
}

/* Where a wait for @what, of the region and the rank in @out, stands. */
static void find_asked(struct facts_wait *out, uint32_t what)
{
    const struct waiting_seen *seen = &out->seen;

    memset(&out->asked, 0, sizeof(out->asked));
    if ((what == WAITING_REGION || what == WAITING_NEWER) &&
        !native_look_asking(seen->address, seen->as ? seen->as : seen->rank,
                            &out->asked))
        out->asked.at = 0;
    if (what == WAITING_RUN || (what == WAITING_NEWER && out->asked.at) ||
        (what == WAITING_CALL && seen->peer == WAITING_NOBODY && seen->address))
        asked_there(out);
}

static bool read_wait(const struct waiting_slot *slot, struct facts_wait *out)
{
    memset(out, 0, sizeof(*out));
    out->gift_from = -1;
    if (!waiting_read(slot, &out->seen))
        return false;
    out->age_us = age_of(out->seen.since_us);
    if (out->seen.what == WAITING_GIFT)
        left_there(out);
    else
        find_asked(out, out->seen.what == WAITING_ANY
                            ? out->seen.request[0].what
                            : out->seen.what);
    return true;
}

size_t facts_waits(size_t first, struct facts_wait *out, size_t max)
{
    const struct facts_shared *s = shared();
    size_t count = 0;

    for (uint32_t i = 0; s && i < runtime.shared->locals; i++)
        for (int t = 0; t < WAITING_THREADS && count < max; t++) {
            if (!read_wait(&s->ranks[i].slots[t], &out[count]))
                continue;
            if (first)
                first--;
            else
                count++;
        }
    return count;
}

int facts_local(int32_t rank)
{
    for (uint32_t i = 0; i < runtime.shared->locals; i++)
        if (runtime.shared->ranks[i].rank == rank)
            return (int)i;
    return -1;
}

void facts_of_rank(int32_t rank, struct facts_rank *out)
{
    const struct facts_shared *s = shared();
    const struct waiting_rank *w;
    struct facts_wait wait;
    int local = facts_local(rank);

    memset(out, 0, sizeof(*out));
    out->rank = -1;
    if (!s || local < 0)
        return;
    w = &s->ranks[local];
    out->rank = rank;
    out->pid = runtime.shared->ranks[local].pid;
    out->state = atomic_load(&runtime.shared->ranks[local].state);
    out->several = atomic_load_explicit(&w->several, memory_order_relaxed);
    out->mpi_call = atomic_load_explicit(&w->mpi_call, memory_order_relaxed);
    out->mpi_peer = atomic_load_explicit(&w->mpi_peer, memory_order_relaxed);
    memcpy(out->host, runtime.host, sizeof(out->host) - 1);
    for (int t = 0; t < WAITING_THREADS; t++) {
        if (!read_wait(&w->slots[t], &wait))
            continue;
        if (!out->waits++ || wait.age_us > out->wait.age_us)
            out->wait = wait;
    }
}

void facts_of_request(int32_t rank, uint32_t index, struct facts_rank *out)
{
    struct waiting_seen *seen = &out->wait.seen;
    struct waiting_request r;

    facts_of_rank(rank, out);
    if (!out->waits || seen->what != WAITING_ANY || index >= seen->requests ||
        index >= WAITING_REQUESTS)
        return;
    r = seen->request[index];
    seen->what = r.what;
    seen->mode = r.mode;
    seen->address = r.address;
    seen->version = r.version;
    find_asked(&out->wait, r.what);
}

/* The number of what local rank number @local is inside of; 0: not counted. */
static uint64_t inside_number(size_t local)
{
    const struct waiting_mpi *mpi = shared()->mpi;
    struct waiting_inside inside;

    return mpi && waiting_mpi_read(&mpi[local], &inside) ? inside.number : 0;
}

bool facts_in_program(uint32_t state)
{
    return state == RUNTIME_RANK_STARTING || state == RUNTIME_RANK_RUNNING;
}

bool facts_in_finalize(uint32_t state)
{
    return state == RUNTIME_RANK_QUIESCED;
}

size_t facts_of_ranks(size_t first, bool threads, struct facts_doing *out,
                      size_t max)
{
    const struct facts_shared *s = shared();
    size_t count = 0;

    for (size_t i = first; s && i < runtime.shared->locals && count < max;
         i++) {
        struct facts_rank rank;

        facts_of_rank(runtime.shared->ranks[i].rank, &rank);
        /* With one that computes not all stand still, whatever their threads. */
        threads = threads && (rank.waits || rank.mpi_call ||
                              facts_in_finalize(rank.state));
        out[count++] = (struct facts_doing){
            .rank = runtime.shared->ranks[i].rank,
            .pid = rank.pid,
            .state = rank.state,
            .mpi_call = rank.mpi_call,
            .mpi_peer = rank.mpi_peer,
            .waits = rank.waits,
            .what = rank.wait.seen.what,
            .timed = rank.wait.seen.timed,
            .others =
                !threads || threads_others(rank.pid, s->ranks[i].mpi_thread),
            .runs = native_look_runs(rank.rank),
            .number = rank.waits ? rank.wait.seen.number : inside_number(i),
        };
    }
    return count;
}

void facts_of_mpi(int32_t rank, int32_t to, int32_t tag, bool places,
                  struct facts_mpi *out)
{
    const struct facts_shared *s = shared();
    int local = facts_local(rank);
    const struct waiting_mpi *mpi;
    uint64_t pc;

    memset(out, 0, sizeof(*out));
    out->rank = -1;
    if (!s || !s->mpi || local < 0)
        return;
    mpi = &s->mpi[local];
    if (!waiting_mpi_read(mpi, &out->inside))
        return;
    out->rank = rank;
    out->unsure = atomic_load(&mpi->unsure);
    out->collectives = atomic_load(&mpi->collectives);
    out->sent = atomic_load(&mpi->sent[waiting_sent_index(to, tag)]);
    if (!places || !out->inside.call)
        return;
    pc = out->inside.pc - 1;
    places_of(runtime.shared->ranks[local].pid, &pc, 1, &out->place);
}

void facts_of_hold(uint32_t local, const struct native_look *region,
                   uint64_t *age_us_out, struct code_place *place_out)
{
    const struct facts_shared *s = shared();
    uint64_t since, pc;

    *age_us_out = UINT64_MAX;
    if (place_out)
        memset(place_out, 0, sizeof(*place_out));
    if (!s || region->lease ||
        !waiting_read_hold(&s->ranks[local], region->address, &since, &pc))
        return;
    *age_us_out = age_of(since);
    if (!place_out)
        return;
    /* The call, not what comes after it. */
    pc--;
    places_of(runtime.shared->ranks[local].pid, &pc, 1, place_out);
    if (place_is_ours(place_out))
        place_out->object[0] = 0;
}

/* Since when the blocker has what it has; and, if @places, since where. */
static void fill_hold(struct facts_region *out, bool places)
{
    struct native_look held;
    int local = facts_local(out->blocker.rank);

    out->hold_age_us = UINT64_MAX;
    if (!out->blocker.asks && local >= 0 &&
        native_look(out->blocker.region, &held))
        facts_of_hold((uint32_t)local, &held, &out->hold_age_us,
                      places ? &out->hold_place : NULL);
}

static bool lease_is_left(struct native_look look)
{
    do {
        if (look.lease && look.write_rank < 0)
            return true;
    } while (look.parent && native_look(look.parent, &look));
    return false;
}

static bool leader_reads(uint64_t at, struct native_look_blocker *out)
{
    const int32_t leader = runtime.shared->ranks[0].rank;
    int32_t reader;

    for (uint32_t i = 0; (reader = native_look_reader(at, i)) >= 0; i++) {
        if (reader != leader)
            continue;
        *out = (struct native_look_blocker){
            .rank = leader, .region = at, .mode = DRASYNC_READ};
        return true;
    }
    return false;
}

void facts_of_region(uint64_t at, int32_t rank, bool places,
                     struct facts_region *out)
{
    struct native_look look;

    memset(out, 0, sizeof(*out));
    out->node = (uint32_t)runtime.node;
    out->hold_age_us = UINT64_MAX;
    if (!native_look(at, &look))
        return;
    out->hint = look.hint;
    out->status = look.owned ? FACTS_FREE : FACTS_AWAY;
    out->version = look.version;
    out->left = lease_is_left(look);
    if (!look.owned)
        return;
    out->queued = (uint32_t)native_look_queue(at, out->queue, FACTS_QUEUE_MAX);
    if (native_look_blocker(at, rank, &out->blocker))
        out->status = FACTS_BLOCKED;
    else if (leader_reads(at, &out->blocker))
        out->status = FACTS_READ;
    else
        return;
    facts_of_rank(out->blocker.rank, &out->rank);
    fill_hold(out, places);
}
