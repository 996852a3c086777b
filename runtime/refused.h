/*
 * refused.h - what the system refuses at the start, said as what it is: the
 * error by its own name, the limit behind it, and what to do.
 */
#ifndef DRASYNC_RUNTIME_REFUSED_H
#define DRASYNC_RUNTIME_REFUSED_H

#include "memory/space.h"

/*
 * The start fails because the system refused something with @error, an errno:
 * say so ("cannot start: @what: ...").  Returns DRASYNC_ENOMEM where memory is
 * short, else DRASYNC_ESTART.
 */
int refused_by_system(const char *what, int error);

/*
 * Does a space of this layout fit into the process's limits of file size and
 * address space?  0, or DRASYNC_ESTART with @line naming the limit.  Asked before
 * the files are made: past its limit of file size the kernel kills a process
 * (SIGXFSZ).
 */
int refused_by_limits(const struct space_layout *layout, char *line,
                      size_t line_bytes);

/*
 * Is a space of this layout more than valgrind's memcheck can follow, where this
 * process runs under it?  0, or DRASYNC_ESTART with @line saying what to set:
 * memcheck would be at it for minutes, and take tens of GiB, without a word.
 */
int refused_by_memcheck(const struct space_layout *layout, char *line,
                        size_t line_bytes);

/*
 * On a leader: what its node's ranks share could not be made, with @err.  Says
 * why; returns the code for it.
 */
int refused_shared(int err);

#endif /* DRASYNC_RUNTIME_REFUSED_H */
