/*
 * SIGSEGV: which faults are ours, and the thread that looks at them.
 *
 * The handler runs wherever the program was, which may be inside of the
 * allocator or the loader, or on a small stack.  So it notes the fault, rings
 * for a thread that was there from the start, and sleeps until that
 * has written the report.  Should the thread have to wait for a lock that the
 * faulting thread has, the handler writes what it knows after HANDLER_US.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "memory/sanitizer.h"
#include "runtime/check/state.h"
#include "runtime/process.h"
#include "runtime/refused.h"
#include "runtime/say.h"
#include "runtime/shared.h"
#include "runtime/thread.h"

#define HANDLER_US 15000000
#define IDLE_US    UINT64_C(3600000000)

/* Whoever had the signal before us.  A fault that comes while it changes may see
 * either. */
static struct sigaction before;
static pthread_mutex_t before_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_t reporter, server;
static pid_t process;
static _Atomic bool stopping;

/* One fault at a time. */
static _Atomic uint32_t taken, verdict;
static struct check_fault fault;
static _Atomic bool filled;

/* READ or WRITE; 0 where the processor does not say. */
static int mode_of(const ucontext_t *context)
{
#if defined(__x86_64__)
    return context->uc_mcontext.gregs[REG_ERR] & 2 ? DRASYNC_WRITE
                                                   : DRASYNC_READ;
#else
    (void)context;
    return 0;
#endif
}

static void raw_line(const char *what, uintptr_t value)
{
    char line[120] = "drasync: DRASYNC_CHECK: ";
    size_t n = strlen(line), digits = 0;

    for (; *what; what++)
        line[n++] = *what;
    line[n++] = '0';
    line[n++] = 'x';
    while (digits < 15 && value >> 4 * (digits + 1))
        digits++;
    for (digits++; digits; digits--)
        line[n++] = "0123456789abcdef"[value >> 4 * (digits - 1) & 15];
    line[n++] = '\n';
    if (write(STDERR_FILENO, line, n) < 0)
        return;
}

/* The thread that reports was not to be had: addresses are all there is. */
static void raw_report(void *address, const ucontext_t *context)
{
    raw_line("touched against the rules: ", (uintptr_t)address);
#if defined(__x86_64__)
    raw_line("by the instruction at ",
             (uintptr_t)context->uc_mcontext.gregs[REG_RIP]);
#else
    (void)context;
#endif
}

/* Hand it to whoever was there before us. */
static void chain(int number, siginfo_t *info, void *context, bool nested)
{
    struct sigaction next = before;
    sigset_t old;

    if (nested || next.sa_handler == SIG_DFL || next.sa_handler == SIG_IGN) {
        /* The instruction is tried again, or the signal was sent. */
        signal(number, SIG_DFL);
        if (info->si_code <= 0)
            raise(number);
        return;
    }
    if (next.sa_flags & (int)SA_RESETHAND) {
        before.sa_handler = SIG_DFL;
        before.sa_flags &= ~(SA_SIGINFO | (int)SA_RESETHAND);
    }
    if (!(next.sa_flags & SA_NODEFER))
        sigaddset(&next.sa_mask, number);
    pthread_sigmask(SIG_BLOCK, &next.sa_mask, &old);
    if (next.sa_flags & SA_SIGINFO)
        next.sa_sigaction(number, info, context);
    else
        next.sa_handler(number);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static enum check_verdict ask(siginfo_t *info, ucontext_t *context)
{
    uint64_t end = runtime_now_us() + HANDLER_US;
    enum check_verdict v;

    while (atomic_exchange(&taken, 1)) {
        if (runtime_now_us() > end)
            return CHECK_END;
        wait_futex(&taken, 1, runtime_now_us() + 10000);
    }
    fault = (struct check_fault){info->si_addr, mode_of(context), gettid(),
                                 context};
    atomic_store(&verdict, CHECK_WAITS);
    /* Release: the thread that sees it sees the fault. */
    atomic_store(&filled, true);
    doorbell_ring(&check_box_of(runtime.local)->fault);
    while ((v = atomic_load(&verdict)) == CHECK_WAITS && runtime_now_us() < end)
        wait_futex(&verdict, CHECK_WAITS, end);
    if (v == CHECK_WAITS) {
        if (!check_reported())
            raw_report(info->si_addr, context);
        return CHECK_END;
    }
    atomic_store(&taken, 0);
    wait_futex_wake(&taken, 1);
    return v;
}

/*
 * Has the program's handler called ours, which was there before it?  It may
 * also have left by siglongjmp(), so no flag can tell; but a handler that the
 * kernel calls has its frame, at @frame, right below @context.
 */
static bool is_nested(const void *context, const void *frame)
{
    /* ThreadSanitizer's handler is the kernel's, and calls ours. */
#if defined(__x86_64__) && !SANITIZER_THREAD
    return (uintptr_t)context - (uintptr_t)frame > 64;
#else
    (void)context;
    (void)frame;
    return false;
#endif
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    int saved = errno;
    bool nested = is_nested(context, __builtin_frame_address(0));
    bool inside = space_page(&runtime.space, info->si_addr) != SPACE_NO_PAGE;

    if (getpid() != process || info->si_code != SEGV_ACCERR || !inside ||
        nested || atomic_load(&stopping) ||
        pthread_equal(pthread_self(), reporter) ||
        pthread_equal(pthread_self(), server))
        chain(number, info, context, nested);
    else if (check_hooks.inside && check_hooks.inside())
        check_allow(space_page(&runtime.space, info->si_addr), 1,
                    DRASYNC_WRITE);
    else if (ask(info, context) == CHECK_END)
        /* The instruction is tried again and ends the process there, where a
         * core dump or a debugger shows it. */
        signal(number, SIG_DFL);
    errno = saved;
}

static void install(void)
{
    struct sigaction action = {.sa_sigaction = on_fault,
                               .sa_flags =
                                   SA_SIGINFO | SA_NODEFER | SA_ONSTACK};

    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, NULL);
}

void check_handler_keep(void)
{
    struct sigaction now;

    if (sigaction(SIGSEGV, NULL, &now) ||
        (now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_fault) ||
        atomic_load(&verdict) == CHECK_END)
        return;
    pthread_mutex_lock(&before_mutex);
    before = now;
    install();
    pthread_mutex_unlock(&before_mutex);
}

/* Wait for the next ring.  The job may be poisoned by now, which ends other
 * waits. */
static void wait_bell(struct doorbell *bell, uint32_t seen)
{
    if (doorbell_wait(bell, seen, runtime_now_us() + IDLE_US) == DRASYNC_EPEER)
        wait_futex(&bell->rings, seen, runtime_now_us() + 100000);
}

static void *report(void *unused)
{
    struct doorbell *bell = &check_box_of(runtime.local)->fault;

    (void)unused;
    pthread_setname_np(pthread_self(), "drasync-check");
    while (!atomic_load(&stopping)) {
        uint32_t seen = doorbell_read(bell);

        if (atomic_exchange(&filled, false)) {
            atomic_store(&verdict, check_report(&fault));
            wait_futex_wake(&verdict, 1);
        }
        wait_bell(bell, seen);
    }
    return NULL;
}

/* Until what is asked for is there: others ask when all have started, but this
 * rank's thread may be the last to notice. */
static void wait_started(void)
{
    /* Pairs with the store in start_steps(), start.c, after all modules. */
    while (!atomic_load(&stopping) &&
           atomic_load(&runtime.state) != RUNTIME_FAILED &&
           atomic_load(&runtime_self()->state) == RUNTIME_RANK_STARTING)
        usleep(1000);
}

static void *serve(void *unused)
{
    struct doorbell *bell = &check_box_of(runtime.local)->question;

    (void)unused;
    pthread_setname_np(pthread_self(), "drasync-checked");
    wait_started();
    while (!atomic_load(&stopping)) {
        uint32_t seen = doorbell_read(bell);

        check_serve();
        wait_bell(bell, seen);
    }
    return NULL;
}

static void stop_thread(pthread_t thread, struct doorbell *bell)
{
    atomic_store(&stopping, true);
    doorbell_ring(bell);
    pthread_join(thread, NULL);
}

int check_fault_start(void)
{
    int err;

    process = getpid();
    atomic_store(&stopping, false);
    err = thread_create(&reporter, report, NULL);
    if (!err) {
        err = thread_create(&server, serve, NULL);
        if (err)
            stop_thread(reporter, &check_box_of(runtime.local)->fault);
    }
    if (err)
        return refused_by_system("no thread for DRASYNC_CHECK", err);
    if (runtime.options.check & OPTIONS_CHECK_ACCESS) {
        sigaction(SIGSEGV, NULL, &before);
        install();
    }
    return 0;
}

void check_fault_stop(void)
{
    struct check_box *box = check_box_of(runtime.local);

    stop_thread(reporter, &box->fault);
    stop_thread(server, &box->question);
}
