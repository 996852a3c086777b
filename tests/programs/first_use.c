/*
 * A program that never mentions MPI: the first call starts it.  It is not
 * linked to MPI either.
 *
 *   first_use [finalize|fork|fork_fig1|fail]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "drasync.h"

static int expect(int got, int wanted, const char *what)
{
    if (got == wanted)
        return 0;
    printf("%s: %s, not %s\n", what, drasync_errname(got),
           drasync_errname(wanted));
    return 1;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    struct drasync_stats stats;
    drasync_region_t region;
    void *object;
    int bad = 0;

    if (drasync_running())
        return 1;
    bad += expect(drasync_new_region(&region), 0, "new_region");
    bad += expect(drasync_alloc(region, 100, &object), 0, "alloc");
    bad += expect(drasync_get_stats(&stats), 0, "get_stats");
    if (!strcmp(what, "fork_fig1")) {
        pid_t child = fork();
        int status;
        if (child == 0) {
            acquire_region(region, READ);
            _exit(0);
        }
        waitpid(child, &status, 0);
        bad += !WIFEXITED(status) || WEXITSTATUS(status) != 1;
    }
    if (!strcmp(what, "fork")) {
        pid_t child = fork();
        int status;
        if (child == 0) {
            bad += expect(drasync_alloc(region, 100, &object),
                          DRASYNC_ENOTREADY, "alloc in a child");
            bad += expect(drasync_acquire(region, DRASYNC_READ),
                          DRASYNC_ENOTREADY, "acquire in a child");
            bad += drasync_running();
            exit(bad);
        }
        waitpid(child, &status, 0);
        bad += status != 0;
    }
    bad += expect(drasync_release(region), 0, "release");
    if (!strcmp(what, "finalize")) {
        bad += expect(drasync_finalize(), 0, "finalize");
        bad += expect(drasync_acquire(region, DRASYNC_READ), DRASYNC_ENOTREADY,
                      "acquire after finalize");
        bad += drasync_running();
    }
    if (!strcmp(what, "fail") && stats.rank == 0)
        return 5;
    printf("first use: rank %d of %d, bad %d\n", stats.rank, stats.ranks, bad);
    return bad != 0;
}
