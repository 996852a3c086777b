/*
 * claim.h - addresses that this node is to have, whoever hands them out.
 *
 * Callers hold no locks, and may wait.  One node claims at a time for what is
 * the same; of two that claim overlapping runs, at most one gets them.
 */
#ifndef DRASYNC_RUNTIME_NATIVE_CLAIM_H
#define DRASYNC_RUNTIME_NATIVE_CLAIM_H

#include <stdint.h>

#include "memory/pages.h"

/*
 * Take @count runs, whose whole blocks (pages_run_whole()) do not overlap.  They
 * are as taken by pages_take() with PAGES_ADDRESSES then, this node is their
 * home, and a region made there has an incarnation that none had before.
 *   DRASYNC_ETAKEN  page *refused_out is in use, or nobody hands it out
 *   DRASYNC_ENOMEM, DRASYNC_EPEER
 */
int native_claim(const struct pages_run *runs, uint64_t count,
                 uint64_t *refused_out);

/* Give runs back that no extent has been made of. */
void native_claim_give(const struct pages_run *runs, uint64_t count);

void native_claim_start(void);

#endif /* DRASYNC_RUNTIME_NATIVE_CLAIM_H */
