/*
 * biased_lock.c - memory/biased_lock.{c,h} step by step: the owner, who comes
 * and goes without a fence, and others, who revoke its bias, exclude each
 * other, and each sees what the other one wrote.
 *
 * What is guarded is plain: two that are inside at once, or of whom one does
 * not see the other's work, are a data race.
 */
#include "step.h"

#include "memory/biased_lock.h"

#include "tests/step/calls.h"

#define MINE   UINT64_C(7)
#define ROUNDS 2

static _Atomic uint64_t inside, bias;
static struct step_mutex mutex;
static struct biased_owner owner;
static int guarded, taken; /* taken: of tries */

static void begin_with(uint64_t first)
{
    atomic_store(&inside, 0);
    atomic_store(&bias, first);
    owner = (struct biased_owner){.process = 1, .thread = 1};
    guarded = taken = 0;
    step_name(&inside, "inside");
    step_name(&bias, "bias");
}

static void begin_biased(void)
{
    begin_with(MINE);
}

static void begin_unbiased(void)
{
    begin_with(0);
}

/* Comes in as often as it may, else as others do, and has the bias again. */
static void own(void)
{
    static const uint64_t mine = MINE;
    uint64_t uses = 0;

    for (int i = 0; i < ROUNDS; i++) {
        if (biased_enter(&inside, uses + 1, uses, &bias, &mine)) {
            guarded++;
            uses += 2;
            biased_leave(&inside, uses);
        } else {
            step_lock(&mutex);
            guarded++;
            atomic_store_explicit(&bias, MINE, memory_order_relaxed);
            step_unlock(&mutex);
        }
    }
}

static void take_bias(void)
{
    step_lock(&mutex);
    if (atomic_load_explicit(&bias, memory_order_relaxed)) {
        atomic_store(&bias, 0);
        STEP_CHECK(biased_barrier(BIASED_PROCESS) == 0);
        STEP_CHECK(biased_wait(&owner, &inside, 1, 1, NULL) == 0);
    }
    guarded++;
    step_unlock(&mutex);
}

static void take_bias_twice(void)
{
    take_bias();
    take_bias();
}

/* Does not wait: gives the bias back where the owner is inside. */
static void try_bias(void)
{
    step_lock(&mutex);
    if (atomic_load_explicit(&bias, memory_order_relaxed)) {
        atomic_store(&bias, 0);
        STEP_CHECK(biased_barrier(BIASED_PROCESS) == 0);
        if (atomic_load(&inside) & 1) {
            atomic_store(&bias, MINE);
            step_unlock(&mutex);
            return;
        }
    }
    guarded++;
    taken++;
    step_unlock(&mutex);
}

static void try_bias_twice(void)
{
    try_bias();
    try_bias();
}

static void all_there_2(void)
{
    STEP_CHECK(guarded == ROUNDS + 2);
}

static void all_taken(void)
{
    STEP_CHECK(guarded == ROUNDS + taken);
}

static void all_taken_1(void)
{
    STEP_CHECK(guarded == ROUNDS + taken + 1);
}

enum { ONE, GIVEN_BACK, TWO, TRIED, TRIED_TWO, SCENARIOS };

static const struct step_scenario scenarios[SCENARIOS] = {
    [ONE] = {.title = "an owner and another thread exclude each other",
             .begin = begin_biased,
             .thread = {own, take_bias_twice},
             .end = all_there_2,
             .deviations = 4,
             .seeds = 3000},
    [GIVEN_BACK] = {.title = "so they do when the owner takes its bias first",
                    .begin = begin_unbiased,
                    .thread = {own, take_bias_twice},
                    .end = all_there_2,
                    .deviations = 4,
                    .seeds = 3000},
    [TWO] = {.title = "an owner and two others do",
             .begin = begin_biased,
             .thread = {own, take_bias, take_bias},
             .end = all_there_2,
             .deviations = 3,
             .seeds = 3000},
    [TRIED] = {.title = "so they do where the other does not wait",
               .begin = begin_biased,
               .thread = {own, try_bias_twice},
               .end = all_taken,
               .deviations = 4,
               .seeds = 3000},
    [TRIED_TWO] = {.title = "and where one of two does not",
                   .begin = begin_biased,
                   .thread = {own, try_bias, take_bias},
                   .end = all_taken_1,
                   .deviations = 3,
                   .seeds = 3000},
};

static const struct step_fault faults[] = {
    {.name = "no-membarrier",
     .title = "biased_barrier() does nothing",
     .kind = STEP_MEMBARRIER,
     .effect = STEP_SKIP},
    {.name = "enter-unsaid",
     .title = "the owner does not say that it is inside",
     .kind = STEP_STORE,
     .at = "inside",
     .effect = STEP_SKIP,
     .applies = step_stores_odd},
    {.name = "leave-relaxed",
     .title = "biased_leave() does not release the owner's work",
     .kind = STEP_STORE,
     .at = "inside",
     .effect = STEP_RELAX,
     .applies = step_stores_even},
    {.name = "wait-relaxed",
     .title = "biased_wait() does not acquire the owner's work",
     .kind = STEP_LOAD,
     .at = "inside",
     .effect = STEP_RELAX},
    {.name = "revoke-unsaid",
     .title = "others leave the bias to the owner",
     .kind = STEP_STORE,
     .at = "bias",
     .effect = STEP_SKIP,
     .applies = step_stores_even},
};

int main(int argc, char **argv)
{
    static const struct step_test test = STEP_TEST("biased_lock");

    return step_main(&test, argc, argv);
}
