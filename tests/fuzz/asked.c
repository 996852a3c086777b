/*
 * asked.c - what other nodes ask for reports: of waits and holds
 * (runtime/diagnose/ask.h), and in checked mode who has a region and where it was
 * taken (runtime/check/ask.c); on a node of two ranks, the other one of which
 * answers with anything, or not at all.
 */
#include <sys/ucontext.h>

#include "runtime/check/state.h"
#include "runtime/diagnose/ask.h"
#include "runtime/diagnose/asked.h"
#include "runtime/diagnose/ps.h"
#include "runtime/diagnose/threads.h"
#include "runtime/native/guard.h"
#include "runtime/native/objects.h"
#include "tests/fuzz/native_node.h"

enum { SELF = 1, OTHER = 3, REGIONS = 3 };

struct check_hooks check_hooks;

static struct facts_shared *facts;

/* --- What is called of the process ------------------------------------------ */

bool asked_later(const struct runtime_caller *caller)
{
    FUZZ_HOLDS(caller->node >= 0 && caller->node < NODES);
    return false;
}

void ps_add_node(struct text *out, size_t lines)
{
    FUZZ_HOLDS(lines);
    out->bytes = calloc(2, ASK_VIEW_BYTES);
    FUZZ_HOLDS(out->bytes);
    out->length = 2 * ASK_VIEW_BYTES;
}

bool threads_others(int32_t pid, int32_t mpi_thread)
{
    (void)pid, (void)mpi_thread;
    return true;
}

bool names_look(uint64_t address, char name_out[DRASYNC_NAME_MAX + 1])
{
    memset(name_out, 0, DRASYNC_NAME_MAX + 1);
    return address % 2;
}

bool native_look_runs(int32_t rank)
{
    return rank == OTHER;
}

void places_of(int pid, const uint64_t *pcs, int count, struct code_place *out)
{
    (void)pid, (void)pcs;
    memset(out, 0, (size_t)count * sizeof(*out));
}

bool place_is_ours(const struct code_place *place)
{
    (void)place;
    return false;
}

bool waiting_read(const struct waiting_slot *slot, struct waiting_seen *out)
{
    *out = slot->seen;
    return atomic_load(&slot->taken);
}

bool waiting_mpi_read(const struct waiting_mpi *mpi, struct waiting_inside *out)
{
    *out = mpi->inside;
    return true;
}

bool waiting_read_hold(const struct waiting_rank *rank, uint64_t address,
                       uint64_t *since_us_out, uint64_t *pc_out)
{
    *since_us_out = atomic_load(&rank->holds[0].since_us);
    *pc_out = 0;
    return atomic_load(&rank->holds[0].address) == address;
}

/* --- What is called of checked mode ------------------------------------------ */

void check_lines_add(struct check_text *text, const struct check_stack *stack,
                     bool fault)
{
    FUZZ_HOLDS(!fault);
    check_add(text, stack ? "    #0\n" : "    (the stack is not known)\n");
}

uint32_t check_stack_here(void)
{
    return 1;
}

const struct check_stack *check_stack_of(uint32_t number)
{
    static const struct check_stack stack = {.frames = 1};

    return number == 1 ? &stack : NULL;
}

void check_stack_at(ucontext_t *context, struct check_stack *out)
{
    (void)context, (void)out;
    abort();
}

void check_add_mapping(struct check_text *text, uint64_t address)
{
    (void)text, (void)address;
    abort();
}

void check_on_look(check_look_fn *look)
{
    check_hooks.look = look;
}

void check_on_top(check_top_fn *top)
{
    check_hooks.top = top;
}

void check_on_inside(check_inside_fn *inside)
{
    check_hooks.inside = inside;
}

void runtime_told(void)
{
    abort();
}

void runtime_say(const char *format, ...)
{
    (void)format;
    abort();
}

/* --- What is called of native regions ----------------------------------------- */

int native_region_of(const void *ptr, drasync_region_t *region_out)
{
    struct extent_copy copy;
    const struct native_memory *memory;

    if (extent_find(&runtime.space, ptr, &copy) ||
        copy.owner == (void *)native.shared)
        return DRASYNC_ENOREGION;
    memory = copy.owner;
    *region_out = (drasync_region_t)(uintptr_t)atomic_load(&memory->address);
    return 0;
}

const struct proto_region *
native_held_through(const struct proto_region *region)
{
    return proto_held(region, native.rank) ? region : NULL;
}

void native_objects_mark(const struct proto_region *region, int mode)
{
    (void)region, (void)mode;
}

int native_objects_usable(const struct heap_context *context,
                          const struct native_header *header,
                          const struct proto_region *region, const void *ptr,
                          size_t *bytes_out)
{
    (void)context, (void)header;
    FUZZ_HOLDS((uintptr_t)ptr > region->address);
    *bytes_out = 64;
    return (uintptr_t)ptr % 128 ? DRASYNC_EINVAL : 0;
}

/* --- The node ------------------------------------------------------------------ */

/* The other rank, when it is waited for: it answers, with no end, or does not. */
static bool answers;
static uint64_t now_us;

static void other_rank(void)
{
    struct check_box *box = check_box_of(1);

    now_us += 1000000;
    if (!answers || atomic_load(&box->state) != CHECK_BOX_ASKED)
        return;
    memset(box->text, 'x', sizeof(box->text));
    atomic_store(&box->state, CHECK_BOX_ANSWERED);
}

/* A region of this node, that rank @rank holds for WRITE. */
static uint64_t make_region(int32_t rank)
{
    struct native_memory *memory;
    struct native_frames *frames;
    struct proto_region *region;
    struct native_tree tree;
    struct extent *extent;
    uint64_t address;

    FUZZ_HOLDS(!native_memory_new(0, 0, &memory));
    FUZZ_HOLDS(!native_extent_new(memory, 1, 1, &extent));
    address = (uint64_t)(uintptr_t)space_address(
        &runtime.space, atomic_load(&extent->first_page));
    atomic_store(&memory->address, address);
    native_memory_append(memory, extent);
    FUZZ_HOLDS(!native_frames_new(memory, &frames));
    FUZZ_HOLDS(!native_lock(address, &tree));
    struct proto_effects *effects = native_effects();
    FUZZ_HOLDS(!proto_create_root(&native.node, rank, address, memory, frames,
                                  &region, effects));
    memory->incarnation = region->incarnation;
    native_do(effects, NULL);
    native_unlock(&tree);
    check_event(CHECK_MADE, address, region->incarnation, DRASYNC_WRITE);
    node_word(address);
    node_word(address + 200);
    return address;
}

/* Rank @local waits, for @what of @address. */
static void make_wait(int local, int slot, uint32_t what, uint64_t address)
{
    struct waiting_slot *s = &facts->ranks[local].slots[slot];

    s->seen = (struct waiting_seen){.what = what,
                                    .rank = local ? OTHER : SELF,
                                    .mode = DRASYNC_READ,
                                    .address = address,
                                    .requests = 2};
    s->seen.request[0].what = s->seen.request[1].what = WAITING_REGION;
    s->seen.request[1].address = address;
    atomic_store(&s->taken, 1);
}

static void make_facts(void)
{
    void *v;

    FUZZ_HOLDS(!control_alloc_zero(
        &runtime.space, sizeof(*facts) + 2 * sizeof(facts->ranks[0]), &v));
    facts = v;
    FUZZ_HOLDS(
        !control_alloc_zero(&runtime.space, 2 * sizeof(*facts->mpi), &v));
    facts->mpi = v;
    facts->shape = facts_shape();
    atomic_store(&runtime.shared->anchors[RUNTIME_ANCHOR_DIAGNOSE],
                 (void *)facts);
}

static void start(void)
{
    static struct native_wait wait;
    uint64_t address[REGIONS];

    native_node_begin(SELF);
    node_waits = other_rank;
    node_now_us = &now_us;
    runtime.shared->locals = 2;
    runtime.shared->ranks[0].rank = SELF;
    runtime.shared->ranks[1].rank = OTHER;
    native_guard_start();
    make_facts();
    FUZZ_HOLDS(!check_boxes_new());
    check_ask_open();
    ask_start();
    for (int i = 0; i < REGIONS; i++)
        address[i] = make_region(i ? OTHER : SELF);
    native_node_release(OTHER, address[2], DRASYNC_WRITE);
    native_node_acquire(OTHER, address[2], DRASYNC_READ, &wait);
    native_node_acquire(SELF, address[1], DRASYNC_READ, &wait);
    make_wait(0, 0, WAITING_REGION, address[1]);
    make_wait(0, 1, WAITING_RUN, address[2]);
    make_wait(1, 0, WAITING_ANY, address[0]);
    make_wait(1, 1, WAITING_NEWER, address[2]);
    node_keep();
}

/* The checking thread runs as it likes. */
static uint64_t between(uint32_t kind, void *message, size_t bytes,
                        uint64_t bulk)
{
    (void)kind;
    if (bytes) {
        answers = ((const unsigned char *)message)[0] & 1;
        if (((const unsigned char *)message)[0] & 2)
            check_serve();
    }
    return bulk;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static bool started;

    if (!started)
        start();
    started = true;
    node_adapt = between;
    now_us = 0;
    node_input(data, bytes, RUNTIME_KIND_DIAGNOSE,
               RUNTIME_KIND_CHECK - RUNTIME_KIND_DIAGNOSE + 1);
    check_serve();
    node_restore();
    return 0;
}
