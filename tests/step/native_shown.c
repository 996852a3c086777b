/*
 * native_shown.c - frames, and what processes show of them, for native_world.h:
 * a number in place of pages, a pointer in place of a page table.  What is
 * current is decided as runtime/native/map.c does.
 */
#include "native_world.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "memory/frames.h"
#include "runtime/native/frames.h"
#include "runtime/native/map.h"
#include "runtime/native/state.h"
#include "runtime/process.h"

/* A copy of region number `region`. */
struct frames {
    int data, region;
};

/* What this process shows: seen by all its threads at once.  At first the frames
 * that regions were made with. */
static struct frames *shown[WORLD_REGIONS];
static struct step_mutex map_mutex;
static _Atomic uint64_t disturbance;

/* A subtree whose newest copies are all shown, by the stamp of its tree. */
static _Thread_local struct {
    uint64_t incarnation, layout, disturbance;
} current[WORLD_REGIONS];

void world_private_shown(void)
{
    step_private(shown, sizeof(shown));
    step_private(&map_mutex, sizeof(map_mutex));
    step_private(&disturbance, sizeof(disturbance));
}

/* It changes under the map lock or a tree's, which are choices. */
void world_begin_shown(void)
{
    step_quiet(&disturbance, sizeof(disturbance));
}

__attribute__((no_sanitize("thread"))) int *world_data_of(int region)
{
    return &shown[region]->data;
}

__attribute__((no_sanitize("thread"))) static struct frames **
shown_of(const struct frames *frames)
{
    return &shown[frames->region];
}

/* --- Frames --------------------------------------------------------------- */

static struct frames *frames_new(void)
{
    return step_alloc(sizeof(struct frames));
}

struct native_frames *world_frames(int region)
{
    struct frames *frames = frames_new();

    frames->region = region;
    shown[region] = frames;
    return (struct native_frames *)(void *)frames;
}

/* What it is of is not known before the copy. */
int native_frames_plan(const struct native_memory *memory,
                       struct native_plan *plan_out)
{
    (void)memory;
    *plan_out = (struct native_plan){0};
    return 0;
}

int native_frames_make(struct native_plan *plan,
                       struct native_frames **frames_out)
{
    (void)plan;
    *frames_out = (struct native_frames *)(void *)frames_new();
    return 0;
}

void native_plan_free(struct native_plan *plan)
{
    (void)plan;
}

/* How much of them matters is not part of the model. */
void native_frames_fix(struct native_frames *frames)
{
    (void)frames;
}

int native_frames_copy(struct native_frames *to,
                       const struct native_frames *from)
{
    struct frames *copy = (void *)to;

    *copy = *(const struct frames *)(const void *)from;
    return 0;
}

/* Who still looks there is at fault. */
void native_frames_free(struct native_frames *frames)
{
    step_free(frames, sizeof(struct frames));
}

/* --- Views ---------------------------------------------------------------- */

static bool is_current(uint64_t address, uint64_t incarnation, uint64_t layout)
{
    int i = world_number(address);

    return current[i].incarnation == incarnation &&
           current[i].layout == layout &&
           current[i].disturbance == atomic_load(&disturbance);
}

bool native_mapping_current(const struct proto_region *region)
{
    return is_current(region->address, region->incarnation,
                      region->root->layout);
}

bool native_mapping_granted(uint64_t address, const struct native_wait *wait)
{
    return is_current(address, wait->incarnation, wait->layout);
}

void native_mapping_remember(const struct proto_region *region)
{
    int i = world_number(region->address);

    current[i].incarnation = region->incarnation;
    current[i].layout = region->root->layout;
    current[i].disturbance = atomic_load(&disturbance);
}

void native_mapping_disturbed(void)
{
    atomic_fetch_add(&disturbance, 1);
}

void native_map_lock(void)
{
    step_lock(&map_mutex);
}

void native_map_unlock(void)
{
    step_unlock(&map_mutex);
}

void native_mapping_add(struct native_mapping *view, uint64_t address,
                        struct native_frames *frames)
{
    (void)address;
    if (*shown_of((struct frames *)(void *)frames) == (void *)frames)
        return;
    if (!view->frames)
        view->frames = calloc(WORLD_REGIONS, sizeof(*view->frames));
    view->frames[view->count++] = frames;
}

int native_mapping_show(struct native_mapping *view)
{
    for (size_t i = 0; i < view->count; i++) {
        struct frames *frames = (void *)view->frames[i];

        *shown_of(frames) = frames;
    }
    free(view->frames);
    *view = (struct native_mapping){0};
    return 0;
}

/* No adapters. */
void frames_catch_up(const struct space *space)
{
    (void)space;
}
