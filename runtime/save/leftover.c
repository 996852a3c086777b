/*
 * Files of processes that died while they saved: see output.h.
 *
 * Such a file is known by its name, of this host and of a process that is not
 * there; and who still writes one has it locked, as a process of another PID
 * namespace may.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "runtime/process.h"
#include "runtime/save/output.h"

/* The process that @name says, which begins with the @known bytes at @begin; 0:
 * it is no such name. */
static int process_of(const char *name, const char *begin, size_t known)
{
    int pid = 0, number = 0, end = 0;

    if (strncmp(name, begin, known) ||
        sscanf(name + known, "%d-%d%n", &pid, &number, &end) != 2 ||
        name[known + (size_t)end])
        return 0;
    return pid > 0 ? pid : 0;
}

static bool is_dead(int pid)
{
    return pid != getpid() && kill(pid, 0) && errno == ESRCH;
}

/* In @folder. */
static void remove_unlocked(int folder, const char *name)
{
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return;
    /* Where files cannot be locked, the process's number has to do. */
    if (!flock(fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
        unlinkat(folder, name, 0);
    close(fd);
}

void leftovers_remove(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    size_t bytes = strlen(base) + strlen(runtime.host) + 16;
    char *folder =
        slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    char *begin = malloc(bytes);
    DIR *files = folder && begin ? opendir(folder) : NULL;
    const struct dirent *entry;
    int length;

    if (files) {
        length = snprintf(begin, bytes, "%s.saving-%s-", base, runtime.host);
        while ((entry = readdir(files))) {
            int pid = process_of(entry->d_name, begin, (size_t)length);

            if (pid && is_dead(pid))
                remove_unlocked(dirfd(files), entry->d_name);
        }
        closedir(files);
    }
    free(begin);
    free(folder);
}
