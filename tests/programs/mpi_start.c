/*
 * An MPI program that says what it got, to see what our libraries do to it.
 * Built plain and, as mpi_start_user, with a reference to our library.
 *
 *   mpi_start init|null|0|1|2|3 [exit|fork]
 *
 * init: MPI_Init(&argc, &argv); null: MPI_Init(NULL, NULL); a digit:
 * MPI_Init_thread with that level.  exit: leaves without MPI_Finalize; fork: a
 * child comes and goes.
 */
#include <dirent.h>
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef USES_REGIONS
#include "drasync.h"
#endif

static int count_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;

    for (struct dirent *entry; (entry = readdir(tasks));)
        count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}

/* Lines of a file of /proc that hold @text. */
static int count_lines(const char *path, const char *text)
{
    char line[4096];
    FILE *file = fopen(path, "r");
    int count = 0;

    while (fgets(line, sizeof(line), file))
        count += strstr(line, text) != NULL;
    fclose(file);
    return count;
}

static int count_files(void)
{
    char path[300], target[300];
    DIR *files = opendir("/proc/self/fd");
    int count = 0;

    for (struct dirent *entry; (entry = readdir(files));) {
        snprintf(path, sizeof(path), "/proc/self/fd/%s", entry->d_name);
        ssize_t length = readlink(path, target, sizeof(target) - 1);
        if (length < 0)
            continue;
        target[length] = 0;
        count += strstr(target, "memfd:drasync") != NULL;
    }
    closedir(files);
    return count;
}

static int start(int *argc, char ***argv, const char *how)
{
    int got = -1;

    if (!strcmp(how, "init"))
        return MPI_Init(argc, argv);
    if (!strcmp(how, "null"))
        return MPI_Init(NULL, NULL);
    int err = MPI_Init_thread(argc, argv, atoi(how), &got);
    printf("provided %d\n", got);
    return err;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "init";
    const char *what = argc > 2 ? argv[2] : "";
    int level, rank;

#ifdef USES_REGIONS
    if (!drasync_version())
        return 1;
#endif
    if (start(&argc, &argv, how) != MPI_SUCCESS)
        return 1;
    MPI_Query_thread(&level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("rank %d: level %d, arguments %d\n", rank, level, argc);
    printf("rank %d: threads %d, mappings %d, files %d\n", rank,
           count_threads(), count_lines("/proc/self/maps", "memfd:drasync"),
           count_files());
    fflush(stdout);
    if (!strcmp(what, "fork")) {
        pid_t child = fork();
        int status;
        if (child == 0)
            exit(0);
        waitpid(child, &status, 0);
        printf("rank %d: child ended with %d\n", rank, status);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(what, "exit"))
        return 0;
    MPI_Finalize();
    printf("rank %d: finalized\n", rank);
    return 0;
}
