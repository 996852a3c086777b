/*
 * start_room.h - memory of a start that no rank can do without: what all ranks
 * tell, and what follows from it.  A rank without that cannot tell the others,
 * so it ends the job.  It comes from the kernel, so that this happens only where
 * a process gets no page any more; all else that a start asks for and does not
 * get is refused on all ranks.
 *
 * At the start, and at its end, on one thread.
 */
#ifndef DRASYNC_RUNTIME_START_ROOM_H
#define DRASYNC_RUNTIME_START_ROOM_H

#include <stddef.h>

/* @bytes, cleared; does not return without. */
void *start_room_new(size_t bytes);

/* NULL is ignored. */
void start_room_free(void *room);

#endif /* DRASYNC_RUNTIME_START_ROOM_H */
