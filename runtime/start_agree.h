/*
 * start_agree.h - what the ranks conclude from what they tell each other: whether
 * they can start, and at which address.
 */
#ifndef DRASYNC_RUNTIME_START_AGREE_H
#define DRASYNC_RUNTIME_START_AGREE_H

#include "memory/space.h"

struct start_facts;

/* What came of the facts, the same on all ranks but for the order of memory. */
struct start_agreed {
    struct start_facts *facts; /* [ranks] */
    struct space_layout layout;
    int candidate; /* where the space lies */
};

/*
 * Exchange facts.  0, or a code, the same on all ranks; then one rank has said
 * why, and there is nothing in *@out.  Collective over all, as runtime_start()
 * is.  Fills in runtime.options.
 */
int start_agree(struct start_agreed *out);

/* Rank @who says @line ("": it has said it) before any rank goes on, as they may
 * end the job next.  Collective over all. */
void start_refused(int who, const char *line);

#endif /* DRASYNC_RUNTIME_START_AGREE_H */
