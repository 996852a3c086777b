/*
 * dart_lock FILE: locks of teams, through the interface alone.
 *
 * What the locks guard lies in FILE, which all units map, wherever they are: so
 * exclusion is seen on plain memory.
 */
#undef NDEBUG
#include <assert.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "dart_lock_check.h"
#include "dart_yield.h"
#include "dash/dart/if/dart.h"

#define MANY      2000
#define UNITS_MAX 64
#define THREADS   3

/* After another dart_init: that locks work again. */
#define ROUNDS_AGAIN 20

static struct shared {
    uint64_t counter[MANY]; /* under locks */
    _Atomic uint32_t place; /* who asks next, and who had it */
    uint32_t had[UNITS_MAX], had_count;
} * shared;

static int me, units;

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void nap(void)
{
    const struct timespec time = {.tv_nsec = 50000};

    nanosleep(&time, NULL);
}

static void lock_end(dart_lock_t *lock)
{
    ok(dart_team_lock_destroy(lock));
    assert(*lock == DART_LOCK_NULL);
}

static void count(dart_lock_t lock, uint64_t *counter)
{
    ok(dart_lock_acquire(lock));
    ++*(volatile uint64_t *)counter;
    ok(dart_lock_release(lock));
}

static void try_count(dart_lock_t lock, uint64_t *counter)
{
    int32_t had;

    for (;;) {
        ok(dart_lock_try_acquire(lock, &had));
        if (had)
            break;
        nap();
    }
    ++*(volatile uint64_t *)counter;
    ok(dart_lock_release(lock));
}

/* --- Exclusion --------------------------------------------------------------- */

/* With each unit as home. */
static void exclusion(int rounds)
{
    for (int home = 0; home < units; home++) {
        dart_lock_t lock = lock_new(DART_TEAM_ALL);
        uint64_t *counter = &shared->counter[home];

        for (int i = 0; i < rounds; i++) {
            if ((i + me) % 8)
                count(lock, counter);
            else
                try_count(lock, counter);
        }
        barrier();
        assert(*counter == (uint64_t)rounds * (uint64_t)units);
        lock_end(&lock);
        if (me == 0)
            *counter = 0;
        barrier();
    }
}

struct work {
    dart_lock_t lock, second;
    int number;
};

static void *work_main(void *arg)
{
    const struct work *w = arg;
    int32_t had = 5;

    for (int i = 0; i < 100; i++) {
        if (w->number == 0 && i % 3 == 0)
            try_count(w->lock, &shared->counter[0]);
        else
            count(w->lock, &shared->counter[0]);
    }
    /* One inside the other; and what this thread must not do. */
    ok(dart_lock_acquire(w->lock));
    count(w->second, &shared->counter[1]);
    invalid(dart_lock_acquire(w->lock));
    invalid(dart_lock_try_acquire(w->lock, &had));
    assert(had == 0);
    ok(dart_lock_release(w->lock));
    invalid(dart_lock_release(w->lock));
    return NULL;
}

static void threads(void)
{
    pthread_t thread[THREADS];
    struct work work[THREADS];
    dart_lock_t lock = lock_new(DART_TEAM_ALL),
                second = lock_new(DART_TEAM_ALL);

    for (int i = 0; i < THREADS; i++) {
        work[i] = (struct work){lock, second, i};
        assert(!pthread_create(&thread[i], NULL, work_main, &work[i]));
    }
    for (int i = 0; i < THREADS; i++)
        assert(!pthread_join(thread[i], NULL));
    barrier();
    assert(shared->counter[0] == 100u * THREADS * (unsigned)units);
    assert(shared->counter[1] == (unsigned)THREADS * (unsigned)units);
    lock_end(&second);
    lock_end(&lock);
    if (me == 0)
        shared->counter[0] = shared->counter[1] = 0;
    barrier();
}

/* --- Order ------------------------------------------------------------------- */

struct asker {
    dart_lock_t lock;
    _Atomic int tid;
};

static void *ask(void *arg)
{
    struct asker *a = arg;

    atomic_store(&a->tid, (int)syscall(SYS_gettid));
    ok(dart_lock_acquire(a->lock));
    shared->had[shared->had_count++] = (uint32_t)me;
    ok(dart_lock_release(a->lock));
    return NULL;
}

static bool asleep(int tid)
{
    char path[64], text[256] = "", *end;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
    f = fopen(path, "r");
    assert(f && fgets(text, sizeof(text), f));
    fclose(f);
    end = strrchr(text, ')');
    assert(end && end[1] == ' ');
    return end[2] == 'S';
}

/* Ask in another thread; return when the home knows.  @same has the same home:
 * its answer comes after that. */
static pthread_t ask_and_wait(struct asker *a, dart_lock_t same)
{
    pthread_t thread;
    int32_t had;

    assert(!pthread_create(&thread, NULL, ask, a));
    while (!atomic_load(&a->tid) || !asleep(atomic_load(&a->tid)))
        nap();
    ok(dart_lock_try_acquire(same, &had));
    assert(had == 1);
    ok(dart_lock_release(same));
    return thread;
}

/* Units ask one after the other, @first before all others, who has it. */
static void in_order(dart_lock_t lock, dart_lock_t same, int first, int step)
{
    struct asker a = {.lock = lock};
    uint32_t place = 0;
    pthread_t thread;
    int32_t had;

    /* Mine: first, first + step, ... */
    while ((first + (int)place * step) % units != me)
        place++;
    if (me == 0) {
        atomic_store(&shared->place, 0);
        shared->had_count = 0;
    }
    barrier();
    if (place == 0) {
        ok(dart_lock_acquire(lock));
        atomic_store(&shared->place, 1);
        while (atomic_load(&shared->place) != (uint32_t)units)
            nap();
        ok(dart_lock_release(lock));
    } else {
        while (atomic_load(&shared->place) != place)
            nap();
        ok(dart_lock_try_acquire(lock, &had));
        assert(had == 0);
        thread = ask_and_wait(&a, same);
        atomic_store(&shared->place, place + 1);
        assert(!pthread_join(thread, NULL));
    }
    barrier();
    assert(shared->had_count == (uint32_t)units - 1);
    for (int i = 1; i < units; i++)
        assert(shared->had[i - 1] == (uint32_t)((first + i * step) % units));
    barrier();
}

static void order(void)
{
    dart_lock_t lock[2 * UNITS_MAX];

    for (int i = 0; i < 2 * units; i++)
        lock[i] = lock_new(DART_TEAM_ALL);
    for (int home = 0; home < units; home++) {
        for (int first = 0; first < units; first++) {
            in_order(lock[home], lock[home + units], first, 1);
            in_order(lock[home], lock[home + units], first, units - 1);
        }
    }
    for (int i = 0; i < 2 * units; i++)
        lock_end(&lock[i]);
}

/* --- Many -------------------------------------------------------------------- */

static void many(void)
{
    static dart_lock_t lock[MANY];

    for (int i = 0; i < MANY; i++)
        lock[i] = lock_new(DART_TEAM_ALL);
    for (int i = 0; i < MANY; i++)
        count(lock[(i + me * 77) % MANY],
              &shared->counter[(i + me * 77) % MANY]);
    for (int i = 0; i < MANY; i += 2)
        lock_end(&lock[i]);
    for (int i = 0; i < MANY; i += 2)
        lock[i] = lock_new(DART_TEAM_ALL);
    /* One thread may have many, and give them back in any order. */
    if (me == 0) {
        for (int i = 0; i < MANY; i++)
            ok(dart_lock_acquire(lock[i]));
        for (int i = 0; i < MANY; i++)
            shared->counter[i]++;
        for (int i = 0; i < MANY; i++)
            ok(dart_lock_release(lock[(i * 7) % MANY]));
    }
    barrier();
    for (int i = 0; i < MANY; i++)
        count(lock[i], &shared->counter[i]);
    barrier();
    for (int i = 0; i < MANY; i++)
        assert(shared->counter[i] == 2u * (unsigned)units + 1);
    for (int i = MANY - 1; i >= 0; i--)
        lock_end(&lock[i]);
    if (me == 0)
        memset(shared->counter, 0, sizeof(shared->counter));
    barrier();
}

/* --- Wrong calls ------------------------------------------------------------- */

static void not_up(dart_lock_t stale)
{
    dart_lock_t lock = stale;
    int32_t had;

    assert(dart_team_lock_init(DART_TEAM_ALL, &lock) == DART_ERR_NOTINIT);
    lock = stale;
    assert(dart_team_lock_destroy(&lock) == DART_ERR_NOTINIT);
    assert(dart_lock_acquire(lock) == DART_ERR_NOTINIT);
    assert(dart_lock_try_acquire(lock, &had) == DART_ERR_NOTINIT && had == 0);
    assert(dart_lock_release(lock) == DART_ERR_NOTINIT);
    assert(!dart_lock_initialized(lock));
}

static void wrong(void)
{
    dart_lock_t lock = lock_new(DART_TEAM_ALL), copy = lock, none = NULL;
    int32_t had = 7;

    invalid(dart_team_lock_init(DART_TEAM_ALL, NULL));
    invalid(dart_team_lock_init(DART_TEAM_ALL, me == 0 ? NULL : &none));
    assert(none == DART_LOCK_NULL);
    invalid(dart_team_lock_init(-1, &none));
    invalid(dart_team_lock_init(12345, &none));
    invalid(dart_team_lock_destroy(NULL));
    ok(dart_team_lock_destroy(&none));
    invalid(dart_lock_acquire(NULL));
    invalid(dart_lock_try_acquire(NULL, &had));
    assert(had == 0);
    invalid(dart_lock_try_acquire(lock, NULL));
    invalid(dart_lock_release(NULL));
    assert(!dart_lock_initialized(NULL));

    /* Of a unit that does not have it. */
    invalid(dart_lock_release(lock));
    if (me == 0)
        ok(dart_lock_acquire(lock));
    barrier();
    if (me > 0) {
        invalid(dart_lock_release(lock));
        ok(dart_lock_try_acquire(lock, &had));
        assert(had == 0);
    }
    /* Nobody may end it now; then somebody waits. */
    invalid(dart_team_lock_destroy(&lock));
    assert(lock == copy && dart_lock_initialized(lock));
    if (me == 0)
        ok(dart_lock_release(lock));
    barrier();
    count(lock, &shared->counter[0]);
    barrier();
    lock_end(&lock);
    if (me == 0)
        shared->counter[0] = 0;

    lock = copy;
    invalid(dart_team_lock_destroy(&lock));
    invalid(dart_lock_acquire(lock));
    invalid(dart_lock_try_acquire(lock, &had));
    invalid(dart_lock_release(lock));
    assert(!dart_lock_initialized(lock));
    barrier();
}

/* Another thread of the unit, and another unit, do not give it back. */
static void *release_other(void *arg)
{
    invalid(dart_lock_release(*(dart_lock_t *)arg));
    return NULL;
}

static void others_lock(void)
{
    dart_lock_t lock = lock_new(DART_TEAM_ALL), same;
    struct asker a = {.lock = lock};
    pthread_t thread;
    int waits = units > 1 ? 1 : -1;

    for (int i = 1; i < units; i++) {
        same = lock_new(DART_TEAM_ALL);
        lock_end(&same);
    }
    same = lock_new(DART_TEAM_ALL);
    if (me == 0) {
        shared->had_count = 0;
        ok(dart_lock_acquire(lock));
        assert(!pthread_create(&thread, NULL, release_other, &lock));
        assert(!pthread_join(thread, NULL));
    }
    barrier();
    if (me == waits)
        thread = ask_and_wait(&a, same);
    invalid(dart_team_lock_destroy(&lock));
    if (me == 0)
        ok(dart_lock_release(lock));
    if (me == waits)
        assert(!pthread_join(thread, NULL));
    barrier();
    lock_end(&lock);
    lock_end(&same);
}

/* --- Start and end ------------------------------------------------------------- */

static void start(const char *path)
{
    dart_thread_support_level_t level;
    dart_global_unit_t unit;
    dart_config_t *config;
    size_t size;
    int fd = -1;

    dart_config(&config);
    config->log_enabled = 0;
    ok(dart_init_thread(NULL, NULL, &level));
    assert(level == DART_THREAD_MULTIPLE);
    ok(dart_myid(&unit));
    ok(dart_size(&size));
    me = unit.id;
    units = (int)size;
    assert(units <= UNITS_MAX);
    if (me == 0) {
        fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
        assert(fd >= 0 && !ftruncate(fd, sizeof(*shared)));
    }
    barrier();
    if (me > 0)
        fd = open(path, O_RDWR);
    shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert(shared != MAP_FAILED);
    close(fd);
}

int main(int argc, char **argv)
{
    dart_lock_t left;

    assert(argc > 1);
    start(argv[1]);
    exclusion(units > 2 ? 200 : 2000);
    threads();
    order();
    wrong();
    others_lock();
    many();

    /* What is left goes with dart_exit, a lock that somebody has too. */
    left = lock_new(DART_TEAM_ALL);
    ok(dart_lock_acquire(left));
    ok(dart_lock_release(left));
    ok(dart_exit());
    not_up(left);
    ok(dart_init(NULL, NULL));
    assert(!dart_lock_initialized(left));
    invalid(dart_lock_acquire(left));
    exclusion(ROUNDS_AGAIN);
    left = lock_new(DART_TEAM_ALL);
    if (me == 0)
        ok(dart_lock_acquire(left));
    ok(dart_exit());
    ok(dart_init(NULL, NULL));
    exclusion(ROUNDS_AGAIN);
    ok(dart_exit());
    if (me == 0)
        puts("ok");
    return 0;
}
