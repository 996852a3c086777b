/* faults.h - rules that the simulator breaks on purpose, to see them caught. */
#ifndef DRASYNC_PROTOCOL_FAULTS_H
#define DRASYNC_PROTOCOL_FAULTS_H

#include <stdint.h>

enum sim_fault {
    FAULT_IGNORE_HOLDS = 1 << 0, /* grant though others hold it */
    FAULT_SAME_VERSION = 1 << 1, /* a WRITE hold makes no new version */
    FAULT_NO_SPLIT = 1 << 2,     /* write where readers look */
    FAULT_NO_SHARED = 1 << 3,    /* let writers between the parts of a READ */
    FAULT_KEEP_TOKEN = 1 << 4, /* stay the owner after giving the token away */
    FAULT_LOSE_EXTENTS = 1 << 5,   /* do not give extents back */
    FAULT_LOSE_WAITERS = 1 << 6,   /* do not send the queue along */
    FAULT_NO_SETTLED = 1 << 7,     /* do not say that it is in place */
    FAULT_BLIND_DELETE = 1 << 8,   /* delete what others read */
    FAULT_TAKE_USED = 1 << 9,      /* overwrite what is read */
    FAULT_OLD_ANSWER = 1 << 10,    /* serve others with what was asked before */
    FAULT_ONE_PORTION = 1 << 11,   /* wait for the data of an answer's first */
    FAULT_FORGET_READS = 1 << 12,  /* not tell with a token who reads here */
    FAULT_DROP_UNWANTED = 1 << 13, /* not send back what nobody waits for */
    FAULT_GIVE_NESTED = 1 << 14,   /* give what the giver holds once more */
    FAULT_GIVE_LOST = 1 << 15,     /* release it instead */
    FAULT_FREE_KNOWN = 1 << 16,    /* free what others than the home know */
    FAULT_AHEAD_UNTOLD = 1 << 17,  /* a writer waits, and nothing is revoked */
    FAULT_AHEAD_BROKEN = 1 << 18,  /* write before it is */
    FAULT_AHEAD_KEPT = 1 << 19,    /* say REVOKED and keep it */
    FAULT_AHEAD_LATE = 1 << 20,    /* the same before its data is here */
    FAULT_AHEAD_FIRST = 1 << 21,   /* wait among real requests */
    FAULT_AHEAD_WRITES = 1 << 22,  /* wait for WRITE */
    FAULT_AHEAD_STEALS = 1 << 23,  /* take a token that was not used yet */
    FAULT_AHEAD_COUNTED = 1 << 24, /* a delete takes it for a reader */
    FAULT_SUBSCRIBERS_KEPT = 1 << 25,     /* when the token leaves */
    FAULT_SUBSCRIBERS_UNSERVED = 1 << 26, /* when a writer releases */
    FAULT_BASE_LOST = 1 << 27,   /* keep a token whose data builds on nothing */
    FAULT_NEWER_EARLY = 1 << 28, /* grant a version that its rank knows */
    FAULT_NEWER_LEFT = 1 << 29,  /* wait on where the token left */
    FAULT_FREE_EXTENTS = 1 << 30,   /* free what another node still has */
    FAULT_UNREAD_EARLY = INT32_MIN, /* say that what is READ is not */
};

/* The same, of references.h and who uses it. */
enum refs_fault {
    FAULT_UNSIGNED = 1 << 0,      /* no number of a node's is below 0 */
    FAULT_NO_BARRIER = 1 << 1,    /* what may be about to end has references to
                                * spare */
    FAULT_FORGET_PINNED = 1 << 2, /* WRITE is enough to end a region */
    FAULT_LATE_COUNT = 1 << 3,    /* give a reference up before the home has the
                                * other node's listed */
    FAULT_FORGET_LINKS = 1 << 4,  /* a region's end leaves what it refers to */
    FAULT_REVIVE = 1 << 5, /* what was held when its circle ended lives on */
    FAULT_ON_ITS_WAY = 1 << 6,     /* take a region for garbage though a
                                    * reference to it may be on its way */
    FAULT_FREEZE_CHANGED = 1 << 7, /* freeze what is not as it was seen */
    FAULT_END_CHANGED = 1 << 8,    /* end it, of one home */
};

extern uint32_t refs_faults;

#endif
