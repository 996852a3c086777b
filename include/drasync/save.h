/*
 * drasync/save.h - part of drasync.h: regions in files.
 */
#ifndef DRASYNC_PART_SAVE_H
#define DRASYNC_PART_SAVE_H

#include <stdint.h>

#include "drasync/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Write @region and its subregions to the file @path: their data, roots and
 * names.  If this thread holds @region for READ, the version that it sees is
 * saved; if for WRITE, what is there, and nobody of the rank may write until the
 * call is over; else the current version, which may have to be waited for as in
 * drasync_acquire(), up to 1 s for holds that other threads of this rank have, if
 * this thread holds neither the region nor what is above it: what is still held
 * for WRITE then is saved as it is, in the middle of that.  (In a rank of several
 * threads the hold of a region that was just made is nobody's, and waited for.)
 * Others go on meanwhile: a WRITE, also of another thread of this rank, makes a
 * version of its own.  While it is saved @region counts as read by another rank:
 * drasync_delete() returns DRASYNC_EBUSY.
 *
 * The file is written under another name beside @path, PATH.saving-HOST-PID-N,
 * and takes the name @path when all of it is on the disk: who dies or fails
 * before that leaves what was there.  After an error nothing is left of it, unless
 * only the folder could not be written to disk (DRASYNC_EFILE);
 * what a process of this host left that died goes when another one saves to
 * @path.
 * Ranks may save at once, each to a file of its own.  Managed regions are saved
 * as any other.
 *   DRASYNC_EINVAL    @path is NULL or empty
 *   DRASYNC_EFILE     the system refuses, say because the disk is full; or
 *                     DRASync was built without xxHash
 *   DRASYNC_ENOREGION, DRASYNC_EDELETED, DRASYNC_EORDER, DRASYNC_ENOMEM
 *                     as drasync_acquire() for READ; so is DRASYNC_EDEADLK, with
 *                     DRASYNC_DEADLOCK=error
 *   DRASYNC_ELIMIT    more than 268,435,456 regions, or runs of pages; or 925,000
 *                     names of one region
 */
int drasync_save(drasync_region_t region, const char *path);

/*
 * Make the regions that the file @path holds, at the addresses they had, so that
 * pointers into them are valid; their names are published.  *region_out is what
 * was saved, a root region now, held by this rank for WRITE as a new one is.  It
 * may be another job, with another number of ranks and nodes.  The addresses must
 * be free: it is best to load before regions are made.  Not collective.
 *   DRASYNC_EINVAL    an argument is NULL
 *   DRASYNC_EFILE     the system refuses; or it is compressed and DRASync was built
 *                     without zstd
 *   DRASYNC_EFORMAT   not such a file, or of another version, cut, or altered
 *   DRASYNC_ETAKEN    an address is in use, or outside of this job's space
 *   DRASYNC_EEXIST    a name is published already
 *   DRASYNC_ENOMEM, DRASYNC_ELIMIT, DRASYNC_ERUNNING
 */
int drasync_load(const char *path, drasync_region_t *region_out);

#ifdef __cplusplus
}
#endif

#endif /* DRASYNC_PART_SAVE_H */
