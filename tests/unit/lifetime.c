/* The engine of lifetimes, one thread at a time: every scheme, and what only
 * ours does. */
#include "lifetime_common.h"

#include "memory/sanitizer.h"

#include <pthread.h>

#if SANITIZER_ADDRESS
#include <sanitizer/asan_interface.h>
#endif

static const char *const names[] = {"nothing",    "naive",  "mutex",
                                    "suppressed", "hybrid", "epochs"};

static char title_buffer[160];

static const char *title(const char *what, enum life_scheme scheme)
{
    snprintf(title_buffer, sizeof(title_buffer), "%s (%s)", what,
             names[scheme]);
    return title_buffer;
}

/* The paper's Fig. 1: type and communicator are given back before the request
 * has ended. */
static void figure_1(enum life_scheme scheme)
{
    struct life life;
    struct life_thread me;
    struct life_transient *request;
    life_handle comm, type;
    bool there, ended, naive = scheme && scheme < LIFE_HYBRID;

    engine_open(&life, scheme, 0);
    REQUIRE(!life_thread_begin(&life, &me));
    comm = thing_new(&me, COMM, 0);
    type = thing_new(&me, TYPE, 0);
    request = request_start(&me, comm, type);
    REQUIRE(!life_unref(&me, scheme, comm));
    REQUIRE(!life_unref(&me, scheme, type));
    life_collect(&me, scheme);
    there = live(&life) == 2 &&
            !strcmp(((struct thing *)life_data(&me, comm))->text, "thing");
    life_end(&me, scheme, request);
    ended = live(&life) == 0 || !naive;
    life_collect(&me, scheme);
    ended = ended && (live(&life) == 0 || scheme == LIFE_NOTHING);
    tap_ok(there, title("Fig. 1: both are there while the request is", scheme));
    tap_ok(ended, title("Fig. 1: and end when it has", scheme));
    life_close(&me);
    tap_ok(live(&life) == 0 && atomic_load(&things_ended) == 2,
           title("Fig. 1: each class is empty at the end", scheme));
    life_thread_end(&me);
    engine_close(&life);
}

/* Type of type of type: the last one's end is the first one's. */
static void chain(enum life_scheme scheme)
{
    struct life life;
    struct life_thread me;
    struct life_transient *request;
    life_handle type[8];
    bool kept;

    engine_open(&life, scheme, 0);
    REQUIRE(!life_thread_begin(&life, &me));
    for (int i = 0; i < 8; i++)
        type[i] = thing_new(&me, TYPE, i ? type[i - 1] : 0);
    request = request_start(&me, type[7], 0);
    for (int i = 0; i < 8; i++)
        REQUIRE(!life_unref(&me, scheme, type[i]));
    life_collect(&me, scheme);
    kept = live(&life) == 8;
    life_end(&me, scheme, request);
    life_collect(&me, scheme);
    tap_ok(kept && live(&life) == 0,
           title("a chain of derived types lives as long as its last", scheme));
    life_thread_end(&me);
    engine_close(&life);
}

/* Footnote 2: what a slot referred to before is forgotten. */
static void recycled(enum life_scheme scheme)
{
    struct life life;
    struct life_thread me;
    struct life_transient *first, *again;
    life_handle comm;

    engine_open(&life, scheme, 0);
    REQUIRE(!life_thread_begin(&life, &me));
    comm = thing_new(&me, COMM, 0);
    first = request_start(&me, comm, comm);
    life_end(&me, scheme, first);
    again = life_begin(&me, scheme);
    REQUIRE(!life_unref(&me, scheme, comm));
    life_collect(&me, scheme);
    tap_ok(first == again && live(&life) == 0,
           title("a recycled transient keeps no object", scheme));
    life_end(&me, scheme, again);
    life_thread_end(&me);
    engine_close(&life);
}

static void predefined(enum life_scheme scheme)
{
    struct life life;
    struct life_thread me;
    struct life_transient *request;
    life_handle world;
    struct thing *t;
    uint64_t held;

    engine_open(&life, scheme, 0);
    REQUIRE(!life_thread_begin(&life, &me));
    REQUIRE(!life_new_predefined(&me, scheme, COMM, &world));
    t = life_data(&me, world);
    *t = (struct thing){.text = NULL};
    request = request_start(&me, world, world);
    life_collect(&me, scheme);
    life_end(&me, scheme, request);
    life_collect(&me, scheme);
    held = live(&life);
    life_close(&me);
    tap_ok(held == 1 && live(&life) == 0,
           title("a predefined object lives to the end", scheme));
    life_thread_end(&me);
    engine_close(&life);
}

/* --- Ours ----------------------------------------------------------------- */

static struct life life;
static struct life_thread me;

static void begin(uint64_t linger_bytes)
{
    engine_open(&life, LIFE_EPOCHS, linger_bytes);
    REQUIRE(!life_thread_begin(&life, &me));
}

static void end(void)
{
    life_thread_end(&me);
    engine_close(&life);
}

static struct life_stats stats(void)
{
    struct life_stats s;

    life_stats(&life, &s);
    return s;
}

static void quick(void)
{
    life_handle comm;
    struct life_stats s;

    begin(64);
    comm = thing_new(&me, COMM, 0);
    life_end(&me, LIFE_EPOCHS, request_start(&me, comm, comm));
    REQUIRE(!life_unref(&me, LIFE_EPOCHS, comm));
    s = stats();
    tap_ok(s.live == 0 && s.quick == 1 && s.exact == 0,
           "with no transient left, counters alone say that an object is dead");
    end();
}

static void lingering_transient(void)
{
    struct life_transient *old;
    life_handle comm, other;
    struct life_stats s;

    begin(64);
    other = thing_new(&me, COMM, 0);
    old = request_start(&me, other, 0);
    for (int i = 0; i < 4; i++) {
        comm = thing_new(&me, COMM, 0);
        REQUIRE(!life_unref(&me, LIFE_EPOCHS, comm));
    }
    s = stats();
    tap_ok(s.live <= 2 && s.exact >= 3,
           "beside an old transient, a look at all says it");
    life_end(&me, LIFE_EPOCHS, old);
    REQUIRE(!life_unref(&me, LIFE_EPOCHS, other));
    life_collect(&me, LIFE_EPOCHS);
    tap_ok(stats().live == 0 && stats().outstanding == 0,
           "and nothing lingers once it has ended");
    end();
}

/* A transient's holder takes a counted reference, starts another transient, and
 * gives it back, all while the object waits for the collector. */
static void counted_again(void)
{
    struct life_transient *first, *second;
    life_handle comm;
    bool kept;

    begin(64);
    comm = thing_new(&me, COMM, 0);
    first = request_start(&me, comm, 0);
    REQUIRE(!life_unref(&me, LIFE_EPOCHS, comm)); /* a cycle: it waits */
    life_ref(&me, LIFE_EPOCHS, comm);
    second = request_start(&me, comm, 0);
    REQUIRE(!life_unref(&me, LIFE_EPOCHS, comm));
    life_end(&me, LIFE_EPOCHS, first);
    for (int i = 0; i < 4; i++) { /* cycles of all kinds */
        life_handle other = thing_new(&me, TYPE, 0);

        REQUIRE(!life_unref(&me, LIFE_EPOCHS, other));
    }
    life_collect(&me, LIFE_EPOCHS);
    kept = atomic_load(&things_ended) == 4 && stats().live == 1;
    life_end(&me, LIFE_EPOCHS, second);
    life_collect(&me, LIFE_EPOCHS);
    tap_ok(kept && stats().live == 0,
           "an object that had a counted reference again waits anew");
    end();
}

static void passed_on(void)
{
    struct life_transient *from, *to, *old;
    life_handle comm;
    bool kept = true;

    begin(64);
    comm = thing_new(&me, COMM, 0);
    from = request_start(&me, comm, 0);
    REQUIRE(!life_unref(&me, LIFE_EPOCHS, comm));
    for (int i = 0; i < 8; i++) {
        old = from;
        to = life_begin(&me, LIFE_EPOCHS);
        REQUIRE(to);
        life_pass(&me, LIFE_EPOCHS, to, (i + 1) & 1, old, i & 1);
        life_end(&me, LIFE_EPOCHS, old);
        from = to;
        life_collect(&me, LIFE_EPOCHS);
        kept = kept && stats().live == 1;
    }
    tap_ok(kept && stats().outstanding,
           "a reference that is passed on keeps its object, in all epochs");
    life_end(&me, LIFE_EPOCHS, from);
    life_collect(&me, LIFE_EPOCHS);
    tap_ok(stats().live == 0 && stats().outstanding == 0,
           "until its last transient ends");
    end();
}

static void bad_unref(void)
{
    life_handle comm;

    begin(1 << 20);
    comm = thing_new(&me, COMM, 0);
    REQUIRE(!life_unref(&me, LIFE_EPOCHS, comm));
    tap_ok(life_unref(&me, LIFE_EPOCHS, comm) == DRASYNC_EINVAL &&
               stats().live == 1,
           "a counted reference that is not there cannot be given back");
    life_collect(&me, LIFE_EPOCHS);
    tap_ok(stats().live == 0, "and the object ends as it would");
    end();
}

/* What lingers, while a transient keeps nothing: at most twice the bound. */
static void bound(void)
{
    const uint64_t bytes = 16 << 10;
    struct life_transient *other[300];
    uint64_t most = 0;
    life_handle comm;

    begin(bytes);
    comm = thing_new(&me, COMM, 0);
    for (int i = 0; i < 20000; i++) {
        life_handle type = thing_new(&me, TYPE, 0);
        struct life_stats s;

        if (i >= 300)
            life_end(&me, LIFE_EPOCHS, other[i % 300]);
        other[i % 300] = request_start(&me, comm, 0);
        REQUIRE(!life_unref(&me, LIFE_EPOCHS, type));
        s = stats();
        if (s.lingering_bytes > most)
            most = s.lingering_bytes;
    }
    tap_ok(most && most <= 2 * bytes && stats().cycles > 10,
           "what lingers is at most twice the bound");
    for (int i = 0; i < 300; i++)
        life_end(&me, LIFE_EPOCHS, other[i]);
    REQUIRE(!life_unref(&me, LIFE_EPOCHS, comm));
    life_collect(&me, LIFE_EPOCHS);
    tap_ok(stats().live == 0, "and in the end nothing does");
    end();
}

static void no_memory(void)
{
    life_handle *all = malloc(sizeof(*all) * 1000000);
    uint64_t made = 0;
    bool again;
    life_handle one;

    begin(0);
    REQUIRE(all);
    while (!life_new(&me, LIFE_EPOCHS, COMM, &all[made])) {
        memset(life_data(&me, all[made]), 0, sizeof(struct thing));
        made++;
    }
    REQUIRE(!life_unref(&me, LIFE_EPOCHS, all[--made]));
    again = !life_new(&me, LIFE_EPOCHS, COMM, &one);
    memset(life_data(&me, one), 0, sizeof(struct thing));
    tap_ok(again, "when the memory is used up, what lingers is used first");
    REQUIRE(!life_unref(&me, LIFE_EPOCHS, one));
    while (made)
        REQUIRE(!life_unref(&me, LIFE_EPOCHS, all[--made]));
    life_collect(&me, LIFE_EPOCHS);
    tap_ok(stats().live == 0, "and all of it comes back");
    free(all);
    end();
}

static void poisoned(void)
{
#if SANITIZER_ADDRESS
    life_handle comm;

    begin(0);
    comm = thing_new(&me, COMM, 0);
    REQUIRE(!life_unref(&me, LIFE_EPOCHS, comm));
    life_collect(&me, LIFE_EPOCHS);
    tap_ok(__asan_address_is_poisoned(life_data(&me, comm)),
           "ASan knows that an ended object is nobody's");
    end();
#endif
}

int main(void)
{
    for (enum life_scheme s = LIFE_NOTHING; s <= LIFE_EPOCHS; s++) {
        figure_1(s);
        predefined(s);
        if (s == LIFE_NOTHING)
            continue;
        chain(s);
        recycled(s);
    }
    quick();
    lingering_transient();
    counted_again();
    passed_on();
    bad_unref();
    bound();
    no_memory();
    poisoned();
    return tap_end();
}
