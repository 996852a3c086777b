/*
 * rma_others HOW: the memory of others, when
 *
 *   threads    several threads of each rank use it at once
 *   children   the rank that has it starts other programs meanwhile
 *   exits      the rank that has it leaves without MPI_Finalize
 *   dies       the rank that has it is killed
 */
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include "native_check.h"
#include "tests/programs/rma_one.h"

#define THREADS  3
#define ROUNDS   60
#define CHILDREN 20
#define PART     (300 << 10) /* bytes of a thread: more than one piece */

extern char **environ;

/* What each rank lets others have. */
static struct board {
    int64_t sum, swaps;
    unsigned char parts[THREADS][PART]; /* of the threads of the rank before */
} board;

static uint64_t *places; /* of all ranks' boards */

static void share(void)
{
    places = malloc((size_t)check_ranks * sizeof(*places));
    CHECK(places);
    OK(rma_private_begin(&board, sizeof(board)));
    OK(rma_place_of(&board, sizeof(board), &places[check_rank]));
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, places, sizeof(*places), MPI_BYTE,
                  MPI_COMM_WORLD);
}

static uint64_t at(int rank, size_t offset)
{
    return places[rank] + offset;
}

/* --- Threads -------------------------------------------------------------- */

static void swap_up(int rank)
{
    int64_t old = 0, new, seen;

    for (;; old = seen) {
        new = old + 1;
        OK(rma_compare(rank, at(rank, offsetof(struct board, swaps)), RMA_INT64,
                       &old, &new, &seen));
        if (seen == old)
            return;
    }
}

static void *thread_main(void *number)
{
    const size_t mine = (size_t)(intptr_t)number;
    int next = (check_rank + 1) % check_ranks;
    uint64_t part = at(next, offsetof(struct board, parts) + mine * PART);
    unsigned char *bytes = malloc(PART), *seen = malloc(PART);
    int64_t one = 1, old;

    CHECK(bytes && seen);
    for (int i = 0; i < ROUNDS; i++) {
        int rank = (check_rank + i) % check_ranks;

        OK(rma_update(rank, at(rank, 0), RMA_INT64, RMA_SUM, &one,
                      i % 2 ? &old : NULL, 1));
        swap_up(rank);
        memset(bytes, i + (int)mine, PART);
        OK(write_one(next, part, bytes, PART));
        OK(read_one(next, part, seen, PART));
        CHECK(memcmp(bytes, seen, PART) == 0);
        OK(rma_update(next, part + 8, RMA_UINT8, RMA_NO_OP, NULL, seen + 8,
                      PART - 8));
        CHECK(memcmp(bytes, seen, PART) == 0);
    }
    free(bytes);
    free(seen);
    return NULL;
}

static void threads(void)
{
    pthread_t thread[THREADS];
    int64_t all;

    for (intptr_t i = 0; i < THREADS; i++)
        CHECK(!pthread_create(&thread[i], NULL, thread_main, (void *)i));
    for (int i = 0; i < THREADS; i++)
        CHECK(!pthread_join(thread[i], NULL));
    check_barrier();
    all = board.sum;
    CHECK(board.swaps == board.sum);
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == (int64_t)THREADS * ROUNDS * check_ranks);
}

/* --- Children ------------------------------------------------------------- */

/* Its memory is not this job's. */
static void child(void)
{
    int64_t one = 1;
    int rank = (check_rank + 1) % check_ranks;

    if (rma_update(rank, at(rank, 0), RMA_INT64, RMA_SUM, &one, NULL, 1) == 0 ||
        read_one(rank, at(rank, 0), &one, 8) == 0 ||
        rma_private_begin(&one, sizeof(one)) == 0 || one != 1)
        _exit(1);
    execl("/bin/true", "true", (char *)NULL);
    _exit(2);
}

static void ends_well(pid_t pid)
{
    int status;

    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void start_children(void)
{
    char *arguments[] = {(char[]){"true"}, NULL};

    for (int i = 0; i < CHILDREN; i++) {
        pid_t pid = fork();

        if (pid == 0)
            child();
        ends_well(pid);
        CHECK(!posix_spawn(&pid, "/bin/true", NULL, NULL, arguments, environ));
        ends_well(pid);
    }
}

/* All but the last ask that one until it says that it is through. */
static void children(void)
{
    int last = check_ranks - 1;
    int64_t one = 1, sums = 0, done = 0, word = 0;

    if (check_rank == last) {
        start_children();
        OK(write_one(last, at(last, offsetof(struct board, swaps)), &one, 8));
    }
    while (check_rank != last && !done) {
        OK(rma_update(last, at(last, 0), RMA_INT64, RMA_SUM, &one, NULL, 1));
        sums++;
        OK(write_one(last, at(last, offsetof(struct board, parts)), &sums, 1));
        OK(read_one(last, at(last, offsetof(struct board, swaps)), &done, 8));
    }
    MPI_Reduce(&sums, &word, 1, MPI_INT64_T, MPI_SUM, last, MPI_COMM_WORLD);
    CHECK(check_rank != last || board.sum == word);
}

/* --- The end of a rank ---------------------------------------------------- */

/* Until it does not work any more. */
static int ask_until_error(int rank)
{
    int64_t one = 1;
    int err;

    do {
        err = rma_update(rank, at(rank, 0), RMA_INT64, RMA_SUM, &one, NULL, 1);
        if (!err)
            err = write_one(rank, at(rank, offsetof(struct board, swaps)), &one,
                            8);
        if (!err)
            err = read_one(rank, at(rank, 0), &one, 8);
        one = 1;
    } while (!err);
    return err;
}

/* Not before all others ask. */
static void wait_for_asks(void)
{
    int64_t sum = 0;

    while (sum < 100 * (check_ranks - 1))
        OK(read_one(check_rank, at(check_rank, 0), &sum, 8));
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    int last, err;

    check_start_threads(&argc, &argv);
    last = check_ranks - 1;
    OK(rma_enter());
    share();
    if (!strcmp(how, "threads")) {
        threads();
    } else if (!strcmp(how, "children")) {
        children();
    } else if (check_rank == last) {
        wait_for_asks();
        if (!strcmp(how, "dies"))
            raise(SIGKILL);
        exit(0);
    } else {
        err = ask_until_error(last);
        printf("rank %d: %s\n", check_rank, drasync_errname(err));
        fflush(stdout);
        _exit(1); /* MPI_Finalize would wait for the other */
    }
    check_barrier();
    OK(rma_private_end(&board, sizeof(board)));
    return check_end(how);
}
