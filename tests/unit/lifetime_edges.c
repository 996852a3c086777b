/* The engine of lifetimes where its memory ends, where its collector dies beside
 * others that go on, and in callbacks. */
#include "lifetime_common.h"

#include <pthread.h>

#include "lifetime/state.h"

static struct life life;
static struct life_thread me, other;

static void begin_with(enum life_scheme scheme, uint64_t linger_bytes)
{
    engine_open(&life, scheme, linger_bytes);
    REQUIRE(!life_thread_begin(&life, &me));
    REQUIRE(!life_thread_begin(&life, &other));
}

static void end(void)
{
    life_thread_end(&other);
    life_thread_end(&me);
    engine_close(&life);
}

/*
 * A collector has let go of an object and died before it said so.  Since then
 * another thread has given a reference back: it is the one that puts the object
 * on the list, and about to, when a third repairs what the dead one left.
 */
static void dead_collector(void)
{
    struct life_shared *shared;
    life_handle object;
    struct life_object *o;

    begin_with(LIFE_EPOCHS, 1 << 20);
    shared = life.shared;
    object = thing_new(&me, COMM, 0);
    o = life_object(shared, object);
    shared->settling = object;
    atomic_store(&other.record->queuing, object);
    atomic_store(&o->word, 1 | (uint64_t)(other.index + 1) << LIFE_QUEUED);
    cycle_repair(&me);
    eligible_push(shared, object);
    atomic_store(&other.record->queuing, 0);
    tap_ok(o->next != object && !shared->settling,
           "what a dead collector let go of is put on a list once");
    alarm(20); /* a list without an end has no end */
    life_collect(&me, LIFE_EPOCHS);
    tap_ok(live(&life) == 0, "and ends");
    end();
}

/* It died behind the end of an object, whose memory is another's by now; or when it had put one back on the list, which has been referred to
 * again since. */
static void listed_already(uint64_t word, const char *title)
{
    struct life_shared *shared;
    life_handle object;
    struct life_object *o;

    begin_with(LIFE_EPOCHS, 1 << 20);
    shared = life.shared;
    object = thing_new(&me, COMM, 0);
    o = life_object(shared, object);
    atomic_store(&o->word, word | (uint64_t)(other.index + 1) << LIFE_QUEUED);
    eligible_push(shared, object);
    shared->settling = object;
    cycle_repair(&me);
    REQUIRE(!shared->settling);
    if (word & 2)
        REQUIRE(!life_unref(&me, LIFE_EPOCHS, object));
    tap_ok(o->next != object, title);
    alarm(20);
    for (int i = 0; i < 3; i++) /* one sees that it was referred to again */
        life_collect(&me, LIFE_EPOCHS);
    tap_ok(live(&life) == 0, "and ends once");
    end();
}

#define SLOTS_MAX ((size_t)1 << 20)

/* Each slot is tried as the only free one: it is in some block. */
static void last_slot(void)
{
    struct life_transient **all =
        malloc(SLOTS_MAX * sizeof(struct life_transient *));
    size_t count = 0, missed = 0;

    REQUIRE(all);
    begin_with(LIFE_EPOCHS, 1 << 20);
    while (count < SLOTS_MAX && (all[count] = life_begin(&me, LIFE_EPOCHS)))
        count++;
    REQUIRE(count < SLOTS_MAX);
    for (size_t i = 0; i < count; i += count / 50) {
        life_end(&other, LIFE_EPOCHS, all[i]);
        all[i] = life_begin(&me, LIFE_EPOCHS);
        if (all[i])
            continue;
        missed++;
        for (int tries = 0; !all[i] && tries < 100000; tries++)
            all[i] = life_begin(&me, LIFE_EPOCHS);
        REQUIRE(all[i]);
    }
    tap_ok(!missed && !life_begin(&me, LIFE_EPOCHS),
           "the only free slot is found, wherever it is");
    while (count)
        life_end(&me, LIFE_EPOCHS, all[--count]);
    free(all);
    end();
}

static int tried = ROBUST_DIED;

static void *try_collector(void *arg)
{
    pthread_mutex_t *lock = &life.shared->collecting;

    tried = robust_try(lock);
    if (tried != ROBUST_BUSY)
        robust_give(lock);
    return arg;
}

static void end_and_make(struct life_thread *thread, uint32_t class, void *data,
                         void *arg)
{
    pthread_t looker;
    life_handle made;

    (void)class;
    (void)arg;
    memset(data, 0xdd, sizeof(struct thing));
    if (thread->life->closing)
        return;
    REQUIRE(!life_new(thread, LIFE_HYBRID, TYPE, &made));
    memset(life_data(thread, made), 0, sizeof(struct thing));
    REQUIRE(!pthread_create(&looker, NULL, try_collector, NULL));
    REQUIRE(!pthread_join(looker, NULL));
}

static void callback_makes(void)
{
    life_handle object;

    begin_with(LIFE_HYBRID, 1 << 20);
    REQUIRE(!life_class(&life, COMM, sizeof(struct thing), end_and_make));
    object = thing_new(&me, COMM, 0);
    free(((struct thing *)life_data(&me, object))->text);
    REQUIRE(!life_unref(&me, LIFE_HYBRID, object));
    life_collect(&me, LIFE_HYBRID);
    tap_ok(tried == ROBUST_BUSY,
           "a callback that makes an object leaves the cycle its lock");
    end();
}

int main(void)
{
    dead_collector();
    listed_already(2,
                   "an object in the place of one that had ended is as it was");
    listed_already(2 | LIFE_SETTLING,
                   "one that was put back is put there once");
    listed_already(1 | LIFE_SETTLING, "and so if nobody refers to it");
    last_slot();
    callback_makes();
    return tap_end();
}
