/*
 * output.h - a file that takes its name when all of it is on the disk.
 *
 * One thread at a time for one output.  Errors are DRASYNC_EFILE with a line on
 * stderr, or DRASYNC_ENOMEM.
 */
#ifndef DRASYNC_RUNTIME_SAVE_OUTPUT_H
#define DRASYNC_RUNTIME_SAVE_OUTPUT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

struct output {
    const char *path; /* the caller's */
    char *partial;    /* what it is called until then */
    int fd;
    sigset_t mask; /* of the thread, before */
    bool had_signal;
    bool named; /* it has its name */
};

/*
 * Make PATH.saving-HOST-PID-N, of mode 600, and lock it (flock); such files of
 * dead processes of this host go.  While an output is open its thread does not
 * get SIGXFSZ: that a limit of file size is reached is an error like others.
 */
int output_open(struct output *output, const char *path);

/* save_write_fn, @arg being the output. */
int output_write(void *arg, const void *bytes, size_t count);

/* All is written: to the disk, and to its name. */
int output_commit(struct output *output);

/* Close it, and remove what did not get its name. */
void output_close(struct output *output);

/* leftover.c: what processes of this host left that died while they saved to
 * @path.  What cannot be removed stays. */
void leftovers_remove(const char *path);

#endif /* DRASYNC_RUNTIME_SAVE_OUTPUT_H */
