/*
 * pieces.h - long messages as MPI moves them best between hosts: in pieces, some
 * of them under way at once.
 */
#ifndef BENCHMARKS_PIECES_H
#define BENCHMARKS_PIECES_H

#include <mpi.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

#define PIECE_BYTES     ((size_t)512 << 10)
#define PIECES_UNDERWAY 4

static inline int piece_bytes(size_t at, size_t bytes)
{
    return (int)(bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES);
}

/* Wait for a piece; those who have no core of their own give it to others
 * between two looks. */
static inline void piece_wait(MPI_Request *piece, bool yields)
{
    int done = 0;

    if (!yields) {
        MPI_Wait(piece, MPI_STATUS_IGNORE);
        return;
    }
    for (;;) {
        MPI_Test(piece, &done, MPI_STATUS_IGNORE);
        if (done)
            return;
        sched_yield();
    }
}

static inline void pieces_send(const void *data, size_t bytes, int to,
                               MPI_Comm comm)
{
    MPI_Request piece[PIECES_UNDERWAY];
    int slot = 0;

    for (int i = 0; i < PIECES_UNDERWAY; i++)
        piece[i] = MPI_REQUEST_NULL;
    for (size_t at = 0; at < bytes; at += PIECE_BYTES) {
        MPI_Wait(&piece[slot], MPI_STATUS_IGNORE);
        MPI_Isend((const char *)data + at, piece_bytes(at, bytes), MPI_BYTE, to,
                  0, comm, &piece[slot]);
        slot = (slot + 1) % PIECES_UNDERWAY;
    }
    for (int i = 0; i < PIECES_UNDERWAY; i++)
        MPI_Wait(&piece[i], MPI_STATUS_IGNORE);
}

/* @arrived, if not NULL, is called as pieces come, with the bytes that have. */
typedef void pieces_fn(void *arg, size_t bytes);

static inline void pieces_receive(void *data, size_t bytes, int from,
                                  MPI_Comm comm, bool yields,
                                  pieces_fn *arrived, void *arg)
{
    MPI_Request piece[PIECES_UNDERWAY];
    size_t next = 0;
    int slot = 0;

    for (int i = 0; i < PIECES_UNDERWAY; i++)
        piece[i] = MPI_REQUEST_NULL;
    for (size_t at = 0; at < bytes; at += PIECE_BYTES) {
        for (; next < bytes && next < at + PIECES_UNDERWAY * PIECE_BYTES;
             next += PIECE_BYTES)
            MPI_Irecv((char *)data + next, piece_bytes(next, bytes), MPI_BYTE,
                      from, 0, comm,
                      &piece[next / PIECE_BYTES % PIECES_UNDERWAY]);
        piece_wait(&piece[slot], yields);
        slot = (slot + 1) % PIECES_UNDERWAY;
        if (arrived)
            arrived(arg, at + (size_t)piece_bytes(at, bytes));
    }
}

#endif
