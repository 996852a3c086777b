/* The world of tests/step/lifetime.c: an engine, named for schedules. */
#include "lifetime_world.h"

#include "engine.h"

#define BYTES (256 << 10)
#define WHOLE 17
#define ENDED 99

struct life life;
struct life_thread me[LIFETIME_THREADS];
life_handle x, y;
struct life_transient *a, *b;
_Atomic(struct life_transient *) handed;
int ends;
static char rules[RULES][8];
const char *const lifetime_rules[] = {"rule-join",         "rule-again",
                                      "rule-ended-first",  "rule-unmoved",
                                      "rule-both-classes", "rule-count"};

bool life_rule(enum life_rule rule)
{
    enum step_effect effect;

    return !run_fault(STEP_CALL, (uintptr_t)rules[rule], 0, &effect);
}

static void thing_end(struct life_thread *thread, uint32_t class, void *data,
                      void *arg)
{
    (void)thread;
    (void)class;
    (void)arg;
    *(int *)data = ENDED;
    ends++;
}

void use(life_handle handle)
{
    STEP_CHECK(*(int *)life_data(&me[0], handle) == WHOLE);
}

life_handle thing_new(struct life_thread *thread)
{
    life_handle handle;

    STEP_CHECK(!life_new(thread, LIFE_EPOCHS, 0, &handle));
    *(int *)life_data(thread, handle) = WHOLE;
    return handle;
}

static void name_all(struct life_shared *shared)
{
    step_name(&shared->epoch, "epoch");
    step_name(&shared->records, "records");
    step_name(&shared->eligible, "eligible");
    step_quiet(&shared->lingering_bytes, sizeof(shared->lingering_bytes));
    step_quiet(&shared->due_bytes, sizeof(shared->due_bytes));
    step_quiet(&shared->cycles, sizeof(shared->cycles) * 5);
    step_quiet(&shared->class[0].live, sizeof(shared->class[0].live));
    for (int i = 0; i < LIFETIME_THREADS; i++) {
        struct life_record *r = &shared->record[i];

        for (int class = 0; class < 2; class ++) {
            step_name(&r->begun[class], "begun");
            step_name(&r->ended[class], "ended");
        }
        step_name(&r->moved, "moved");
        step_name(&r->blocks, "blocks");
        step_quiet(&r->queuing, sizeof(r->queuing));
        step_quiet(&r->process, sizeof(r->process));
    }
    for (int i = 0; i < RULES; i++)
        step_name(rules[i], lifetime_rules[i]);
}

static void name_slot(struct life_transient *t)
{
    for (int i = 0; i < LIFE_REFS; i++)
        step_name(&t->ref[i], "ref");
    step_name(&t->mark, "mark");
}

/* Threads have their records without a lock: none of them dies. */
void begin_world(void)
{
    const struct life_options options = {.scheme = LIFE_EPOCHS,
                                         .linger_bytes = 1 << 20};
    const struct life_env env = {.process = 1};

    STEP_CHECK(!life_open(&life, step_alloc(BYTES), BYTES, &options, &env));
    STEP_CHECK(!life_class(&life, 0, sizeof(int), thing_end));
    name_all(life.shared);
    for (uint32_t i = 0; i < LIFETIME_THREADS; i++) {
        STEP_CHECK(!robust_open(&life.shared->record[i].lock));
        me[i] = (struct life_thread){.life = &life,
                                     .shared = life.shared,
                                     .index = i,
                                     .record = &life.shared->record[i]};
        atomic_store(&me[i].record->process, 1);
    }
    atomic_store(&life.shared->records, LIFETIME_THREADS);
    atomic_store(&handed, NULL);
    step_name(&handed, "handed");
    ends = 0;
    x = thing_new(&me[0]);
    step_name(&life_object(life.shared, x)->word, "word");
    a = life_begin(&me[0], LIFE_EPOCHS);
    STEP_CHECK(a != NULL);
    name_slot(a);
    name_slot(me[0].free);
}
