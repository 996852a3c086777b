/* faults.h - rules that the simulator breaks on purpose, one in a run, to see them
 * caught.  tests/unit/sim_faults.sh names them by their numbers. */
#ifndef DRASYNC_PROTOCOL_FAULTS_H
#define DRASYNC_PROTOCOL_FAULTS_H

#include <stdint.h>

enum sim_fault {
    FAULT_NONE,
    FAULT_IGNORE_HOLDS,         /* grant though others hold it */
    FAULT_SAME_VERSION,         /* a WRITE hold makes no new version */
    FAULT_NO_SPLIT,             /* write where readers look */
    FAULT_NO_SHARED,            /* let writers between the parts of a READ */
    FAULT_KEEP_TOKEN,           /* stay the owner after giving the token away */
    FAULT_LOSE_EXTENTS,         /* do not give extents back */
    FAULT_LOSE_WAITERS,         /* do not send the queue along */
    FAULT_NO_SETTLED,           /* do not say that it is in place */
    FAULT_BLIND_DELETE,         /* delete what others read */
    FAULT_TAKE_USED,            /* overwrite what is read */
    FAULT_OLD_ANSWER,           /* serve others with what was asked before */
    FAULT_ONE_PORTION,          /* wait for the data of an answer's first */
    FAULT_FORGET_READS,         /* not tell with a token who reads here */
    FAULT_DROP_UNWANTED,        /* not send back what nobody waits for */
    FAULT_GIVE_NESTED,          /* give what the giver holds once more */
    FAULT_GIVE_LOST,            /* release it instead */
    FAULT_FREE_KNOWN,           /* free what others than the home know */
    FAULT_AHEAD_UNTOLD,         /* a writer waits, and nothing is revoked */
    FAULT_AHEAD_BROKEN,         /* write before it is */
    FAULT_AHEAD_KEPT,           /* say REVOKED and keep it */
    FAULT_AHEAD_LATE,           /* the same before its data is here */
    FAULT_AHEAD_FIRST,          /* wait among real requests */
    FAULT_AHEAD_WRITES,         /* wait for WRITE */
    FAULT_AHEAD_STEALS,         /* take a token that was not used yet */
    FAULT_AHEAD_COUNTED,        /* a delete takes it for a reader */
    FAULT_SUBSCRIBERS_KEPT,     /* when the token leaves */
    FAULT_SUBSCRIBERS_UNSERVED, /* when a writer releases */
    FAULT_BASE_LOST,            /* keep a token whose data builds on nothing */
    FAULT_NEWER_EARLY,          /* grant a version that its rank knows */
    FAULT_NEWER_LEFT,           /* wait on where the token left */
    FAULT_FREE_EXTENTS,         /* free what another node still has */
    FAULT_UNREAD_EARLY,         /* say that what is READ is not */
};

/* The same, of references.h and who uses it. */
enum refs_fault {
    FAULT_UNSIGNED = 1,   /* no number of a node's is below 0 */
    FAULT_NO_BARRIER,     /* what may be about to end has references to
                           * spare */
    FAULT_FORGET_PINNED,  /* WRITE is enough to end a region */
    FAULT_LATE_COUNT,     /* give a reference up before the home has the
                           * other node's listed */
    FAULT_FORGET_LINKS,   /* a region's end leaves what it refers to */
    FAULT_REVIVE,         /* what was held when its circle ended lives on */
    FAULT_ON_ITS_WAY,     /* take a region for garbage though a
                           * reference to it may be on its way */
    FAULT_FREEZE_CHANGED, /* freeze what is not as it was seen */
    FAULT_END_CHANGED,    /* end it, of one home */
};

extern uint32_t refs_fault;

#endif
