/* The engine of lifetimes under threads: objects that come and go, requests that
 * one thread starts and another ends, references that are passed on, threads
 * that end or are cancelled. */
#include "lifetime_common.h"

#include "memory/sanitizer.h"

#include <pthread.h>
#include <sched.h>

#define THREADS 4
#define ROUNDS  4000
#define RING    64

static struct life life;

/* What is under way from one thread to the next. */
struct ring {
    _Alignas(64) _Atomic(struct life_transient *) slot[RING];
};
static struct ring rings[THREADS];

/* What all share, and what each may look at. */
static life_handle world;

static _Atomic int wrong, running;

/* A request's objects are whole while it has them. */
static void use(struct life_thread *me, struct life_transient *t)
{
    for (int i = 0; i < LIFE_REFS; i++) {
        life_handle h = atomic_load_explicit(&t->ref[i], memory_order_relaxed);

        if (h && strcmp(((struct thing *)life_data(me, h))->text, "thing"))
            atomic_store(&wrong, 1);
    }
}

/* Some from the thread before: they end here, half of them after what they have
 * was passed on. */
static void end_some(struct life_thread *me, struct ring *ring,
                     enum life_scheme scheme)
{
    for (int i = 0; i < RING; i++) {
        struct life_transient *to,
            *t = atomic_exchange_explicit(&ring->slot[i], NULL,
                                          memory_order_acquire);

        if (!t)
            continue;
        use(me, t);
        if (i & 1 && scheme == LIFE_EPOCHS) {
            to = life_begin(me, scheme);
            REQUIRE(to);
            life_pass(me, scheme, to, 1, t, 0);
            life_end(me, scheme, t);
            use(me, to);
            t = to;
        }
        life_end(me, scheme, t);
    }
}

static void *work(void *arg)
{
    int index = (int)(intptr_t)arg;
    enum life_scheme scheme = life.shared->scheme;
    struct life_thread me;

    REQUIRE(!life_thread_begin(&life, &me));
    for (int i = 0; i < ROUNDS; i++) {
        life_handle type = thing_new(&me, TYPE, i & 3 ? world : 0);
        struct life_transient *t = request_start(&me, world, type), *mine;
        _Atomic(struct life_transient *) *slot =
            &rings[(index + 1) % THREADS].slot[i % RING];

        mine = request_start(&me, type, type);
        REQUIRE(!life_unref(&me, scheme, type));
        use(&me, t);
        /* Release pairs with the acquire in end_some(). */
        t = atomic_exchange_explicit(slot, t, memory_order_acq_rel);
        if (t)
            life_end(&me, scheme, t);
        if (i % 16 == 0)
            end_some(&me, &rings[index], scheme);
        life_end(&me, scheme, mine);
    }
    life_thread_end(&me);
    return NULL;
}

static void all_threads(enum life_scheme scheme, const char *title)
{
    pthread_t thread[THREADS];
    struct life_thread me;
    struct life_stats s;

    engine_open(&life, scheme, 4096);
    REQUIRE(!life_thread_begin(&life, &me));
    world = thing_new(&me, COMM, 0);
    for (intptr_t i = 0; i < THREADS; i++)
        REQUIRE(!pthread_create(&thread[i], NULL, work, (void *)i));
    for (int i = 0; i < THREADS; i++)
        REQUIRE(!pthread_join(thread[i], NULL));
    for (int i = 0; i < THREADS; i++)
        end_some(&me, &rings[i], scheme);
    REQUIRE(!life_unref(&me, scheme, world));
    life_collect(&me, scheme);
    life_stats(&life, &s);
    tap_ok(!atomic_load(&wrong) && s.live == 0 && s.outstanding == 0 &&
               atomic_load(&things_ended) == THREADS * ROUNDS + 1,
           title);
    life_thread_end(&me);
    engine_close(&life);
}

/* --- Threads that go ------------------------------------------------------ */

static struct life_transient *left;

static void *leave(void *how)
{
    struct life_thread me;

    REQUIRE(!life_thread_begin(&life, &me));
    left = request_start(&me, world, 0);
    if (how)
        life_thread_end(&me);
    return NULL;
}

/* @ends: the thread says so; else it is found to be gone. */
static void thread_goes(bool ends, const char *title)
{
    struct life_thread me, other;
    pthread_t thread;
    bool kept, same;

    engine_open(&life, LIFE_EPOCHS, 64);
    REQUIRE(!life_thread_begin(&life, &me));
    world = thing_new(&me, COMM, 0);
    REQUIRE(!pthread_create(&thread, NULL, leave, (void *)(intptr_t)ends));
    REQUIRE(!pthread_join(thread, NULL));
    REQUIRE(!life_unref(&me, LIFE_EPOCHS, world));
    life_collect(&me, LIFE_EPOCHS);
    kept = live(&life) == 1;
    REQUIRE(!life_thread_begin(&life, &other));
    same = other.index == 1 && life_begin(&other, LIFE_EPOCHS) != left;
    life_end(&me, LIFE_EPOCHS, left);
    life_collect(&me, LIFE_EPOCHS);
    tap_ok(kept && same && live(&life) == 0, title);
    life_thread_end(&other);
    life_thread_end(&me);
    engine_close(&life);
}

/* Cancelled wherever it is: inside a call, mostly. */
__attribute__((unused)) static void *run(void *arg)
{
    struct life_thread *me = arg;
    struct life_transient *t[8];

    REQUIRE(!life_thread_begin(&life, me));
    atomic_store(&running, 1);
    REQUIRE(!pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL));
    for (;;) {
        for (int i = 0; i < 8; i++) {
            t[i] = life_begin(me, LIFE_EPOCHS);
            if (!t[i])
                abort();
            life_refer(me, LIFE_EPOCHS, t[i], 0, world);
        }
        for (int i = 0; i < 8; i++)
            life_end(me, LIFE_EPOCHS, t[i]);
    }
    return NULL;
}

#define CANCELLED "a thread that is cancelled inside a call leaves all in order"

__attribute__((unused)) static void cancelled(void)
{
    struct life_thread me, gone;
    pthread_t thread;
    struct life_block *b;
    uint64_t object;
    bool counted = true;

    engine_open(&life, LIFE_EPOCHS, 64);
    REQUIRE(!life_thread_begin(&life, &me));
    world = thing_new(&me, COMM, 0);
    for (int i = 0; i < 100; i++) {
        atomic_store(&running, 0);
        REQUIRE(!pthread_create(&thread, NULL, run, &gone));
        while (!atomic_load(&running))
            sched_yield();
        for (int n = 0; n < i; n++)
            sched_yield();
        REQUIRE(!pthread_cancel(thread));
        REQUIRE(!pthread_join(thread, NULL));
        life_recover(&me);
        /* What it had begun others may end: we do. */
        b = (void *)((char *)life.shared +
                     atomic_load(&life.shared->record[1].blocks));
        for (uint32_t s = 0; s < b->slots; s++) {
            struct life_transient *t =
                (void *)(b->slot + s * life.shared->transient_bytes);

            if (atomic_load(&t->mark) & LIFE_MARK_CLASSES)
                life_end(&me, LIFE_EPOCHS, t);
        }
        counted = counted && outstanding(&life) == 0;
    }
    object = world;
    REQUIRE(!life_unref(&me, LIFE_EPOCHS, object));
    tap_ok(counted && live(&life) == 0, CANCELLED);
    life_thread_end(&me);
    engine_close(&life);
}

int main(void)
{
    all_threads(LIFE_NAIVE, "objects end once, after their last use (naive)");
    all_threads(LIFE_MUTEX, "objects end once, after their last use (mutex)");
    all_threads(LIFE_HYBRID, "objects end once, after their last use (hybrid)");
    all_threads(LIFE_EPOCHS, "objects end once, after their last use (epochs)");
    thread_goes(true, "what an ended thread began goes on without it");
    thread_goes(false, "and so where it did not say that it ends");
#if SANITIZER_THREAD
    tap_skip(CANCELLED, "the sanitizer's own code cannot be cancelled");
#else
    cancelled();
#endif
    return tap_end();
}
