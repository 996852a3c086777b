/*
 * Rank 1 begins to end, with a region that rank 0 waits for, and its first thread
 * is kept from going on with that: the process is there, and its sockets are open.
 * Rank 0 is told all the same.
 */
#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "native_check.h"

/* A child that keeps the calling process' first thread at the beginning of its
 * end, for as long as the child lives; 0: it may not. */
static pid_t keep_me(void)
{
    int ready[2], status;
    char told = 0;

    CHECK(!pipe(ready));
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    pid_t me = getpid(), child = fork();
    CHECK(child >= 0);
    if (!child) {
        alarm(30); /* if nobody ends it */
        told = !ptrace(PTRACE_SEIZE, me, NULL,
                       (void *)(uintptr_t)PTRACE_O_TRACEEXIT);
        if (write(ready[1], &told, 1) != 1 || !told)
            _exit(1);
        while (waitpid(me, &status, __WALL) == me && WIFSTOPPED(status) &&
               status >> 16 != PTRACE_EVENT_EXIT)
            ptrace(PTRACE_CONT, me, NULL,
                   (void *)(uintptr_t)(status >> 16 ? 0 : WSTOPSIG(status)));
        for (;;)
            pause();
    }
    CHECK(read(ready[0], &told, 1) == 1);
    return told ? child : 0;
}

/* Of a process, or of a thread of this one, if it is called @name. */
static char state_of(int id, const char *name)
{
    char path[64], text[256] = "";

    snprintf(path, sizeof(path),
             name ? "/proc/self/task/%d/stat" : "/proc/%d/stat", id);
    FILE *file = fopen(path, "r");
    CHECK(file && fgets(text, sizeof(text), file) && strrchr(text, ')'));
    fclose(file);
    return !name || strstr(text, name) ? strrchr(text, ')')[2] : 0;
}

/* Until the thread that others watch stands for this process, and sleeps. */
static void be_watched(void)
{
    bool sleeps = false;

    while (!sleeps) {
        DIR *tasks = opendir("/proc/self/task");
        struct dirent *task;

        CHECK(tasks);
        while ((task = readdir(tasks)))
            if (atoi(task->d_name))
                sleeps |=
                    state_of(atoi(task->d_name), "(drasync-watch)") == 'S';
        closedir(tasks);
        usleep(1000);
    }
}

int main(int argc, char **argv)
{
    drasync_region_t region;
    pid_t keeper = 0, dying = getpid();

    check_start(&argc, &argv);
    if (check_rank == 1) {
        OK(drasync_new_region(&region));
        be_watched();
        keeper = keep_me();
    }
    check_share(&region, 1);
    MPI_Bcast(&keeper, sizeof(keeper), MPI_BYTE, 1, MPI_COMM_WORLD);
    MPI_Bcast(&dying, sizeof(dying), MPI_BYTE, 1, MPI_COMM_WORLD);
    if (!keeper) {
        printf("no ptrace\n");
        MPI_Finalize();
        return 0;
    }
    if (check_rank == 1)
        _exit(1);
    CODE(drasync_acquire(region, DRASYNC_WRITE), DRASYNC_EPEER);
    while (state_of(dying, NULL) != 't') /* not yet there */
        usleep(1000);
    printf("told in time\n");
    fflush(stdout);
    kill(keeper, SIGKILL);
    _exit(0);
}
