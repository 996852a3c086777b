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
static _Atomic bool signalled;

/* Calls of other nodes that wait for this one's view; more are answered by who
 * serves them. */
#define CALLERS_MAX 4
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct runtime_caller callers[CALLERS_MAX];
static int callers_count;
static bool reporting; /* under the mutex: the thread asks others itself */

/* Wherever the program was: sem_post() may be called in handlers. */
static void ring(int number, siginfo_t *info, void *context)
{
    int saved = errno;

    atomic_store(&signalled, true);
    sem_post(&rung);
    errno = saved;
    if (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN)
        return;
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(number, info, context);
    else
        before.sa_handler(number);
}

bool asked_later(const struct runtime_caller *caller)
{
    bool taken;

    pthread_mutex_lock(&mutex);
    taken = started && !reporting && callers_count < CALLERS_MAX;
    if (taken)
        callers[callers_count++] = *caller;
    pthread_mutex_unlock(&mutex);
    if (taken)
        sem_post(&rung);
    return taken;
}

static void answer_callers(void)
{
    struct runtime_caller first;
    bool any;

    do {
        pthread_mutex_lock(&mutex);
        any = callers_count > 0;
        if (any)
            first = callers[--callers_count];
        pthread_mutex_unlock(&mutex);
        if (any)
            ask_answer_view(&first);
    } while (any);
}

static void report(bool begins)
{
    pthread_mutex_lock(&mutex);
    reporting = begins;
    pthread_mutex_unlock(&mutex);
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
        answer_callers();
        if (!atomic_exchange(&signalled, false))
            continue;
        report(true);
        answer_callers(); /* who came before that */
        if (ask_claim(PAUSE_US, ASK_WHY_USER))
            report_asked();
        report(false);
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
    pthread_mutex_lock(&mutex);
    started = true;
    pthread_mutex_unlock(&mutex);
    sigaction(signal_number(), &action, NULL);
    return 0;
}

void asked_stop(void)
{
    if (!started)
        return;
    pthread_mutex_lock(&mutex);
    started = false;
    pthread_mutex_unlock(&mutex);
    /* The handler stays: a signal that comes late is no reason to end. */
    atomic_store(&stopping, true);
    sem_post(&rung);
    pthread_join(thread, NULL);
}
