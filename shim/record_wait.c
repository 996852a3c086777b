/*
 * The processor while a run is recorded: libdrasync_record.so's other half.
 *
 * Runs are recorded with many more ranks than cores.  There whoever spins
 * through its slice of a core keeps the rank from it that it waits for; and
 * whoever computes finds its caches cold after each slice, which the clock of
 * the thread counts as work: 16 % of Barnes-Hut's with two ranks a core and
 * slices of 4 ms, 3 % with the 100 ms of round robin.  So here ranks that wait
 * give the core away, and those that compute keep it until they wait; or for
 * QUANTUM_NS, lest a program that waits by looking at memory has it for ever.
 *
 * MPICH waits in two ways.  Once it is up it calls ucp_worker_progress() until
 * something has come: now it naps there, each time twice as long.  While it
 * starts and ends, ranks of a host meet at barriers that read a word again and
 * again and call nothing; 512 ranks on two cores would burn whole slices there,
 * for minutes.  So during MPI_Init and MPI_Finalize a timer interrupts the
 * thread.  If twice in a row it is at the same place, with the same in all
 * registers but two, then it spins, and naps too.
 */
#include <errno.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "shim/next.h"

#define YIELDS_MAX   1
#define NAP_MIN_NS   100000L
#define NAP_MAX_NS   20000000L
#define SLICE_NS     UINT64_C(100000000) /* where SCHED_FIFO is not allowed */
#define QUANTUM_NS   1000000000L
#define LOOK_NS      1000000L /* between two looks at who may spin */
#define LOOK_SPIN_NS 20000L   /* at who spun */

unsigned ucp_worker_progress(void *worker);

/* The next nap; twice as long the time after. */
static void nap(long *ns)
{
    const struct timespec time = {0, *ns};

    nanosleep(&time, NULL);
    if (*ns < NAP_MAX_NS)
        *ns *= 2;
}

unsigned ucp_worker_progress(void *worker)
{
    static _Thread_local unsigned vain;
    static _Thread_local long nap_ns = NAP_MIN_NS;
    unsigned moved;

    REAL(ucp_worker_progress);
    moved = real(worker);
    if (moved) {
        vain = 0;
        nap_ns = NAP_MIN_NS;
    } else if (++vain > YIELDS_MAX) {
        nap(&nap_ns);
    } else {
        sched_yield();
    }
    return moved;
}

/* --- Start and end ------------------------------------------------------- */

#ifdef __x86_64__

/* All but RAX and RDX, in which such a loop has what it compares. */
static const int steady[] = {REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12,
                             REG_R13, REG_R14, REG_R15, REG_RDI, REG_RSI,
                             REG_RBP, REG_RBX, REG_RCX, REG_RSP};

#define STEADY     (sizeof(steady) / sizeof(steady[0]))
#define LOOP_BYTES 64

static struct {
    timer_t timer;
    volatile sig_atomic_t on;
    greg_t last[STEADY], last_rip;
    long nap_ns;
} spin;

static bool same_place(const greg_t *now)
{
    greg_t moved = now[REG_RIP] - spin.last_rip;
    bool same = moved > -LOOP_BYTES && moved < LOOP_BYTES;

    spin.last_rip = now[REG_RIP];
    for (size_t i = 0; i < STEADY; i++) {
        same &= spin.last[i] == now[steady[i]];
        spin.last[i] = now[steady[i]];
    }
    return same;
}

static void set_timer(long ns)
{
    const struct itimerspec when = {.it_value = {0, ns}};

    timer_settime(spin.timer, 0, &when, NULL);
}

static void look(int signal, siginfo_t *info, void *context)
{
    const ucontext_t *at = context;
    int error = errno;

    (void)signal;
    (void)info;
    if (!spin.on)
        return;
    if (same_place(at->uc_mcontext.gregs)) {
        nap(&spin.nap_ns);
        set_timer(LOOK_SPIN_NS);
    } else {
        spin.nap_ns = NAP_MIN_NS;
        set_timer(LOOK_NS);
    }
    errno = error;
}

/* Without a timer it takes longer. */
static void begin(void)
{
    struct sigaction action = {.sa_sigaction = look,
                               .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
                             .sigev_signo = SIGRTMAX - 2};

    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    spin.nap_ns = NAP_MIN_NS;
    if (spin.on || sigaction(event.sigev_signo, &action, NULL) ||
        timer_create(CLOCK_MONOTONIC, &event, &spin.timer))
        return;
    spin.on = 1;
    set_timer(LOOK_NS);
}

static void end(void)
{
    if (!spin.on)
        return;
    spin.on = 0;
    timer_delete(spin.timer);
}

#else

static void begin(void)
{
}

static void end(void)
{
}

#endif

/* --- Between start and end ----------------------------------------------- */

/* What the kernel takes; glibc has no name for it. */
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns;
};

static void ask_for(uint32_t policy, uint64_t slice_ns)
{
    const struct attributes all = {.size = sizeof(all),
                                   .policy = policy,
                                   .nice = getpriority(PRIO_PROCESS, 0),
                                   .runtime_ns = slice_ns};

    syscall(SYS_sched_setattr, 0, &all, 0);
}

static void quantum_over(int signal)
{
    int error = errno;

    (void)signal;
    sched_yield();
    errno = error;
}

/* The thread offers its core each time it has computed for QUANTUM_NS.  A signal
 * of the clock of the thread comes while it computes, so it interrupts no call. */
static int quantum_start(timer_t *timer)
{
    struct sigaction action = {.sa_handler = quantum_over,
                               .sa_flags = SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
                             .sigev_signo = SIGRTMAX - 3};
    const struct timespec quantum = {QUANTUM_NS / 1000000000,
                                     QUANTUM_NS % 1000000000};
    const struct itimerspec when = {.it_value = quantum,
                                    .it_interval = quantum};

    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    if (sigaction(event.sigev_signo, &action, NULL) ||
        timer_create(CLOCK_THREAD_CPUTIME_ID, &event, timer))
        return -1;
    return timer_settime(*timer, 0, &when, NULL);
}

/* Whoever has a core keeps it until it waits, or for QUANTUM_NS or SLICE_NS.
 * Where that may not be asked for it is as it was, and caches are colder. */
static void uninterrupted(bool on)
{
    const struct sched_param first = {.sched_priority = 1};
    static timer_t timer;
    static bool taken;

    if (!getenv("DRASYNC_RECORD"))
        return;
    if (!on) {
        ask_for(SCHED_OTHER, 0);
        if (taken)
            timer_delete(timer);
        taken = false;
        return;
    }
    if (!taken)
        taken = !quantum_start(&timer);
    /* Threads and processes that come of this one have no such timer. */
    if (!taken ||
        sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first))
        ask_for(SCHED_BATCH, SLICE_NS);
}

int MPI_Init(int *argc, char ***argv)
{
    int err;

    begin();
    err = NEXT(MPI_Init)(argc, argv);
    end();
    uninterrupted(true);
    return err;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int err;

    begin();
    err = NEXT(MPI_Init_thread)(argc, argv, required, provided);
    end();
    uninterrupted(true);
    return err;
}

int MPI_Finalize(void)
{
    int err;

    uninterrupted(false);
    begin();
    err = NEXT(MPI_Finalize)();
    end();
    return err;
}
