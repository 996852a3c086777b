/*
 * modules.h - what is built on the runtime hangs itself in the table in
 * modules.c, which start.c and stop.c walk through.
 */
#ifndef DRASYNC_RUNTIME_MODULES_H
#define DRASYNC_RUNTIME_MODULES_H

/*
 * Each step may be NULL.  Start steps run in order of the table, ends in
 * reverse.  A start step that fails on one rank fails the start on all.
 */
struct runtime_module {
    const char *name;
    /* On the leader, before any other rank of the node looks: make what is
     * shared and put it into runtime.shared->anchors[]. */
    int (*start_leader)(void);
    /* On every rank, after that, before the job goes on; registers handlers.
     * No messages yet. */
    int (*start)(void);
    /* On every rank in finalize, while messages still flow: give up what the
     * rank holds and wait for what it has under way. */
    void (*quiesce)(void);
    /* On a thread that ends and was watched (thread.h), whatever the state,
     * more than once if it comes back: give back what is kept for it. */
    void (*thread_ends)(void);
    /* 1 if this node has nothing of the module under way: asked on the leader
     * during shutdown, when all its ranks have quiesced. */
    int (*idle)(void);
    /* On one rank that lives, with the death_lock of shared.h: rank @rank of this
     * node has died, and the others go on (survive.h).  Give back, or mark as
     * lost, what it has and waits for. */
    void (*rank_died)(int rank);
    /* This process exits without MPI_Finalize: wait for nobody, and let nobody
     * count on this rank's memory. */
    void (*leave)(void);
    /* On every rank when all is over; no messages any more. */
    void (*stop)(void);
};

/* Each is defined in its folder. */
extern const struct runtime_module check_module, chunks_module, names_module,
    native_module, replica_module, rma_module, queue_lock_module, record_module,
    managed_module, diagnose_module, save_module;

/* In the order in which they start; NULL at the end. */
extern const struct runtime_module *const runtime_modules[];

#endif /* DRASYNC_RUNTIME_MODULES_H */
