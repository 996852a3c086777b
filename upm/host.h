/*
 * host.h - the NUMA nodes of the machine, where pages are, and moving them: all
 * that UPMlib asks of the kernel about nodes.  Nodes are numbered from 0 on
 * without gaps; only those whose memory this process may use count.
 */
#ifndef UPM_HOST_H
#define UPM_HOST_H

#include <stddef.h>
#include <stdint.h>

#include "upm/engine.h"

struct upm_host {
    unsigned nodes;
    uint8_t distance[UPM_NODES_MAX * UPM_NODES_MAX]; /* see engine.h */
    const char *why; /* nodes is 1, because ...; NULL where there are several */
};

/* Read what there is.  Once; others of this header come after it. */
void upm_host_open(struct upm_host *host);

/* The node of the processor that this thread runs on.  Async-signal-safe. */
unsigned upm_host_here(void);

/* The node of processor @cpu. */
unsigned upm_host_of_cpu(unsigned cpu);

/* Where @count pages are: a node, or UPM_NOWHERE.  0 or a negative errno. */
int upm_host_homes(void *const *pages, size_t count, int16_t *homes);

/*
 * Move @count pages to @node.  0 if all are there.  -ENOMEM: the node is full;
 * another negative errno, or a number above 0: not all of them are there, for
 * reasons of single pages perhaps.
 */
int upm_host_move(void *const *pages, size_t count, int16_t node);

#endif /* UPM_HOST_H */
