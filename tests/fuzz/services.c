/*
 * services.c - names, chunks of addresses, claims of addresses, locks and answers
 * to calls, on the first node, which manages names and chunks.  Addresses that are
 * in use here stay in use, whatever others say.
 */
#include "memory/pages.h"
#include "runtime/modules.h"
#include "runtime/native/claim.h"
#include "runtime/native/frames.h"
#include "runtime/native/naming.h"
#include "runtime/services/chunks.h"
#include "runtime/services/queue_lock_state.h"
#include "tests/fuzz/node.h"

struct native native;

static struct pages_run used = {.pages = 4};

/* --- What is called of native regions ------------------------------------- */

void native_quarantine_clear(struct native_quarantine *quarantine)
{
    (void)quarantine;
    abort();
}

/* Some addresses have a region. */
int native_incarnation_here(drasync_region_t region, bool name, uint64_t *out)
{
    FUZZ_HOLDS(name);
    *out = 1;
    return (uintptr_t)region % 8 ? DRASYNC_ENOREGION : 0;
}

int native_incarnation(drasync_region_t region, uint64_t *out)
{
    return native_incarnation_here(region, true, out);
}

int native_ask_incarnation(drasync_region_t region, uint64_t *out)
{
    return native_incarnation(region, out);
}

int native_ask_home(uint64_t address, int *home_out)
{
    (void)address;
    *home_out = 0;
    return 0;
}

/* --- The node ------------------------------------------------------------- */

static void *object(size_t bytes)
{
    void *at;

    FUZZ_HOLDS(!control_alloc_zero(&runtime.space, bytes, &at));
    return at;
}

static uint64_t name_at(int node, const void *at)
{
    uint64_t offset = (uint64_t)((const char *)at - runtime.space.control);

    return (uint64_t)node << NAME_NODE_BIT |
           offset / CONTROL_ALIGN_BYTES << NAME_PLACE_BIT | NAME_BIT;
}

/* A lock, two who wait for it here, and one elsewhere. */
static void make_lock(void)
{
    struct queue_tail *tail = object(sizeof(*tail));

    tail->magic = TAIL_MAGIC;
    node_word((uintptr_t)tail);
    for (int i = 0; i < 2; i++) {
        struct queue_entry *e = object(sizeof(*e));

        e->magic = ENTRY_MAGIC;
        node_word(name_at(0, e));
        node_word(name_at(1 + i, e));
        node_word((uintptr_t)e);
    }
}

/* A call that waits for node 1 to answer. */
static void make_call(void)
{
    struct runtime_call_slot *slot = &runtime.shared->calls[1];

    atomic_store(&slot->ticket, 1);
    slot->node = 1;
    node_word(1);
}

/* A run where this node has a region, and a free one beside it. */
static void make_runs(void)
{
    uint64_t first;

    FUZZ_HOLDS(
        !pages_take(&runtime.space, used.pages, PAGES_ADDRESSES, &first));
    used.first = first;
    node_word(used.first);
    FUZZ_HOLDS(
        !pages_take(&runtime.space, used.pages, PAGES_ADDRESSES, &first) &&
        !pages_give(&runtime.space, first, used.pages, PAGES_ADDRESSES));
    node_word(first);
}

/* It is taken, and this node's to be given back. */
static void check_used(void)
{
    FUZZ_HOLDS(page_home(&runtime.space, used.first) == 0);
    FUZZ_HOLDS(pages_take_at(&runtime.space, &used) == DRASYNC_EBUSY);
    FUZZ_HOLDS(
        !pages_give(&runtime.space, used.first, used.pages, PAGES_ADDRESSES));
}

static void start(void)
{
    node_begin(0);
    native.shared = object(sizeof(*native.shared));
    FUZZ_HOLDS(!names_module.start_leader() && !names_module.start());
    FUZZ_HOLDS(!chunks_module.start() && !queue_lock_module.start());
    native_claim_start();
    native_naming_start();
    make_lock();
    make_call();
    make_runs();
    node_keep();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static bool started;

    if (!started)
        start();
    started = true;
    node_input(data, bytes, RUNTIME_KIND_NAMES,
               RUNTIME_KIND_RMA_FAR - RUNTIME_KIND_NAMES);
    check_used();
    node_restore();
    return 0;
}
