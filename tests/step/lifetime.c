/*
 * lifetime.c - lifetime/ step by step: transients that begin, end and pass
 * references on while cycles look for objects that nobody has.
 *
 * An object's data is plain: its end writes it, and who has it reads it.  So an
 * object that ends too early is a data race, or has the wrong data.
 */
#include "lifetime_world.h"

/* x is eligible, and a has it. */
static void begin_referred(void)
{
    begin_world();
    life_refer(&me[0], LIFE_EPOCHS, a, 0, x);
    STEP_CHECK(!life_unref(&me[0], LIFE_EPOCHS, x));
}

/* The same, and b, of the next epoch, is there: it lies behind a, or before it
 * (it is looked at first or last). */
static void begin_two(bool before)
{
    begin_referred();
    if (before) { /* the slots change places */
        b = life_begin(&me[0], LIFE_EPOCHS);
        life_pass(&me[0], LIFE_EPOCHS, b, 0, a, 0);
        life_end(&me[0], LIFE_EPOCHS, a);
        a = b;
    }
    atomic_store(&life.shared->epoch, 1);
    b = life_begin(&me[0], LIFE_EPOCHS);
    STEP_CHECK(b != NULL);
}

static void begin_to_later(void)
{
    begin_two(false);
}

static void begin_to_earlier(void)
{
    begin_two(true);
}

static void cycle(struct life_thread *thread, bool exact)
{
    if (collector_take(thread, false) != ROBUST_TAKEN)
        return;
    cycle_run(thread, exact);
    robust_give(&life.shared->collecting);
}

/* The epoch has changed since x became eligible; it waits for a's class. */
static void begin_waiting(void)
{
    begin_referred();
    cycle(&me[1], false);
    STEP_CHECK(life.shared->waiting == x);
    b = life_begin(&me[0], LIFE_EPOCHS);
}

/* The epoch had changed when it did: a is of the class before. */
static void begin_old(void)
{
    begin_world();
    life_refer(&me[0], LIFE_EPOCHS, a, 0, x);
    atomic_store(&life.shared->epoch, 1);
    STEP_CHECK(!life_unref(&me[0], LIFE_EPOCHS, x));
}

static void collect_exactly(void)
{
    life_collect(&me[1], LIFE_EPOCHS);
}

/* By counters alone, if it can: a cycle that finds nothing in its way. */
static void collect_quickly(void)
{
    cycle(&me[1], false);
    cycle(&me[1], false);
}

static void collect_more(void)
{
    cycle(&me[2], true);
}

/* Whatever happened: x ends now, if it has not, and once. */
static void ended_once(void)
{
    life_collect(&me[1], LIFE_EPOCHS);
    STEP_CHECK(ends == 1);
    STEP_CHECK(atomic_load(&life.shared->lingering_bytes) == 0);
}

/* --- Threads -------------------------------------------------------------- */

/* Fig. 1: given back while the request is under way. */
static void give_back_and_end(void)
{
    life_refer(&me[0], LIFE_EPOCHS, a, 0, x);
    STEP_CHECK(!life_unref(&me[0], LIFE_EPOCHS, x));
    use(x);
    life_end(&me[0], LIFE_EPOCHS, a);
}

/* A slot that is used again has nothing of what it had. */
static void end_and_begin(void)
{
    use(x);
    life_end(&me[0], LIFE_EPOCHS, a);
    a = life_begin(&me[0], LIFE_EPOCHS);
}

static void pass_on(void)
{
    life_pass(&me[0], LIFE_EPOCHS, b, 0, a, 0);
    life_end(&me[0], LIFE_EPOCHS, a);
    use(x);
    life_end(&me[0], LIFE_EPOCHS, b);
}

/* A second transient by way of a counted reference. */
static void count_again(void)
{
    struct life_transient *t;

    life_ref(&me[0], LIFE_EPOCHS, x);
    t = life_begin(&me[0], LIFE_EPOCHS);
    life_refer(&me[0], LIFE_EPOCHS, t, 0, x);
    STEP_CHECK(!life_unref(&me[0], LIFE_EPOCHS, x));
    life_end(&me[0], LIFE_EPOCHS, a);
    use(x);
    life_end(&me[0], LIFE_EPOCHS, t);
}

/* A counted reference instead of the transient's. */
static void count_instead(void)
{
    life_ref(&me[0], LIFE_EPOCHS, x);
    life_end(&me[0], LIFE_EPOCHS, a);
    use(x);
    STEP_CHECK(!life_unref(&me[0], LIFE_EPOCHS, x));
}

/* To another thread, which ends it; its slot is used again. */
static void hand_over(void)
{
    atomic_store_explicit(&handed, a, memory_order_release);
    me[0].free = NULL; /* as if all others were in use */
    a = life_begin(&me[0], LIFE_EPOCHS);
    STEP_CHECK(a != NULL);
    STEP_CHECK(!atomic_load(&a->ref[0]));
}

static void end_handed(void)
{
    struct life_transient *t =
        atomic_load_explicit(&handed, memory_order_acquire);

    if (!t)
        return;
    use(x);
    life_end(&me[2], LIFE_EPOCHS, t);
}

static void end_left(void)
{
    if (ends)
        return;
    /* end_handed() came too early for it. */
    for (int i = 0; i < LIFE_REFS; i++)
        if (atomic_load(&atomic_load(&handed)->ref[i]) == x)
            life_end(&me[2], LIFE_EPOCHS, atomic_load(&handed));
    ended_once();
}

/* Two counted references, two threads. */
static void begin_counted_twice(void)
{
    begin_world();
    life_ref(&me[0], LIFE_EPOCHS, x);
}

static void unref_first(void)
{
    use(x);
    STEP_CHECK(!life_unref(&me[0], LIFE_EPOCHS, x));
}

static void unref_second(void)
{
    use(x);
    STEP_CHECK(!life_unref(&me[2], LIFE_EPOCHS, x));
}

/* Two objects, two threads. */
static void begin_other(void)
{
    begin_world();
    y = thing_new(&me[2]);
}

static void unref_other(void)
{
    use(y);
    STEP_CHECK(!life_unref(&me[2], LIFE_EPOCHS, y));
}

static void ended_both(void)
{
    life_collect(&me[1], LIFE_EPOCHS);
    STEP_CHECK(ends == 2);
}

/* --- Scenarios ------------------------------------------------------------ */

enum {
    FIG1,
    RECYCLED,
    PASS_LATER,
    PASS_EARLIER,
    PASS_QUICK,
    COUNTED_AGAIN,
    HANDED,
    TWO_COLLECTORS,
    TWO_UNREFS,
    QUICK_FIG1,
    QUICK_OLD,
    COUNTED_INSTEAD,
    TWO_OBJECTS,
    SCENARIOS
};

static const struct step_scenario scenarios[SCENARIOS] = {
    [FIG1] = {.title = "what is given back ends after its request, once",
              .begin = begin_world,
              .thread = {give_back_and_end, collect_exactly},
              .end = ended_once,
              .deviations = 2,
              .seeds = 1000},
    [RECYCLED] = {.title = "a slot that is used again keeps nothing",
                  .begin = begin_referred,
                  .thread = {end_and_begin, collect_exactly},
                  .end = ended_once,
                  .deviations = 2,
                  .seeds = 1000},
    [PASS_LATER] = {.title = "a reference passed to a slot that is looked at "
                             "later is seen",
                    .begin = begin_to_later,
                    .thread = {pass_on, collect_exactly},
                    .end = ended_once,
                    .deviations = 2,
                    .seeds = 2000},
    [PASS_EARLIER] = {.title = "and so is one to a slot that was looked at",
                      .begin = begin_to_earlier,
                      .thread = {pass_on, collect_exactly},
                      .end = ended_once,
                      .deviations = 2,
                      .seeds = 2000},
    [PASS_QUICK] = {.title = "counters know that a reference was passed on",
                    .begin = begin_waiting,
                    .thread = {pass_on, collect_quickly},
                    .end = ended_once,
                    .deviations = 2,
                    .seeds = 2000},
    [COUNTED_AGAIN] = {.title = "an object that was counted again waits anew",
                       .begin = begin_referred,
                       .thread = {count_again, collect_exactly},
                       .end = ended_once,
                       .deviations = 2,
                       .seeds = 2000},
    [HANDED] = {.title = "another thread may end a request, whose slot is used "
                         "again",
                .begin = begin_referred,
                .thread = {hand_over, collect_exactly, end_handed},
                .end = end_left,
                .deviations = 2,
                .seeds = 2000},
    [TWO_COLLECTORS] = {.title = "one of two collectors is elected",
                        .begin = begin_referred,
                        .thread = {end_and_begin, collect_exactly,
                                   collect_more},
                        .end = ended_once,
                        .deviations = 1,
                        .seeds = 1000},
    [TWO_UNREFS] = {.title = "one of two who give back makes it eligible",
                    .begin = begin_counted_twice,
                    .thread = {unref_first, collect_exactly, unref_second},
                    .end = ended_once,
                    .deviations = 2,
                    .seeds = 1000},
    [QUICK_FIG1] = {.title = "counters know when a request has ended",
                    .begin = begin_world,
                    .thread = {give_back_and_end, collect_quickly},
                    .end = ended_once,
                    .deviations = 2,
                    .seeds = 2000},
    [QUICK_OLD] = {.title = "and when one of an older epoch has",
                   .begin = begin_old,
                   .thread = {end_and_begin, collect_quickly},
                   .end = ended_once,
                   .deviations = 2,
                   .seeds = 1000},
    [COUNTED_INSTEAD] = {.title = "a counted reference keeps what no transient "
                                  "has",
                         .begin = begin_referred,
                         .thread = {count_instead, collect_exactly},
                         .end = ended_once,
                         .deviations = 2,
                         .seeds = 1000},
    [TWO_OBJECTS] = {.title = "two that become eligible at once both end",
                     .begin = begin_other,
                     .thread = {unref_first, collect_exactly, unref_other},
                     .end = ended_both,
                     .deviations = 2,
                     .seeds = 1000},
};

static bool stores_nothing(int thread, uint64_t value)
{
    return thread >= 0 && !value;
}

static bool stores_something(int thread, uint64_t value)
{
    return thread >= 0 && value;
}

static const struct step_fault faults[] = {
    {.name = "refer-unsaid",
     .title = "life_refer() and life_pass() store nothing",
     .kind = STEP_STORE,
     .at = "ref",
     .effect = STEP_SKIP,
     .applies = stores_something},
    {.name = "drop-unsaid",
     .title = "life_end() leaves the references where they are",
     .kind = STEP_STORE,
     .at = "ref",
     .effect = STEP_SKIP,
     .applies = stores_nothing},
    {.name = "drop-relaxed",
     .title = "life_drop() does not release uses",
     .kind = STEP_STORE,
     .at = "ref",
     .effect = STEP_RELAX,
     .applies = stores_nothing},
    {.name = "look-relaxed",
     .title = "a look does not acquire uses",
     .kind = STEP_LOAD,
     .at = "ref",
     .effect = STEP_RELAX},
    {.name = "begun-uncounted",
     .title = "life_begin() does not count",
     .kind = STEP_STORE,
     .at = "begun",
     .effect = STEP_SKIP},
    {.name = "ended-relaxed",
     .title = "life_end() does not release uses by its count",
     .kind = STEP_STORE,
     .at = "ended",
     .effect = STEP_RELAX},
    {.name = "ended-read-relaxed",
     .title = "a quick look does not acquire uses",
     .kind = STEP_LOAD,
     .at = "ended",
     .effect = STEP_RELAX},
    {.name = "move-uncounted",
     .title = "life_pass() does not count the move",
     .kind = STEP_STORE,
     .at = "moved",
     .effect = STEP_SKIP},
    {.name = "unmoved",
     .title = "a look does not care whether references moved",
     .kind = STEP_CALL,
     .at = "rule-unmoved",
     .effect = STEP_SKIP},
    {.name = "unjoined",
     .title = "the receiver of a reference is not counted with the giver",
     .kind = STEP_CALL,
     .at = "rule-join",
     .effect = STEP_SKIP},
    {.name = "again-unsaid",
     .title = "a count that was higher in between is forgotten",
     .kind = STEP_CALL,
     .at = "rule-again",
     .effect = STEP_SKIP},
    {.name = "begun-first",
     .title = "a quick look sums up who began before who ended",
     .kind = STEP_CALL,
     .at = "rule-ended-first",
     .effect = STEP_SKIP},
    {.name = "one-class",
     .title = "a quick look does not wait for the class before",
     .kind = STEP_CALL,
     .at = "rule-both-classes",
     .effect = STEP_SKIP},
    {.name = "count-ignored",
     .title = "an object ends whatever its count is",
     .kind = STEP_CALL,
     .at = "rule-count",
     .effect = STEP_SKIP},
    {.name = "unref-split",
     .title = "life_unref() stores a count that it found before",
     .kind = STEP_CAS,
     .at = "word",
     .effect = STEP_AS_EXCHANGE},
    {.name = "unref-relaxed",
     .title = "life_unref() does not release uses",
     .kind = STEP_CAS,
     .at = "word",
     .effect = STEP_RELAX},
    {.name = "take-split",
     .title = "what becomes eligible meanwhile is forgotten",
     .kind = STEP_CAS,
     .at = "eligible",
     .effect = STEP_AS_EXCHANGE,
     .applies = stores_nothing},
    {.name = "push-relaxed",
     .title = "a cycle does not acquire what the unref had",
     .kind = STEP_CAS,
     .at = "eligible",
     .effect = STEP_RELAX},
};

int main(int argc, char **argv)
{
    static const struct step_test test = STEP_TEST("lifetime");

    return step_main(&test, argc, argv);
}
