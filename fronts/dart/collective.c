/*
 * Collective operations: MPI's on the team's communicator.
 *
 * What a call checks is the same on all units if they pass the same, so that all
 * return the same error without saying a word to each other.
 */
#include <stdlib.h>
#include <string.h>

#include "fronts/dart/front.h"
#include "fronts/dart/large.h"
#include "fronts/dart/op.h"
#include "fronts/dart/team.h"
#include "fronts/dart/team_call.h"
#include "fronts/dart/types.h"

/* Reductions go in pieces of so many elements: they are one by one anyway. */
#define REDUCE_MAX (1 << 30)

static dart_ret_t outcome(const char *what, int err)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;

    if (!err)
        return DART_OK;
    MPI_Error_string(err, text, &length);
    return front_fail(DART_ERR_OTHER, "%s: MPI says: %s", what, text);
}

/* The team, and the type in MPI's words; @shares times @nelem elements are what
 * a buffer has at most. */
static dart_ret_t begin(const char *what, dart_team_t id, size_t nelem,
                        dart_datatype_t dtype, bool for_each,
                        struct team **team, MPI_Datatype *mpi)
{
    dart_ret_t ret = team_get(what, id, team);
    const struct type *type;
    size_t shares;

    if (ret)
        return ret;
    type = type_of(dtype);
    if (!type_in_one_piece(type))
        return front_fail(DART_ERR_INVAL,
                          "%s: no such type, or a strided or indexed one",
                          what);
    shares = for_each ? (size_t)(*team)->size : 1;
    if (nelem > LARGE_COUNT_MAX / type->bytes / shares)
        return front_fail(DART_ERR_INVAL, "%s: %zu elements are too many", what,
                          nelem);
    *mpi = type->mpi;
    return DART_OK;
}

static dart_ret_t check_root(const char *what, const struct team *team,
                             dart_team_unit_t root)
{
    if (root.id >= 0 && root.id < team->size)
        return DART_OK;
    return front_fail(DART_ERR_INVAL, "%s: team %d has no unit %d", what,
                      (int)team->id, (int)root.id);
}

static dart_ret_t check_buffer(const char *what, const void *buffer)
{
    if (buffer)
        return DART_OK;
    return front_fail(DART_ERR_INVAL, "%s: elements, but no buffer", what);
}

dart_ret_t dart_barrier(dart_team_t teamid)
{
    const char *what = "dart_barrier";
    struct team *team;
    dart_ret_t ret = team_get(what, teamid, &team);

    return ret ? ret : outcome(what, team_barrier(team));
}

dart_ret_t dart_bcast(void *buf, size_t nelem, dart_datatype_t dtype,
                      dart_team_unit_t root, dart_team_t teamid)
{
    const char *what = "dart_bcast";
    struct team *team;
    MPI_Datatype type;
    dart_ret_t ret = begin(what, teamid, nelem, dtype, false, &team, &type);

    if (!ret)
        ret = check_root(what, team, root);
    if (!ret && nelem)
        ret = check_buffer(what, buf);
    if (ret || !nelem)
        return ret;
    return outcome(what,
                   TEAM_CALL(team, LARGE(MPI_Bcast), LARGE(MPI_Ibcast), buf,
                             (large_count)nelem, type, root.id, team->comm));
}

dart_ret_t dart_scatter(const void *sendbuf, void *recvbuf, size_t nelem,
                        dart_datatype_t dtype, dart_team_unit_t root,
                        dart_team_t teamid)
{
    const char *what = "dart_scatter";
    struct team *team;
    MPI_Datatype type;
    dart_ret_t ret = begin(what, teamid, nelem, dtype, true, &team, &type);

    if (!ret)
        ret = check_root(what, team, root);
    if (!ret && nelem)
        ret = check_buffer(what, team->me == root.id ? sendbuf : recvbuf);
    if (ret || !nelem)
        return ret;
    if (team->me == root.id && (!recvbuf || recvbuf == sendbuf))
        recvbuf = MPI_IN_PLACE;
    return outcome(what,
                   TEAM_CALL(team, LARGE(MPI_Scatter), LARGE(MPI_Iscatter),
                             sendbuf, (large_count)nelem, type, recvbuf,
                             (large_count)nelem, type, root.id, team->comm));
}

dart_ret_t dart_gather(const void *sendbuf, void *recvbuf, size_t nelem,
                       dart_datatype_t dtype, dart_team_unit_t root,
                       dart_team_t teamid)
{
    const char *what = "dart_gather";
    struct team *team;
    MPI_Datatype type;
    dart_ret_t ret = begin(what, teamid, nelem, dtype, true, &team, &type);

    if (!ret)
        ret = check_root(what, team, root);
    if (!ret && nelem)
        ret = check_buffer(what, team->me == root.id ? recvbuf : sendbuf);
    if (ret || !nelem)
        return ret;
    if (team->me == root.id && (!sendbuf || recvbuf == sendbuf))
        sendbuf = MPI_IN_PLACE;
    return outcome(what,
                   TEAM_CALL(team, LARGE(MPI_Gather), LARGE(MPI_Igather),
                             sendbuf, (large_count)nelem, type, recvbuf,
                             (large_count)nelem, type, root.id, team->comm));
}

dart_ret_t dart_allgather(const void *sendbuf, void *recvbuf, size_t nelem,
                          dart_datatype_t dtype, dart_team_t teamid)
{
    const char *what = "dart_allgather";
    struct team *team;
    MPI_Datatype type;
    dart_ret_t ret = begin(what, teamid, nelem, dtype, true, &team, &type);

    if (!ret && nelem)
        ret = check_buffer(what, recvbuf);
    if (ret || !nelem)
        return ret;
    if (!sendbuf || sendbuf == recvbuf)
        sendbuf = MPI_IN_PLACE;
    return outcome(what,
                   TEAM_CALL(team, LARGE(MPI_Allgather), LARGE(MPI_Iallgather),
                             sendbuf, (large_count)nelem, type, recvbuf,
                             (large_count)nelem, type, team->comm));
}

/* So much a unit copies to its stack. */
#define ALLTOALL_STACK_BYTES ((size_t)16 << 10)

/*
 * A unit that has one buffer sends from a copy: MPI_IN_PLACE has MPICH choose
 * another algorithm, which those with two buffers do not wait for.  Memory that
 * it has not got it can tell the others of only if all ask; they do where the
 * time for that is not much beside what is sent.
 */
static dart_ret_t alltoall_copy(const struct team *team, const void **sendbuf,
                                const void *recvbuf, size_t bytes, char *small,
                                char **copy_out)
{
    bool copies = !*sendbuf || *sendbuf == recvbuf;
    char *copy = small;
    dart_ret_t ret = DART_OK;

    *copy_out = NULL;
    if (bytes > ALLTOALL_STACK_BYTES) {
        copy = copies ? malloc(bytes) : NULL;
        ret = team_agree(team, copies && !copy ? DART_ERR_NOMEM : DART_OK);
        if (ret) {
            free(copy);
            return ret;
        }
        *copy_out = copy;
    }
    if (copies) {
        memcpy(copy, recvbuf, bytes);
        *sendbuf = copy;
    }
    return DART_OK;
}

dart_ret_t dart_alltoall(const void *sendbuf, void *recvbuf, size_t nelem,
                         dart_datatype_t dtype, dart_team_t teamid)
{
    const char *what = "dart_alltoall";
    _Alignas(16) char small[ALLTOALL_STACK_BYTES];
    char *copy;
    struct team *team;
    MPI_Datatype type;
    dart_ret_t ret = begin(what, teamid, nelem, dtype, true, &team, &type);

    if (!ret && nelem)
        ret = check_buffer(what, recvbuf);
    if (ret || !nelem)
        return ret;
    ret = alltoall_copy(team, &sendbuf, recvbuf,
                        (size_t)team->size * nelem * type_of(dtype)->bytes,
                        small, &copy);
    if (ret)
        return front_fail(ret, "%s: some unit has no memory for a copy", what);
    ret =
        outcome(what, TEAM_CALL(team, LARGE(MPI_Alltoall), LARGE(MPI_Ialltoall),
                                sendbuf, (large_count)nelem, type, recvbuf,
                                (large_count)nelem, type, team->comm));
    free(copy);
    return ret;
}

/* Each part is sent by its unit: MPICH 4.0.2 does not come back from
 * MPI_Allgatherv with more than 2 GiB. */
static dart_ret_t allgatherv_large(const char *what, const struct team *team,
                                   const void *sendbuf, char *recvbuf,
                                   size_t bytes, MPI_Datatype type,
                                   const size_t *counts, const size_t *offsets)
{
    char *mine = recvbuf + offsets[team->me] * bytes;
    dart_ret_t ret = DART_OK;

    if (sendbuf != MPI_IN_PLACE && counts[team->me])
        memcpy(mine, sendbuf, counts[team->me] * bytes);
    for (int unit = 0; unit < team->size && !ret; unit++) {
        if (counts[unit])
            ret = outcome(what,
                          TEAM_CALL(team, LARGE(MPI_Bcast), LARGE(MPI_Ibcast),
                                    recvbuf + offsets[unit] * bytes,
                                    (large_count)counts[unit], type, unit,
                                    team->comm));
    }
    return ret;
}

/* What dart_allgatherv() gets for each unit, in MPI's words. */
struct shares {
    const large_count *counts;
    const large_offset *offsets;
    void *own; /* NULL: they are the program's arrays */
};

/* Nobody can tell the others alone that he has no memory: where arrays need to
 * be copied, all agree that they could. */
static dart_ret_t shares_make(const struct team *team, const size_t *counts,
                              const size_t *offsets, struct shares *out)
{
    size_t units = (size_t)team->size;
    large_count *to;
    large_offset *to_offsets;
    dart_ret_t ret;

    if (LARGE_ARRAYS) {
        *out =
            (struct shares){(const void *)counts, (const void *)offsets, NULL};
        return DART_OK;
    }
    to = malloc(units * (sizeof(*to) + sizeof(*to_offsets)));
    to_offsets = (void *)(to + units);
    *out = (struct shares){to, to_offsets, to};
    for (size_t i = 0; i < units && to; i++) {
        to[i] = (large_count)counts[i];
        to_offsets[i] = (large_offset)offsets[i];
    }
    ret = team_agree(team, to ? DART_OK : DART_ERR_NOMEM);
    if (ret)
        free(to);
    return ret;
}

/* Are there so many, and so far away, as MPI can say?  *any is their sum. */
static bool shares_valid(const struct team *team, const size_t *counts,
                         const size_t *offsets, size_t bytes, size_t *any)
{
    *any = 0;
    for (int i = 0; i < team->size; i++) {
        if (counts[i] > LARGE_COUNT_MAX / bytes ||
            (counts[i] && offsets[i] > LARGE_COUNT_MAX / bytes) ||
            __builtin_add_overflow(*any, counts[i], any))
            return false;
    }
    return *any <= LARGE_COUNT_MAX / bytes;
}

dart_ret_t dart_allgatherv(const void *sendbuf, size_t nsendelem,
                           dart_datatype_t dtype, void *recvbuf,
                           const size_t *nrecvelem, const size_t *recvdispls,
                           dart_team_t teamid)
{
    const char *what = "dart_allgatherv";
    struct shares shares;
    struct team *team;
    MPI_Datatype type;
    size_t any, bytes;
    dart_ret_t ret = begin(what, teamid, nsendelem, dtype, false, &team, &type);

    if (!ret && (!nrecvelem || !recvdispls))
        ret = front_fail(DART_ERR_INVAL, "%s: no counts or no places", what);
    if (ret)
        return ret;
    bytes = type_of(dtype)->bytes;
    if (!shares_valid(team, nrecvelem, recvdispls, bytes, &any))
        return front_fail(DART_ERR_INVAL, "%s: too many elements", what);
    if (!any)
        return DART_OK;
    ret = check_buffer(what, recvbuf);
    if (ret)
        return ret;
    if (sendbuf == recvbuf || (!sendbuf && nrecvelem[team->me]))
        sendbuf = MPI_IN_PLACE;
    if (any > (size_t)INT_MAX / bytes)
        return allgatherv_large(what, team, sendbuf, recvbuf, bytes, type,
                                nrecvelem, recvdispls);
    ret = shares_make(team, nrecvelem, recvdispls, &shares);
    if (ret)
        return front_fail(ret, "%s: some unit has no memory", what);
    ret = outcome(what,
                  TEAM_CALL(team, LARGE(MPI_Allgatherv), LARGE(MPI_Iallgatherv),
                            sendbuf, (large_count)nsendelem, type, recvbuf,
                            shares.counts, shares.offsets, type, team->comm));
    free(shares.own);
    return ret;
}

static dart_ret_t begin_reduction(const char *what, dart_team_t id,
                                  size_t nelem, dart_datatype_t dtype,
                                  dart_operation_t op, struct team **team,
                                  struct reduction *reduction)
{
    MPI_Datatype type;
    dart_ret_t ret = begin(what, id, nelem, dtype, false, team, &type);

    if (!ret && !op_reduction(op, dtype, nelem, reduction))
        ret = front_fail(DART_ERR_INVAL,
                         "%s: the type has no such operation (DART_OP_MINMAX: "
                         "or not an even number of elements)",
                         what);
    return ret;
}

dart_ret_t dart_allreduce(const void *sendbuf, void *recvbuf, size_t nelem,
                          dart_datatype_t dtype, dart_operation_t op,
                          dart_team_t teamid)
{
    const char *what = "dart_allreduce";
    struct team *team;
    struct reduction r;
    dart_ret_t ret = begin_reduction(what, teamid, nelem, dtype, op, &team, &r);
    const char *from = sendbuf;
    char *to = recvbuf;

    if (!ret && nelem)
        ret = check_buffer(what, recvbuf);
    if (sendbuf == recvbuf)
        from = NULL;
    while (!ret && r.count) {
        size_t count = r.count < REDUCE_MAX ? r.count : REDUCE_MAX;
        ret = outcome(what, TEAM_CALL(team, MPI_Allreduce, MPI_Iallreduce,
                                      from ? from : MPI_IN_PLACE, to,
                                      (int)count, r.type, r.op, team->comm));
        from = from ? from + count * r.bytes : NULL;
        to += count * r.bytes;
        r.count -= count;
    }
    return ret;
}

dart_ret_t dart_reduce(const void *sendbuf, void *recvbuf, size_t nelem,
                       dart_datatype_t dtype, dart_operation_t op,
                       dart_team_unit_t root, dart_team_t teamid)
{
    const char *what = "dart_reduce";
    struct team *team;
    struct reduction r;
    dart_ret_t ret = begin_reduction(what, teamid, nelem, dtype, op, &team, &r);
    const char *from = sendbuf ? sendbuf : recvbuf;
    char *to = recvbuf;
    bool here, in_place;

    if (!ret)
        ret = check_root(what, team, root);
    if (ret || !nelem)
        return ret;
    here = team->me == root.id;
    in_place = here && from == to;
    ret = check_buffer(what, here ? to : from);
    while (!ret && r.count) {
        size_t count = r.count < REDUCE_MAX ? r.count : REDUCE_MAX;
        ret = outcome(what, TEAM_CALL(team, MPI_Reduce, MPI_Ireduce,
                                      in_place ? MPI_IN_PLACE : from,
                                      here ? to : NULL, (int)count, r.type,
                                      r.op, root.id, team->comm));
        from += count * r.bytes;
        if (here)
            to += count * r.bytes;
        r.count -= count;
    }
    return ret;
}
