/* rma_one.h - runtime/rma/rma.h's copies, of one piece. */
#ifndef TESTS_PROGRAMS_RMA_ONE_H
#define TESTS_PROGRAMS_RMA_ONE_H

#include "runtime/rma/rma.h"

static inline int read_one(int rank, uint64_t place, void *to, size_t bytes)
{
    const struct rma_piece piece = {place, bytes};

    return rma_read_pieces(rank, &piece, 1, to);
}

static inline int write_one(int rank, uint64_t place, const void *from,
                            size_t bytes)
{
    const struct rma_piece piece = {place, bytes};

    return rma_write_pieces(rank, &piece, 1, from);
}

#endif /* TESTS_PROGRAMS_RMA_ONE_H */
