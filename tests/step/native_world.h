/*
 * native_world.h - one node with a tree of regions, and ranks as processes, for
 * code of runtime/native/: its steps run the real protocol; what maps, copies and
 * ships pages is left out (native_shown.c).
 */
#ifndef TESTS_STEP_NATIVE_WORLD_H
#define TESTS_STEP_NATIVE_WORLD_H

#include "drasync.h"
#include "step.h"

#define WORLD_RANKS   3
#define WORLD_REGIONS 6

struct native_frames;

/* For step_private(): what is the process's. */
void world_private(void);

/* For begin(): @count regions that nobody holds; region 0 is the root, and
 * parent[i], less than i, has region i below it.  And: the root alone. */
void world_begin_tree(const int *parent, int count);
void world_begin(void);

/* For enter(): rank @process. */
void world_enter(int process);

/* At the head of a thread. */
void world_thread(void);

drasync_region_t world_handle(int region);
int world_number(uint64_t address);

/* A region's data is whatever the test takes for it, or the number that the
 * calling rank sees there. */
int *world_data_of(int region);

/* As the public calls do it. */
int world_take(int region, enum drasync_mode mode, uint64_t timeout_us);
int world_give(int region);

/* The same three, of the root. */
int *world_data(void);
int world_acquire(enum drasync_mode mode, uint64_t timeout_us);
int world_release(void);

/* Other nodes want what has a lease: what native_keep_defer() says in its
 * word. */
void world_wanted(void);

/* All threads have come here; then nobody holds any region, whatever its leases
 * say. */
void world_leave(int threads);

/* --- Between the files of the world --------------------------------------- */

/* For begin(): the first copy of @region, all zero. */
struct native_frames *world_frames(int region);

void world_begin_shown(void);
void world_private_shown(void);
void world_private_taken(void);

#endif /* TESTS_STEP_NATIVE_WORLD_H */
