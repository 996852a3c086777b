/* Threads of a process, by what the system says of them: see threads.h. */
#include "runtime/diagnose/threads.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* UCX's, below MPI.  Only one that is there while the program is still in
 * MPI_Init counts: a program may call its own so. */
static const char mpi_name[] = "async";

/* A program whose own name is one of these has no thread that can be told from
 * ours. */
static const char *const ours[] = {
    "drasync",       "drasync-asked", "drasync-check", "drasync-checked",
    "drasync-links", "drasync-saves", "drasync-watch",
};

/* As the kernel keeps names. */
#define NAME_BYTES 17

static bool read_name(int32_t pid, int32_t thread, char name[NAME_BYTES])
{
    char path[64];
    ssize_t got;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)pid,
             (int)thread);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    got = read(fd, name, NAME_BYTES - 1);
    close(fd);
    name[got > 0 ? got : 0] = 0;
    name[strcspn(name, "\n")] = 0;
    return got > 0;
}

static bool is_ours(const char *name)
{
    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        if (!strcmp(name, ours[i]))
            return true;
    return false;
}

/* The next thread of @folder; 0: there is none. */
static int32_t next_thread(DIR *folder)
{
    const struct dirent *entry;
    int32_t thread;

    while ((entry = readdir(folder)) != NULL) {
        thread = (int32_t)strtol(entry->d_name, NULL, 10);
        if (thread > 0)
            return thread;
    }
    return 0;
}

int32_t threads_of_mpi(void)
{
    DIR *folder = opendir("/proc/self/task");
    int32_t pid = (int32_t)getpid(), thread = 0, found = 0;
    char name[NAME_BYTES];

    while (folder && !found && (thread = next_thread(folder)) != 0)
        if (thread != pid && read_name(pid, thread, name) &&
            !strcmp(name, mpi_name))
            found = thread;
    if (folder)
        closedir(folder);
    return found;
}

bool threads_others(int32_t pid, int32_t mpi_thread)
{
    char path[32], name[NAME_BYTES];
    bool others = false;
    int32_t thread;
    DIR *folder;

    if (!read_name(pid, pid, name) || is_ours(name))
        return true;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    folder = opendir(path);
    if (!folder)
        return true;
    while (!others && (thread = next_thread(folder)) != 0)
        others = thread != pid && thread != mpi_thread &&
                 !(read_name(pid, thread, name) && is_ours(name));
    closedir(folder);
    return others;
}
