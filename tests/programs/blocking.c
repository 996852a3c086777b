/*
 * MPI's calls that wait, each while the rank that is waited for needs regions
 * of the one that waits: data, statuses and errors are as MPI says, whoever
 * tested the requests meanwhile.
 *
 * blocking             2 ranks or more, an even number of them
 */
#include <stdbool.h>

#include "native_check.h"

enum { TAG = 7, COUNT = 5, BIG = 300000 };

static int partner, needed;
static bool first; /* of the two; it waits, the partner makes it wait */
static drasync_region_t mine, theirs;
static uint64_t *counter; /* in the region of the first of each pair */

/* The other one's region is far away: its owner has to answer while it waits
 * in a call of MPI's. */
static void need_region(void)
{
    OK(drasync_acquire(theirs, DRASYNC_WRITE));
    ++*counter;
    needed++;
    OK(drasync_release(theirs));
}

static void pair_up(void)
{
    void *handles[2];

    partner = check_rank ^ 1;
    first = !(check_rank & 1);
    if (first) {
        OK(drasync_new_region(&mine));
        OK(drasync_alloc(mine, sizeof(*counter), (void **)&counter));
        *counter = 0;
        OK(drasync_release(mine));
        handles[0] = mine;
        handles[1] = counter;
        MPI_Send(handles, sizeof(handles), MPI_BYTE, partner, TAG,
                 MPI_COMM_WORLD);
    } else {
        MPI_Recv(handles, sizeof(handles), MPI_BYTE, partner, TAG,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        theirs = handles[0];
        counter = handles[1];
    }
}

static void is_status(const MPI_Status *status, int source, int tag, int count)
{
    int got;

    CHECK(status->MPI_SOURCE == source);
    CHECK(status->MPI_TAG == tag);
    MPI_Get_count(status, MPI_INT, &got);
    CHECK(got == count);
}

static void fill(int *data, int count, int seed)
{
    for (int i = 0; i < count; i++)
        data[i] = seed + i;
}

static void is_filled(const int *data, int count, int seed)
{
    for (int i = 0; i < count; i++)
        CHECK(data[i] == seed + i);
}

/* --- Messages ------------------------------------------------------------- */

/* Eager and by rendezvous, from a rank that comes late. */
static void receive(int count)
{
    int *data = calloc((size_t)count, sizeof(*data));
    MPI_Status status;

    CHECK(data);
    if (first) {
        CHECK(!MPI_Recv(data, count, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
                        MPI_COMM_WORLD, &status));
        is_status(&status, partner, TAG, count);
        is_filled(data, count, 11);
    } else {
        need_region();
        fill(data, count, 11);
        CHECK(!MPI_Send(data, count, MPI_INT, partner, TAG, MPI_COMM_WORLD));
    }
    free(data);
}

/* To a rank that receives late. */
static void send_late(int (*send)(const void *, int, MPI_Datatype, int, int,
                                  MPI_Comm),
                      int count)
{
    int *data = calloc((size_t)count, sizeof(*data));

    CHECK(data);
    if (first) {
        fill(data, count, 13);
        CHECK(!send(data, count, MPI_INT, partner, TAG, MPI_COMM_WORLD));
    } else {
        need_region();
        CHECK(!MPI_Recv(data, count, MPI_INT, partner, TAG, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
        is_filled(data, count, 13);
    }
    free(data);
}

static void probe(void)
{
    MPI_Status status;
    int data[COUNT], flag = 0;

    for (int tested = 0; tested < 2; tested++) {
        if (!first) {
            need_region();
            fill(data, COUNT, 17);
            MPI_Send(data, COUNT, MPI_INT, partner, TAG, MPI_COMM_WORLD);
            continue;
        }
        if (!tested)
            CHECK(!MPI_Probe(partner, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
        else
            while (!flag)
                CHECK(
                    !MPI_Iprobe(partner, TAG, MPI_COMM_WORLD, &flag, &status));
        is_status(&status, partner, TAG, COUNT);
        MPI_Recv(data, COUNT, MPI_INT, partner, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        is_filled(data, COUNT, 17);
    }
}

static void exchange(int with, int count)
{
    int *out = calloc((size_t)count, sizeof(*out));
    int *in = calloc((size_t)count, sizeof(*in));
    MPI_Status status;

    CHECK(out && in);
    if (!first && with == partner)
        need_region();
    fill(out, count, check_rank);
    CHECK(!MPI_Sendrecv(out, count, MPI_INT, with, TAG, in, count, MPI_INT,
                        with, TAG, MPI_COMM_WORLD, &status));
    is_status(&status, with, TAG, count);
    is_filled(in, count, with);
    free(out);
    free(in);
}

/* To nobody and from nobody. */
static void nobody(void)
{
    MPI_Status status;
    int data = 3, got = 4;

    CHECK(!MPI_Send(&data, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD));
    CHECK(!MPI_Recv(&data, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD,
                    &status));
    is_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    CHECK(!MPI_Probe(MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &status));
    is_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    CHECK(!MPI_Sendrecv(&data, 1, MPI_INT, first ? partner : MPI_PROC_NULL, TAG,
                        &got, 1, MPI_INT, first ? MPI_PROC_NULL : partner, TAG,
                        MPI_COMM_WORLD, &status));
    if (first)
        is_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    CHECK(data == 3 && got == (first ? 4 : 3));
}

/* --- Requests ------------------------------------------------------------- */

enum { REQUESTS = 4 };

/* Of the first: REQUESTS receives, of which none has come yet.  Of the
 * partner: the messages, once it had the region. */
static void begin_receives(int data[REQUESTS], MPI_Request requests[REQUESTS])
{
    for (int i = 0; i < REQUESTS; i++) {
        if (first) {
            data[i] = -1;
            MPI_Irecv(&data[i], 1, MPI_INT, partner, TAG + i, MPI_COMM_WORLD,
                      &requests[i]);
        } else {
            need_region();
            data[i] = 100 + i;
            MPI_Send(&data[i], 1, MPI_INT, partner, TAG + i, MPI_COMM_WORLD);
        }
    }
}

static void wait_one(bool test)
{
    MPI_Request requests[REQUESTS];
    int data[REQUESTS];
    MPI_Status status;

    begin_receives(data, requests);
    for (int i = REQUESTS - 1; first && i >= 0; i--) {
        int flag = 0;

        if (!test)
            CHECK(!MPI_Wait(&requests[i], &status));
        else
            while (!flag)
                CHECK(!MPI_Test(&requests[i], &flag, &status));
        is_status(&status, partner, TAG + i, 1);
        CHECK(data[i] == 100 + i);
        CHECK(requests[i] == MPI_REQUEST_NULL);
        CHECK(!MPI_Wait(&requests[i], &status)); /* inactive: empty */
        is_status(&status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    }
}

static void wait_all(bool test)
{
    MPI_Request requests[REQUESTS];
    MPI_Status statuses[REQUESTS];
    int data[REQUESTS], flag = 0;

    begin_receives(data, requests);
    if (!first)
        return;
    if (!test)
        CHECK(!MPI_Waitall(REQUESTS, requests, statuses));
    else
        while (!flag)
            CHECK(!MPI_Testall(REQUESTS, requests, &flag, statuses));
    for (int i = 0; i < REQUESTS; i++) {
        is_status(&statuses[i], partner, TAG + i, 1);
        CHECK(data[i] == 100 + i && requests[i] == MPI_REQUEST_NULL);
    }
    CHECK(!MPI_Waitall(0, requests, statuses));
    CHECK(!MPI_Waitall(REQUESTS, requests, statuses));
}

static void wait_any(bool test)
{
    MPI_Request requests[REQUESTS];
    int data[REQUESTS], seen = 0, index;
    MPI_Status status;

    begin_receives(data, requests);
    for (int n = 0; first && n < REQUESTS; n++) {
        int flag = 0;

        if (!test)
            CHECK(!MPI_Waitany(REQUESTS, requests, &index, &status));
        else
            while (!flag)
                CHECK(!MPI_Testany(REQUESTS, requests, &index, &flag, &status));
        CHECK(index >= 0 && index < REQUESTS && !(seen & 1 << index));
        seen |= 1 << index;
        is_status(&status, partner, TAG + index, 1);
        CHECK(data[index] == 100 + index);
    }
    if (!first)
        return;
    index = 0;
    CHECK(!MPI_Waitany(REQUESTS, requests, &index, &status));
    CHECK(index == MPI_UNDEFINED);
}

static void wait_some(bool test)
{
    MPI_Request requests[REQUESTS];
    int data[REQUESTS], indices[REQUESTS], seen = 0, count;
    MPI_Status statuses[REQUESTS];

    begin_receives(data, requests);
    while (first && seen != (1 << REQUESTS) - 1) {
        count = 0;
        if (!test)
            CHECK(!MPI_Waitsome(REQUESTS, requests, &count, indices, statuses));
        while (!count)
            CHECK(!MPI_Testsome(REQUESTS, requests, &count, indices, statuses));
        CHECK(count > 0 && count <= REQUESTS);
        for (int i = 0; i < count; i++) {
            CHECK(!(seen & 1 << indices[i]));
            seen |= 1 << indices[i];
            is_status(&statuses[i], partner, TAG + indices[i], 1);
            CHECK(data[indices[i]] == 100 + indices[i]);
        }
    }
    if (!first)
        return;
    CHECK(!MPI_Waitsome(REQUESTS, requests, &count, indices, statuses));
    CHECK(count == MPI_UNDEFINED);
}

/* --- Errors --------------------------------------------------------------- */

static int class_of(int err)
{
    int class;

    MPI_Error_class(err, &class);
    return class;
}

/* With MPI_ERRORS_RETURN they are the call's, and the request's. */
static void errors(void)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int data[2 * COUNT] = {0};

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Send(data, 1, MPI_INT, check_ranks, TAG,
                            MPI_COMM_WORLD)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Recv(data, -1, MPI_INT, partner, TAG, MPI_COMM_WORLD,
                            MPI_STATUS_IGNORE)) == MPI_ERR_COUNT);
    CHECK(class_of(MPI_Bcast(data, 1, MPI_INT, check_ranks, MPI_COMM_WORLD)) ==
          MPI_ERR_ROOT);
    if (first) {
        CHECK(class_of(MPI_Recv(data, 1, MPI_INT, partner, TAG, MPI_COMM_WORLD,
                                MPI_STATUS_IGNORE)) == MPI_ERR_TRUNCATE);
        MPI_Irecv(data, COUNT, MPI_INT, partner, TAG, MPI_COMM_WORLD,
                  &requests[0]);
        MPI_Irecv(data + COUNT, 1, MPI_INT, partner, TAG, MPI_COMM_WORLD,
                  &requests[1]);
        CHECK(class_of(MPI_Waitall(2, requests, statuses)) ==
              MPI_ERR_IN_STATUS);
        CHECK(class_of(statuses[1].MPI_ERROR) == MPI_ERR_TRUNCATE);
    } else {
        for (int i = 0; i < 3; i++) {
            need_region();
            MPI_Send(data, COUNT, MPI_INT, partner, TAG, MPI_COMM_WORLD);
        }
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* --- Collectives ---------------------------------------------------------- */

static void sums(MPI_Comm comm, int rank, int ranks)
{
    int one = rank + 1, sum = 0, wanted = ranks * (ranks + 1) / 2;

    CHECK(!MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == wanted);
    CHECK(!MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_SUM, comm));
    CHECK(one == wanted);
    one = rank + 1;
    sum = -1;
    CHECK(!MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 0, comm));
    CHECK(sum == (rank == 0 ? wanted : -1));
    CHECK(!MPI_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == (rank + 1) * (rank + 2) / 2);
}

static void gathers(MPI_Comm comm, int rank, int ranks)
{
    int *all = calloc((size_t)ranks, sizeof(*all));
    int *counts = calloc((size_t)ranks, sizeof(*counts));
    int *at = calloc((size_t)ranks, sizeof(*at));
    int value = rank;

    CHECK(all && counts && at);
    for (int i = 0; i < ranks; i++) {
        counts[i] = 1;
        at[i] = i;
    }
    CHECK(!MPI_Allgather(&value, 1, MPI_INT, all, 1, MPI_INT, comm));
    is_filled(all, ranks, 0);
    memset(all, 0, (size_t)ranks * sizeof(*all));
    CHECK(!MPI_Allgatherv(&value, 1, MPI_INT, all, counts, at, MPI_INT, comm));
    is_filled(all, ranks, 0);
    CHECK(!MPI_Gather(&value, 1, MPI_INT, all, 1, MPI_INT, 0, comm));
    CHECK(!MPI_Gatherv(&value, 1, MPI_INT, all, counts, at, MPI_INT, 0, comm));
    is_filled(all, ranks, 0);
    fill(all, ranks, 50);
    CHECK(!MPI_Scatter(all, 1, MPI_INT, &value, 1, MPI_INT, 0, comm));
    CHECK(value == 50 + rank);
    value = 0;
    CHECK(!MPI_Scatterv(all, counts, at, MPI_INT, &value, 1, MPI_INT, 0, comm));
    CHECK(value == 50 + rank);
    free(all);
    free(counts);
    free(at);
}

static void alltoalls(MPI_Comm comm, int rank, int ranks)
{
    int *out = calloc((size_t)ranks, sizeof(*out));
    int *in = calloc((size_t)ranks, sizeof(*in));
    int *counts = calloc((size_t)ranks, sizeof(*counts));
    int *at = calloc((size_t)ranks, sizeof(*at));

    CHECK(out && in && counts && at);
    for (int i = 0; i < ranks; i++) {
        out[i] = rank * ranks + i;
        counts[i] = 1;
        at[i] = i;
    }
    CHECK(!MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm));
    for (int i = 0; i < ranks; i++)
        CHECK(in[i] == i * ranks + rank);
    memset(in, 0, (size_t)ranks * sizeof(*in));
    CHECK(!MPI_Alltoallv(out, counts, at, MPI_INT, in, counts, at, MPI_INT,
                         comm));
    for (int i = 0; i < ranks; i++)
        CHECK(in[i] == i * ranks + rank);
    free(out);
    free(in);
    free(counts);
    free(at);
}

/* All of them, the second of each pair late. */
static void collectives(MPI_Comm comm)
{
    int rank, ranks, value;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    if (!first)
        need_region();
    CHECK(!MPI_Barrier(comm));
    if (!first)
        need_region();
    value = rank == 1 ? 42 : 0;
    CHECK(!MPI_Bcast(&value, 1, MPI_INT, 1, comm));
    CHECK(value == 42);
    if (!first)
        need_region();
    sums(comm, rank, ranks);
    gathers(comm, rank, ranks);
    if (!first)
        need_region();
    alltoalls(comm, rank, ranks);
}

/* --- All ------------------------------------------------------------------ */

static void all_collectives(void)
{
    MPI_Comm copy, backwards;

    collectives(MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    collectives(copy);
    MPI_Comm_free(&copy);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &backwards);
    collectives(backwards);
    MPI_Comm_free(&backwards);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    CHECK(check_ranks % 2 == 0);
    pair_up();
    receive(COUNT);
    receive(BIG);
    send_late(MPI_Send, BIG);
    send_late(MPI_Ssend, COUNT);
    probe();
    exchange(partner, COUNT);
    exchange(partner, BIG);
    exchange(check_rank, BIG);
    nobody();
    for (int test = 0; test < 2; test++) {
        wait_one(test);
        wait_all(test);
        wait_any(test);
        wait_some(test);
    }
    errors();
    all_collectives();
    MPI_Sendrecv_replace(&needed, 1, MPI_INT, partner, TAG, partner, TAG,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (first) {
        OK(drasync_acquire(mine, DRASYNC_READ));
        CHECK(needed > 50 && *counter == (uint64_t)needed);
        OK(drasync_release(mine));
        OK(drasync_delete(mine));
    }
    return check_end("blocking");
}
