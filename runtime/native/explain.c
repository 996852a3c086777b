/* What an error of a call on a region means here and now, and what to do. */
#include <inttypes.h>
#include <stdio.h>

#include "runtime/native/frames.h"
#include "runtime/native/native.h"
#include "runtime/native/state.h"
#include "runtime/no_memory.h"
#include "runtime/process.h"

static void no_region(const void *address, char *text, size_t bytes)
{
    const struct space *space = &runtime.space;
    drasync_region_t inside;

    if (!address)
        snprintf(text, bytes,
                 "NULL is no region: pass what new_region or new_subregion "
                 "gave");
    else if (space_page(space, address) == SPACE_NO_PAGE)
        snprintf(text, bytes,
                 "no region has this address, which is outside of those for "
                 "regions (%p to %p): pass what new_region or new_subregion "
                 "gave",
                 (void *)space->base,
                 (void *)(space->base + space->layout.data_bytes));
    else if (!native_region_of(address, &inside) && inside != address)
        snprintf(text, bytes,
                 "this address lies inside of region %p, and is not its "
                 "handle: pass %p",
                 (void *)inside, (void *)inside);
    else if (native_quarantined((uintptr_t)address))
        snprintf(text, bytes,
                 "this region was deleted: do not use its handle after that");
    else
        snprintf(text, bytes,
                 "no region has this address: it was deleted, or there never "
                 "was one");
}

const struct proto_region *
native_held_through(const struct proto_region *region)
{
    for (const struct proto_region *r = region; r; r = r->parent)
        if (r->write_rank == native.rank || proto_read_hold(r, native.rank))
            return r;
    return NULL;
}

/* A call that ends a hold found none. */
static void not_to_release(const struct proto_region *region, char *text,
                           size_t bytes)
{
    const struct proto_region *through =
        region ? native_held_through(region) : NULL;

    if (through)
        snprintf(text, bytes,
                 "this rank took no hold on this region itself: that of region "
                 "%p, above it, covers it, so release that",
                 (void *)(uintptr_t)through->address);
    else
        snprintf(text, bytes,
                 "this rank has no hold on this region to give back: each "
                 "release ends one acquire, or the hold of new_region");
}

static void not_held(drasync_region_t handle, enum drasync_mode needed,
                     char *text, size_t bytes)
{
    const char *mode = needed == DRASYNC_WRITE ? "WRITE" : "READ";
    struct native_tree tree;
    int held = 0;

    if (native_lock_for(NATIVE_FOR_DATA, (uintptr_t)handle, &tree)) {
        snprintf(text, bytes, "%s", drasync_strerror(DRASYNC_EPEER));
        return;
    }
    if (tree.region)
        held = proto_held(tree.region, native.rank);
    if (needed == DRASYNC_NONE)
        not_to_release(tree.region, text, bytes);
    else if (held == DRASYNC_READ)
        snprintf(text, bytes,
                 "this rank holds the region for READ, and %s is needed: "
                 "release it, then acquire it for %s",
                 mode, mode);
    else
        snprintf(text, bytes,
                 "this rank has no hold on the region, and %s is needed: "
                 "acquire it for %s first",
                 mode, mode);
    native_unlock(&tree);
}

/* DRASYNC_EORDER. */
static void below_held(drasync_region_t handle, char *text, size_t bytes)
{
    const struct proto_region *part = NULL;
    struct native_tree tree;

    if (!native_lock_for(NATIVE_FOR_DATA, (uintptr_t)handle, &tree)) {
        if (tree.region)
            part = proto_held_below(tree.region, native.rank);
        if (part)
            snprintf(text, bytes,
                     "this rank holds region %p, a subregion of the one it "
                     "asks for, for %s: release that first, since ancestors "
                     "come first",
                     (void *)(uintptr_t)part->address,
                     proto_held(part, native.rank) == DRASYNC_WRITE ? "WRITE"
                                                                    : "READ");
        native_unlock(&tree);
    }
    if (!part)
        snprintf(text, bytes, "%s", drasync_strerror(DRASYNC_EORDER));
}

static void no_memory(char *text, size_t bytes)
{
    char memory[300];

    runtime_memory_text(memory, sizeof(memory));
    snprintf(text, bytes, "out of memory: %s", memory);
}

/* DRASYNC_ELIMIT, for want of a place in a message, or any other. */
static void limit(drasync_region_t handle, char *text, size_t bytes)
{
    bool away = false;
    struct native_tree tree;

    if (handle &&
        !native_lock_for(NATIVE_FOR_DATA, (uintptr_t)handle, &tree)) {
        away = tree.region && tree.region->away;
        native_unlock(&tree);
    }
    if (away)
        snprintf(text, bytes,
                 "another node has a part of this region with more than %d "
                 "direct subregions, which do not move: make some of them "
                 "subregions of others, or use drasync_run",
                 PROTO_CHILDREN_MAX);
    else
        snprintf(text, bytes, "%s", drasync_strerror(DRASYNC_ELIMIT));
}

void native_explain(int err, drasync_region_t region, enum drasync_mode needed,
                    char *text, size_t bytes)
{
    char size[RUNTIME_SIZE_TEXT];
    bool running = runtime_running();

    if (running && err == DRASYNC_ENOREGION)
        no_region(region, text, bytes);
    else if (running && err == DRASYNC_ENOTHELD)
        not_held(region, needed, text, bytes);
    else if (running && err == DRASYNC_EORDER)
        below_held(region, text, bytes);
    else if (running && err == DRASYNC_ENOMEM)
        no_memory(text, bytes);
    else if (running && err == DRASYNC_ELIMIT)
        limit(region, text, bytes);
    else if (running && err == DRASYNC_ENOSPACE)
        snprintf(text, bytes,
                 "out of region addresses: DRASYNC_SPACE is %s; %sdelete "
                 "regions",
                 runtime_size_text(runtime.space.layout.data_bytes, size),
                 runtime.space.layout.data_bytes < SPACE_BYTES_MAX
                     ? "raise it, or "
                     : "");
    else if (err == DRASYNC_EINTERNAL)
        snprintf(text, bytes,
                 "%s: [DRASync %s; with this line, the command, the DRASYNC_* "
                 "variables, the output of mpichversion, and how often it "
                 "happens]",
                 drasync_strerror(err), drasync_version());
    else
        snprintf(text, bytes, "%s", drasync_strerror(err));
}
