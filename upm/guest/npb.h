/*
 * npb.h - included into the NAS programs by scripts/upm-figures, with the calls
 * where the paper's Figs. 1 and 2 have them: see there.
 *
 * NPB_ENGINE is iterative, sampling, replay (iterative until that is off, then
 * one recorded iteration, then replays), or none.
 */
#ifndef UPM_GUEST_NPB_H
#define UPM_GUEST_NPB_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "upm/guest/mark.h"
#include "upmlib.h"

/* The paper: 100 pages each 300 ms for the shorter program. */
#define NPB_SAMPLE_MS 300

enum npb_engine { NPB_NONE, NPB_ITERATIVE, NPB_SAMPLING, NPB_REPLAY };
enum npb_phase { NPB_UNKNOWN, NPB_RECORDING, NPB_RECORDED };

static enum npb_engine npb_engine;
static enum npb_phase npb_phase;
static int npb_began;

static int npb_is_off(void)
{
    struct upmlib_stats stats;

    upmlib_get_stats(&stats);
    return stats.off;
}

/* In one thread, as all that follow. */
static void npb_iteration(void)
{
    if (npb_engine == NPB_ITERATIVE ||
        (npb_engine == NPB_REPLAY && !npb_is_off()))
        upmlib_migrate_memory();
    if (npb_phase == NPB_RECORDING)
        npb_phase = NPB_RECORDED;
    else if (npb_engine == NPB_REPLAY && npb_phase == NPB_UNKNOWN &&
             npb_is_off())
        npb_phase = NPB_RECORDING;
    mark_iteration();
}

static inline void npb_phase_begin(void)
{
    if (npb_phase == NPB_RECORDING)
        upmlib_record();
    else if (npb_phase == NPB_RECORDED)
        upmlib_replay();
}

static inline void npb_phase_end(void)
{
    if (npb_phase == NPB_RECORDING)
        upmlib_record();
    else if (npb_phase == NPB_RECORDED)
        upmlib_undo();
}

static void npb_end(void)
{
    npb_iteration();
    mark_end();
    upmlib_end();
}

static void npb_begin(void)
{
    const char *names[] = {"none", "iterative", "sampling", "replay"};
    const char *engine = getenv("NPB_ENGINE");

    for (int i = 0; engine && i < 4; i++) {
        if (!strcmp(engine, names[i]))
            npb_engine = (enum npb_engine)i;
    }
    if (upmlib_init() || mark_open()) {
        fprintf(stderr, "npb: no start: %s\n", upmlib_error());
        exit(1);
    }
    upmlib_set(UPMLIB_BATCH, npb_engine == NPB_SAMPLING ? 100 : 512);
    if (npb_engine == NPB_SAMPLING)
        upmlib_sample(NPB_SAMPLE_MS);
    npb_began = 1;
    atexit(npb_end);
}

static void npb_hot(const void *start, size_t bytes)
{
    if (upmlib_memrefcnt(start, bytes))
        fprintf(stderr, "npb: %s\n", upmlib_error());
    mark_window(start, bytes);
}

#define NPB_HOT(array) npb_hot(array, sizeof(array))

/* Inside a parallel region: one thread does it, the others wait. */
#define NPB_ALONE(what)                              \
    do {                                             \
        _Pragma("omp barrier") _Pragma("omp master") \
        {                                            \
            what;                                    \
        }                                            \
        _Pragma("omp barrier")                       \
    } while (0)

#define NPB_STEP(step)                  \
    do {                                \
        if ((step) > 1)                 \
            NPB_ALONE(npb_iteration()); \
    } while (0)

#define NPB_PHASE_BEGIN() NPB_ALONE(npb_phase_begin())
#define NPB_PHASE_END()   NPB_ALONE(npb_phase_end())

#endif /* UPM_GUEST_NPB_H */
