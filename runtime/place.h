/*
 * place.h - places in a program's code: from an address of a process to the
 * object (executable or library) and the offset in it, and from that to
 * function, file and line.
 *
 * The first half is done on the host of the process, through /proc, of any
 * process that this one may look at, without stopping it.  The second half may be
 * done anywhere where the object lies at the same path: by elfutils' libdw, if
 * that is installed, which is loaded when it is needed.  It reads files and
 * allocates memory: not for handlers of messages, nor under locks.
 */
#ifndef DRASYNC_RUNTIME_PLACE_H
#define DRASYNC_RUNTIME_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A longer path is cut at its beginning, and then is no file's. */
#define PLACE_OBJECT_BYTES 120

#define PLACE_TEXT_BYTES 256

struct code_place {
    uint64_t offset; /* from where the object's first segment lies */
    char object[PLACE_OBJECT_BYTES]; /* a path; "": not known */
};

/* Where @pcs of process @pid, @count of them, lie; "" for those that cannot be
 * told. */
void places_of(int pid, const uint64_t *pcs, int count, struct code_place *out);

/* Is it a library of DRASync's? */
bool place_is_ours(const struct code_place *place);

/* Is it the C library, where threads and programs begin? */
bool place_is_c_library(const struct code_place *place);

/* "function (file.c:12)", or as much of that as can be had: "app+0x1234"; "" if
 * the place is not known.  Returns @text. */
const char *place_text(const struct code_place *place, char *text,
                       size_t bytes);

#endif /* DRASYNC_RUNTIME_PLACE_H */
