/* SIGSEGV before the program's handler: see intercept.h. */
#include "upm/intercept.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "upm/next.h"
#include "upm/signals.h"
#include "upm/source_protect.h"

typedef int (*sigaction_fn)(int, const struct sigaction *, struct sigaction *);
typedef int (*sigmask_fn)(int, const sigset_t *, sigset_t *);

/* The program's handler while ours stands before it.  Written under `lock` or,
 * by a handler that resets itself, without: as the kernel would. */
static struct sigaction wanted;
static _Atomic bool caught;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* sigaction() may be called in handlers: none comes while this thread has it. */
static void lock_handler(sigset_t *before)
{
    upm_signals_block(before);
    pthread_mutex_lock(&lock);
}

static void unlock_handler(const sigset_t *before)
{
    pthread_mutex_unlock(&lock);
    upm_signals_restore(before);
}

/* The mask of the thread that forks; of one at a time, as upm.lock says. */
static sigset_t forking;

void upm_intercept_before_fork(void)
{
    lock_handler(&forking);
}

void upm_intercept_after_fork(void)
{
    unlock_handler(&forking);
}

static int real_sigaction(int number, const struct sigaction *action,
                          struct sigaction *old)
{
    sigaction_fn next = UPM_NEXT(sigaction);

    if (!next) {
        errno = ENOSYS;
        return -1;
    }
    return next(number, action, old);
}

/* The program has no handler for it: let the kernel do what it would. */
static void by_default(const siginfo_t *info)
{
    struct sigaction none = {.sa_handler = SIG_DFL};

    real_sigaction(SIGSEGV, &none, NULL);
    /* A real fault comes again; one that was sent has to be sent again. */
    if (info->si_code <= 0)
        syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGSEGV);
}

static void forward(int number, siginfo_t *info, void *context)
{
    struct sigaction action = wanted;

    if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) {
        if (action.sa_handler == SIG_DFL || info->si_code > 0)
            by_default(info);
        return;
    }
    if (action.sa_flags & (int)SA_RESETHAND)
        wanted = (struct sigaction){.sa_handler = SIG_DFL};
    /* The kernel takes the thread's own mask again when ours returns.  SIGSEGV
     * stays out of it: the handler may touch hot pages. */
    sigdelset(&action.sa_mask, SIGSEGV);
    pthread_sigmask(SIG_BLOCK, &action.sa_mask, NULL);
    if (action.sa_flags & SA_SIGINFO)
        action.sa_sigaction(number, info, context);
    else
        action.sa_handler(number);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    int saved = errno;

    if (!upm_protect_fault(info))
        forward(number, info, context);
    errno = saved;
}

int upm_intercept(void)
{
    struct sigaction now, ours = {.sa_sigaction = on_fault};
    sigset_t before;
    int err = 0;

    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    lock_handler(&before);
    if (real_sigaction(SIGSEGV, NULL, &now)) {
        err = -errno;
    } else if (!(now.sa_flags & SA_SIGINFO) || now.sa_sigaction != on_fault) {
        wanted = now;
        if (real_sigaction(SIGSEGV, &ours, NULL))
            err = -errno;
    }
    if (!err)
        atomic_store(&caught, true);
    unlock_handler(&before);
    return err;
}

/* --- The C library's calls ------------------------------------------------ */

/* The handler of another signal may touch hot pages, too. */
static int sigaction_of_other(int number, const struct sigaction *action,
                              struct sigaction *old)
{
    struct sigaction open;

    if (!action)
        return real_sigaction(number, NULL, old);
    open = *action;
    sigdelset(&open.sa_mask, SIGSEGV);
    return real_sigaction(number, &open, old);
}

int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction was;
    sigset_t before;

    if (number != SIGSEGV)
        return sigaction_of_other(number, action, old);
    if (!atomic_load(&caught))
        return real_sigaction(number, action, old);
    /* What was caught stays so: see upm_intercept(). */
    lock_handler(&before);
    was = wanted;
    if (action)
        wanted = *action;
    unlock_handler(&before);
    if (old)
        *old = was;
    return 0;
}

sighandler_t signal(int number, sighandler_t handler)
{
    struct sigaction action = {.sa_handler = handler}, old;

    action.sa_flags = SA_RESTART;
    sigaddset(&action.sa_mask, number);
    return sigaction(number, &action, &old) ? SIG_ERR : old.sa_handler;
}

/* Not in the C library's header any more. */
sighandler_t bsd_signal(int number, sighandler_t handler);

sighandler_t bsd_signal(int number, sighandler_t handler)
{
    return signal(number, handler);
}

/* What signal() is for programs of strict ISO C (-std=c11). */
sighandler_t __sysv_signal(int number, sighandler_t handler)
{
    struct sigaction action = {.sa_handler = handler}, old;

    action.sa_flags = (int)(SA_RESETHAND | SA_NODEFER);
    return sigaction(number, &action, &old) ? SIG_ERR : old.sa_handler;
}

sighandler_t sysv_signal(int number, sighandler_t handler)
{
    return __sysv_signal(number, handler);
}

/* @set without SIGSEGV where it would block it: always, as pages may be protected
 * later, by another thread. */
static const sigset_t *unblocked(int how, const sigset_t *set, sigset_t *copy)
{
    if (!set || how == SIG_UNBLOCK || sigismember(set, SIGSEGV) != 1)
        return set;
    *copy = *set;
    sigdelset(copy, SIGSEGV);
    return copy;
}

static int masked(sigmask_fn next, int how, const sigset_t *set, sigset_t *old)
{
    sigset_t copy;

    if (!next) {
        errno = ENOSYS;
        return -1;
    }
    return next(how, unblocked(how, set, &copy), old);
}

int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    return masked(UPM_NEXT(sigprocmask), how, set, old);
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    return masked(UPM_NEXT(pthread_sigmask), how, set, old);
}
