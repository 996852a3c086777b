/* MPI's sockets, to sleep on: see sockets.h. */
#include "transport/sockets.h"

#include <dirent.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
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

void sockets_each_connection(int set, bool (*visit)(void *arg, int fd),
                             void *arg)
{
    char path[64], line[256];
    bool more = true;
    int member;

    snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", set);
    FILE *f = fopen(path, "re");
    while (f && more && fgets(line, sizeof(line), f))
        if (sscanf(line, "tfd: %d", &member) == 1 &&
            option_is(member, SO_PROTOCOL, IPPROTO_TCP) &&
            option_is(member, SO_ACCEPTCONN, 0))
            more = visit(arg, member);
    if (f)
        fclose(f);
}

static bool note_found(void *found, int fd)
{
    (void)fd;
    *(bool *)found = true;
    return false;
}

static bool has_connection(int set)
{
    bool found = false;

    sockets_each_connection(set, note_found, &found);
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

#define MOVED_SETS_MAX 16

static bool add_moved(void *moved, int fd)
{
    struct tcp_info info;
    socklen_t bytes = sizeof(info);

    if (!getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) &&
        bytes >= offsetof(struct tcp_info, tcpi_data_segs_out) +
                     sizeof(info.tcpi_data_segs_out))
        *(uint64_t *)moved +=
            (uint64_t)info.tcpi_data_segs_in + info.tcpi_data_segs_out;
    return true;
}

uint64_t sockets_moved(void)
{
    int sets[MOVED_SETS_MAX], count = sockets_find_sets(sets, MOVED_SETS_MAX);
    uint64_t moved = 0;

    for (int i = 0; i < count; i++)
        sockets_each_connection(sets[i], add_moved, &moved);
    return moved;
}
