/*
 * Runs under way when a rank ends.  FORM run, irun, ff: rank 0, which has the
 * region, dies with it held.  left: they are left for MPI_Finalize.  exit: rank
 * 1 exits without it, with runs under way.  leave: the function calls exit(0).
 */
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "native_check.h"

static int say(drasync_region_t region, const void *arg, size_t bytes,
               void *answer, size_t answer_bytes)
{
    (void)region;
    (void)arg;
    (void)bytes;
    (void)answer;
    (void)answer_bytes;
    printf("rank %d: ran\n", check_rank);
    fflush(stdout);
    return 5;
}

static int leave(drasync_region_t region, const void *arg, size_t bytes,
                 void *answer, size_t answer_bytes)
{
    (void)region;
    (void)arg;
    (void)bytes;
    (void)answer;
    (void)answer_bytes;
    exit(0);
}

static int run_as(const char *form, drasync_region_t region,
                  drasync_function_t f)
{
    drasync_request_t request;
    int err;

    if (!strcmp(form, "run"))
        return drasync_run(region, f, DRASYNC_WRITE, NULL, 0, NULL, 0);
    if (!strcmp(form, "irun")) {
        err =
            drasync_irun(region, f, DRASYNC_WRITE, NULL, 0, NULL, 0, &request);
        return err ? err : drasync_wait(&request, DRASYNC_FOREVER);
    }
    err = drasync_run_ff(region, f, DRASYNC_WRITE, NULL, 0);
    return err ? err : drasync_run_flush();
}

/* Wait for the end of rank 1, whose launcher reaps it. */
static void wait_for_end(pid_t pid)
{
    while (!kill(pid, 0))
        usleep(1000);
}

int main(int argc, char **argv)
{
    const char *form = argc > 1 ? argv[1] : "run";
    bool ends = !strcmp(form, "left"), exits = !strcmp(form, "exit"),
         leaves = !strcmp(form, "leave");
    drasync_region_t region = NULL;
    drasync_function_t f;
    int pid = getpid();

    check_start(&argc, &argv);
    OK(drasync_register("say", leaves ? leave : say, &f));
    if (check_rank == 0) {
        OK(drasync_new_region(&region));
        if (ends || leaves)
            OK(drasync_release(region));
    }
    check_share(&region, 0);
    check_barrier();
    if (ends) {
        if (check_rank == 0)
            OK(drasync_run_ff(region, f, DRASYNC_WRITE, NULL, 0));
        MPI_Finalize();
        return 0;
    }
    if (leaves) {
        if (check_rank == 1)
            drasync_run(region, f, DRASYNC_WRITE, NULL, 0, NULL, 0);
        MPI_Finalize();
        return 0;
    }
    if (exits) {
        MPI_Bcast(&pid, 1, MPI_INT, 1, MPI_COMM_WORLD);
        if (check_rank == 1) {
            OK(drasync_run_ff(region, f, DRASYNC_WRITE, NULL, 0));
            exit(3);
        }
        OK(drasync_release(region));
        wait_for_end(pid);
        _exit(0);
    }
    if (check_rank == 0) {
        /*
         * Let the run arrive and wait for the hold, as a rule.  Nothing tells
         * its owner of that; where the owner dies first, the same must be said.
         */
        usleep(200000);
        raise(SIGKILL);
    }
    printf("rank %d: %s\n", check_rank,
           drasync_errname(run_as(form, region, f)));
    fflush(stdout);
    _exit(1);
}
