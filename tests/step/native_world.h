/*
 * native_world.h - one node with one region, and ranks as processes, for code of
 * runtime/native/: its steps run the real protocol; what maps, copies and ships
 * data is left out.
 */
#ifndef TESTS_STEP_NATIVE_WORLD_H
#define TESTS_STEP_NATIVE_WORLD_H

#include "drasync.h"
#include "step.h"

#define WORLD_RANKS 3

/* The region; its data is whatever the test takes for it, or the number that
 * the calling rank sees there. */
extern drasync_region_t world_region;
int *world_data(void);

/* For step_private(): what is the process's. */
void world_private(void);

/* For begin(), and enter(): a region that nobody holds, and rank @process. */
void world_begin(void);
void world_enter(int process);

/* At the head of a thread. */
void world_thread(void);

/* As the public calls do it. */
int world_acquire(enum drasync_mode mode, uint64_t timeout_us);
int world_release(void);

/* All threads have come here; then nobody holds the region, whatever its leases
 * say. */
void world_leave(int threads);

#endif /* TESTS_STEP_NATIVE_WORLD_H */
