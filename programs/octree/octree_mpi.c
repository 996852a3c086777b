/*
 * Octree exchange by message passing: each rank builds its tree in one array,
 * where a node has the place of what comes after it instead of a pointer.
 *
 * Ranks of a host build into a window that they share, and read each other's
 * trees there.  To other hosts trees go in pieces, whose receives are posted
 * before the own tree is built; the first tree that is there is walked first.
 */
#include <mpi.h>
#include <stdlib.h>

#include "../common/report.h"
#include "cloud.h"
#include "program.h"

struct node {
    struct cell cell;
    uint32_t next; /* after it and all its parts; of the root: the end */
};

/* Trees go in messages of so many bytes. */
#define PIECE_BYTES (512 << 10)

/* Between looks into MPI. */
#define POINTS_BETWEEN 1024

/* Instead of a number of pieces. */
enum { ON_HOST = -1, SEEN = -2 };

struct exchange {
    struct program program;
    size_t nodes_max;
    MPI_Comm host;
    MPI_Win window;      /* two trees of each rank of the host, by turns */
    int turn;            /* which of them is this step's */
    struct node **trees; /* of each rank; of the host: both */
    int *missing;        /* pieces of it that have not come, or the above */
    struct node *far;    /* trees of ranks of other hosts */
    int far_count, pieces;
    int *far_ranks;
    MPI_Request *receives, *sends; /* far_count times pieces */
    int *done;                     /* room for their numbers */
    MPI_Status *statuses;          /* and for these, which nobody looks at */
};

/* --- The tree ------------------------------------------------------------ */

/* The same as a list of nodes from @at; returns where it ends. */
static uint32_t build(struct node *nodes, uint32_t at,
                      const struct cloud *cloud, size_t first, size_t last)
{
    size_t starts[9], parts = cloud_split(cloud, first, last, starts), part;
    uint32_t end = at + 1;

    nodes[at].cell = cloud_cell(cloud, first, last);
    for (part = 0; part < parts; part++)
        end = build(nodes, end, cloud, starts[part], starts[part + 1]);
    nodes[at].next = end;
    return end;
}

static int64_t walk(const struct node *nodes, const struct point *point)
{
    uint32_t at = 0, end = nodes[0].next;
    int64_t field = 0;

    while (at < end)
        at =
            cell_adds(&nodes[at].cell, point, &field) ? nodes[at].next : at + 1;
    return field;
}

/* --- Messages to other hosts --------------------------------------------- */

/* Bytes of piece @piece of a tree of @bytes; 0 behind its end. */
static int piece_bytes(size_t bytes, int piece)
{
    size_t start = (size_t)piece * PIECE_BYTES;

    if (start >= bytes)
        return 0;
    return (int)(bytes - start < PIECE_BYTES ? bytes - start : PIECE_BYTES);
}

/* A tree's length is not known yet, so there is a message for every piece. */
static void receive_all(struct exchange *x)
{
    size_t bytes = x->nodes_max * sizeof(struct node);

    for (int i = 0; i < x->far_count; i++) {
        int rank = x->far_ranks[i];

        for (int piece = 0; piece < x->pieces; piece++)
            MPI_Irecv((char *)x->trees[rank] + (size_t)piece * PIECE_BYTES,
                      piece_bytes(bytes, piece), MPI_BYTE, rank, piece,
                      MPI_COMM_WORLD, &x->receives[i * x->pieces + piece]);
        x->missing[rank] = x->pieces;
    }
}

static void send_all(struct exchange *x, const struct node *nodes)
{
    size_t bytes = nodes[0].next * sizeof(*nodes);

    for (int piece = 0; piece < x->pieces; piece++)
        for (int i = 0; i < x->far_count; i++)
            MPI_Isend((const char *)nodes + (size_t)piece * PIECE_BYTES,
                      piece_bytes(bytes, piece), MPI_BYTE, x->far_ranks[i],
                      piece, MPI_COMM_WORLD, &x->sends[i * x->pieces + piece]);
}

/* Note which pieces have come; wait for one if @wait. */
static void note_arrivals(struct exchange *x, int wait)
{
    int count;

    (wait ? MPI_Waitsome : MPI_Testsome)(x->far_count * x->pieces, x->receives,
                                         &count, x->done, x->statuses);
    if (count == MPI_UNDEFINED)
        return;
    for (int i = 0; i < count; i++)
        x->missing[x->far_ranks[x->done[i] / x->pieces]]--;
}

/* --- A step -------------------------------------------------------------- */

static void look_at(struct exchange *x, const struct node *nodes)
{
    struct cloud *cloud = &x->program.cloud;
    int sent;

    for (size_t p = 0; p < cloud->count; p++) {
        if (p % POINTS_BETWEEN == 0 && x->far_count) {
            note_arrivals(x, 0);
            MPI_Testall(x->far_count * x->pieces, x->sends, &sent, x->statuses);
        }
        cloud->field[p] += walk(nodes, &cloud->points[p]);
    }
}

/* Trees of other hosts, in the order in which they come. */
static void look_at_far(struct exchange *x)
{
    int left = x->far_count, i;

    while (left > 0) {
        for (i = 0; i < x->far_count; i++)
            if (x->missing[x->far_ranks[i]] == 0)
                break;
        if (i == x->far_count) {
            note_arrivals(x, 1);
            continue;
        }
        look_at(x, x->trees[x->far_ranks[i]]);
        x->missing[x->far_ranks[i]] = SEEN;
        left--;
    }
}

static void look(void *context)
{
    struct exchange *x = context;
    struct cloud *cloud = &x->program.cloud;
    int rank = x->program.rank, ranks = x->program.ranks;
    size_t turn = x->turn ? x->nodes_max : 0;

    receive_all(x);
    build(x->trees[rank] + turn, 0, cloud, 0, cloud->count);
    send_all(x, x->trees[rank] + turn);
    /* The host's trees of the step before last were for others to read until
     * they came here. */
    MPI_Win_sync(x->window);
    MPI_Barrier(x->host);
    MPI_Win_sync(x->window);
    for (int i = 1; i < ranks; i++) {
        int other = (rank + i) % ranks;

        if (x->missing[other] == ON_HOST)
            look_at(x, x->trees[other] + turn);
    }
    look_at_far(x);
    MPI_Waitall(x->far_count * x->pieces, x->sends, x->statuses);
    x->turn = !x->turn;
}

static void end(void *context)
{
    (void)context;
}

/* --- The whole ----------------------------------------------------------- */

/* Find out who is on this host; room for their trees. */
static void open_host(struct exchange *x)
{
    MPI_Group all, host;
    MPI_Aint bytes = (MPI_Aint)(2 * x->nodes_max * sizeof(struct node));
    int ranks = x->program.ranks, unit;
    void *mine;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &x->host);
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, x->host, &mine,
                            &x->window);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, x->window);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(x->host, &host);
    for (int rank = 0; rank < ranks; rank++) {
        int on_host;

        MPI_Group_translate_ranks(all, 1, &rank, host, &on_host);
        if (on_host == MPI_UNDEFINED) {
            x->far_ranks[x->far_count++] = rank;
            continue;
        }
        MPI_Win_shared_query(x->window, on_host, &bytes, &unit,
                             &x->trees[rank]);
        x->missing[rank] = ON_HOST;
    }
    MPI_Group_free(&all);
    MPI_Group_free(&host);
}

static void open_exchange(struct exchange *x)
{
    size_t ranks = (size_t)x->program.ranks, bytes, requests;

    x->nodes_max = cloud_nodes_max(&x->program.cloud);
    x->trees = report_malloc(ranks * sizeof(*x->trees));
    x->missing = report_malloc(ranks * sizeof(*x->missing));
    x->far_ranks = report_malloc(ranks * sizeof(*x->far_ranks));
    open_host(x);
    bytes = x->nodes_max * sizeof(struct node);
    x->far = report_malloc((size_t)x->far_count * bytes);
    for (int i = 0; i < x->far_count; i++)
        x->trees[x->far_ranks[i]] = x->far + (size_t)i * x->nodes_max;
    x->pieces = (int)((bytes + PIECE_BYTES - 1) / PIECE_BYTES);
    requests = (size_t)(x->far_count * x->pieces);
    x->receives = report_malloc(requests * sizeof(*x->receives));
    x->sends = report_malloc(requests * sizeof(*x->sends));
    for (size_t i = 0; i < requests; i++)
        x->sends[i] = MPI_REQUEST_NULL;
    x->done = report_malloc(requests * sizeof(*x->done));
    x->statuses = report_malloc(requests * sizeof(*x->statuses));
}

static void close_exchange(struct exchange *x)
{
    MPI_Win_unlock_all(x->window);
    MPI_Win_free(&x->window);
    MPI_Comm_free(&x->host);
    free(x->trees);
    free(x->missing);
    free(x->far_ranks);
    free(x->far);
    free(x->receives);
    free(x->sends);
    free(x->done);
    free(x->statuses);
}

int main(int argc, char **argv)
{
    struct exchange x = {0};
    int status;

    status = program_start(&x.program, "octree_mpi", &argc, &argv);
    if (status >= 0)
        return status;
    open_exchange(&x);
    status = program_run(&x.program, look, end, &x);
    close_exchange(&x);
    MPI_Finalize();
    return status;
}
