/* MPI's sockets, to sleep on: see sockets.h. */
#include "transport/sockets.h"

#include <dirent.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static bool option_is(int fd, int option, int value)
{
    int is;
    socklen_t bytes = sizeof(is);

    return !getsockopt(fd, SOL_SOCKET, option, &is, &bytes) && is == value;
}

/* Is there a TCP connection among the members of the epoll set @fd? */
static bool has_connection(int fd)
{
    char path[64], line[256];
    bool found = false;
    int member;

    snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
    FILE *f = fopen(path, "re");
    while (f && !found && fgets(line, sizeof(line), f))
        found = sscanf(line, "tfd: %d", &member) == 1 &&
                option_is(member, SO_PROTOCOL, IPPROTO_TCP) &&
                option_is(member, SO_ACCEPTCONN, 0);
    if (f)
        fclose(f);
    return found;
}

static bool is_epoll(DIR *fds, const char *name)
{
    static const char kind[] = "anon_inode:[eventpoll]";
    char target[sizeof(kind)];
    ssize_t bytes = readlinkat(dirfd(fds), name, target, sizeof(target));

    return bytes == sizeof(kind) - 1 && !memcmp(target, kind, sizeof(kind) - 1);
}

int sockets_find_sets(int *sets, int max)
{
    DIR *fds = opendir("/proc/self/fd");
    struct dirent *entry;
    int count = 0;

    while (fds && count < max && (entry = readdir(fds))) {
        int fd = atoi(entry->d_name);

        if (is_epoll(fds, entry->d_name) && has_connection(fd))
            sets[count++] = fd;
    }
    if (fds)
        closedir(fds);
    return count;
}
