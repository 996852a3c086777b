/*
 * dart_wire_cases.h - rows about blocking transfers between hosts of other units,
 * in other shapes, and of a target that waits otherwise than in those of
 * dart_wire.h.
 *
 * One unit puts or gets, one after the other, each done before the next; the
 * target waits, and all others sleep, on both sides the same way.
 */
#ifndef BENCHMARKS_DART_WIRE_CASES_H
#define BENCHMARKS_DART_WIRE_CASES_H

#include "benchmarks/dart.h"

#define CASES_BYTES_MAX ((size_t)2 << 20)

struct wire_case {
    bool put;
    size_t bytes, block; /* block 0: in one piece; else in every other block */
    int count;
};

/* The cases in one piece. */
static const char *const plain_names[] = {"put8", "put4K", "put32K", "put2M",
                                          "get8", "get4K", "get32K", "get2M"};

/* put, bytes, block, how many */
static const struct wire_case plain_cases[] = {
    {true, 8, 0, 500},      {true, 4096, 0, 500},    {true, 32768, 0, 200},
    {true, 2 << 20, 0, 10}, {false, 8, 0, 500},      {false, 4096, 0, 500},
    {false, 32768, 0, 200}, {false, 2 << 20, 0, 10},
};

struct cases_row {
    struct bench bench;
    const struct wire_case *cases;
    int actor, target, units;
    bool plainly; /* the target waits in MPI_Barrier() on our side too */
    struct dart_memory memory;
    char *buffer;
    MPI_Comm comm; /* of actor and target; theirs */
    dart_team_t team;
    dart_datatype_t dart_type;
    MPI_Datatype mpi_type;
};

static inline void cases_dart(struct cases_row *row, const struct wire_case *c)
{
    dart_datatype_t there = c->block ? row->dart_type : DART_TYPE_BYTE;

    if (c->put)
        dart_check(dart_put_blocking(row->memory.there, row->buffer, c->bytes,
                                     DART_TYPE_BYTE, there),
                   "dart_put_blocking");
    else
        dart_check(dart_get_blocking(row->buffer, row->memory.there, c->bytes,
                                     there, DART_TYPE_BYTE),
                   "dart_get_blocking");
}

static inline void cases_mpi(struct cases_row *row, const struct wire_case *c)
{
    const struct dart_memory *m = &row->memory;
    MPI_Datatype there = c->block ? row->mpi_type : MPI_BYTE;
    int count = c->block ? 1 : (int)c->bytes;

    if (c->put)
        MPI_Put(row->buffer, (int)c->bytes, MPI_BYTE, m->other, 0, count, there,
                m->win);
    else
        MPI_Get(row->buffer, (int)c->bytes, MPI_BYTE, m->other, 0, count, there,
                m->win);
    MPI_Win_flush(m->other, m->win);
}

/* Actor and target. */
static inline void cases_barrier(struct cases_row *row, bool ours)
{
    if (ours && !row->plainly)
        dart_check(dart_barrier(row->team), "dart_barrier");
    else
        MPI_Barrier(row->comm);
}

static inline void cases_types(struct cases_row *row, const struct wire_case *c,
                               bool ours)
{
    if (ours) {
        dart_check(dart_type_create_strided(DART_TYPE_BYTE, 2 * c->block,
                                            c->block, &row->dart_type),
                   "dart_type_create_strided");
        return;
    }
    MPI_Type_vector((int)(c->bytes / c->block), (int)c->block,
                    2 * (int)c->block, MPI_BYTE, &row->mpi_type);
    MPI_Type_commit(&row->mpi_type);
}

/* Microseconds for one. */
static inline double cases_time(struct cases_row *row, bool ours)
{
    const struct wire_case *c = &row->cases[row->bench.now];
    int count = row->bench.tiny ? 3 : c->count, rank = row->bench.rank;
    double us = 0, begin;

    bench_barrier_asleep();
    if (rank == row->actor && c->block)
        cases_types(row, c, ours);
    if (rank == row->actor || rank == row->target)
        cases_barrier(row, ours);
    if (rank == row->actor) {
        begin = bench_now_ns();
        for (int i = 0; i < count; i++)
            (ours ? cases_dart : cases_mpi)(row, c);
        us = (bench_now_ns() - begin) * 1e-3 / count;
    }
    if (rank == row->actor || rank == row->target)
        cases_barrier(row, ours);
    if (rank == row->actor && c->block && ours)
        dart_check(dart_type_destroy(&row->dart_type), "dart_type_destroy");
    else if (rank == row->actor && c->block)
        MPI_Type_free(&row->mpi_type);
    bench_barrier_asleep();
    return bench_told(us, row->actor);
}

static double cases_ours(void *row)
{
    return cases_time(row, true);
}

static double cases_theirs(void *row)
{
    return cases_time(row, false);
}

/* What the two wait in. */
static inline void cases_pair(struct cases_row *row)
{
    bool in = row->bench.rank == row->actor || row->bench.rank == row->target;
    dart_group_t group;

    MPI_Comm_split(MPI_COMM_WORLD, in ? 0 : MPI_UNDEFINED, row->bench.rank,
                   &row->comm);
    if (bench_only_theirs(&row->bench))
        return;
    dart_check(dart_group_create(&group), "dart_group_create");
    dart_check(dart_group_addmember(group, DART_GLOBAL_UNIT_ID(row->actor)),
               "dart_group_addmember");
    dart_check(dart_group_addmember(group, DART_GLOBAL_UNIT_ID(row->target)),
               "dart_group_addmember");
    dart_check(dart_team_create(DART_TEAM_ALL, group, &row->team),
               "dart_team_create");
    dart_check(dart_group_destroy(&group), "dart_group_destroy");
}

static inline int cases_main(struct cases_row *row, int argc, char **argv)
{
    struct bench *b = &row->bench;
    struct dart_memory *m = &row->memory;

    bench_start(b, argc, argv, row->units);
    dart_memory_make(m, b, 2 * CASES_BYTES_MAX);
    m->other = row->target;
    row->buffer = bench_buffer(CASES_BYTES_MAX);
    if (!bench_only_theirs(b))
        dart_check(dart_gptr_setunit(&m->there, DART_TEAM_UNIT_ID(row->target)),
                   "dart_gptr_setunit");
    cases_pair(row);
    bench_compare(b, cases_ours, cases_theirs, row);
    if (!bench_only_theirs(b) && row->team != DART_TEAM_NULL)
        dart_check(dart_team_destroy(&row->team), "dart_team_destroy");
    dart_memory_end(m, b);
    return bench_finish(b);
}

#endif
