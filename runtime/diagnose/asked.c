/* A signal, and the thread that answers it: see asked.h. */
#include "runtime/diagnose/asked.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "drasync.h"
#include "runtime/diagnose/ask.h"
#include "runtime/diagnose/report.h"
#include "runtime/process.h"
#include "runtime/thread.h"

/* A launcher hands a signal to all ranks: those that come late are of the same
 * one. */
#define PAUSE_US 1000000

static sem_t rung;
static struct sigaction before;
static pthread_t thread;
static bool started;
static _Atomic bool stopping;

/* Wherever the program was: sem_post() may be called in handlers. */
static void ring(int number, siginfo_t *info, void *context)
{
    int saved = errno;

    sem_post(&rung);
    errno = saved;
    if (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN)
        return;
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(number, info, context);
    else
        before.sa_handler(number);
}

static void *answer(void *unused)
{
    (void)unused;
    thread_is_ours();
    pthread_setname_np(pthread_self(), "drasync-asked");
    for (;;) {
        while (sem_wait(&rung))
            ;
        while (!sem_trywait(&rung))
            ;
        if (atomic_load(&stopping))
            return NULL;
        if (ask_claim(PAUSE_US, ASK_WHY_USER))
            report_asked();
    }
}

static int signal_number(void)
{
    switch (runtime.options.report_signal) {
    case RUNTIME_REPORT_USR1:
        return SIGUSR1;
    case RUNTIME_REPORT_USR2:
        return SIGUSR2;
    default:
        return 0;
    }
}

/* MPICH has a handler for SIGUSR1, which its launcher sends when a rank fails; who
 * names that signal wants both. */
static bool is_free(int number)
{
    return !sigaction(number, NULL, &before) &&
           (before.sa_handler == SIG_DFL || number == SIGUSR1);
}

int asked_start(void)
{
    struct sigaction action = {.sa_sigaction = ring,
                               .sa_flags = SA_RESTART | SA_SIGINFO};

    if (!signal_number() || !is_free(signal_number()))
        return 0;
    sem_init(&rung, 0, 0);
    atomic_store(&stopping, false);
    if (thread_create(&thread, answer, NULL))
        return DRASYNC_ENOMEM;
    started = true;
    sigaction(signal_number(), &action, NULL);
    return 0;
}

void asked_stop(void)
{
    if (!started)
        return;
    started = false;
    /* The handler stays: a signal that comes late is no reason to end. */
    atomic_store(&stopping, true);
    sem_post(&rung);
    pthread_join(thread, NULL);
}
