/*
 * look.h - what this node knows of native regions, for those who only look on:
 * reports of what is stuck, and drasync-ps, which is another process and cannot
 * write.
 *
 * No lock is taken and nothing changes, so that what hangs can be looked at: who
 * looks may see what was true a moment ago, or of several moments.  What stands
 * still is seen as it is.
 *
 * Callers guarantee that runtime.shared and runtime.space describe a node's
 * memory, which is mapped.
 */
#ifndef DRASYNC_RUNTIME_NATIVE_LOOK_H
#define DRASYNC_RUNTIME_NATIVE_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A hint: the region's home may know, native_look_home(). */
#define NATIVE_LOOK_ANY UINT32_MAX

struct native_look {
    uint64_t address, parent, root; /* parent 0: a root */
    uint64_t
        version; /* the newest that this node knows, or one that is written */
    uint64_t pages, extents;
    uint32_t hint;      /* the node that has the token, as far as known; */
    bool owned;         /* it is this one */
    int32_t write_rank; /* -1: nobody holds it for WRITE here */
    bool lease;         /* by a lease (lease.h): nobody noted since when */
    uint32_t reads;     /* READ holds of it and what is below it here */
    uint32_t waiting;   /* requests that wait in its subtree here */
};

/* Another number in a build whose records have other sizes. */
uint64_t native_look_shape(void);

/* False: this node knows no such region. */
bool native_look(uint64_t address, struct native_look *out);

/* Call @visit for every region that this node knows. */
void native_look_each(void (*visit)(const struct native_look *look, void *arg),
                      void *arg);

/* The rank of the @i-th READ hold of the region itself here; -1: no more. */
int32_t native_look_reader(uint64_t address, uint32_t i);

/* A request that waits. */
struct native_look_wait {
    bool here;     /* at `at`, whose token this node has; else */
    uint32_t hint; /* this node may have it */
    uint64_t at;  /* the region, of the subtree asked for; 0: none, it waits for
                      something else */
    int32_t rank; /* -1: a rank of `node`, another one */
    uint32_t node, mode;
};

/* Of what was given to rank number @local of this node and is not taken, the first:
 * by whom, with which tag.  False: nothing is.  Of this job's own processes only
 * (give_inbox.c). */
bool native_gift_left(int local, int32_t *from_out, int32_t *tag_out);

/* What @rank, of this node, waits for that it asked for as @address; false: it
 * does not. */
bool native_look_asking(uint64_t address, int32_t rank,
                        struct native_look_wait *out);

/* The first @max that wait at @address here; how many they are. */
size_t native_look_queue(uint64_t address, struct native_look_wait *out,
                         size_t max);

/* Whose doing it is that a request has to wait. */
struct native_look_blocker {
    int32_t rank;
    uint64_t region; /* which that rank holds for WRITE, or */
    bool asks;       /* asked for, and has got further with, */
    uint32_t mode;   /* for READ or WRITE */
    bool lease;      /* see above */
};

/* Has @rank, of this node, had something run by drasync_run() or its like that is
 * not done?  In a running process only. */
bool native_look_runs(int32_t rank);

/* Who keeps @rank (-1: one of another node) from @at, whose token is here; false:
 * nobody, now. */
bool native_look_blocker(uint64_t at, int32_t rank,
                         struct native_look_blocker *out);

/* The node to ask about a region of which there is no hint; negative: none.  Not
 * for drasync-ps. */
int native_look_home(uint64_t address);

#endif /* DRASYNC_RUNTIME_NATIVE_LOOK_H */
