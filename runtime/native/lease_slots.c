/* Leases begin and end, under the lock of their tree: see lease.h. */
#include "memory/control.h"
#include "memory/passed.h"
#include "runtime/native/lease_word.h"
#include "runtime/native/state.h"
#include "runtime/process.h"

/* A READ hold with more pins is not looked through. */
#define PINS_MAX 16

/* One hold of @rank there, all of whose are alike. */
static void release(const struct native_lease_slot *slot, int32_t rank)
{
    struct proto_effects *effects = native_effects();

    proto_release(&native.node, rank, slot->region, DRASYNC_WRITE, effects);
    native_do(effects, NULL);
}

/* Tell the protocol what happened under the lease: a release, then an acquire by
 * @rank. */
static void pass(struct native_lease_slot *slot, int32_t rank)
{
    struct proto_effects *effects = native_effects();

    proto_pass(&native.node, slot->region, rank, effects);
    native_do(effects, NULL);
    slot->rank = rank;
}

/* If the rank with number @local still waits in @slot, tell it what came of
 * that. */
static void end_wait(const struct native_lease_slot *slot, int local,
                     enum lease_wait end)
{
    uint64_t waits = wait_of(slot, LEASE_WAIT_GOES_ON);

    atomic_compare_exchange_strong(&native.shared->locals[local].state, &waits,
                                   wait_of(slot, end));
}

/* Tell the protocol what is true. */
void native_lease_end(struct native_leases *leases, uint32_t i)
{
    struct native_lease_slot *slot = leases->slot[i];
    uint64_t word =
        atomic_exchange_explicit(&slot->word, 0, memory_order_acq_rel);

    passed_take();
    leases->used[i / 64] &= ~(UINT64_C(1) << i % 64);
    leases->count--;
    slot->memory->leases--;
    if (word & WORD_SHARED) {
        native_lease_end_shared(slot, word);
        return;
    }
    if ((word & WORD_TAKEN) && word_state(word) == WORD_HELD)
        end_wait(slot, word_holder(word), LEASE_WAIT_CAME);
    if (word_waiter(word) >= 0)
        end_wait(slot, word_waiter(word), LEASE_WAIT_OVER);
    if (word & WORD_ASLEEP)
        wait_word_wake(&slot->word);
    if ((word & WORD_TAKEN) && !(word & WORD_READ))
        pass(slot, word_state(word) == WORD_HELD
                       ? runtime.shared->ranks[word_holder(word)].rank
                       : slot->rank);
    if (word_state(word) == WORD_FREE)
        release(slot, slot->rank);
}

/* Is one of the two above the other, or both the same?  NULL: it may be. */
static bool related(const struct proto_region *a, const struct proto_region *b)
{
    const struct proto_region *x = a, *y = b;

    while (x && x != b)
        x = x->parent;
    while (y && y != a)
        y = y->parent;
    return (x && NATIVE_RULE(ENDED_BELOW)) || (y && NATIVE_RULE(ENDED_ABOVE)) ||
           !b;
}

/* A shared lease of this rank, for a step on @region, which is above or below
 * it or the same, for DATA or READ. */
static bool shared_in_the_way(const struct native_lease_slot *slot,
                              const struct proto_region *region,
                              enum native_for what)
{
    return what == NATIVE_FOR_READ ? slot->region != region
                                   : !native_lease_used(slot);
}

static bool in_the_way(const struct native_leases *leases,
                       struct native_lease_slot *slot,
                       const struct proto_region *region, enum native_for what,
                       int from)
{
    uint64_t word = atomic_load_explicit(&slot->word, memory_order_relaxed);

    if (what == NATIVE_FOR_REQUEST)
        return !native_keep(leases, slot, word, from);
    if (what == NATIVE_FOR_ALL || what == NATIVE_FOR_WRITE)
        return true;
    if ((word & WORD_READ) && slot->rank != native.rank)
        return false;
    if (word & WORD_SHARED)
        return shared_in_the_way(slot, region, what);
    if (word & WORD_READ && what == NATIVE_FOR_READ && slot->region == region)
        native_lease_wanted(region);
    if (what == NATIVE_FOR_READ || !word_held_by(word, runtime.local))
        return true;
    if (slot->rank != native.rank)
        pass(slot, native.rank);
    return false;
}

/* Is a lease of @region, or of what is above it? */
static bool leased_above(const struct proto_region *region)
{
    const struct proto_region *r = region;

    for (; r; r = r->parent) {
        const struct native_memory *memory = r->memory;

        if (memory && memory->leases)
            return true;
    }
    return false;
}

void native_lease_settle(struct native_leases *leases,
                         const struct proto_region *region,
                         enum native_for what, int from)
{
    const struct proto_region *root = region ? region->root : NULL;
    bool part = region && (what == NATIVE_FOR_WRITE ||
                           what == NATIVE_FOR_READ || what == NATIVE_FOR_DATA);

    /* Of a leaf's siblings there may be many. */
    if (part && region->children.next == &region->children &&
        !leased_above(region))
        return;
    for (int i = native_lease_next(leases, -1); i >= 0;
         i = native_lease_next(leases, i)) {
        struct native_lease_slot *slot = leases->slot[i];

        if ((!root || leases->root[i] == root) &&
            (!part || related(slot->region, region)) &&
            in_the_way(leases, slot, region, what, from))
            native_lease_end(leases, (uint32_t)i);
    }
}

static int slot_new(struct native_lease_slot **slot_out, uint32_t number)
{
    void *v;
    int err = control_alloc_zero(&runtime.space, sizeof(**slot_out), &v);

    if (err)
        return err;
    *slot_out = v;
    (*slot_out)->number = number;
    return 0;
}

_Static_assert(NATIVE_STRIPES *NATIVE_LEASE_SLOTS <=
                   1 << (WORD_TICKET_BIT - USE_SLOT_BIT),
               "a use has room for a slot's number");

int native_lease_new(struct native_leases *leases, uint32_t stripe)
{
    int err = 0;

    leases->stripe = stripe;
    for (uint32_t i = 0; i < NATIVE_LEASE_SLOTS_FIRST && !err; i++)
        err = slot_new(&leases->slot[i], stripe * NATIVE_LEASE_SLOTS + i);
    return err;
}

/* *i_out: an empty slot with tickets left.  A slot whose tickets are used up is
 * never filled again, as threads may remember its last lease.  False: no memory
 * for another slot, or all have a lease. */
static bool empty_slot(struct native_leases *leases, uint32_t *i_out)
{
    uint32_t i = 0;

    if (leases->count == NATIVE_LEASE_SLOTS)
        return false;
    while (!~leases->used[i / 64])
        i += 64;
    i += (uint32_t)__builtin_ctzll(~leases->used[i / 64]);
    *i_out = i;
    return (leases->slot[i] && leases->slot[i]->ticket != WORD_TICKET_MAX) ||
           !slot_new(&leases->slot[i], leases->stripe * NATIVE_LEASE_SLOTS + i);
}

/* When all slots are full of unused leases, only one in so many new leases
 * takes a slot: a program that goes through more regions than there are slots
 * ends each lease before it is of use, and when its record is cold. */
#define SKIPS 8

/* False: let there be no new lease. */
static bool make_room(struct native_leases *leases)
{
    uint64_t word;

    if (leases->count < NATIVE_LEASE_SLOTS)
        return true;
    leases->next = (leases->next + 1) % NATIVE_LEASE_SLOTS;
    word = atomic_load_explicit(&leases->slot[leases->next]->word,
                                memory_order_relaxed);
    if (!(word & (WORD_TAKEN | WORD_SHARED)) && ++leases->skipped % SKIPS)
        return false;
    native_lease_end(leases, leases->next);
    return true;
}

/* The next word of a slot, for a hold with @flags. */
static uint64_t new_word(struct native_lease_slot *slot, uint64_t flags)
{
    return (uint64_t)++slot->ticket << WORD_TICKET_BIT | flags;
}

static void fill(struct native_leases *leases, uint32_t i, uint64_t word,
                 struct proto_region *region, int32_t rank)
{
    struct native_lease_slot *slot = leases->slot[i];

    slot->region = region;
    leases->root[i] = region->root;
    slot->memory = region->memory;
    slot->memory->leases++;
    slot->rank = rank;
    if (word & WORD_LOOKS)
        atomic_store_explicit(&slot->since_us, runtime_now_us(),
                              memory_order_relaxed);
    atomic_store_explicit(&slot->deferred, false, memory_order_relaxed);
    leases->used[i / 64] |= UINT64_C(1) << i % 64;
    leases->count++;
    atomic_store_explicit(&slot->word, word, memory_order_release);
}

static bool is_empty(const struct proto_link *list)
{
    return list->next == list;
}

/* Is there an acquire of what is above @r, that will come here?  It has ended the
 * leases below it when it began, and waits for a hold of some other part.  What it
 * has locked above may be on another node, but then it names its next parts. */
static bool awaited_above(const struct proto_region *r)
{
    const struct proto_region *x = r->parent;

    if (!is_empty(&r->parts))
        return NATIVE_RULE(AWAITED_ABOVE);
    while (x && !x->lock && !x->shared && is_empty(&x->queue) &&
           is_empty(&x->parts))
        x = x->parent;
    return x && NATIVE_RULE(AWAITED_ABOVE);
}

/* Does @rank have @r for WRITE, once, with nothing to serve when that ends but
 * requests for @r or what is below, and nothing to keep for each hold? */
static bool write_once(const struct proto_region *r, int32_t rank)
{
    return r->write_rank == rank && r->write_count == 1 && r->owned &&
           !r->dead && !r->gone && (!r->reads || !NATIVE_RULE(UNREAD)) &&
           !r->away && !r->pinned && r->busy == 1 && !r->root->recovering &&
           !awaited_above(r);
}

/* Are those who wait for @r of other nodes, and have to while this rank has
 * credit?  *from_out: as of native_keep_defer(). */
static bool others_wait(const struct proto_region *r, int32_t *from_out)
{
    return runtime.nodes > 1 &&
           native_credit_left(runtime.local, NATIVE_KEEP_GIVES, true) &&
           proto_waited_elsewhere(r, from_out);
}

/* May other nodes want it soon?  Then who has it looks. */
static uint64_t looks(const struct proto_region *r)
{
    return runtime.leader && runtime.nodes > 1 && r->presence_count
               ? (uint64_t)WORD_LOOKS
               : 0;
}

/* Is what @hold pins the newest, and short, and is @hold all that its rank has
 * of it?  (With a hold below, the one above may not be had again.) */
static bool pins_newest(const struct proto_hold *hold)
{
    const struct proto_link *link = hold->pins.next;
    int count = 0;

    for (; link != &hold->pins; link = link->next) {
        const struct proto_pin *pin = (const struct proto_pin *)(const void *)
            link; /* the link is its first member */

        if (++count > PINS_MAX || !pin->copy ||
            (pin->copy != proto_newest(pin->region) && NATIVE_RULE(NEWEST)) ||
            (pin->region != hold->region &&
             proto_read_hold(pin->region, hold->rank)))
            return false;
    }
    return true;
}

/* How often this rank has @r for READ, of the newest, with no writer in sight,
 * who might come in by the step of a reader; else 0. */
static uint32_t reads_newest(const struct proto_region *r)
{
    const struct proto_hold *hold;
    const struct proto_region *x;

    if ((r->busy && !proto_promised_only(r)) || !r->owned || r->dead ||
        r->gone || r->root->waiting || r->away)
        return 0;
    hold = proto_read_hold(r, native.rank);
    if (!hold || hold->covered)
        return 0;
    for (x = r->parent; x; x = x->parent)
        if (x->write_rank >= 0 || x->lock || !x->owned)
            return 0;
    return pins_newest(hold) ? hold->count : 0;
}

/* What kind of READ lease @region's hold may become; 0: none. */
static uint64_t read_flags(const struct proto_region *region)
{
    uint32_t count = reads_newest(region);

    if (count && native_lease_shares(region, count))
        return WORD_READ | WORD_SHARED;
    return count == 1 ? WORD_READ : 0;
}

bool native_lease_begin(struct native_leases *leases,
                        struct proto_region *region)
{
    int32_t from = NATIVE_KEEP_GIVES;
    uint64_t flags, word;
    uint32_t i;

    if (native.check || !region->memory)
        return false;
    if (write_once(region, native.rank) && !region->subscribed &&
        (!region->waiting || others_wait(region, &from))) {
        flags = looks(region);
    } else {
        flags = read_flags(region);
        if (!flags)
            return false;
    }
    if (!make_room(leases) || !empty_slot(leases, &i))
        return false;
    word = new_word(leases->slot[i], WORD_FREE | flags);
    if (!native_lease_note(region->address, leases->slot[i], word))
        return false;
    fill(leases, i, word, region, native.rank);
    /* Whatever time it is by now: nobody else would serve those. */
    if (region->waiting && !(flags & WORD_READ))
        native_keep_defer(leases, leases->slot[i], word, from);
    return true;
}

void native_lease_hand(struct native_leases *leases,
                       struct proto_region *region,
                       struct proto_effects *effects)
{
    const struct proto_effect *e = effects->effect;
    struct native_wait *wait;
    uint64_t word;
    uint32_t i;
    int local;

    if (native.check || effects->count != 1 || e->kind != PROTO_GRANTED ||
        e->hold || e->split || e->region != region || region->waiting ||
        region->subscribed || !region->memory ||
        !write_once(region, region->write_rank))
        return;
    /* A hold for drasync_run is of no rank of the job (run_hold.c). */
    if (region->write_rank >= runtime.ranks)
        return;
    local = runtime.local_of[region->write_rank];
    if (local >= WORD_LOCALS_MAX)
        return;
    if (!empty_slot(leases, &i))
        return;
    word = new_word(leases->slot[i],
                    WORD_HELD | (uint64_t)local << WORD_HOLDER_BIT);
    if (!native_lease_note(region->address, leases->slot[i], word))
        return;
    wait = e->waiter;
    wait->slot = leases->slot[i];
    wait->word = word;
    fill(leases, i, word, region, region->write_rank);
}
