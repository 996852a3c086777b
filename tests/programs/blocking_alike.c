/*
 * MPI's calls that wait, where MPI_Test and its like behave otherwise than they
 * do: the programs see no difference.
 *
 * blocking_alike             2 ranks
 */
#include "native_check.h"

enum { TAG = 7, MANY = 80 };

/* An error is that of the communicator's handler, not of MPI_COMM_WORLD's. */
static void errors_of_own(void)
{
    int data[4] = {0}, err;
    MPI_Comm own;

    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    if (check_rank == 1) {
        MPI_Send(data, 4, MPI_INT, 0, TAG, own);
    } else {
        err = MPI_Recv(data, 1, MPI_INT, 1, TAG, own, MPI_STATUS_IGNORE);
        MPI_Error_class(err, &err);
        CHECK(err == MPI_ERR_TRUNCATE);
    }
    MPI_Comm_free(&own);
}

static MPI_Comm called_with;

static void note(MPI_Comm *comm, int *err, ...)
{
    (void)err;
    called_with = *comm;
}

/* And its own function is called with it. */
static void handler_of_own(void)
{
    MPI_Errhandler handler;
    int data[4] = {0};
    MPI_Comm own;

    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    MPI_Comm_create_errhandler(note, &handler);
    MPI_Comm_set_errhandler(own, handler);
    if (check_rank == 1) {
        MPI_Send(data, 4, MPI_INT, 0, TAG, own);
    } else {
        MPI_Recv(data, 1, MPI_INT, 1, TAG, own, MPI_STATUS_IGNORE);
        CHECK(called_with == own);
    }
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&own);
}

/* Requests of several kinds, more than MPICH looks at in one go. */
static void many(void)
{
    /* As gcc takes MPICH's constant for an array of none. */
    MPI_Status *volatile none = MPI_STATUSES_IGNORE;
    MPI_Request requests[MANY];
    int data[MANY];

    MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
    for (int i = 1; i < MANY; i++) {
        data[i] = check_rank ? i : 0;
        if (check_rank)
            MPI_Isend(&data[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Irecv(&data[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &requests[i]);
    }
    CHECK(!MPI_Waitall(MANY, requests, none));
    for (int i = 1; i < MANY; i++)
        CHECK(data[i] == i && requests[i] == MPI_REQUEST_NULL);
}

/* A collective call of many elements, where the others need fewer. */
static void large(void)
{
#if MPI_VERSION >= 4
    const MPI_Count counts[2] = {1, 1};
    const MPI_Aint places[2] = {0, 1};
    int sent, all[2] = {0};

    for (int root = 0; root < 2; root++) {
        sent = check_rank == root ? 40 + root : 0;
        if (check_rank == 0)
            MPI_Bcast_c(&sent, 1, MPI_INT, root, MPI_COMM_WORLD);
        else
            MPI_Bcast(&sent, 1, MPI_INT, root, MPI_COMM_WORLD);
        CHECK(sent == 40 + root);
    }
    sent = check_rank + 1;
    if (check_rank == 0)
        MPI_Gatherv_c(&sent, 1, MPI_INT, all, counts, places, MPI_INT, 0,
                      MPI_COMM_WORLD);
    else
        MPI_Gatherv(&sent, 1, MPI_INT, NULL, NULL, NULL, MPI_INT, 0,
                    MPI_COMM_WORLD);
    CHECK(check_rank || (all[0] == 1 && all[1] == 2));
#endif
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    OK(drasync_init());
    CHECK(check_ranks == 2);
    errors_of_own();
    handler_of_own();
    many();
    large();
    return check_end("blocking_alike");
}
