/* signals.h - no handler runs in this thread for a while, but for SIGSEGV's,
 * which opens hot pages. */
#ifndef UPM_SIGNALS_H
#define UPM_SIGNALS_H

#include <pthread.h>
#include <signal.h>

static inline void upm_signals_block(sigset_t *before)
{
    sigset_t all;

    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    pthread_sigmask(SIG_BLOCK, &all, before);
}

static inline void upm_signals_restore(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

#endif /* UPM_SIGNALS_H */
