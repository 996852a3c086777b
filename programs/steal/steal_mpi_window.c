/*
 * Work stealing in a window that the ranks of a host share: each has a pool
 * there with a lock, from which others take half when they have nothing to do.
 *
 * Atomic operations are sequentially consistent.  The one that takes a pool's
 * lock pairs with the one that gave it back, and so sees its tasks; those on
 * the number of idle ranks and of tasks have one order for all, in which a rank
 * is busy before it takes tasks.
 */
#include "steal_mpi_window.h"

#include <mpi.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Between looks at the own pool. */
#define NODES_BETWEEN 64

/* With fewer tasks a rank keeps them; a pool has room for so many. */
#define TASKS_MIN 64
#define TASKS_MAX 65536

struct pool {
    atomic_int locked;
    atomic_int idle;     /* in the first pool: ranks that have nothing to do */
    atomic_size_t count; /* changes under the lock, is looked at without it */
    struct task tasks[TASKS_MAX];
};

struct window {
    struct program *program;
    MPI_Comm host;
    MPI_Win window;
    struct pool **pools; /* of each rank */
    struct pool *mine;
    atomic_int *idle;
};

struct window *window_open(struct program *program)
{
    struct window *w = report_malloc(sizeof(*w));
    int ranks;

    *w = (struct window){.program = program};
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, program->rank,
                        MPI_INFO_NULL, &w->host);
    MPI_Comm_size(w->host, &ranks);
    /* All ranks come to the same result: only one host can have them all. */
    if (ranks < program->ranks) {
        MPI_Comm_free(&w->host);
        free(w);
        return NULL;
    }
    MPI_Win_allocate_shared(sizeof(struct pool), 1, MPI_INFO_NULL, w->host,
                            &w->mine, &w->window);
    w->pools = report_malloc((size_t)ranks * sizeof(*w->pools));
    for (int rank = 0; rank < ranks; rank++) {
        MPI_Aint bytes;
        int unit;

        MPI_Win_shared_query(w->window, rank, &bytes, &unit, &w->pools[rank]);
    }
    w->idle = &w->pools[0]->idle;
    atomic_init(&w->mine->locked, 0);
    atomic_init(&w->mine->count, 0);
    return w;
}

void window_close(struct window *w)
{
    MPI_Win_free(&w->window);
    MPI_Comm_free(&w->host);
    free(w->pools);
    free(w);
}

void window_prepare(void *context)
{
    struct window *w = context;

    atomic_init(&w->mine->idle, 0);
}

static void lock(struct pool *pool)
{
    while (atomic_exchange(&pool->locked, 1))
        sched_yield();
}

static void unlock(struct pool *pool)
{
    atomic_store(&pool->locked, 0);
}

/* Half of this rank's tasks go into its empty pool. */
static void share(struct window *w)
{
    struct stack *stack = &w->program->stack;
    size_t half = stack_count(stack) / 2;

    if (half > TASKS_MAX)
        half = TASKS_MAX;
    lock(w->mine);
    memcpy(w->mine->tasks, stack_take_oldest(stack, half),
           half * sizeof(struct task));
    atomic_store(&w->mine->count, half);
    unlock(w->mine);
}

/* Take half of a pool; returns whether there was something. */
static int take(struct window *w, struct pool *pool)
{
    size_t count, half;

    lock(pool);
    count = atomic_load(&pool->count);
    half = (count + 1) / 2;
    if (half > 0)
        memcpy(stack_add(&w->program->stack, half), pool->tasks + count - half,
               half * sizeof(struct task));
    atomic_store(&pool->count, count - half);
    unlock(pool);
    return half > 0;
}

/* Look for tasks until there are some, or nobody has any. */
static int steal(struct window *w)
{
    atomic_fetch_add(w->idle, 1);
    while (atomic_load(w->idle) < w->program->ranks) {
        struct pool *pool = w->pools[program_victim(w->program)];

        if (atomic_load(&pool->count) == 0) {
            sched_yield();
            continue;
        }
        atomic_fetch_sub(w->idle, 1);
        if (take(w, pool))
            return 1;
        atomic_fetch_add(w->idle, 1);
    }
    return 0;
}

void window_search(void *context)
{
    struct window *w = context;
    struct program *program = w->program;

    do {
        while (stack_count(&program->stack) > 0) {
            if (stack_count(&program->stack) >= TASKS_MIN &&
                atomic_load(&w->mine->count) == 0)
                share(w);
            tree_visit(&program->tree, &program->stack, NODES_BETWEEN,
                       &program->found);
        }
    } while (take(w, w->mine) || steal(w));
}
