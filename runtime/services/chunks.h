/*
 * chunks.h - addresses from a manager, when a node's own are used up.
 *
 * Callers guarantee that the runtime runs, that there are several nodes, and
 * that they hold no lock: the call waits for the manager's answer.
 */
#ifndef DRASYNC_RUNTIME_SERVICES_CHUNKS_H
#define DRASYNC_RUNTIME_SERVICES_CHUNKS_H

#include <stdint.h>

#include "runtime/process.h"

/*
 * Get a chunk of at least @pages and give it to the page allocator.
 *   DRASYNC_ENOSPACE, DRASYNC_ELIMIT, DRASYNC_ENOMEM, DRASYNC_EPEER
 */
int chunks_ask(uint64_t pages);

/*
 * The node that has the address of @page: of a chunk only its manager knows,
 * which is asked.
 *   DRASYNC_ENOREGION  nobody has it
 *   DRASYNC_ENOMEM, DRASYNC_EPEER
 */
int chunks_ask_home(uint64_t page, int *home_out);

#endif /* DRASYNC_RUNTIME_SERVICES_CHUNKS_H */
