/*
 * shared_window.h - what a good MPI programmer has on a node instead of a
 * region: memory of MPI_Win_allocate_shared(), and in it a ticket lock and an MCS
 * lock of C11 atomics.  The offsets are the same on all ranks, the addresses are
 * not.
 *
 * Whoever waits looks again and again; if there are more ranks than cores it
 * yields its core between two looks, which is to its advantage.
 */
#ifndef BENCHMARKS_SHARED_WINDOW_H
#define BENCHMARKS_SHARED_WINDOW_H

#include <mpi.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "benchmarks/common.h"

#define SHARED_RANKS_MAX  64
#define SHARED_LINE_BYTES 64
#define SHARED_DATA_AT    8192 /* in the window: whole pages */

enum shared_lock { SHARED_TICKET, SHARED_MCS };

/* A rank's place in the MCS lock's queue. */
struct shared_place {
    _Alignas(SHARED_LINE_BYTES) _Atomic int next; /* rank; -1: none */
    atomic_bool blocked;
};

/* At the head of the window. */
struct shared_words {
    _Alignas(SHARED_LINE_BYTES) _Atomic uint32_t ticket;
    _Atomic uint32_t serving;
    _Alignas(SHARED_LINE_BYTES) _Atomic int tail; /* rank; -1: none */
    struct shared_place place[SHARED_RANKS_MAX];
};

_Static_assert(sizeof(struct shared_words) <= SHARED_DATA_AT, "they overlap");

struct shared_window {
    MPI_Win win;
    struct shared_words *words;
    void *data;
    int me;
    bool yields;
};

/*
 * Collective over @host, ranks of a node: @bytes of data, all 0, which every
 * rank has touched.
 */
static inline void shared_window_make(struct shared_window *w,
                                      const struct bench *b, MPI_Comm host,
                                      size_t bytes)
{
    MPI_Aint size;
    char *base;
    int ranks, unit;

    MPI_Comm_rank(host, &w->me);
    MPI_Comm_size(host, &ranks);
    bench_require(ranks <= SHARED_RANKS_MAX, "ranks in a window");
    w->yields = b->ranks > b->cores;
    MPI_Win_allocate_shared(w->me ? 0 : (MPI_Aint)(SHARED_DATA_AT + bytes), 1,
                            MPI_INFO_NULL, host, (void *)&base, &w->win);
    MPI_Win_shared_query(w->win, 0, &size, &unit, (void *)&base);
    w->words = (void *)base;
    w->data = base + SHARED_DATA_AT;
    if (w->me == 0) {
        memset(base, 0, SHARED_DATA_AT + bytes);
        w->words->tail = -1;
    }
    MPI_Barrier(host);
    for (size_t i = 0; i < bytes; i += 4096)
        bench_keep((char *)w->data + (*(volatile char *)(base + i) & 1));
    MPI_Barrier(host);
}

static inline void shared_window_end(struct shared_window *w)
{
    MPI_Win_free(&w->win);
}

static inline void shared_pause(const struct shared_window *w)
{
    if (w->yields)
        sched_yield();
}

/* The acquire pairs with the release in shared_ticket_unlock(). */
static inline void shared_ticket_lock(const struct shared_window *w)
{
    struct shared_words *s = w->words;
    uint32_t mine =
        atomic_fetch_add_explicit(&s->ticket, 1, memory_order_relaxed);

    while (atomic_load_explicit(&s->serving, memory_order_acquire) != mine)
        shared_pause(w);
}

static inline void shared_ticket_unlock(const struct shared_window *w)
{
    struct shared_words *s = w->words;
    uint32_t mine = atomic_load_explicit(&s->serving, memory_order_relaxed);

    atomic_store_explicit(&s->serving, mine + 1, memory_order_release);
}

/*
 * The exchange's release shows this place to the next in the queue, its acquire
 * pairs with the compare-and-swap of whoever left the lock free; the loads of
 * blocked with the store that ends shared_mcs_unlock().
 */
static inline void shared_mcs_lock(const struct shared_window *w)
{
    struct shared_place *place = w->words->place;
    struct shared_place *mine = &place[w->me];
    int before;

    atomic_store_explicit(&mine->next, -1, memory_order_relaxed);
    atomic_store_explicit(&mine->blocked, true, memory_order_relaxed);
    before =
        atomic_exchange_explicit(&w->words->tail, w->me, memory_order_acq_rel);
    if (before < 0)
        return;
    atomic_store_explicit(&place[before].next, w->me, memory_order_release);
    while (atomic_load_explicit(&mine->blocked, memory_order_acquire))
        shared_pause(w);
}

static inline void shared_mcs_unlock(const struct shared_window *w)
{
    struct shared_place *place = w->words->place;
    struct shared_place *mine = &place[w->me];
    int next = atomic_load_explicit(&mine->next, memory_order_acquire);
    int last = w->me;

    if (next < 0 && atomic_compare_exchange_strong_explicit(
                        &w->words->tail, &last, -1, memory_order_release,
                        memory_order_relaxed))
        return;
    /* Somebody is on the way into the queue. */
    while ((next = atomic_load_explicit(&mine->next, memory_order_acquire)) < 0)
        shared_pause(w);
    atomic_store_explicit(&place[next].blocked, false, memory_order_release);
}

static inline void shared_lock(const struct shared_window *w,
                               enum shared_lock which)
{
    if (which == SHARED_TICKET)
        shared_ticket_lock(w);
    else
        shared_mcs_lock(w);
}

static inline void shared_unlock(const struct shared_window *w,
                                 enum shared_lock which)
{
    if (which == SHARED_TICKET)
        shared_ticket_unlock(w);
    else
        shared_mcs_unlock(w);
}

#endif
