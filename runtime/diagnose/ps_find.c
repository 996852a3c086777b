/* The nodes of this host: see ps.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drasync.h"
#include "memory/control.h"
#include "runtime/diagnose/ps.h"
#include "runtime/process.h"
#include "runtime/shared.h"

#define FILE_NAME "/memfd:drasync-control"

/* A process's parents, further up, are nobody's business. */
#define PARENTS_MAX 64

/* The entries of a directory of /proc are numbers; 0: this one is not. */
static int number_of(const char *name)
{
    char *end;
    long number = strtol(name, &end, 10);

    return *end || number <= 0 || number > INT32_MAX ? 0 : (int)number;
}

static int parent_of(int pid)
{
    char path[64], line[512];
    int parent = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    file = fopen(path, "re");
    if (file && fgets(line, sizeof(line), file)) {
        const char *end = strrchr(line, ')');

        if (!end || sscanf(end + 1, " %*c %d", &parent) != 1)
            parent = 0;
    }
    if (file)
        fclose(file);
    return parent;
}

static bool descends(int pid, int from)
{
    for (int i = 0; pid > 0 && i < PARENTS_MAX; i++, pid = parent_of(pid))
        if (pid == from)
            return true;
    return false;
}

/* The address at which @pid has the file mapped; 0: it has not, yet. */
static uint64_t address_in(int pid)
{
    char path[64], line[512];
    uint64_t low = 0, found = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/maps", pid);
    file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof(line), file))
        if (strstr(line, FILE_NAME) && sscanf(line, "%" SCNx64 "-", &low) == 1)
            found = low;
    if (file)
        fclose(file);
    return found;
}

static bool known(const struct ps_nodes *nodes, const struct stat *file)
{
    for (size_t i = 0; i < nodes->count; i++)
        if (nodes->list[i].device == file->st_dev &&
            nodes->list[i].inode == file->st_ino)
            return true;
    return false;
}

static int add(struct ps_nodes *nodes, int fd, const struct stat *file,
               uint64_t address)
{
    if (nodes->count == nodes->room) {
        size_t room = nodes->room ? 2 * nodes->room : 8;
        struct ps_node *grown = realloc(nodes->list, room * sizeof(*grown));

        if (!grown)
            return DRASYNC_ENOMEM;
        nodes->list = grown;
        nodes->room = room;
    }
    nodes->list[nodes->count++] = (struct ps_node){
        .device = file->st_dev,
        .inode = file->st_ino,
        .fd = fd,
        .address = address,
        .bytes = (uint64_t)file->st_size,
    };
    return 0;
}

/* The control file that descriptor @name in the directory @fds is; -1: none. */
static int open_control(DIR *fds, const char *name)
{
    char target[sizeof(FILE_NAME) + 32];
    ssize_t length = readlinkat(dirfd(fds), name, target, sizeof(target) - 1);

    if (length < 0)
        return -1;
    target[length] = 0;
    return strncmp(target, FILE_NAME, sizeof(FILE_NAME) - 1)
               ? -1
               : openat(dirfd(fds), name, O_RDONLY | O_CLOEXEC);
}

static int look_at(int pid, struct ps_nodes *nodes)
{
    const struct dirent *entry;
    char path[64];
    int err = 0;
    DIR *fds;

    snprintf(path, sizeof(path), "/proc/%d/fd", pid);
    fds = opendir(path);
    if (!fds) {
        nodes->refused += errno == EACCES || errno == EPERM;
        return 0;
    }
    while (!err && (entry = readdir(fds))) {
        int fd = open_control(fds, entry->d_name);
        uint64_t address;
        struct stat file;

        if (fd < 0)
            continue;
        if (!fstat(fd, &file) && !known(nodes, &file) &&
            (address = address_in(pid)))
            err = add(nodes, fd, &file, address);
        else
            close(fd);
    }
    closedir(fds);
    return err;
}

int ps_find(int pid, struct ps_nodes *nodes)
{
    DIR *proc = opendir("/proc");
    const struct dirent *entry;
    int err = 0, found;

    *nodes = (struct ps_nodes){.list = NULL};
    while (proc && !err && (entry = readdir(proc))) {
        found = number_of(entry->d_name);
        if (found && found != (int)getpid() && (!pid || descends(found, pid)))
            err = look_at(found, nodes);
    }
    if (proc)
        closedir(proc);
    return err;
}

int ps_open(const struct ps_node *node)
{
    void *control =
        mmap((void *)(uintptr_t)node->address, node->bytes, PROT_READ,
             MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, node->fd, 0);

    if (control != (void *)(uintptr_t)node->address) {
        if (control != MAP_FAILED)
            munmap(control, node->bytes);
        return DRASYNC_EADDRESS;
    }
    if (!control_look(control, node->bytes, &runtime.space, &runtime.node,
                      &runtime.nodes)) {
        runtime.shared = control_user(&runtime.space);
        if (facts_there())
            return 0;
    }
    ps_close(node);
    return DRASYNC_EINVAL;
}

void ps_close(const struct ps_node *node)
{
    munmap((void *)(uintptr_t)node->address, node->bytes);
    runtime.shared = NULL;
}
