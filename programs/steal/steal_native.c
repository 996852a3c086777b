/*
 * Work stealing on DRASync: each rank has a region with a pool of tasks, where
 * it puts what it has too much of, and where others take half when they have
 * nothing to do.  A region that all share counts who has nothing.
 */
#include <drasync.h>
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

/* Tasks go to and from pools by so many. */
#define CHUNK_TASKS 64

struct chunk {
    struct chunk *next;
    struct task tasks[CHUNK_TASKS];
};

struct pool {
    size_t chunks;
    struct chunk *full;
    struct chunk *empty; /* to be used again */
};

/* A region and what is in it. */
struct shared_pool {
    region region;
    struct pool *pool;
};

struct shared_count {
    region region;
    int *idle;
};

struct worker {
    struct program program;
    struct shared_pool *pools; /* of each rank */
    struct shared_count idle;  /* ranks that have nothing to do */
};

/* --- Pools --------------------------------------------------------------- */

/* What this rank has beyond a chunk goes into its pool. */
static void share(struct worker *w)
{
    struct shared_pool *mine = &w->pools[w->program.rank];
    struct stack *stack = &w->program.stack;
    struct pool *pool = mine->pool;

    acquire_region(mine->region, WRITE);
    while (stack_count(stack) >= 2 * CHUNK_TASKS) {
        struct chunk *chunk = pool->empty;

        if (chunk)
            pool->empty = chunk->next;
        else
            chunk = ralloc(mine->region, sizeof(*chunk));
        memcpy(chunk->tasks, stack_take_oldest(stack, CHUNK_TASKS),
               sizeof(chunk->tasks));
        chunk->next = pool->full;
        pool->full = chunk;
        pool->chunks++;
    }
    release_region(mine->region);
}

/* Take half of what is in a rank's pool; returns whether there was any. */
static int take(struct worker *w, int rank)
{
    struct shared_pool *from = &w->pools[rank];
    struct stack *stack = &w->program.stack;
    struct pool *pool = from->pool;

    acquire_region(from->region, WRITE);
    for (size_t left = (pool->chunks + 1) / 2; left > 0; left--) {
        struct chunk *chunk = pool->full;

        memcpy(stack_add(stack, CHUNK_TASKS), chunk->tasks,
               sizeof(chunk->tasks));
        pool->full = chunk->next;
        chunk->next = pool->empty;
        pool->empty = chunk;
        pool->chunks--;
    }
    release_region(from->region);
    return stack_count(stack) > 0;
}

static size_t chunks_of(struct worker *w, int rank)
{
    size_t chunks;

    acquire_region(w->pools[rank].region, READ);
    chunks = w->pools[rank].pool->chunks;
    release_region(w->pools[rank].region);
    return chunks;
}

/* --- Who has nothing to do ----------------------------------------------- */

static void count_idle(struct worker *w, int change)
{
    acquire_region(w->idle.region, WRITE);
    *w->idle.idle += change;
    release_region(w->idle.region);
}

static int all_idle(struct worker *w)
{
    int idle;

    acquire_region(w->idle.region, READ);
    idle = *w->idle.idle;
    release_region(w->idle.region);
    return idle == w->program.ranks;
}

/*
 * Look for work until there is some, which returns 1, or none anywhere.  A rank
 * is counted as busy before it takes anything, so when all are idle, all pools
 * are empty.
 */
static int steal(struct worker *w)
{
    int victim, found;

    count_idle(w, 1);
    while (!all_idle(w)) {
        victim = program_victim(&w->program);
        if (chunks_of(w, victim) == 0) {
            sched_yield();
            continue;
        }
        count_idle(w, -1);
        found = take(w, victim);
        if (found)
            return 1;
        count_idle(w, 1);
    }
    return 0;
}

static void search(void *context)
{
    struct worker *w = context;
    struct program *program = &w->program;

    do {
        while (stack_count(&program->stack) > 0) {
            if (stack_count(&program->stack) >= 2 * CHUNK_TASKS)
                share(w);
            tree_visit(&program->tree, &program->stack, CHUNK_TASKS,
                       &program->found);
        }
    } while (take(w, program->rank) || steal(w));
}

/* --- The whole ----------------------------------------------------------- */

static void open_regions(struct worker *w)
{
    struct shared_pool mine;

    mine.region = new_region();
    mine.pool = ralloc(mine.region, sizeof(*mine.pool));
    memset(mine.pool, 0, sizeof(*mine.pool));
    release_region(mine.region);
    w->pools = report_malloc((size_t)w->program.ranks * sizeof(*w->pools));
    MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, w->pools, sizeof(mine),
                  MPI_BYTE, MPI_COMM_WORLD);
    if (w->program.rank == 0) {
        w->idle.region = new_region();
        w->idle.idle = ralloc(w->idle.region, sizeof(*w->idle.idle));
        *w->idle.idle = 0;
        release_region(w->idle.region);
    }
    MPI_Bcast(&w->idle, sizeof(w->idle), MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void prepare(void *context)
{
    struct worker *w = context;

    if (w->program.rank == 0) {
        acquire_region(w->idle.region, WRITE);
        *w->idle.idle = 0;
        release_region(w->idle.region);
    }
}

int main(int argc, char **argv)
{
    struct worker w = {0};
    int status;

    status = program_start(&w.program, "steal_native", &argc, &argv);
    if (status >= 0)
        return status;
    open_regions(&w);
    status = program_run(&w.program, prepare, search, &w);
    MPI_Barrier(MPI_COMM_WORLD);
    delete_region(w.pools[w.program.rank].region);
    if (w.program.rank == 0)
        delete_region(w.idle.region);
    free(w.pools);
    MPI_Finalize();
    return status;
}
