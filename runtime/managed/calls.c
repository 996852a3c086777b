/* The calls on references to regions: see managed.h. */
#include "runtime/managed/managed.h"

#include <sched.h>

#include "memory/control.h"
#include "memory/limit.h"
#include "runtime/check/check.h"
#include "runtime/death.h"
#include "runtime/managed/state.h"
#include "runtime/modules.h"
#include "runtime/native/native.h"
#include "runtime/process.h"

/* What lingers is tried again by drasync_manage() when there is twice as much
 * of it as last time, and so much at least. */
#define LINGERING_MIN 64

static uint64_t address_of(drasync_region_t region)
{
    return (uint64_t)(uintptr_t)region;
}

/* At the end of a call, which has err for its result and holds no lock: what
 * has become due is done first. */
static int leave(int err)
{
    int ended = err == DRASYNC_EPEER ? 0 : managed_home_end(false);

    managed_call_due();
    return err ? err : ended;
}

/* Of @region, which this rank holds: so it is there. */
static int identify_held(drasync_region_t region, struct native_identity *out)
{
    int err = native_identify(region, out);

    return err ? err : out->held ? 0 : DRASYNC_ENOTHELD;
}

/* managed_ask(), until @home knows.  Who was to say so may have died. */
static int ask_at(int home, const struct managed_asked *asked)
{
    uint64_t since_us = 0;
    int err;

    while ((err = managed_ask(home, asked)) == DRASYNC_EAGAIN) {
        if (!since_us)
            since_us = runtime_now_us();
        err = death_check(since_us);
        if (err)
            return err;
        sched_yield();
    }
    return err;
}

/* The same, of the region's home, *home_out. */
static int ask(const struct managed_asked *asked, int *home_out)
{
    int err = native_ask_home(asked->address, home_out);

    return err ? err : ask_at(*home_out, asked);
}

/* Ask the home for a reference of this node, and count it. */
static int ask_for_one(drasync_region_t region, enum refs_ask what,
                       uint64_t incarnation)
{
    uint64_t address = address_of(region);
    const struct managed_asked asked = {
        .address = address, .incarnation = incarnation, .what = (int32_t)what};
    struct managed_entry *e;
    int err = managed_open(), home;

    if (!err)
        err = ask(&asked, &home);
    if (err || home == runtime.node)
        return err;
    err = managed_lock(address);
    if (err)
        return err;
    /* The home has counted it: it would delete the region if that failed. */
    limit_reserve_enter();
    e = managed_entry(address, incarnation, home);
    limit_reserve_leave();
    if (e)
        refs_got(&e->refs);
    managed_unlock(address);
    if (e)
        return 0;
    managed_count(home, runtime.node, address, incarnation, -1, false);
    return DRASYNC_ENOMEM;
}

int managed_manage(drasync_region_t region)
{
    const struct managed_shared *shared = managed_get();
    struct native_identity region_is;
    uint64_t lingering;
    static _Atomic uint64_t last; /* how much lingered when it was tried */
    int err = identify_held(region, &region_is);

    if (!err && !region_is.root)
        err = DRASYNC_EINVAL;
    if (!err)
        err = ask_for_one(region, REFS_ASK_MANAGE, region_is.incarnation);
    if (err || !shared)
        return leave(err);
    /* Relaxed: a hint. */
    lingering =
        atomic_load_explicit(&shared->counts.lingering, memory_order_relaxed);
    if (lingering >= LINGERING_MIN &&
        lingering >= 2 * atomic_load_explicit(&last, memory_order_relaxed)) {
        err = managed_home_end(true);
        atomic_store_explicit(&last,
                              atomic_load_explicit(&shared->counts.lingering,
                                                   memory_order_relaxed),
                              memory_order_relaxed);
    }
    return leave(err);
}

/* A reference of this node, from one that it has or from a hold. */
static int ref(drasync_region_t region)
{
    struct native_identity held;
    int err = managed_change(address_of(region), 0, 1);

    if (err != DRASYNC_EINVAL)
        return err;
    err = identify_held(region, &held);
    if (!err)
        err = ask_for_one(region, REFS_ASK_REF, held.incarnation);
    return err == DRASYNC_EDELETED ? DRASYNC_EINVAL : err;
}

int managed_ref(drasync_region_t region)
{
    return leave(ref(region));
}

int managed_unref(drasync_region_t region)
{
    return leave(managed_give_back(address_of(region)));
}

int managed_ref_give(drasync_region_t region, int rank)
{
    struct managed_name name = {0};
    int err = managed_referred_to(address_of(region), true, &name);

    if (!err && (rank < 0 || rank >= runtime.ranks))
        err = DRASYNC_EINVAL;
    if (!err && runtime.node_of[rank] != runtime.node)
        err = managed_give_node(runtime.node_of[rank], &name);
    return leave(err);
}

/* --- Links ---------------------------------------------------------------- */

/* For the link from @from the home of that, *home_out, gets a reference to @to. */
static int give_home(drasync_region_t from, drasync_region_t to,
                     uint64_t *incarnation_out, int *home_out)
{
    struct managed_name name = {0};
    int err = native_ask_home(address_of(from), home_out);

    if (!err)
        err = ref(to);
    if (err)
        return err;
    err = managed_referred_to(address_of(to), true, &name);
    *incarnation_out = name.incarnation;
    if (!err && *home_out != runtime.node)
        err = managed_give_node(*home_out, &name);
    if (err)
        managed_change(address_of(to), 0, -1);
    return err;
}

int managed_link(drasync_region_t from, drasync_region_t to)
{
    struct managed_asked asked = {.address = address_of(from),
                                  .to = address_of(to),
                                  .what = REFS_ASK_LINK};
    struct native_identity held;
    int err = identify_held(from, &held), home;

    if (!err)
        err = give_home(from, to, &asked.to_incarnation, &home);
    /* From here on the home gives that back, if it answers with an error. */
    if (!err) {
        asked.incarnation = held.incarnation;
        err = ask_at(home, &asked);
    }
    return leave(err == DRASYNC_EDELETED ? DRASYNC_EINVAL : err);
}

int managed_unlink(drasync_region_t from, drasync_region_t to)
{
    struct managed_asked asked = {.address = address_of(from),
                                  .to = address_of(to),
                                  .what = REFS_ASK_UNLINK};
    struct native_identity held;
    int err = identify_held(from, &held), home;

    if (!err) {
        asked.incarnation = held.incarnation;
        err = ask(&asked, &home);
    }
    return leave(err == DRASYNC_EDELETED ? DRASYNC_EINVAL : err);
}

/* --- Weak handles --------------------------------------------------------- */

/* A region's address is a multiple of 4 KiB and has 47 bits: the job's key is
 * in the others. */
#define ADDRESS_MASK (((UINT64_C(1) << 47) - 1) & ~UINT64_C(4095))

static uint64_t job_bits(void)
{
    return (runtime.job_key << 1 | 1) & ~ADDRESS_MASK;
}

int managed_weak(drasync_region_t region, drasync_weak_t *weak_out)
{
    struct native_identity held = {0};
    struct managed_name name = {0};
    struct managed_asked asked = {.address = address_of(region),
                                  .what = REFS_ASK_LOOK};
    int err = managed_referred_to(asked.address, false, &name), home;

    if (err == DRASYNC_EINVAL) {
        err = identify_held(region, &held);
        asked.incarnation = name.incarnation = held.incarnation;
        if (!err)
            err = ask(&asked, &home);
        if (err == DRASYNC_EDELETED)
            err = DRASYNC_EINVAL;
    }
    if (!err)
        *weak_out = (drasync_weak_t){
            {address_of(region) | job_bits(), name.incarnation}};
    return leave(err);
}

drasync_region_t managed_weak_region(const drasync_weak_t *weak)
{
    uint64_t address = weak->word[0] & ADDRESS_MASK;

    return weak->word[0] == (address | job_bits())
               ? (drasync_region_t)(uintptr_t)address
               : NULL;
}

int managed_weak_lock(const drasync_weak_t *weak, drasync_region_t *region_out)
{
    drasync_region_t region = managed_weak_region(weak);
    int err;

    if (!region)
        return DRASYNC_EINVAL;
    err = managed_change(address_of(region), weak->word[1], 1);
    if (err == DRASYNC_EINVAL)
        err = ask_for_one(region, REFS_ASK_REF, weak->word[1]);
    if (!err)
        *region_out = region;
    return leave(err == DRASYNC_ENOREGION ? DRASYNC_EINVAL : err);
}

/* --- The end -------------------------------------------------------------- */

static int add_call(struct managed_entry *e, drasync_end_fn *call, void *arg)
{
    struct managed_call *c;
    void *v;
    int err = control_alloc(&runtime.space, sizeof(*c), &v);

    if (err)
        return err;
    c = v;
    *c = (struct managed_call){
        .next = e->calls,
        .local = runtime.local,
        .call = call,
        .arg = arg,
        .address = e->refs.address,
    };
    /* The node has a reference: the home hears of this before that goes. */
    if (!e->calls && !e->refs.home)
        err = managed_count(e->home_node, runtime.node, e->refs.address,
                            e->refs.incarnation, 0, true);
    if (err)
        control_free(&runtime.space, c);
    else
        e->calls = c;
    return err;
}

int managed_on_end(drasync_region_t region, drasync_end_fn *call, void *arg)
{
    uint64_t address = address_of(region);
    struct managed_entry *e;
    int err;

    if (!managed_get())
        return DRASYNC_EINVAL;
    err = managed_lock(address);
    if (err)
        return err;
    e = managed_referred(address);
    err = e ? add_call(e, call, arg) : DRASYNC_EINVAL;
    managed_unlock(address);
    return leave(err);
}

int managed_collect(void)
{
    int err = managed_open();
    bool far = false;

    if (!err)
        err = managed_home_end(true);
    if (!err)
        err = managed_circles(&far);
    if (!err && far && runtime.nodes > 1)
        err = managed_far_circles();
    if (!err)
        err = managed_home_end(false);
    managed_call_due();
    return err;
}

int managed_stats(struct drasync_managed_stats *stats_out)
{
    const struct managed_shared *shared = managed_get();
    const struct managed_counts *c = shared ? &shared->counts : NULL;

    *stats_out = (struct drasync_managed_stats){0};
    if (!c)
        return managed_open();
    /* Relaxed: each by itself. */
    stats_out->managed =
        atomic_load_explicit(&c->managed, memory_order_relaxed);
    stats_out->ended = atomic_load_explicit(&c->ended, memory_order_relaxed);
    stats_out->unused =
        atomic_load_explicit(&c->fresh, memory_order_relaxed) +
        atomic_load_explicit(&c->lingering, memory_order_relaxed);
    return 0;
}

/* Does an entry have @address, of any incarnation? */
static bool has_entry(uint64_t address)
{
    bool has;

    if (!managed_get() || managed_lock(address))
        return false;
    has = managed_at(address);
    managed_unlock(address);
    return has;
}

bool managed_knows(drasync_region_t region)
{
    uint64_t address = address_of(region), incarnation;
    const struct managed_entry *e;
    int err;

    if (!has_entry(address))
        return false;
    /* That is dear: it ends the region's lease.  A node that was given a reference
     * may never have met the region itself. */
    err = native_incarnation(region, &incarnation);
    if (err == DRASYNC_EPEER || managed_lock(address))
        return false;
    e = err ? managed_referred(address) : managed_find(address, incarnation);
    managed_unlock(address);
    return e != NULL;
}

static bool is_managed(uint64_t address, uint64_t incarnation)
{
    bool is;

    if (!managed_get() || managed_lock(address))
        return false;
    is = managed_find(address, incarnation) != NULL;
    managed_unlock(address);
    return is;
}

static int managed_start(void)
{
    managed_wire_start();
    check_on_managed(is_managed);
    managed_linked_start();
    return 0;
}

const struct runtime_module managed_module = {
    .name = "managed",
    .start = managed_start,
    .rank_died = managed_rank_died,
};
