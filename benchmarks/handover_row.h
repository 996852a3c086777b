/*
 * handover_row.h - the two rows about the right to write that goes from rank to
 * rank, 2 ranks on a node, each on a core of its own; they differ in the size of
 * what is written.
 *
 * ours    drasync_acquire() for WRITE of a region with one object, change words
 *         of it, drasync_release(); the other rank is waiting
 * theirs  the object in a window of MPI_Win_allocate_shared(), and the right to
 *         write it by a message of 1 byte (token), under a ticket lock (ticket)
 *         and an MCS lock (mcs) of C11 atomics in that window; or the object by
 *         MPI_Send() and MPI_Recv(), between buffers that are reused (send)
 *
 * All have touched all of their memory before.  Timed: handovers one after the
 * other; the time of one way.
 */
#ifndef BENCHMARKS_HANDOVER_ROW_H
#define BENCHMARKS_HANDOVER_ROW_H

#include "benchmarks/handover.h"
#include "benchmarks/shared_window.h"

enum { HANDOVER_TOKEN, HANDOVER_TICKET, HANDOVER_MCS, HANDOVER_SEND };

static const char *const handover_rivals[] = {"token", "ticket", "mcs", "send"};

struct handover_row {
    struct bench bench;
    /* Words of the object are changed, at @stride words from each other. */
    size_t bytes, words, stride;
    uint64_t count, count_send; /* handovers that are timed; by MPI_Send() */
    double unit_ns;             /* that the time is told in */
    /* Filled in here. */
    drasync_region_t region;
    struct shared_window window;
    struct handed *handed; /* in the region or the window */
    uint64_t *word;        /* what is sent */
};

/* The right to write by a byte.  The fences order the object's accesses, which
 * MPI does not know of; each pairs with that at the other rank. */
static inline void handover_token(struct handover_row *row)
{
    volatile uint64_t *word = &row->handed->turn;
    char token = 0;

    for (uint64_t turn = 0; turn < row->count; turn++)
        if (turn % 2 == (uint64_t)row->bench.rank) {
            for (size_t i = 0; i < row->words; i++)
                word[i * row->stride]++;
            atomic_thread_fence(memory_order_release);
            MPI_Send(&token, 1, MPI_BYTE, 1 - row->bench.rank, 0,
                     MPI_COMM_WORLD);
        } else {
            MPI_Recv(&token, 1, MPI_BYTE, 1 - row->bench.rank, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            atomic_thread_fence(memory_order_acquire);
        }
}

static inline void handover_take(const struct handover_row *row)
{
    if (row->bench.side == BENCH_OURS)
        bench_check(drasync_acquire(row->region, DRASYNC_WRITE), "acquire");
    else if (row->bench.rival == HANDOVER_TICKET)
        shared_ticket_lock(&row->window);
    else
        shared_mcs_lock(&row->window);
}

static inline void handover_give(const struct handover_row *row)
{
    if (row->bench.side == BENCH_OURS)
        bench_check(drasync_release(row->region), "release");
    else if (row->bench.rival == HANDOVER_TICKET)
        shared_ticket_unlock(&row->window);
    else
        shared_mcs_unlock(&row->window);
}

/*
 * Under a region's hold or a lock: take it, and if it is this rank's turn write
 * and pass the turn, give it back.  Requests queue in order of arrival, so a rank
 * that asks again gets it after the other one.
 */
static inline void handover_turns(struct handover_row *row)
{
    volatile uint64_t *word = &row->handed->turn;
    uint64_t turn;

    do {
        handover_take(row);
        turn = row->handed->turn;
        if (turn < row->count && turn % 2 == (uint64_t)row->bench.rank) {
            for (size_t i = 1; i < row->words; i++)
                word[i * row->stride]++;
            row->handed->turn = ++turn;
        }
        handover_give(row);
    } while (turn < row->count);
}

/* The object itself, @count_send times. */
static inline void handover_send(struct handover_row *row)
{
    const int other = 1 - row->bench.rank;

    for (uint64_t turn = 0; turn < row->count_send; turn++)
        if (turn % 2 == (uint64_t)row->bench.rank) {
            for (size_t i = 0; i < row->words; i++)
                row->word[i * row->stride]++;
            MPI_Send(row->word, (int)row->bytes, MPI_BYTE, other, 0,
                     MPI_COMM_WORLD);
        } else {
            MPI_Recv(row->word, (int)row->bytes, MPI_BYTE, other, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            bench_keep(row->word);
        }
}

/* The time of one way. */
static inline double handover_time(struct handover_row *row,
                                   void (*hand)(struct handover_row *),
                                   uint64_t count)
{
    double begin;

    MPI_Barrier(MPI_COMM_WORLD);
    begin = bench_now_ns();
    hand(row);
    MPI_Barrier(MPI_COMM_WORLD);
    return (bench_now_ns() - begin) / row->unit_ns / (double)count;
}

/* From turn 0 on. */
static inline double handover_by_turns(struct handover_row *row)
{
    if (row->bench.rank == 0) {
        handover_take(row);
        row->handed->turn = 0;
        handover_give(row);
    }
    return handover_time(row, handover_turns, row->count);
}

static double handover_row_ours(void *arg)
{
    return handover_by_turns(arg);
}

static double handover_row_theirs(void *arg)
{
    struct handover_row *row = arg;

    switch (row->bench.rival) {
    case HANDOVER_TOKEN:
        return handover_time(row, handover_token, row->count);
    case HANDOVER_SEND:
        return handover_time(row, handover_send, row->count_send);
    default:
        return handover_by_turns(row);
    }
}

static inline int handover_row_main(struct handover_row *row)
{
    struct bench *b = &row->bench;
    bool window = b->rival != HANDOVER_SEND;

    if (b->side == BENCH_OURS) {
        row->handed = handover_region(b->rank, row->bytes, &row->region);
    } else if (window) {
        shared_window_make(&row->window, b, MPI_COMM_WORLD, row->bytes);
        row->handed = row->window.data;
    } else {
        row->word = bench_buffer(row->bytes);
    }
    bench_compare(b, handover_row_ours, handover_row_theirs, row);
    if (bench_only_theirs(b) && window)
        shared_window_end(&row->window);
    return bench_finish(b);
}

#endif
