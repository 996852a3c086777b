/*
 * calls.c - the system calls and locks of the code under test.
 *
 * A futex call passes a full barrier in the kernel, on both sides, and compares
 * the word with its queue locked: so a sleeper may miss a store only that its
 * waker has not ordered before the wake.  membarrier() is a fence in every thread,
 * in each at a moment of its own during the call.
 */
#include <stdarg.h>

#include "calls.h"
#include "engine.h"

#define PC ((uintptr_t)__builtin_return_address(0))

/* --- Futexes -------------------------------------------------------------- */

/* The word on which each thread sleeps; 0: none, or it was woken. */
static uintptr_t asleep_on[STEP_THREADS];

static bool is_woken(void *thread)
{
    return !asleep_on[(intptr_t)thread];
}

static uint64_t deadline_of(const struct timespec *until)
{
    return until ? (uint64_t)until->tv_sec * 1000000u +
                       (uint64_t)until->tv_nsec / 1000u
                 : STEP_FOREVER;
}

static long futex_wait(uintptr_t address, uint32_t value,
                       const struct timespec *until, uintptr_t pc)
{
    int self = run.self;
    struct trace *t;
    bool stale;

    run_point();
    t = run_trace(STEP_FUTEX_WAIT, pc, address);
    t->before = (uint32_t)memory_kernel_load(address, 4, &stale);
    t->stale = stale;
    if (t->before != value) {
        errno = EAGAIN;
        return -1;
    }
    asleep_on[self] = private_key(address);
    if (!run_block(is_woken, (void *)(intptr_t)self, deadline_of(until),
                   true)) {
        asleep_on[self] = 0;
        errno = ETIMEDOUT;
        return -1;
    }
    return 0;
}

static long futex_wake(uintptr_t address, int count, uintptr_t pc)
{
    enum step_effect effect;
    struct trace *t;
    long woken = 0;

    run_point();
    t = run_trace(STEP_FUTEX_WAKE, pc, address);
    t->fault = run_fault(STEP_FUTEX_WAKE, address, 0, &effect);
    if (t->fault)
        return 0;
    memory_barrier();
    for (int i = 0; i < STEP_THREADS && woken < count; i++)
        if (asleep_on[i] == private_key(address)) {
            asleep_on[i] = 0;
            woken++;
        }
    t->after = (uint64_t)woken;
    return woken;
}

static long membarrier(int command, uintptr_t pc)
{
    enum step_effect effect;
    struct trace *t;

    if (run.self < 0)
        return 0; /* it is registered */
    run_point();
    t = run_trace(STEP_MEMBARRIER, pc, 0);
    t->fault = run_fault(STEP_MEMBARRIER, 0, 0, &effect);
    if (t->fault)
        return 0;
    if (command == MEMBARRIER_CMD_PRIVATE_EXPEDITED ||
        command == MEMBARRIER_CMD_GLOBAL_EXPEDITED)
        memory_barrier_all();
    return 0;
}

long step_syscall(long number, ...)
{
    va_list args;
    uintptr_t address;
    long result = -1;

    va_start(args, number);
    if (number == SYS_futex) {
        address = (uintptr_t)va_arg(args, void *);
        int operation = va_arg(args, int), value = va_arg(args, int);
        const struct timespec *until = va_arg(args, const struct timespec *);

        if ((operation & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET)
            result = futex_wait(address, (uint32_t)value, until, PC);
        else
            result = futex_wake(address, value, PC);
    } else if (number == SYS_membarrier) {
        result = membarrier(va_arg(args, int), PC);
    } else if (number == SYS_sched_getattr) {
        errno = ENOSYS;
    } else {
        step_fail("system call %ld is not among those of calls.c", number);
    }
    va_end(args);
    return result;
}

/* --- Time ----------------------------------------------------------------- */

int step_sched_yield(void)
{
    step_advance_us(run.scenario->yield_us);
    step_yield();
    return 0;
}

int step_clock_gettime(clockid_t clock, struct timespec *time_out)
{
    uint64_t now = step_now_us();

    (void)clock;
    time_out->tv_sec = (time_t)(now / 1000000u);
    time_out->tv_nsec = (long)(now % 1000000u) * 1000;
    return 0;
}

static bool never(void *arg)
{
    (void)arg;
    return false;
}

int step_clock_nanosleep(clockid_t clock, int flags,
                         const struct timespec *time, struct timespec *left)
{
    uint64_t us =
        (uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_nsec / 1000;

    (void)clock;
    (void)flags;
    (void)left;
    step_wait(never, NULL, step_now_us() + us, "rests");
    return 0;
}

/* --- Memory --------------------------------------------------------------- */

void *step_memcpy(void *to, const void *from, size_t bytes)
{
    plain_access((uintptr_t)from, bytes, PLAIN_READ, false, PC);
    plain_access((uintptr_t)to, bytes, PLAIN_WRITE, false, PC);
    return memcpy(to, from, bytes);
}

void *step_memset(void *at, int value, size_t bytes)
{
    plain_access((uintptr_t)at, bytes, PLAIN_WRITE, false, PC);
    return memset(at, value, bytes);
}

/* Before what is given out: its length. */
#define HEAD_BYTES    16
#define ALLOC_ALIGNED 64 /* step_alloc() */

void *step_malloc(size_t bytes)
{
    char *at = step_alloc(HEAD_BYTES + bytes);

    memcpy(at, &bytes, sizeof(bytes));
    return at + HEAD_BYTES;
}

void *step_calloc(size_t count, size_t bytes)
{
    return step_malloc(count * bytes);
}

static size_t length_of(const char *ptr)
{
    size_t bytes;

    memcpy(&bytes, ptr - HEAD_BYTES, sizeof(bytes));
    return bytes;
}

void *step_realloc(void *ptr, size_t bytes)
{
    void *to = step_malloc(bytes);

    if (ptr) {
        memcpy(to, ptr, length_of(ptr) < bytes ? length_of(ptr) : bytes);
        step_free(ptr, length_of(ptr));
    }
    return to;
}

void step_give_back(void *ptr)
{
    if (ptr)
        step_free(ptr, length_of(ptr));
}

void *step_aligned_alloc(size_t alignment, size_t bytes)
{
    STEP_CHECK(alignment <= ALLOC_ALIGNED);
    return step_alloc(bytes);
}

/* --- Mutexes -------------------------------------------------------------- */

_Static_assert(sizeof(struct step_mutex) <= sizeof(pthread_mutex_t),
               "lies in its place");

static struct step_mutex *mutex_of(pthread_mutex_t *mutex)
{
    return (struct step_mutex *)(void *)mutex;
}

int step_mutex_lock(pthread_mutex_t *mutex)
{
    step_lock(mutex_of(mutex));
    return 0;
}

int step_mutex_trylock(pthread_mutex_t *mutex)
{
    return step_trylock(mutex_of(mutex)) ? 0 : EBUSY;
}

int step_mutex_unlock(pthread_mutex_t *mutex)
{
    step_unlock(mutex_of(mutex));
    return 0;
}

/* --- Threads -------------------------------------------------------------- */

/* One that the code under test creates. */
static struct step_mutex ending; /* what it did comes before its join */
static struct {
    void *(*start)(void *arg);
    void *arg;
    bool created, ended;
} created;

int step_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                        void *(*start)(void *arg), void *arg)
{
    (void)attr;
    *thread = 0;
    created.start = start;
    created.arg = arg;
    created.created = true;
    return 0;
}

static bool is_created(void *unused)
{
    (void)unused;
    return created.created;
}

static bool has_ended(void *unused)
{
    (void)unused;
    return created.ended;
}

void step_thread_body(void)
{
    run_block(is_created, NULL, STEP_FOREVER, false);
    created.start(created.arg);
    memory_lock_give(&ending);
    created.ended = true;
}

int step_pthread_join(pthread_t thread, void **result_out)
{
    (void)thread;
    (void)result_out;
    run_point();
    run_block(has_ended, NULL, STEP_FOREVER, false);
    memory_lock_take(&ending);
    return 0;
}

int step_prctl(int what, ...)
{
    (void)what;
    return 0;
}

/* --- Between runs --------------------------------------------------------- */

void calls_reset(void)
{
    memset(asleep_on, 0, sizeof(asleep_on));
    memset(&created, 0, sizeof(created));
    memset(&ending, 0, sizeof(ending));
}
