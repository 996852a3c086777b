/*
 * patience.h - is it worth while for a message that nobody waits for yet to wait
 * for the next one to its node?
 *
 * It is where another message followed the last few at once: ranks that exchange
 * data tell the other that they have read the last, and ask for the next, just
 * before they send their own.  A packet costs each side some 10 us.
 *
 * One of these for each node, all 0 at the beginning.  Pure; of one thread at a
 * time.  Times are of any clock, in us.
 */
#ifndef DRASYNC_TRANSPORT_PATIENCE_H
#define DRASYNC_TRANSPORT_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

/* What comes no later follows at once: less than a message takes. */
#define PATIENCE_US 50

/* So many were followed so, before one waits. */
#define PATIENCE_TIMES 4

struct patience {
    /* When the first began that nothing has followed yet; 0: there is none. */
    uint64_t since_us;
    uint32_t times; /* so many of the last were followed at once */
};

/* Does a patient message wait? */
static inline bool patience_pays(const struct patience *p)
{
    return p->times >= PATIENCE_TIMES;
}

/* One begins to wait, or has left at once, at @now. */
static inline void patience_begins(struct patience *p, uint64_t now)
{
    if (!p->since_us)
        p->since_us = now;
}

/* Is there one that nothing has followed?  Else patience_followed() is not to be
 * called, nor the clock read. */
static inline bool patience_counts(const struct patience *p)
{
    return p->since_us > 0;
}

/* Another message is sent, or a patient one that does not wait, at @now. */
static inline void patience_followed(struct patience *p, uint64_t now)
{
    if (now - p->since_us > PATIENCE_US)
        p->times = 0;
    else if (p->times < PATIENCE_TIMES)
        p->times++;
    p->since_us = 0;
}

/* One that waited leaves by itself. */
static inline void patience_in_vain(struct patience *p)
{
    p->times = 0;
    p->since_us = 0;
}

#endif /* DRASYNC_TRANSPORT_PATIENCE_H */
