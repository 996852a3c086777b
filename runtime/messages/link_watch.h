/*
 * link_watch.h - a thread that ends the job when a link between hosts is cut.
 *
 * TCP gives up after a quarter of an hour or later, and MPI with it; until then
 * who waits for the other host waits.  So each leader, where a job has several
 * hosts, looks now and then whether what it sent to one of them stays
 * unacknowledged (transport/connections.h): for DRASYNC_LINK_S, and a line names
 * both hosts, and the job is poisoned.  Connections to anybody else are left
 * alone, and so are those of MPI's that are none of TCP.
 *
 * Only who has sent something can tell.  Who waits for an answer asks again
 * sooner or later: to find out who has what it waits for (diagnose/deadlock.h).
 */
#ifndef DRASYNC_RUNTIME_MESSAGES_LINK_WATCH_H
#define DRASYNC_RUNTIME_MESSAGES_LINK_WATCH_H

struct start_facts;

/* Remember the other hosts of @facts ([ranks]), if this rank is a leader. */
void link_watch_hosts(const struct start_facts *facts);

/* After that.  Nothing where there are no other hosts, or DRASYNC_LINK_S is 0; and
 * without memory or a thread nobody watches. */
void link_watch_start(void);

/* The thread has ended; also without link_watch_start(). */
void link_watch_stop(void);

#endif /* DRASYNC_RUNTIME_MESSAGES_LINK_WATCH_H */
