/* Start and end through MPI: see boot.h. */
#include "transport/boot.h"
#include "transport/boot_mpi.h"
#include "transport/mpi_table.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drasync.h"

static void (*finalize_hook)(void);

#define FAILURE_BYTES 256

static char failure[FAILURE_BYTES]; /* written once, before failure_known */
static _Atomic int failure_known;   /* 1: being written, 2: there */

/* MPICH's texts end with the cause, below the calls that it came through. */
static const char *last_line(char *text)
{
    size_t length = strlen(text);

    while (length && text[length - 1] == '\n')
        text[--length] = 0;
    return strrchr(text, '\n') ? strrchr(text, '\n') + 1 : text;
}

bool boot_failed(const char *name, int result)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0, unknown = 0;

    if (result == MPI_SUCCESS)
        return false;
    if (!atomic_compare_exchange_strong(&failure_known, &unknown, 1))
        return true;
    if (mpi.Error_string(result, text, &length))
        text[0] = 0;
    snprintf(failure, sizeof(failure), "MPI_%s failed: %.200s", name,
             text[0] ? last_line(text) : "MPI does not say why");
    atomic_store(&failure_known, 2); /* pairs with boot_failure()'s load */
    return true;
}

const char *boot_failure(void)
{
    return atomic_load(&failure_known) == 2 ? failure : NULL;
}
static bool closed_in_order;

/* An attribute of MPI_COMM_SELF is deleted by MPI_Finalize before anything
 * else; it reaches us where MPI_Finalize itself could not be taken over, and
 * below all tools.  Attributes go in the reverse of the order they came in, so
 * ours, which is early, sees what others do in theirs. */
static int on_finalize(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm;
    (void)keyval;
    (void)value;
    (void)extra;
    if (finalize_hook)
        finalize_hook();
    if (closed_in_order)
        boot_leave();
    return MPI_SUCCESS;
}

static int watch_finalize(void (*hook)(void))
{
    static int keyval = MPI_KEYVAL_INVALID;

    finalize_hook = hook;
    if (keyval != MPI_KEYVAL_INVALID)
        return 0;
    if (boot_failed("Comm_create_keyval",
                    mpi.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize,
                                           &keyval, NULL)) ||
        boot_failed("Comm_set_attr",
                    mpi.Comm_set_attr(MPI_COMM_SELF, keyval, &finalize_hook)))
        return DRASYNC_EINTERNAL;
    return 0;
}

/* The same on all ranks: the lowest @err of any. */
static int agree(MPI_Comm all, int err)
{
    return boot_failed("Allreduce", mpi.Allreduce(MPI_IN_PLACE, &err, 1,
                                                  MPI_INT, MPI_MIN, all))
               ? DRASYNC_EPEER
               : err;
}

int boot_open(void (*at_finalize)(void), struct boot **out)
{
    struct boot *boot = calloc(1, sizeof(*boot));
    MPI_Comm all;
    int err;

    if (boot_failed("Comm_dup", mpi.Comm_dup(MPI_COMM_WORLD, &all))) {
        free(boot);
        return DRASYNC_EINTERNAL;
    }
    mpi.Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    err = agree(all, boot ? watch_finalize(at_finalize) : DRASYNC_ENOMEM);
    if (err) {
        mpi.Comm_free(&all);
        free(boot);
        return err;
    }
    boot->node = boot->leaders = MPI_COMM_NULL;
    boot->all = all;
    mpi.Comm_rank(boot->all, &boot->rank);
    mpi.Comm_size(boot->all, &boot->ranks);
    *out = boot;
    return 0;
}

int boot_rank(const struct boot *boot)
{
    return boot->rank;
}

int boot_ranks(const struct boot *boot)
{
    return boot->ranks;
}

/*
 * Split what MPI calls a node by @host_key, since containers that share a host
 * name may not see each other's processes; and in groups of @node_ranks.
 * @keys: [all ranks].  *first_out: the first rank of the host.
 */
static int split_node(struct boot *boot, int node_ranks, uint64_t host_key,
                      uint64_t *keys, int *first_out)
{
    MPI_Comm shared, host;
    int ranks, own, color = 0, local = 0;

    if (boot_failed("Comm_split_type",
                    mpi.Comm_split_type(boot->all, MPI_COMM_TYPE_SHARED,
                                        boot->rank, MPI_INFO_NULL, &shared)))
        return DRASYNC_EPEER;
    mpi.Comm_set_errhandler(shared, MPI_ERRORS_RETURN);
    mpi.Comm_size(shared, &ranks);
    int err =
        boot_failed("Allgather", mpi.Allgather(&host_key, 8, MPI_BYTE, keys, 8,
                                               MPI_BYTE, shared));
    for (int i = 0; !err && keys[i] != host_key; i++)
        color = i + 1;
    if (!err)
        err = boot_failed("Comm_split",
                          mpi.Comm_split(shared, color, boot->rank, &host));
    mpi.Comm_free(&shared);
    if (err)
        return DRASYNC_EPEER;
    mpi.Comm_set_errhandler(host, MPI_ERRORS_RETURN);
    mpi.Comm_rank(host, &local);
    *first_out = boot->rank;
    err = boot_failed("Bcast", mpi.Bcast(first_out, 1, MPI_INT, 0, host));
    if (!err)
        err = boot_failed("Comm_split",
                          mpi.Comm_split(host,
                                         node_ranks ? local / node_ranks : 0,
                                         boot->rank, &boot->node));
    mpi.Comm_free(&host);
    if (err)
        return DRASYNC_EPEER;
    mpi.Comm_size(boot->node, &own);
    boot->neighbours = own < ranks;
    return 0;
}

/* What each rank tells the others. */
struct place {
    int leader, local, host;
};

_Static_assert(sizeof(struct place) >= sizeof(uint64_t), "room for either");

/* @room: [all ranks] */
static int split(struct boot *boot, int node_ranks, uint64_t host_key,
                 void *room, int *node_of, int *local_of, int *nodes_out)
{
    int leader = boot->rank, local = 0, nodes = 0;
    struct place mine, *all = room;
    int err = split_node(boot, node_ranks, host_key, room, &mine.host);

    if (err)
        return err;
    mpi.Comm_set_errhandler(boot->node, MPI_ERRORS_RETURN);
    mpi.Comm_rank(boot->node, &local);
    if (boot_failed("Bcast", mpi.Bcast(&leader, 1, MPI_INT, 0, boot->node)))
        return DRASYNC_EPEER;
    if (boot_failed("Comm_split",
                    mpi.Comm_split(boot->all, local ? MPI_UNDEFINED : 0,
                                   boot->rank, &boot->leaders)))
        return DRASYNC_EPEER;
    if (boot->leaders != MPI_COMM_NULL)
        mpi.Comm_set_errhandler(boot->leaders, MPI_ERRORS_RETURN);

    mine.leader = leader;
    mine.local = local;
    if (boot_failed("Allgather", mpi.Allgather(&mine, 3, MPI_INT, all, 3,
                                               MPI_INT, boot->all)))
        return DRASYNC_EPEER;
    /* A leader is its node's lowest rank, so it comes before its node. */
    for (int i = 0; i < boot->ranks; i++) {
        boot->host_of[i] = all[i].host;
        local_of[i] = all[i].local;
        node_of[i] = local_of[i] ? node_of[all[i].leader] : nodes++;
    }
    *nodes_out = nodes;
    return 0;
}

int boot_split(struct boot *boot, int node_ranks, uint64_t host_key,
               int *node_of, int *local_of, int *nodes_out)
{
    struct place *room = malloc((size_t)boot->ranks * sizeof(*room));
    int err;

    if (!boot->host_of)
        boot->host_of = malloc((size_t)boot->ranks * sizeof(int));
    err = agree(boot->all, room && boot->host_of ? 0 : DRASYNC_ENOMEM);
    if (!err)
        err = split(boot, node_ranks, host_key, room, node_of, local_of,
                    nodes_out);
    free(room);
    return err;
}

bool boot_neighbours(const struct boot *boot)
{
    return boot->neighbours;
}

static MPI_Comm scope_comm(const struct boot *boot, enum boot_scope scope)
{
    return scope == BOOT_ALL    ? boot->all
           : scope == BOOT_NODE ? boot->node
                                : boot->leaders;
}

int boot_barrier(struct boot *boot, enum boot_scope scope)
{
    return boot_failed("Barrier", mpi.Barrier(scope_comm(boot, scope)))
               ? DRASYNC_EPEER
               : 0;
}

int boot_allgather(struct boot *boot, enum boot_scope scope, const void *in,
                   void *out, size_t bytes_each)
{
    return boot_failed("Allgather",
                       mpi.Allgather(in, (int)bytes_each, MPI_BYTE, out,
                                     (int)bytes_each, MPI_BYTE,
                                     scope_comm(boot, scope)))
               ? DRASYNC_EPEER
               : 0;
}

int boot_bcast(struct boot *boot, enum boot_scope scope, void *data,
               size_t bytes)
{
    return boot_failed("Bcast", mpi.Bcast(data, (int)bytes, MPI_BYTE, 0,
                                          scope_comm(boot, scope)))
               ? DRASYNC_EPEER
               : 0;
}

int boot_and(struct boot *boot, enum boot_scope scope, uint64_t *words,
             int count)
{
    return boot_failed("Allreduce",
                       mpi.Allreduce(MPI_IN_PLACE, words, count, MPI_UINT64_T,
                                     MPI_BAND, scope_comm(boot, scope)))
               ? DRASYNC_EPEER
               : 0;
}

int boot_min(struct boot *boot, enum boot_scope scope, int64_t *value)
{
    return boot_failed("Allreduce",
                       mpi.Allreduce(MPI_IN_PLACE, value, 1, MPI_INT64_T,
                                     MPI_MIN, scope_comm(boot, scope)))
               ? DRASYNC_EPEER
               : 0;
}

void boot_close(struct boot *boot, bool alone)
{
    if (!boot)
        return;
    finalize_hook = NULL;
    if (!alone && !boot_finalized()) {
        closed_in_order = true;
        if (boot->leaders != MPI_COMM_NULL)
            mpi.Comm_free(&boot->leaders);
        if (boot->node != MPI_COMM_NULL)
            mpi.Comm_free(&boot->node);
        mpi.Comm_free(&boot->all);
    }
    free(boot->host_of);
    free(boot);
}
