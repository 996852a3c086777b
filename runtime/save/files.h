/*
 * files.h - subtrees to files and back (save/save.h), for drasync_save() and
 * drasync_load().
 *
 * Callers guarantee that runtime_enter() returned 0, that they hold no locks, and
 * that pointers are not NULL.  What is wrong with a file is a line on stderr.
 * Thread-safe.  Results are those that drasync.h gives for the calls.
 */
#ifndef DRASYNC_RUNTIME_SAVE_FILES_H
#define DRASYNC_RUNTIME_SAVE_FILES_H

#include <stdbool.h>

#include "drasync.h"
#include "runtime/services/names.h"

int files_save(drasync_region_t region, const char *path);
/* The same, if there is still this region, and it is a root; else
 * DRASYNC_EINVAL, or as drasync_acquire().  DRASYNC_EAGAIN: others had it until
 * @stop, asked now and then, said to wait no more. */
int files_save_root(const struct names_region *region, const char *path,
                    bool (*stop)(void));
/* Called for what was loaded: each region, parents first (a root has the parent
 * NULL), then each name of one. */
struct files_loaded {
    void (*region)(drasync_region_t region, drasync_region_t parent);
    void (*name)(const char *name, drasync_region_t region);
};

int files_load(const char *path, const struct files_loaded *loaded,
               drasync_region_t *region_out);

#endif /* DRASYNC_RUNTIME_SAVE_FILES_H */
