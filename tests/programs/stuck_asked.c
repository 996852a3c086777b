/*
 * As stuck.c: rank 1 makes a call that only waits for another node's answer, and
 * the process of that node is stopped; with "trips" it is not.  Each rank is a
 * node.
 */
#include <signal.h>
#include <string.h>

#include "tests/programs/stuck.h"

/* Reports name it, so it is neither inlined nor cloned. */
void asked(const char *what);
void trips(void);

static region tree;
static drasync_weak_t weak;

/* Rank @maker's, managed, named; all have a weak handle of it. */
static void managed_region(int maker)
{
    if (rank == maker) {
        tree = new_region();
        must(drasync_manage(tree), "manage");
        must(drasync_weak(tree, &weak), "weak");
        must(drasync_publish("tree", tree), "publish");
        release_region(tree);
    }
    MPI_Bcast(&weak, sizeof(weak), MPI_BYTE, maker, MPI_COMM_WORLD);
}

static int is_stopped(pid_t process)
{
    char path[64], state = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)process);
    file = fopen(path, "r");
    if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        state = 0;
    if (file)
        fclose(file);
    return state == 'T';
}

/* Rank @deaf stops until the file is there; 0 for it, when it goes on. */
static void stop(int deaf)
{
    pid_t process = getpid();

    MPI_Bcast(&process, sizeof(process), MPI_BYTE, deaf, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == deaf) {
        /* Nobody needs it to get out of these any more. */
        for (int i = 0; i < ranks; i++)
            if (i != deaf)
                MPI_Recv(NULL, 0, MPI_BYTE, i, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
        raise(SIGSTOP);
        return;
    }
    MPI_Send(NULL, 0, MPI_BYTE, deaf, 0, MPI_COMM_WORLD);
    while (!is_stopped(process))
        usleep(10000);
    if (rank == 1)
        return;
    until_over();
    kill(process, SIGCONT);
}

__attribute__((noinline)) void asked(const char *what)
{
    if (!strcmp(what, "weak-lock"))
        must(drasync_weak_lock(&weak, &tree), "weak_lock");
    else if (!strcmp(what, "give"))
        must(drasync_ref_give(tree, 2), "ref_give");
    else if (!strcmp(what, "delete"))
        delete_region(tree);
    else
        must(drasync_publish("name", tree), "publish");
    printf("rank %d got on\n", rank); /* no tail call */
}

/* Round trips to rank 2's node, which gets all that it needs to answer by itself. */
__attribute__((noinline)) void trips(void)
{
    region own = new_region(), far[10] = {NULL};

    for (int i = 0; i < 10 && rank == 2; i++) {
        far[i] = new_region();
        release_region(far[i]);
    }
    MPI_Bcast(far, sizeof(far), MPI_BYTE, 2, MPI_COMM_WORLD);
    if (rank == 1)
        must(drasync_manage(own), "manage");
    for (int i = 0; i < 10 && rank == 1; i++) {
        must(drasync_weak_lock(&weak, &tree), "weak_lock");
        must(drasync_unref(tree), "unref");
        must(drasync_ref(own), "ref");
        must(drasync_ref_give(own, 2), "ref_give");
        must(drasync_delete(far[i]), "delete");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    const char *what = started(&argc, &argv);

    if (!strcmp(what, "weak-lock") || !strcmp(what, "trips"))
        managed_region(2);
    else if (!strcmp(what, "give"))
        managed_region(1);
    else
        tree = shared_region("tree", strcmp(what, "delete") ? 1 : 2);
    if (!strcmp(what, "trips")) {
        trips();
    } else {
        stop(strcmp(what, "publish") ? 2 : 0);
        if (rank == 1)
            asked(what);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
