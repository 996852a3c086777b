/*
 * drasync/base.h - what all parts of drasync.h need: handles, modes, errors.
 */
#ifndef DRASYNC_PART_BASE_H
#define DRASYNC_PART_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DRASYNC_VERSION "0.1.0"

/* A region's handle: its address, the same on every rank.  NULL is none. */
typedef struct drasync_region *drasync_region_t;

enum drasync_mode {
    DRASYNC_READ = 1,
    DRASYNC_WRITE = 2,
};

/*
 * Every error, with its text.  Values are stable.
 */
#define DRASYNC_ERRORS(X)                                                     \
    X(DRASYNC_OK, 0, "success")                                               \
    X(DRASYNC_EINVAL, -1, "an argument is not valid")                         \
    X(DRASYNC_ENOREGION, -2, "no region has this address")                    \
    X(DRASYNC_EDELETED, -3, "the region was deleted")                         \
    X(DRASYNC_EAGAIN, -4, "not available within the time given")              \
    X(DRASYNC_ENOTHELD, -5,                                                   \
      "this rank does not hold the region for what the call does: READ to "   \
      "look, WRITE to change it")                                             \
    X(DRASYNC_EUPGRADE, -6,                                                   \
      "WRITE asked for while this rank holds the region for READ only: "      \
      "release that first")                                                   \
    X(DRASYNC_EORDER, -7,                                                     \
      "this rank holds a subregion of the region it asks for: release that "  \
      "first, since ancestors come first")                                    \
    X(DRASYNC_EBUSY, -8,                                                      \
      "another rank holds or is acquiring a part of the region, or another "  \
      "thread is at work on it")                                              \
    X(DRASYNC_ENOMEM, -9,                                                     \
      "out of memory: DRASYNC_MEMORY, or the machine, gives this node no "    \
      "more")                                                                 \
    X(DRASYNC_ENOSPACE, -10, "out of region addresses: delete regions")       \
    X(DRASYNC_ENOOBJECT, -11, "this node knows no region with this address")  \
    X(DRASYNC_EALIGN, -12, "the address is not aligned as objects are")       \
    X(DRASYNC_EFREED, -13,                                                    \
      "no object that is allocated starts at this address: it was freed, or " \
      "the address lies inside of one")                                       \
    X(DRASYNC_EEXIST, -14, "the name is published already")                   \
    X(DRASYNC_ENOTREADY, -15, "DRASync is not running in this process")       \
    X(DRASYNC_ETHREAD, -16, "MPI does not give MPI_THREAD_MULTIPLE")          \
    X(DRASYNC_EPEER, -17, "a rank of the job died")                           \
    X(DRASYNC_ELIMIT, -18, "a limit of this build was reached")               \
    X(DRASYNC_EADDRESS, -19, "no address range is free on all ranks")         \
    X(DRASYNC_EINTERNAL, -20, "internal error, please report")                \
    X(DRASYNC_EMODE, -21, "the mode this job runs in does not allow this")    \
    X(DRASYNC_ESTART, -22,                                                    \
      "DRASync could not start; a line on stderr says why")                   \
    X(DRASYNC_ENOFUNCTION, -23,                                               \
      "the rank that runs it has registered no function of this name: all "   \
      "ranks register before the first of them runs it")                      \
    X(DRASYNC_ERUNNING, -24,                                                  \
      "a function that drasync_run runs may not call this: it may not wait, " \
      "nor take or give holds; a line on stderr names it")                    \
    X(DRASYNC_EMANAGED, -25,                                                  \
      "the region is managed: it ends when its last reference is given back " \
      "by drasync_unref")                                                     \
    X(DRASYNC_EDEADLK, -26,                                                   \
      "ranks wait for each other in a ring, which this call has closed; the " \
      "report on stderr names them")                                          \
    X(DRASYNC_ENESTED, -27,                                                   \
      "this rank has another hold of the region, or of what is above or "     \
      "below it, or another request for it: release or cancel that first")    \
    X(DRASYNC_EFILE, -28,                                                     \
      "a file could not be written or read; a line on stderr says why")       \
    X(DRASYNC_EFORMAT, -29,                                                   \
      "it is no file of saved regions that this version can read, or not "    \
      "as it was written; a line on stderr says what is wrong")               \
    X(DRASYNC_ETAKEN, -30,                                                    \
      "addresses of saved regions are in use in this job, or outside of its " \
      "space: load before regions are made; a line on stderr names one")      \
    X(DRASYNC_EPHASE, -31,                                                    \
      "no iteration was begun: drasync_iteration comes before drasync_phase") \
    X(DRASYNC_ELOST, -32,                                                     \
      "a rank died that was writing the region, or a part of it, and its "    \
      "data is lost: delete that")

enum drasync_error {
#define DRASYNC_ERROR_ENUM(name, value, text) name = value,
    DRASYNC_ERRORS(DRASYNC_ERROR_ENUM)
#undef DRASYNC_ERROR_ENUM
};

/* The text of an error code; never NULL, not to be freed.  That of
 * DRASYNC_ENOTREADY says why, in this process, now. */
const char *drasync_strerror(int error);

/* Enough for what drasync_explain() says. */
#define DRASYNC_EXPLAIN_BYTES 320

/*
 * What @error, of a call on @region, means here, and what to do, as far as more is
 * to be said than drasync_strerror() does: which hold this rank has and which the
 * call @needed (an enum drasync_mode; 0: it gives one back), what the address is
 * instead of a region's, how much memory there is.  True when this is called, so
 * call it at once.  Up to @text_bytes bytes, the end included, are written to
 * @text, which is returned.  Thread-safe; the runtime need not run.
 */
const char *drasync_explain(int error, drasync_region_t region, int needed,
                            char *text, size_t text_bytes);

/* The name of an error code, for example "DRASYNC_EAGAIN"; never NULL. */
const char *drasync_errname(int error);

/* The version of the library that runs, for example "0.1.0". */
const char *drasync_version(void);

/* No limit of time. */
#define DRASYNC_FOREVER UINT64_MAX

/* The longest name, of a region or a function, in bytes, without the end. */
#define DRASYNC_NAME_MAX 63

/* What drasync_iacquire() and drasync_irun() began. */
typedef struct drasync_request *drasync_request_t;

#ifdef __cplusplus
}
#endif

#endif /* DRASYNC_PART_BASE_H */
