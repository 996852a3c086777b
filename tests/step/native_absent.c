/*
 * native_absent.c - what the code under test calls that the world of
 * native_world.h has not: nothing is run, given, checked, asked ahead, sent or
 * freed.
 */
#include "native_world.h"

#include "runtime/check/check.h"
#include "runtime/messages/messages.h"
#include "runtime/native/ahead.h"
#include "runtime/native/delta.h"
#include "runtime/native/frames.h"
#include "runtime/native/give.h"
#include "runtime/native/guard.h"
#include "runtime/native/magazine.h"
#include "runtime/native/objects.h"
#include "runtime/native/run.h"
#include "runtime/native/state.h"
#include "runtime/native/table.h"
#include "runtime/native/wire.h"
#include "runtime/process.h"
#include "runtime/services/names.h"
#include "runtime/thread.h"

void runtime_look(uint64_t now)
{
    (void)now;
}

void runtime_nudge(void)
{
}

/* Nothing is run here. */
_Thread_local struct native_running native_running;

int run_test(struct run_pending *pending, int *done_out)
{
    (void)pending;
    *done_out = 0;
    return 0;
}

int run_wait(struct run_pending *pending, uint64_t timeout_us)
{
    (void)pending;
    (void)timeout_us;
    return DRASYNC_EINTERNAL;
}

void run_cancel(struct run_pending *pending)
{
    (void)pending;
}

void run_serve_released(void)
{
}

int thread_watch(void)
{
    return 0;
}

/* Nothing to do in this world. */
void runtime_glance(void)
{
}

bool native_ahead_told(uint64_t address)
{
    (void)address;
    return false;
}

_Atomic bool native_ahead_learns;

void native_ahead_acquired(const struct native_pending *q, bool waits)
{
    (void)q;
    (void)waits;
}

void native_ahead_waited(uint64_t since_us)
{
    (void)since_us;
}

void native_ahead_ended(const struct proto_effect *effect)
{
    (void)effect;
}

void native_delta_finish(uint64_t address)
{
    (void)address;
}

void native_pool_use(int stripe)
{
    (void)stripe;
}

int native_pool_used(void)
{
    return -1;
}

void native_pool_shed(void)
{
}

/* Nothing is checked. */
void native_guard_again(const struct native_tree *tree, uint64_t address)
{
    (void)tree;
    (void)address;
}

void native_guard_took(uint64_t address, uint64_t incarnation,
                       enum drasync_mode mode)
{
    (void)address;
    (void)incarnation;
    (void)mode;
}

void native_guard_gave(const struct native_tree *tree, uint64_t address,
                       uint64_t incarnation, enum drasync_mode mode)
{
    (void)tree;
    (void)address;
    (void)incarnation;
    (void)mode;
}

struct native_found *native_objects_look(const struct proto_region *top,
                                         enum check_when when)
{
    (void)top;
    (void)when;
    return NULL;
}

void native_objects_end(struct native_found *found)
{
    (void)found;
}

void native_objects_mark(const struct proto_region *region, int mode)
{
    (void)region;
    (void)mode;
}

void check_other_thread(uint64_t address, uint64_t incarnation,
                        enum drasync_mode mode)
{
    (void)address;
    (void)incarnation;
    (void)mode;
}

void native_evict(void)
{
}

bool native_trim(void)
{
    return false;
}

/* Not in this world. */
bool native_wire_send(struct proto_effects *effects, size_t index)
{
    (void)effects;
    (void)index;
    step_fail("a message is sent");
    return false;
}

void native_wire_left(uint64_t root, uint32_t node_to, uint64_t ticket)
{
    (void)root;
    (void)node_to;
    (void)ticket;
}

void native_wire_arriving(struct native_arrival *arrival,
                          const struct proto_effect *effect)
{
    (void)arrival;
    (void)effect;
}

void native_wire_expect(struct native_arrival *arrival,
                        const struct proto_effect *effect)
{
    (void)arrival;
    (void)effect;
}

void native_extent_back(uint64_t address, uint64_t pages)
{
    (void)address;
    (void)pages;
}

int native_magazines_end(const struct native_tree *tree,
                         const struct proto_region *top)
{
    (void)tree;
    (void)top;
    return 0;
}

void native_memory_free(struct native_memory *memory, bool dead)
{
    (void)memory;
    (void)dead;
}

int names_withdraw(const struct names_region *regions, size_t count)
{
    (void)regions;
    (void)count;
    return 0;
}
