/*
 * native_node.h - a node of node.h that has native regions: records, extents,
 * frames and steps are the runtime's.  There are no leases and magazines, nothing
 * is mapped, and what a step sends is noted and goes nowhere.
 */
#ifndef TESTS_FUZZ_NATIVE_NODE_H
#define TESTS_FUZZ_NATIVE_NODE_H

#include "memory/pages.h"
#include "runtime/native/ahead.h"
#include "runtime/native/delta.h"
#include "runtime/native/frames.h"
#include "runtime/native/give.h"
#include "runtime/native/later.h"
#include "runtime/native/map.h"
#include "runtime/native/table.h"
#include "runtime/services/chunks.h"
#include "runtime/services/names.h"
#include "runtime/thread.h"
#include "tests/fuzz/node.h"

struct native native;
_Thread_local struct native_running native_running;

/* The last message about @root that asks for something; type 0: none. */
#define ASKED_MAX 8
static struct native_asked {
    uint64_t root, ticket, version;
    uint8_t type;
} native_asked[ASKED_MAX];

static struct native_asked *native_asked_of(uint64_t root)
{
    int i = 0;

    while (native_asked[i].type && native_asked[i].root != root)
        FUZZ_HOLDS(++i < ASKED_MAX);
    native_asked[i].root = root;
    return &native_asked[i];
}

/* --- What is sent ---------------------------------------------------------- */

bool native_wire_send(struct proto_effects *effects, size_t index)
{
    const struct proto_message *m = proto_effect_message(effects, index);
    struct native_asked *asked;

    if (m->type != PROTO_LOCATE && m->type != PROTO_REQUEST)
        return false;
    asked = native_asked_of(m->type == PROTO_LOCATE ? m->region : m->root);
    asked->type = m->type;
    asked->ticket = m->ticket;
    asked->version = m->version;
    return false;
}

/* As send.c has it. */
void native_wire_left(uint64_t root, uint32_t node, uint64_t ticket)
{
    struct proto_effects *effects;
    const struct proto_region *r = native_find(root);

    if (!r)
        return;
    effects = native_effects();
    proto_sent(&native.node, r->root, node, ticket, effects);
    native_do(effects, NULL);
}

void native_wire_sent(int to, uint64_t context, int result)
{
    (void)to, (void)context, (void)result;
}

void native_later_send_start(void)
{
}

void native_delta_start(void)
{
}

void native_delta_free(struct native_memory *memory)
{
    (void)memory;
}

int names_withdraw(const struct names_region *regions, size_t count)
{
    FUZZ_HOLDS(regions && count);
    return 0;
}

void runtime_nudge(void)
{
}

/* A gift that no rank waits for. */
void give_arrives(int node, const struct proto_message *message)
{
    FUZZ_HOLDS(node >= 0 && node < NODES);
    FUZZ_HOLDS(message->flags & PROTO_GIVEN);
}

/* --- Memory ----------------------------------------------------------------- */

void native_map_lock(void)
{
}

void native_map_unlock(void)
{
}

bool native_mapping_primary(void)
{
    return true;
}

int native_map_primary(uint64_t first_page, uint64_t pages)
{
    (void)first_page, (void)pages;
    return 0;
}

void check_allow(uint64_t first, uint64_t pages, int mode)
{
    (void)first, (void)pages, (void)mode;
}

int native_quarantine_new(struct native_quarantine **quarantine_out)
{
    (void)quarantine_out;
    abort();
}

void native_quarantine_put(struct native_quarantine *quarantine,
                           uint64_t address, uint64_t pages)
{
    (void)quarantine, (void)address, (void)pages;
    abort();
}

void native_quarantine_clear(struct native_quarantine *quarantine)
{
    (void)quarantine;
    abort();
}

void native_evict(void)
{
}

bool native_trim(void)
{
    return false;
}

int chunks_ask(uint64_t pages)
{
    (void)pages;
    return DRASYNC_ENOSPACE;
}

bool native_ahead_room(void)
{
    return true;
}

void native_ahead_ended(const struct proto_effect *effect)
{
    (void)effect;
}

int thread_watch(void)
{
    return 0;
}

/* --- Holds ------------------------------------------------------------------ */

int native_lease_new(struct native_leases *leases, uint32_t stripe)
{
    leases->stripe = stripe;
    return 0;
}

void native_lease_settle(struct native_leases *leases,
                         const struct proto_region *region,
                         enum native_for what, int from)
{
    (void)leases, (void)region, (void)what, (void)from;
    abort();
}

bool native_read_splits(const struct proto_hold *hold)
{
    (void)hold;
    return false;
}

/* --- Chores ----------------------------------------------------------------- */

static struct runtime_chore *chores;
static chore_piece *chore_pieces[CHORE_KINDS];

void chore_handle(enum chore_kind kind, chore_piece *piece)
{
    chore_pieces[kind] = piece;
}

void chore_begin(struct runtime_chore *chore, enum chore_kind kind)
{
    chore->kind = kind;
    chore->next = chores;
    chores = chore;
}

/* A piece of one of them. */
__attribute__((unused)) static void native_node_turn(void)
{
    struct runtime_chore *chore = chores, *rest;

    if (!chore)
        return;
    rest = chore->next;
    chores = rest;
    if (chore_pieces[chore->kind](chore))
        return;
    /* Nothing begins another one. */
    chore->next = rest;
    chores = chore;
}

/* --- The node --------------------------------------------------------------- */

static void native_node_begin(int self)
{
    _Atomic uint32_t *poison;
    struct proto_env env;

    node_begin(self);
    poison = control_poison_flag(&runtime.space);
    for (int i = 0; i < NATIVE_STRIPES; i++)
        FUZZ_HOLDS(
            !lock_init(&runtime.shared->trees[i], LOCK_RANK_RUNTIME, poison));
    FUZZ_HOLDS(!native_shared_new(&native.shared));
    atomic_store(&runtime.shared->anchors[RUNTIME_ANCHOR_NATIVE],
                 (void *)native.shared);
    native.self = runtime_self();
    native.rank = self;
    native_env_fill(&native.node.env);
    env = native.node.env;
    proto_node_open(&native.node, &env);
    native_wire_start();
}

/* The first page from page @page on that is node @node's. */
__attribute__((unused)) static uint64_t native_node_page(int node,
                                                         uint64_t page)
{
    while (page_home(&runtime.space, page) != node)
        page++;
    return page;
}

/* Rank @rank asks for @address; granted at once, or *@wait is woken. */
static void native_node_acquire(int32_t rank, uint64_t address,
                                enum drasync_mode mode,
                                struct native_wait *wait)
{
    struct proto_effects *effects;
    struct proto_grant grant;
    struct native_tree tree;
    struct proto_op *op;

    waiter_reset(&wait->waiter);
    FUZZ_HOLDS(!native_lock(address, &tree));
    effects = native_effects();
    proto_acquire(&native.node, rank, tree.region, address, mode, false, wait,
                  &grant, &op, effects);
    native_do(effects, NULL);
    native_unlock(&tree);
}

static void native_node_release(int32_t rank, uint64_t address,
                                enum drasync_mode mode)
{
    struct proto_effects *effects;
    struct native_tree tree;

    FUZZ_HOLDS(!native_lock(address, &tree));
    if (tree.region && tree.region->incarnation && !tree.region->locating) {
        effects = native_effects();
        proto_release(&native.node, rank, tree.region, mode, effects);
        native_do(effects, NULL);
    }
    native_unlock(&tree);
}

#endif
