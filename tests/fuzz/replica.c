/*
 * replica.c - messages about replicated regions: the directory, versions whole
 * and by name, objects freed and asked for, barriers; on a node of two workers
 * that has regions of its own, objects in one, and regions of others.
 */
#include "memory/pages.h"
#include "runtime/modules.h"
#include "runtime/record/record.h"
#include "runtime/replica/directory.h"
#include "runtime/replica/mappings.h"
#include "runtime/replica/state.h"
#include "runtime/replica/wire.h"
#include "runtime/services/chunks.h"
#include "runtime/thread.h"
#include "tests/fuzz/node.h"
#include "tests/unit/unchecked.h"

enum { SELF = 1, SERIALS_MAX = 64 };

bool drasync_record_on;

void drasync_record_kept(int how)
{
    (void)how;
}

int thread_watch(void)
{
    return 0;
}

int chunks_ask(uint64_t pages)
{
    (void)pages;
    return DRASYNC_ENOSPACE;
}

int native_map_primary(uint64_t first_page, uint64_t pages);

int native_map_primary(uint64_t first_page, uint64_t pages)
{
    int err = replica_mapping_clear(first_page, pages);

    return err ? err : frames_map_primary(&runtime.space, first_page, pages);
}

/* A region of node @node that this one knows. */
static uint64_t region_of(int node, uint64_t page)
{
    struct replica_message m = {
        .type = REPLICA_MSG_ATTACHED,
        .origin = (uint32_t)node,
        .incarnation = 1,
    };

    while (page_home(&runtime.space, page) != node)
        page++;
    m.address = page << PAGE_SHIFT;
    FUZZ_HOLDS(!replica_lock());
    FUZZ_HOLDS(!replica_attach(&replica_shared()->dir, m.address, 0));
    replica_unlock();
    FUZZ_HOLDS(!replica_dir_message(node, &m));
    return m.address;
}

static void make_regions(void)
{
    uint32_t top, below;
    void *small, *large;

    FUZZ_HOLDS(!replica_region_new(0, &top));
    FUZZ_HOLDS(!replica_region_new(top, &below));
    FUZZ_HOLDS(!replica_alloc(top, 64, &small));
    FUZZ_HOLDS(!replica_alloc(below, 100000, &large));
    node_word((uint64_t)(top - 1) << PAGE_SHIFT);
    node_word((uint64_t)(below - 1) << PAGE_SHIFT);
    node_word((uintptr_t)small);
    node_word((uintptr_t)large);
    node_word((uintptr_t)small + 64);
    FUZZ_HOLDS(!replica_lock());
    node_word(
        replica_find((uint64_t)(top - 1) << PAGE_SHIFT)->entry.incarnation);
    replica_unlock();
    node_word(region_of(0, 64));
    node_word(region_of(2, 64));
    node_word(space_page(&runtime.space, small));
    node_word((uintptr_t)runtime.space.base);
}

/* Few serial numbers, and often as much data as a version says. */
static uint64_t adapt(uint32_t kind, void *message, size_t bytes, uint64_t bulk)
{
    struct replica_version *version = message;
    struct replica_forget *forget = message;

    if (kind == REPLICA_KIND_FORGET && bytes >= sizeof(*forget))
        forget->serial %= SERIALS_MAX;
    if (kind != REPLICA_KIND_VERSION || bytes < sizeof(*version))
        return bulk;
    version->serial %= SERIALS_MAX;
    return bulk >> 22 ? version->bytes : bulk;
}

static void start(void)
{
    node_adapt = adapt;
    node_begin(SELF);
    FUZZ_HOLDS(!replica_module.start_leader() && !replica_module.start());
    make_regions();
    node_keep();
}

/* What was kept under serial numbers is not in control memory alone. */
static void forget_kept(void)
{
    for (int worker = 0; worker < RANKS; worker++)
        for (uint64_t serial = 1; serial < SERIALS_MAX; serial++)
            replica_kept_forget(worker, serial);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static bool started;

    if (!started)
        start();
    started = true;
    node_input(data, bytes, RUNTIME_KIND_REPLICA,
               REPLICA_KIND_FORGET - RUNTIME_KIND_REPLICA + 1);
    forget_kept();
    node_restore();
    return 0;
}
