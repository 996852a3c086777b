/*
 * progress.h - how far a save has come, on a terminal: one line, from the third
 * second on, which is written over and is gone at the end.
 *
 * Where stderr is no terminal nothing is written.  One thread at a time.
 */
#ifndef DRASYNC_RUNTIME_SAVE_PROGRESS_H
#define DRASYNC_RUNTIME_SAVE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    int fd; /* of the terminal; -1: none */
    const char *path;
    uint64_t begun_us, shown_us, bytes;
    bool shown;
};

/* Times are runtime_now_us()'s.  @bytes are to be saved to @path, which the caller
 * keeps.  @fd is a terminal, or is left alone. */
void progress_begin(struct progress *progress, int fd, const char *path,
                    uint64_t bytes, uint64_t now_us);

/* @done of them are; with all, what is left is to have them on the disk. */
void progress_show(struct progress *progress, uint64_t done, uint64_t now_us);

/* The line goes. */
void progress_end(struct progress *progress);

#endif /* DRASYNC_RUNTIME_SAVE_PROGRESS_H */
