/*
 * managed.c - references to managed regions, their links and ends, and the
 * search for circles over all nodes, on the first node, which elects who
 * searches, and what is asked of links.  Between messages this node gives back
 * what it has and ends what is unused.
 */
#include "runtime/managed/far.h"
#include "runtime/managed/state.h"
#include "runtime/native/native.h"
#include "runtime/survive.h"
#include "tests/fuzz/node.h"

#define PAGE(n) \
    ((uint64_t)(uintptr_t)runtime.space.base + (uint64_t)(n)*PAGE_BYTES)

enum { OWN = 4, ALL = 6 }; /* regions 0 to 3 have their home here */

/* --- What is called of native regions ------------------------------------- */

/* Every other region is held by somebody. */
int native_delete_unused(drasync_region_t region, uint64_t incarnation)
{
    (void)incarnation;
    return (uintptr_t)region / PAGE_BYTES % 2 ? DRASYNC_EBUSY : 0;
}

bool native_read_here(drasync_region_t region, uint64_t incarnation)
{
    (void)incarnation;
    return (uintptr_t)region / PAGE_BYTES % 3 == 0;
}

/* Pages that are no region's belong to the one before. */
int native_root_of(const void *ptr, struct native_root *out)
{
    uint64_t page = (uintptr_t)ptr / PAGE_BYTES;

    *out = (struct native_root){page / 2 * 2 * PAGE_BYTES, 1};
    return page % 5 ? 0 : DRASYNC_ENOREGION;
}

bool survive_wanted(const char **why_out)
{
    *why_out = NULL;
    return false;
}

/* --- What holds ----------------------------------------------------------- */

/* Entries of a list are in the table, once, and each is to be ended. */
static void check_list(const struct managed_list *list, uint64_t count)
{
    const struct managed_entry *e = list->first, *last = NULL;

    for (; e; last = e, e = e->unused_next) {
        FUZZ_HOLDS(count-- > 0);
        FUZZ_HOLDS(managed_find(e->refs.address, e->refs.incarnation) == e);
        FUZZ_HOLDS(e->refs.home && e->refs.use != REFS_ENDING);
    }
    FUZZ_HOLDS(count == 0 && (!list->first || list->last == last));
}

static void check_node(void)
{
    const struct managed_shared *shared = managed_get();

    check_list(&shared->fresh, atomic_load(&shared->counts.fresh));
    check_list(&shared->lingering, atomic_load(&shared->counts.lingering));
}

/* --- The node ------------------------------------------------------------- */

/* Each own region refers to the next one, the last to the first; rank 0 and
 * another node refer to each, too. */
static void make(void)
{
    FUZZ_HOLDS(!managed_open());
    for (int i = 0; i < OWN; i++) {
        FUZZ_HOLDS(!managed_home_ask(0, REFS_ASK_MANAGE, PAGE(8 + i), 1));
        FUZZ_HOLDS(!managed_home_count(1 + i % 2, PAGE(8 + i), 1, 1, i == 0));
    }
    for (int i = 0; i < OWN; i++) {
        FUZZ_HOLDS(!managed_change(PAGE(8 + (i + 1) % OWN), 1, 1));
        FUZZ_HOLDS(
            !managed_home_link(PAGE(8 + i), 1, PAGE(8 + (i + 1) % OWN), 1));
    }
    for (int i = OWN; i < ALL; i++) {
        FUZZ_HOLDS(!managed_lock(PAGE(8 + i)));
        struct managed_entry *e = managed_entry(PAGE(8 + i), 1, 1);
        FUZZ_HOLDS(e && refs_given(&e->refs));
        managed_unlock(PAGE(8 + i));
    }
}

static void start(void)
{
    node_begin(0);
    managed_wire_start();
    make();
    for (int i = 0; i < ALL; i++)
        node_word(PAGE(8 + i));
    node_keep();
}

/* As a rank of this node does meanwhile. */
static uint64_t between(uint32_t kind, void *message, size_t bytes,
                        uint64_t bulk)
{
    (void)message;
    (void)bytes;
    check_node();
    if (kind % 2)
        managed_home_end(true);
    check_node();
    return bulk;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static bool started;

    if (!started)
        start();
    started = true;
    node_adapt = between;
    node_input(data, bytes, RUNTIME_KIND_MANAGED, 6);
    if (!node_over && !node_refused) {
        for (int i = 0; i < ALL; i++)
            managed_change(PAGE(8 + i), 1, -1);
        managed_home_end(true);
        check_node();
        managed_home_end(true);
        check_node();
    }
    node_restore();
    return 0;
}
