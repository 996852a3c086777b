/* Looking at native regions without a lock: see look.h. */
#include "runtime/native/look.h"

#include "runtime/native/lease_inline.h"
#include "runtime/native/lease_word.h"
#include "runtime/native/state.h"
#include "runtime/process.h"

/* Longer chains of entries, and deeper trees, change while they are walked. */
#define CHAIN_MAX 4096
#define DEPTH_MAX 4096

#define LOOKS __attribute__((no_sanitize("thread")))

/*
 * Orders.  Acquire of an anchor, of links between entries and of their regions
 * pairs with the stores of native_start_leader() in module.c and of
 * native_env_insert() in table.c, and acquire of `threads` with the exchange of
 * thread_new() in lease.c: what they point to was filled before.  All else,
 * plain or atomic, is read as it is at some moment: an address is looked at by
 * is_valid(), and for words of leases, uses and addresses relaxed would do.
 */

/* Is it all in control memory, and aligned?  Objects there are type-stable. */
static bool is_valid(const void *object, size_t bytes)
{
    uint64_t offset =
        (uint64_t)((uintptr_t)object - (uintptr_t)runtime.space.control);

    return (uintptr_t)object % 8 == 0 &&
           offset < runtime.space.layout.control_bytes &&
           bytes <= runtime.space.layout.control_bytes - offset;
}

uint64_t native_look_shape(void)
{
    return sizeof(struct native_shared) ^ proto_object_size(PROTO_REGION) << 8 ^
           proto_object_size(PROTO_OP) << 20;
}

static const struct native_shared *shared(void)
{
    const struct native_shared *s =
        atomic_load(&runtime.shared->anchors[RUNTIME_ANCHOR_NATIVE]);

    return s && is_valid(s, sizeof(*s)) ? s : NULL;
}

static const struct native_entry *next_entry(const struct native_entry *const e)
{
    return e && is_valid(e, sizeof(*e)) ? e : NULL;
}

LOOKS static const struct proto_region *region_of(const struct native_entry *e,
                                                  uint64_t address)
{
    const struct proto_region *r = atomic_load(&e->region);

    return r && is_valid(r, sizeof(*r)) && r->address == address ? r : NULL;
}

/* The region's record, or NULL. */
static const struct proto_region *find(uint64_t address)
{
    const struct native_shared *s = shared();
    const struct native_entry *e;

    if (!s || !address)
        return NULL;
    e = next_entry(atomic_load(&s->buckets[space_page_hash(address, 16)]));
    for (int i = 0; e && i < CHAIN_MAX; i++) {
        if ((atomic_load(&e->address) & ~NATIVE_ENTRY_NEW) == address)
            return region_of(e, address);
        e = next_entry(atomic_load(&e->next));
    }
    return NULL;
}

LOOKS static const struct proto_region *above(const struct proto_region *r)
{
    const struct proto_region *parent =
        *(struct proto_region *const volatile *)&r->parent;

    return parent && is_valid(parent, sizeof(*parent)) ? parent : NULL;
}

/* --- Who holds it --------------------------------------------------------- */

/* A slot with a lease of @region, of @rank for READ, or -1: any; or NULL. */
LOOKS static const struct native_lease_slot *
slot_of(const struct proto_region *region, int32_t rank)
{
    const struct native_shared *s = shared();
    const struct native_memory *memory =
        *(struct native_memory *const volatile *)&region->memory;

    /* Most have none, and the tables are long. */
    if (!memory || !is_valid(memory, sizeof(*memory)) || !memory->leases)
        return NULL;
    for (int i = 0; s && i < NATIVE_STRIPES; i++) {
        const struct native_leases *leases = &s->leases[i];

        for (int n = native_lease_next(leases, -1); n >= 0;
             n = native_lease_next(leases, n)) {
            const struct native_lease_slot *slot = leases->slot[n];

            if (is_valid(slot, sizeof(*slot)) && slot->region == region &&
                (rank < 0 ||
                 (slot->rank == rank && atomic_load(&slot->word) & WORD_READ)))
                return slot;
        }
    }
    return NULL;
}

/* The word of @region's lease; 0: there is none. */
static uint64_t lease_of(const struct proto_region *region)
{
    const struct native_lease_slot *slot = slot_of(region, -1);

    return slot ? atomic_load(&slot->word) : 0;
}

/* Does a thread of its rank use the shared lease in @slot, with @word? */
LOOKS static bool is_used(const struct native_lease_slot *slot, uint64_t word)
{
    const struct native_shared *s = shared();
    uint64_t name = use_of(word, slot->number);
    struct native_lease_thread *t = NULL;

    for (uint32_t i = 0; s && i < runtime.shared->locals; i++)
        if (runtime.shared->ranks[i].rank == slot->rank)
            t = atomic_load(&s->locals[i].threads);
    for (int i = 0; t && is_valid(t, sizeof(*t)) && i < CHAIN_MAX;
         i++, t = t->next) {
        struct native_lease *set = native_lease_set(t, slot->region->address);

        for (int k = 0; k < NATIVE_LEASE_WAYS; k++) {
            uint64_t use = atomic_load(&set[k].use);

            if (use_same(use, name) && use_count(use))
                return true;
        }
    }
    return false;
}

/* A hold of @rank for READ: is it one that was left, as a lease? */
LOOKS static bool is_left(const struct proto_region *region, int32_t rank)
{
    const struct native_lease_slot *slot = slot_of(region, rank);
    uint64_t word = slot ? atomic_load(&slot->word) : 0;

    if (!word || word_state(word) == WORD_HELD)
        return false;
    return !(word & WORD_SHARED) || !is_used(slot, word);
}

static int32_t rank_of(int local)
{
    return local >= 0 && (uint32_t)local < runtime.shared->locals
               ? runtime.shared->ranks[local].rank
               : -1;
}

/* The rank that has @r itself for WRITE, or -1; *lease_out: by a lease. */
LOOKS static int32_t writer(const struct proto_region *r, bool *lease_out)
{
    uint64_t word = r->write_rank >= 0 ? lease_of(r) : 0;

    *lease_out = word && !(word & WORD_READ);
    if (!*lease_out)
        return r->write_rank;
    return word_state(word) == WORD_HELD ? rank_of(word_holder(word)) : -1;
}

bool native_look_blocker(uint64_t at, int32_t rank,
                         struct native_look_blocker *out)
{
    const struct proto_region *r = find(at), *x = r;
    struct proto_seen lock;

    for (int depth = 0; x && depth < DEPTH_MAX; depth++, x = above(x)) {
        *out = (struct native_look_blocker){.region = x->address,
                                            .mode = DRASYNC_WRITE};
        out->rank = writer(x, &out->lease);
        if (out->rank >= 0 && out->rank != rank)
            return true;
    }
    if (!r || !proto_see_lock(r, is_valid, &lock) || lock.rank < 0 ||
        lock.rank == rank)
        return false;
    *out = (struct native_look_blocker){
        .rank = lock.rank,
        .region = r->address,
        .asks = true,
        .mode = lock.mode,
    };
    return true;
}

int32_t native_look_reader(uint64_t address, uint32_t i)
{
    const struct proto_region *r = find(address);
    int32_t rank = -1;

    for (uint32_t k = 0; r && k <= CHAIN_MAX; k++) {
        rank = proto_see_reader(r, k, is_valid);
        if (rank < 0 || (!is_left(r, rank) && !i--))
            return rank;
    }
    return -1;
}

/* --- Who waits ------------------------------------------------------------ */

LOOKS static void fill_wait(const struct proto_seen *seen,
                            struct native_look_wait *out)
{
    *out = (struct native_look_wait){
        .here = seen->where == PROTO_WAITS_HERE,
        .at = seen->at && seen->where != PROTO_WAITS_OTHER ? seen->at->address
                                                           : 0,
        .rank = seen->rank,
        .node = seen->node,
        .mode = seen->mode,
    };
    out->hint = NATIVE_LOOK_ANY;
    if (!seen->at)
        return;
    out->here = out->here || seen->at->owned;
    if (seen->at->epoch)
        out->hint = seen->at->hint;
}

bool native_look_asking(uint64_t address, int32_t rank,
                        struct native_look_wait *out)
{
    const struct proto_region *r = find(address);
    struct proto_seen seen;
    uint64_t word;

    if (!r)
        return false;
    if (proto_see_asking(r, rank, is_valid, &seen)) {
        fill_wait(&seen, out);
        return true;
    }
    word = lease_of(r);
    if (!word || rank_of(word_waiter(word)) != rank)
        return false;
    *out = (struct native_look_wait){
        .here = true, .at = address, .rank = rank, .mode = DRASYNC_WRITE};
    return true;
}

size_t native_look_queue(uint64_t address, struct native_look_wait *out,
                         size_t max)
{
    const struct proto_region *r = find(address);
    struct proto_seen seen[16];
    uint64_t word = r ? lease_of(r) : 0;
    size_t count = 0, n;

    if (word && word_waiter(word) >= 0 && max)
        out[count++] = (struct native_look_wait){
            .here = true,
            .at = address,
            .rank = rank_of(word_waiter(word)),
            .mode = DRASYNC_WRITE,
        };
    if (max > 16)
        max = 16;
    n = r ? proto_see_waiting(r, is_valid, seen, max - count) : 0;
    for (size_t i = 0; i < n; i++)
        fill_wait(&seen[i], &out[count++]);
    return count;
}

int native_look_home(uint64_t address)
{
    return native_home(address);
}

/* --- Regions -------------------------------------------------------------- */

/* proto_version(), of a tree that may change. */
LOOKS static uint64_t version_of(const struct proto_region *r)
{
    const struct proto_region *x = r;
    uint64_t version = r->version;

    for (int depth = 0; x && depth < DEPTH_MAX; depth++, x = above(x))
        if (x->written > r->arrived && x->written > version)
            version = x->written;
    return version;
}

LOOKS static void fill(const struct proto_region *r, struct native_look *out)
{
    const struct native_memory *memory = r->memory;
    const struct proto_region *parent = above(r), *root = r->root;

    *out = (struct native_look){
        .address = r->address,
        .parent = parent ? parent->address : 0,
        .root = root && is_valid(root, sizeof(*root)) ? root->address : 0,
        .version = version_of(r),
        .hint = r->epoch ? r->hint : NATIVE_LOOK_ANY,
        .owned = r->owned,
        .reads = r->reads,
        .waiting = r->waiting,
    };
    out->write_rank = writer(r, &out->lease);
    if (memory && is_valid(memory, sizeof(*memory))) {
        out->pages = memory->pages;
        out->extents = memory->extents;
    }
}

bool native_look(uint64_t address, struct native_look *out)
{
    const struct proto_region *r = find(address);

    if (r)
        fill(r, out);
    return r != NULL;
}

void native_look_each(void (*visit)(const struct native_look *look, void *arg),
                      void *arg)
{
    const struct native_shared *s = shared();

    for (int b = 0; s && b < NATIVE_BUCKETS; b++) {
        const struct native_entry *e = next_entry(atomic_load(&s->buckets[b]));

        for (int i = 0; e && i < CHAIN_MAX; i++) {
            uint64_t address = atomic_load(&e->address) & ~NATIVE_ENTRY_NEW;
            const struct proto_region *r =
                address ? region_of(e, address) : NULL;
            struct native_look look;

            if (r) {
                fill(r, &look);
                visit(&look, arg);
            }
            e = next_entry(atomic_load(&e->next));
        }
    }
}
