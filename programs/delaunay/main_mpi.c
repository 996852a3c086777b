/*
 * Delaunay triangulation by message passing.
 *
 * All triangles of a host lie in one array, a window that its ranks share.  The
 * array is laid out alike on every host, with a slot for each rank, so pointers
 * between triangles become those of another rank by adding a constant: the
 * distance of the addresses at which the two have the array.
 *
 * A rank that is done with a cell adds that constant to the pointers in it.  To
 * another host the triangles go from where they are to where they will be, in
 * pieces, the next one being moved over while some are under way.  Ahead of
 * them goes a message with what joining begins with, the points that wait: the
 * triangles arrive while those points are triangulated.
 */
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/report.h"
#include "program.h"

/* A cell comes in a message of its own, with this and its level as the tag. */
#define TAG_TRIANGLES 1
#define TAG_CELLS     2

/* Triangles go in messages of so many, about 512 KiB, so many under way. */
#define PIECE_TRIANGLES 8192
#define PIECES_SENT     4

struct worker {
    struct store store; /* first: the store is cast to its worker */
    struct program program;
    MPI_Comm host;
    MPI_Win window;
    struct triangle *triangles; /* the array, here */
    uint64_t *arrays;           /* where each rank has it */
    size_t *slots;              /* where that of each rank begins; the end */
    uint64_t *used; /* triangles in each, of the ranks whose cells are here */
    int *on_host;   /* each rank: 1 if it is */
    MPI_Request *incoming; /* triangles of the cells that are to be joined */
    int incoming_count, incoming_room;
};

static void fail(const struct worker *worker, const char *what)
{
    fprintf(stderr, "%s: worker %d: %s\n", worker->program.name,
            worker->program.worker, what);
    MPI_Abort(MPI_COMM_WORLD, EXIT_INPUT);
}

/* --- The store ----------------------------------------------------------- */

static void *list_alloc(struct store *store, size_t size_bytes)
{
    (void)store;
    return report_malloc(size_bytes);
}

static void triangles_alloc(struct store *store, size_t size_bytes, int count,
                            void **objects)
{
    struct worker *worker = (struct worker *)store;
    int rank = worker->program.worker, i;
    size_t at = worker->slots[rank] + worker->used[rank];

    if (size_bytes != sizeof(struct triangle) ||
        at + (size_t)count > worker->slots[rank + 1])
        fail(worker, "more triangles than its points can have");
    for (i = 0; i < count; i++)
        objects[i] = &worker->triangles[at + (size_t)i];
    worker->used[rank] += (uint64_t)count;
}

/* Triangles stay: a slot has room for all that are ever made. */
static void list_free(struct store *store, void *object)
{
    const struct worker *worker = (struct worker *)store;
    const struct triangle *end =
        worker->triangles + worker->slots[worker->program.workers];

    if ((uintptr_t)object < (uintptr_t)worker->triangles ||
        (uintptr_t)object >= (uintptr_t)end)
        free(object);
}

/* --- The quadtree -------------------------------------------------------- */

/* The worker of the first leaf under node @index of @level. */
static int worker_of(const struct program *program, int level, int index)
{
    return index * partition_span(level) / program->leaves;
}

/* How many workers have leaves under a node of @level. */
static int workers_under(const struct program *program, int level)
{
    int workers = partition_span(level) / program->leaves;

    return workers ? workers : 1;
}

/* --- Handing cells over -------------------------------------------------- */

static size_t cell_bytes(const struct cell *cell)
{
    return sizeof(*cell) + cell->open_count * sizeof(cell->open[0]) +
           cell->waiting_count * sizeof(cell->waiting[0]);
}

static char *put(char *to, const void *data, size_t size_bytes)
{
    if (size_bytes)
        memcpy(to, data, size_bytes);
    return to + size_bytes;
}

static void move_pointer(struct triangle **t, uint64_t by)
{
    *t = (struct triangle *)((uintptr_t)*t + by);
}

/*
 * The message that goes ahead: how many triangles are in the slots of @ranks
 * workers from this one on, and @count cells, whose lists are freed.
 */
static char *pack(const struct worker *worker, struct cell *cells, int count,
                  int ranks, uint64_t by, int *size_out)
{
    size_t used_bytes = (size_t)ranks * sizeof(worker->used[0]);
    size_t size = used_bytes, i;
    char *message, *to;
    int c;

    for (c = 0; c < count; c++)
        size += cell_bytes(&cells[c]);
    if (size > INT_MAX)
        fail(worker, "too many points wait for one message: use more workers");
    message = report_malloc(size);
    to = put(message, &worker->used[worker->program.worker], used_bytes);
    for (c = 0; c < count; c++) {
        struct cell *cell = &cells[c];

        for (i = 0; i < cell->open_count; i++)
            move_pointer(&cell->open[i], by);
        to = put(to, cell, sizeof(*cell));
        to = put(to, cell->open, cell->open_count * sizeof(cell->open[0]));
        to = put(to, cell->waiting,
                 cell->waiting_count * sizeof(cell->waiting[0]));
        free(cell->open);
        free(cell->waiting);
    }
    *size_out = (int)size;
    return message;
}

/* Move the pointers of the triangles of these workers over, and send them. */
static void send_triangles(struct worker *worker, int ranks, uint64_t by,
                           int parent)
{
    MPI_Request sent[PIECES_SENT];
    int first = worker->program.worker, next = 0, rank, k;
    size_t at, end, i;

    for (k = 0; k < PIECES_SENT; k++)
        sent[k] = MPI_REQUEST_NULL;
    for (rank = first; rank < first + ranks; rank++) {
        at = worker->slots[rank];
        for (end = at + worker->used[rank]; at < end; at += PIECE_TRIANGLES) {
            struct triangle *piece = &worker->triangles[at];
            size_t count = end - at;

            if (count > PIECE_TRIANGLES)
                count = PIECE_TRIANGLES;
            for (i = 0; i < count; i++)
                for (k = 0; k < 3; k++)
                    move_pointer(&piece[i].neighbour[k], by);
            if (worker->on_host[parent])
                continue;
            MPI_Wait(&sent[next], MPI_STATUS_IGNORE);
            MPI_Isend(piece, (int)(count * sizeof(*piece)), MPI_BYTE, parent,
                      TAG_TRIANGLES, MPI_COMM_WORLD, &sent[next]);
            next = (next + 1) % PIECES_SENT;
        }
    }
    if (worker->on_host[parent]) {
        MPI_Win_sync(worker->window);
        MPI_Isend(NULL, 0, MPI_BYTE, parent, TAG_TRIANGLES, MPI_COMM_WORLD,
                  &sent[0]);
    }
    for (k = 0; k < PIECES_SENT; k++)
        MPI_Wait(&sent[k], MPI_STATUS_IGNORE);
}

/* Hand this worker's @count cells of @level over to the @parent. */
static void send_cells(struct worker *worker, int level, struct cell *cells,
                       int count, int parent)
{
    uint64_t by =
        worker->arrays[parent] - (uint64_t)(uintptr_t)worker->triangles;
    int ranks = workers_under(&worker->program, level), size;
    char *message = pack(worker, cells, count, ranks, by, &size);
    MPI_Request request;

    MPI_Isend(message, size, MPI_BYTE, parent, TAG_CELLS + level,
              MPI_COMM_WORLD, &request);
    send_triangles(worker, ranks, by, parent);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(message);
}

static void receive(struct worker *worker, void *to, size_t size_bytes,
                    int from)
{
    if (worker->incoming_count == worker->incoming_room) {
        worker->incoming_room = 2 * worker->incoming_room + 64;
        worker->incoming =
            report_realloc(worker->incoming, (size_t)worker->incoming_room *
                                                 sizeof(worker->incoming[0]));
    }
    MPI_Irecv(to, (int)size_bytes, MPI_BYTE, from, TAG_TRIANGLES,
              MPI_COMM_WORLD, &worker->incoming[worker->incoming_count++]);
}

/* Begin to receive the triangles in the slots of @ranks workers. */
static void receive_triangles(struct worker *worker, int from, int ranks)
{
    size_t at, end, count;
    int rank;

    if (worker->on_host[from]) {
        receive(worker, NULL, 0, from); /* they are there when it comes */
        return;
    }
    for (rank = from; rank < from + ranks; rank++) {
        at = worker->slots[rank];
        for (end = at + worker->used[rank]; at < end; at += PIECE_TRIANGLES) {
            count = end - at < PIECE_TRIANGLES ? end - at : PIECE_TRIANGLES;
            receive(worker, &worker->triangles[at],
                    count * sizeof(*worker->triangles), from);
        }
    }
}

static const char *take(const char *from, void *data, size_t size_bytes)
{
    memcpy(data, from, size_bytes);
    return from + size_bytes;
}

/* A list of the cell, or NULL if it has none. */
static const char *take_list(const char *from, void *list_out,
                             size_t size_bytes)
{
    void *list = size_bytes ? report_malloc(size_bytes) : NULL;

    memcpy(list_out, &list, sizeof(list));
    return size_bytes ? take(from, list, size_bytes) : from;
}

/* Receive @count cells of @level from whoever is first with them. */
static void receive_cells(struct worker *worker, int level, int first,
                          int count, struct cell *cells)
{
    int ranks = workers_under(&worker->program, level), size, source, c;
    char *message;
    const char *at;
    MPI_Message matched;
    MPI_Status status;

    MPI_Mprobe(MPI_ANY_SOURCE, TAG_CELLS + level, MPI_COMM_WORLD, &matched,
               &status);
    MPI_Get_count(&status, MPI_BYTE, &size);
    message = report_malloc((size_t)size);
    MPI_Mrecv(message, size, MPI_BYTE, &matched, MPI_STATUS_IGNORE);
    source = status.MPI_SOURCE;
    at = take(message, &worker->used[source],
              (size_t)ranks * sizeof(worker->used[0]));
    receive_triangles(worker, source, ranks);
    cells += (source - first) / ranks * count;
    for (c = 0; c < count; c++) {
        struct cell *cell = &cells[c];

        at = take(at, cell, sizeof(*cell));
        at = take_list(at, &cell->open,
                       cell->open_count * sizeof(cell->open[0]));
        at = take_list(at, &cell->waiting,
                       cell->waiting_count * sizeof(cell->waiting[0]));
    }
    free(message);
}

/* --- Work ---------------------------------------------------------------- */

/* Join the four cells of which this worker has the first @mine. */
static void join_cells(struct worker *worker, int level, struct cell cells[4],
                       int mine, struct cell *joined)
{
    struct cell *children[4];
    struct join join;
    int c;

    for (c = mine; c < 4; c += mine)
        receive_cells(worker, level - 1, worker->program.worker, mine, cells);
    for (c = 0; c < 4; c++)
        children[c] = &cells[c];
    program_join_begin(&worker->program, level, &join, joined, &worker->store,
                       children);
    while (worker->incoming_count > 0)
        MPI_Wait(&worker->incoming[--worker->incoming_count],
                 MPI_STATUS_IGNORE);
    MPI_Win_sync(worker->window);
    program_join_end(&worker->program, level, &join, joined, &worker->store,
                     children);
}

static int run(struct worker *worker)
{
    struct program *program = &worker->program;
    struct cell cells[4], joined;
    int rank = program->worker, count = program->leaves, level = 0, c, parent;
    int status;

    for (c = 0; c < count; c++)
        program_leaf(program, rank * count + c, &cells[c], &worker->store);
    for (; level < program->levels; level++) {
        parent = worker_of(program, level + 1,
                           rank * program->leaves / partition_span(level + 1));
        if (parent != rank) {
            send_cells(worker, level, cells, count, parent);
            return program_status(program);
        }
        join_cells(worker, level + 1, cells, count, &joined);
        cells[0] = joined;
        count = 1;
    }
    MPI_Pcontrol(0);
    status = program_result(program, &cells[0]);
    free(cells[0].open);
    free(cells[0].waiting);
    return status;
}

/* --- The whole ----------------------------------------------------------- */

/*
 * Each slot has room for what its rank may make: of so many points twice as
 * many triangles, in each leaf and in each join.  Room costs nothing until it
 * is used.
 */
static void lay_out(struct worker *worker)
{
    struct program *program = &worker->program;
    uint64_t count = program->count; /* 0 if it could not read its input */
    size_t room, at = 0;
    int rank, level;

    MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_UINT64_T, MPI_MAX,
                  MPI_COMM_WORLD);
    room = 2 * count + 2 * POOL_BATCH;
    for (rank = 0; rank < program->workers; rank++) {
        worker->slots[rank] = at;
        at += room * (size_t)program->leaves;
        for (level = 1; level <= program->levels; level++)
            if (rank * program->leaves % partition_span(level) == 0)
                at += room;
    }
    worker->slots[rank] = at;
}

/* The array in a window of this host, and who else is here. */
static void open_array(struct worker *worker)
{
    int workers = worker->program.workers, rank, on_host, unit;
    MPI_Group all, host;
    uint64_t mine;
    MPI_Aint bytes;
    void *base;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &worker->host);
    MPI_Comm_rank(worker->host, &rank);
    bytes = (MPI_Aint)(worker->slots[workers] * sizeof(struct triangle));
    MPI_Win_allocate_shared(rank == 0 ? bytes : 0, 1, MPI_INFO_NULL,
                            worker->host, &base, &worker->window);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, worker->window);
    MPI_Win_shared_query(worker->window, 0, &bytes, &unit, &base);
    worker->triangles = base;
    mine = (uint64_t)(uintptr_t)base;
    MPI_Allgather(&mine, 1, MPI_UINT64_T, worker->arrays, 1, MPI_UINT64_T,
                  MPI_COMM_WORLD);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(worker->host, &host);
    for (rank = 0; rank < workers; rank++) {
        MPI_Group_translate_ranks(all, 1, &rank, host, &on_host);
        worker->on_host[rank] = on_host != MPI_UNDEFINED;
    }
    MPI_Group_free(&all);
    MPI_Group_free(&host);
}

static void open_worker(struct worker *worker)
{
    size_t workers = (size_t)worker->program.workers;

    worker->store = (struct store){list_alloc, triangles_alloc, list_free};
    worker->arrays = report_malloc(workers * sizeof(worker->arrays[0]));
    worker->slots = report_malloc((workers + 1) * sizeof(worker->slots[0]));
    worker->used = report_malloc(workers * sizeof(worker->used[0]));
    worker->on_host = report_malloc(workers * sizeof(worker->on_host[0]));
    memset(worker->used, 0, workers * sizeof(worker->used[0]));
    lay_out(worker);
    open_array(worker);
}

static void close_worker(struct worker *worker)
{
    MPI_Win_unlock_all(worker->window);
    MPI_Win_free(&worker->window);
    MPI_Comm_free(&worker->host);
    free(worker->arrays);
    free(worker->slots);
    free(worker->used);
    free(worker->on_host);
    free(worker->incoming);
}

int main(int argc, char **argv)
{
    struct worker worker = {0};
    int status, rank, workers;

    status = program_options(&worker.program, "delaunay_mpi", argc, argv);
    if (status >= 0)
        return status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &workers);
    status = program_input(&worker.program, rank, workers, 2);
    if (status == 0) {
        open_worker(&worker);
        MPI_Barrier(MPI_COMM_WORLD);
        worker.program.start_seconds = report_now_seconds();
        MPI_Pcontrol(1); /* for profilers: what is timed begins */
        status = run(&worker);
        close_worker(&worker);
    }
    program_free(&worker.program);
    MPI_Finalize();
    return status;
}
