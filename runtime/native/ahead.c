/*
 * Asking ahead: the protocol's hint (protocol/ahead.c), and what came of it.
 *
 * Where there is nothing to gain the call takes no lock: a region whose token is
 * here needs no message.
 */
#include "runtime/native/ahead.h"

#include "memory/limit.h"
#include "runtime/native/state.h"
#include "runtime/native/table.h"
#include "runtime/process.h"

/* Regions that this process told of and has not acquired since, by a hash of
 * their addresses; a later one takes the place of an earlier one. */
#define TOLD_SLOTS 1024

static _Atomic uint64_t told[TOLD_SLOTS];
static _Atomic bool any; /* is one of them */

static _Atomic uint64_t *slot_of(uint64_t address)
{
    return &told[space_page_hash(address, 10)];
}

_Static_assert(TOLD_SLOTS == 1 << 10, "slot_of() keeps 10 bits");

bool native_ahead_told(uint64_t address)
{
    uint64_t expected = address;

    /* Relaxed: only who is counted depends on it. */
    return atomic_load_explicit(&any, memory_order_relaxed) &&
           atomic_compare_exchange_strong_explicit(slot_of(address), &expected,
                                                   0, memory_order_relaxed,
                                                   memory_order_relaxed);
}

bool native_ahead_room(void)
{
    return limit_room_bytes(&runtime.space) >= limit_bytes(&runtime.space) / 4;
}

void native_ahead_waited(uint64_t since_us)
{
    runtime_count(native.self, RUNTIME_COUNT_AHEAD_WAITED_US,
                  runtime_now_us() - since_us);
}

/* Bytes of the region behind @memory that are in use. */
static uint64_t used_bytes(const struct native_memory *memory)
{
    uint64_t bytes = 0;

    for (const struct extent *e = memory ? memory->first : NULL; e; e = e->next)
        bytes += e->user[EXTENT_USED_BYTES];
    return bytes;
}

void native_ahead_ended(const struct proto_effect *effect)
{
    if (effect->begun)
        runtime_count(native.self, RUNTIME_COUNT_AHEAD_ASKED, 1);
    else if (effect->used)
        runtime_count(native.self, RUNTIME_COUNT_AHEAD_USED, 1);
    else if (effect->data)
        runtime_count(native.self, RUNTIME_COUNT_AHEAD_VAIN_BYTES,
                      used_bytes(effect->memory));
}

/* A look without a lock: it may be out of date. */
__attribute__((no_sanitize("thread"))) static bool is_here(uint64_t address)
{
    const struct proto_region *region = native_find(address);

    return region && *(const volatile bool *)&region->owned &&
           !*(const volatile bool *)&region->dead;
}

/* *asked_out: another node had to be. */
static int ask(uint64_t address, enum drasync_mode mode, int times,
               bool *asked_out)
{
    struct native_tree tree;
    int err;

    *asked_out = false;
    if (is_here(address))
        return 0;
    if (runtime.options.ahead == RUNTIME_AHEAD_DATA)
        mode = DRASYNC_READ;
    err = native_lock_for(NATIVE_FOR_READ, address, &tree);
    if (err)
        return err;
    for (int i = 0; i < times && !err; i++) {
        struct proto_effects *effects = native_effects();

        err = proto_ahead(&native.node, tree.region, address, mode, effects);
        native_effects_soon(effects);
        native_do(effects, NULL);
    }
    native_unlock(&tree);
    if (err)
        return err;
    *asked_out = true;
    atomic_store_explicit(slot_of(address), address, memory_order_relaxed);
    atomic_store_explicit(&any, true, memory_order_relaxed);
    return 0;
}

int native_ahead(drasync_region_t region, enum drasync_mode mode)
{
    bool asked;

    if (!native_address_valid(region))
        return DRASYNC_ENOREGION;
    if (runtime.options.ahead == RUNTIME_AHEAD_OFF || runtime.nodes == 1)
        return 0;
    runtime_count(native.self, RUNTIME_COUNT_AHEAD_ASKED, 1);
    return ask((uintptr_t)region, mode, 1, &asked);
}

enum ahead_answer native_ahead_ask(uint64_t address, enum drasync_mode mode,
                                   int times)
{
    bool asked;
    int err = ask(address, mode, mode == DRASYNC_WRITE ? 1 : times, &asked);

    if (err == DRASYNC_EDELETED || err == DRASYNC_ENOREGION)
        return AHEAD_GONE;
    if (!asked)
        return AHEAD_HERE;
    runtime_count(native.self, RUNTIME_COUNT_AHEAD_ASKED, 1);
    return AHEAD_ASKED;
}
