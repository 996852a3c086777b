/*
 * dart_lock_try: a try for a lock that is free has it, whoever had it before and
 * wherever that was; of many tries at once exactly one does.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "dart_check.h"
#include "dart_lock_check.h"
#include "dart_yield.h"

#define ROUNDS  20
#define THREADS 3

static int try(dart_lock_t lock)
{
    int32_t had = 7;

    ok(dart_lock_try_acquire(lock, &had));
    assert(had == 0 || had == 1);
    return had;
}

static void have_and_release(dart_lock_t lock)
{
    ok(dart_lock_acquire(lock));
    ok(dart_lock_release(lock));
}

/* --- After somebody has given it back ------------------------------------------ */

/* @before has it, after that @after; nobody else wants it. */
static void pair(dart_lock_t lock, int before, int after)
{
    for (int i = 0; i < ROUNDS; i++) {
        if (me == before)
            have_and_release(lock);
        barrier();
        if (me == after) {
            assert(try(lock) == 1);
            ok(dart_lock_release(lock));
        }
        barrier();
        /* A try that had it is no different. */
        if (me == before) {
            assert(try(lock) == 1);
            ok(dart_lock_release(lock));
        }
        barrier();
    }
}

static void pairs(dart_lock_t lock)
{
    for (int before = 0; before < units; before++)
        for (int after = 0; after < units; after++)
            pair(lock, before, after);
}

/* Several were in the queue; the last of them has been. */
static void after_queue(dart_lock_t lock)
{
    for (int i = 0; i < ROUNDS; i++) {
        have_and_release(lock);
        barrier();
        if (me == i % units) {
            assert(try(lock) == 1);
            ok(dart_lock_release(lock));
        }
        barrier();
    }
}

/* While somebody has it, none does. */
static void held(dart_lock_t lock)
{
    for (int holder = 0; holder < units; holder++) {
        if (me == holder)
            ok(dart_lock_acquire(lock));
        barrier();
        for (int i = 0; i < ROUNDS && me != holder; i++)
            assert(try(lock) == 0);
        barrier();
        if (me == holder)
            ok(dart_lock_release(lock));
        barrier();
        if (me == (holder + 1) % units) {
            assert(try(lock) == 1);
            ok(dart_lock_release(lock));
        }
        barrier();
    }
}

/* --- At once --------------------------------------------------------------------- */

struct tries {
    dart_lock_t lock;
    pthread_barrier_t start, tried;
    _Atomic int had;
};

static void *try_once(void *arg)
{
    struct tries *t = arg;
    int had;

    pthread_barrier_wait(&t->start);
    had = try(t->lock);
    atomic_fetch_add(&t->had, had);
    /* The main thread sees that all units are here. */
    pthread_barrier_wait(&t->tried);
    pthread_barrier_wait(&t->tried);
    if (had)
        ok(dart_lock_release(t->lock));
    return NULL;
}

/* All threads of all units, after @before had it. */
static void at_once(dart_lock_t lock, int before)
{
    struct tries t = {.lock = lock};
    pthread_t thread[THREADS];
    int had;

    assert(!pthread_barrier_init(&t.start, NULL, THREADS + 1));
    assert(!pthread_barrier_init(&t.tried, NULL, THREADS + 1));
    for (int i = 0; i < THREADS; i++)
        assert(!pthread_create(&thread[i], NULL, try_once, &t));
    if (me == before)
        have_and_release(lock);
    barrier();
    pthread_barrier_wait(&t.start);
    pthread_barrier_wait(&t.tried);
    had = atomic_load(&t.had);
    MPI_Allreduce(MPI_IN_PLACE, &had, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    assert(had == 1);
    pthread_barrier_wait(&t.tried);
    for (int i = 0; i < THREADS; i++)
        assert(!pthread_join(thread[i], NULL));
    assert(!pthread_barrier_destroy(&t.start));
    assert(!pthread_barrier_destroy(&t.tried));
    barrier();
}

/* --- While another thread of the unit tries in vain -------------------------------- */

struct vain {
    dart_lock_t lock;
    _Atomic int tried, stop, had;
};

static void *try_in_vain(void *arg)
{
    struct vain *v = arg;

    do {
        if (try(v->lock)) {
            atomic_store(&v->had, 1);
            ok(dart_lock_release(v->lock));
            break;
        }
        atomic_store(&v->tried, 1);
    } while (!atomic_load(&v->stop));
    return NULL;
}

/*
 * Unit 0 gives the lock back, and says so.  If the next try does not have it,
 * another thread's does, that was begun by then.
 */
static void beside_another(dart_lock_t lock)
{
    struct vain v = {.lock = lock};
    pthread_t thread;
    int had;

    if (me == 0) {
        ok(dart_lock_acquire(lock));
        barrier();
        MPI_Recv(NULL, 0, MPI_INT, units - 1, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        ok(dart_lock_release(lock));
        MPI_Send(NULL, 0, MPI_INT, units - 1, 0, MPI_COMM_WORLD);
    } else if (me == units - 1) {
        barrier();
        assert(!pthread_create(&thread, NULL, try_in_vain, &v));
        while (!atomic_load(&v.tried))
            sched_yield();
        MPI_Sendrecv(NULL, 0, MPI_INT, 0, 0, NULL, 0, MPI_INT, 0, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        had = try(lock);
        atomic_store(&v.stop, 1);
        assert(!pthread_join(thread, NULL));
        assert(had || atomic_load(&v.had));
        if (had)
            ok(dart_lock_release(lock));
    } else {
        barrier();
    }
    barrier();
}

int main(void)
{
    check_begin();
    /* With each unit as home. */
    for (int home = 0; home < units; home++) {
        dart_lock_t lock = lock_new(DART_TEAM_ALL);

        pairs(lock);
        after_queue(lock);
        held(lock);
        for (int i = 0; i < ROUNDS; i++)
            at_once(lock, i % units);
        for (int i = 0; i < ROUNDS && units > 1; i++)
            beside_another(lock);
        ok(dart_team_lock_destroy(&lock));
    }
    check_end();
    return 0;
}
