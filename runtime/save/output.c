/* A file that takes its name at the end: see output.h. */
#include "runtime/save/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "drasync.h"
#include "runtime/process.h"
#include "runtime/say.h"

/* Names that are tried, if there are files of processes with our number. */
#define TRIES_MAX 1000

static int failed(const char *what, const char *path)
{
    runtime_say("cannot %s %s: %s", what, path, strerror(errno));
    return DRASYNC_EFILE;
}

static int open_partial(struct output *o)
{
    size_t bytes = strlen(o->path) + strlen(runtime.host) + 64;

    o->partial = malloc(bytes);
    if (!o->partial)
        return DRASYNC_ENOMEM;
    for (int i = 0; i < TRIES_MAX; i++) {
        snprintf(o->partial, bytes, "%s.saving-%s-%d-%d", o->path, runtime.host,
                 (int)getpid(), i);
        o->fd = open(o->partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (o->fd >= 0 || (errno != EEXIST && errno != EINTR))
            break;
    }
    if (o->fd < 0)
        return failed("write", o->partial);
    /* For leftovers_remove(); where files cannot be locked, that goes by the
     * process's number alone. */
    flock(o->fd, LOCK_EX | LOCK_NB);
    return 0;
}

static void signal_block(struct output *o)
{
    sigset_t set, pending;

    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    sigemptyset(&pending);
    sigpending(&pending);
    o->had_signal = sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &set, &o->mask);
}

/* What a write of this thread has raised is not the program's. */
static void signal_unblock(struct output *o)
{
    const struct timespec now = {0};
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    if (!o->had_signal)
        while (sigtimedwait(&set, NULL, &now) < 0 && errno == EINTR)
            ;
    pthread_sigmask(SIG_SETMASK, &o->mask, NULL);
}

int output_open(struct output *o, const char *path)
{
    int err;

    *o = (struct output){.path = path, .fd = -1};
    leftovers_remove(path);
    err = open_partial(o);
    if (!err) {
        signal_block(o);
        return 0;
    }
    free(o->partial);
    return err;
}

int output_write(void *arg, const void *bytes, size_t count)
{
    const struct output *o = arg;
    const char *from = bytes;

    while (count) {
        ssize_t done = write(o->fd, from, count);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            if (!done)
                errno = ENOSPC;
            return failed("write", o->partial);
        }
        from += done;
        count -= (size_t)done;
    }
    return 0;
}

/* Over a network a signal may interrupt it. */
static int sync_file(int fd)
{
    int err;

    do
        err = fsync(fd);
    while (err && errno == EINTR);
    return err;
}

/* The new name is on the disk too; where a file system cannot say so, it is as
 * it is. */
static int sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder =
        slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    int fd, err = 0;

    if (!folder)
        return DRASYNC_ENOMEM;
    fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        if (sync_file(fd) && errno != EINVAL && errno != ENOTSUP)
            err = failed("write", folder);
        close(fd);
    }
    free(folder);
    return err;
}

int output_commit(struct output *o)
{
    int fd = o->fd;

    if (sync_file(fd))
        return failed("write", o->partial);
    o->fd = -1;
    /* Some file systems say only here that there was no room. */
    if (close(fd) && errno != EINTR)
        return failed("write", o->partial);
    if (rename(o->partial, o->path))
        return failed("name a file", o->path);
    o->named = true;
    return sync_folder(o->path);
}

void output_close(struct output *o)
{
    if (o->fd >= 0)
        close(o->fd);
    if (!o->named)
        unlink(o->partial);
    signal_unblock(o);
    free(o->partial);
}
