/*
 * services.c - names, chunks of addresses, locks and answers to calls, on the
 * first node, which manages names and chunks.
 */
#include "runtime/modules.h"
#include "runtime/services/chunks.h"
#include "runtime/services/queue_lock_state.h"
#include "tests/fuzz/node.h"

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

static void start(void)
{
    node_begin(0);
    FUZZ_HOLDS(!names_module.start_leader() && !names_module.start());
    FUZZ_HOLDS(!chunks_module.start() && !queue_lock_module.start());
    make_lock();
    make_call();
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
    node_restore();
    return 0;
}
