/*
 * thread.h - threads of the library, and what happens when one of the program ends.
 *
 * What a module keeps for a thread goes back when the thread ends, in the
 * module's `thread_ends` (modules.h).  One key of the C library's is behind all
 * of them, so their order is this one and no accident of who came first:
 * modules in the reverse of the order in which they started.
 *
 *   replica  The heaps that the thread has caches of get their slots back.  Needs
 *            locks of heaps.
 *   native   First what takes steps of the protocol: regions that it kept to be
 *            new ones again are deleted, its windows end.  Then what steps use:
 *            its wait, its memory for effects, its view of trees, its leases.
 *
 * Keys of the program may be run later, and use regions once more.
 * The thread is watched again then, and all of this happens again, as the C
 * library goes round its keys PTHREAD_DESTRUCTOR_ITERATIONS times.  What a
 * thread takes after that is not given back before the job ends.
 *
 * A child of fork keeps nothing: what its one thread has is its parent's.
 */
#ifndef DRASYNC_RUNTIME_THREAD_H
#define DRASYNC_RUNTIME_THREAD_H

#include <pthread.h>

/* The calling thread keeps something: `thread_ends` of all modules will be
 * called when it ends.  0, or DRASYNC_ENOMEM: they will not be. */
int thread_watch(void);

/* As pthread_create(), for a thread of the library's own: with signals blocked, as
 * the program's are for the program's threads; but for those of faults, which
 * functions of the program may cause there (drasync_run()). */
int thread_create(pthread_t *thread, void *(*run)(void *arg), void *arg);

/* The calling thread is the library's own, and none of the program's. */
void thread_is_ours(void);

#endif /* DRASYNC_RUNTIME_THREAD_H */
