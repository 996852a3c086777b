/*
 * explore.c - which choices a run makes: given ones, all with few deviations,
 * random ones; and the shrinking of those that fail.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explore.h"

enum mode {
    MODE_GIVEN,   /* `given`, then the simplest */
    MODE_BOUNDED, /* the same, noting what else was possible */
    MODE_RANDOM,
};

static enum mode mode;
static struct choices given, made;

/* Random schedules: threads have priorities, the highest runs; at a few random
 * moments the running one gets the lowest.  Within how many choices those lie is
 * the seed's too, or the same seed would be another schedule after other runs. */
#define CHANGES      4
#define LENGTH_MIN   64
#define LENGTH_SHIFT 5
static uint64_t random_state;
static int priority[STEP_THREADS], lowest;
static uint32_t change_at[CHANGES];
static uint32_t stale_of_64, switch_of_64;

static uint64_t random_next(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint32_t random_below(uint32_t n)
{
    return (uint32_t)(random_next() % n);
}

static void random_begin(uint64_t seed)
{
    static const uint32_t often[] = {0, 2, 16, 32};
    uint32_t length;

    random_state = seed * UINT64_C(0x2545f4914f6cdd1d);
    random_next();
    length = LENGTH_MIN << random_below(LENGTH_SHIFT);
    stale_of_64 = often[random_below(4)];
    switch_of_64 = random_below(2) ? 0 : often[1 + random_below(3)];
    lowest = 0;
    for (int i = 0; i < STEP_THREADS; i++)
        priority[i] = 1 + (int)random_below(1000);
    for (int i = 0; i < CHANGES; i++)
        change_at[i] = random_below(length);
}

static int random_thread(int options, const int *threads)
{
    int best = 0;

    if (random_below(64) < switch_of_64)
        return (int)random_below((uint32_t)options);
    for (int i = 0; i < CHANGES; i++)
        if (change_at[i] == made.count && run.self >= 0)
            priority[run.self] = --lowest;
    for (int i = 1; i < options; i++)
        if (priority[threads[i]] > priority[threads[best]])
            best = i;
    return best;
}

static int random_choice(enum choice_kind kind, int options, const int *threads)
{
    if (kind == CHOICE_THREAD)
        return random_thread(options, threads);
    if (kind == CHOICE_PROGRAM) {
        for (int i = 0; i < CHANGES; i++)
            change_at[i]++;
        return (int)random_below((uint32_t)options);
    }
    if (random_below(64) >= stale_of_64)
        return 0;
    return (int)random_below((uint32_t)options);
}

int choose(enum choice_kind kind, int options, const int *threads)
{
    uint32_t n = made.count;
    int picked = 0;

    if (options < 2 || n == CHOICES_MAX)
        return 0;
    if (mode == MODE_RANDOM)
        picked = random_choice(kind, options, threads);
    else if (n < given.count && given.picked[n] < options)
        picked = given.picked[n];
    made.picked[n] = (uint8_t)picked;
    made.options[n] = (uint8_t)options;
    made.count++;
    return picked;
}

int step_choose(int options)
{
    return choose(CHOICE_PROGRAM, options, NULL);
}

static bool run_given(const struct step_scenario *scenario)
{
    mode = MODE_GIVEN;
    made.count = 0;
    return run_once(scenario);
}

/* --- All schedules with few deviations ------------------------------------ */

/* The next of those: the last choice that has another one left, within the
 * bound. */
static bool next_bounded(unsigned deviations)
{
    unsigned used = 0;

    for (uint32_t i = 0; i < made.count; i++)
        used += made.picked[i] != 0;
    for (uint32_t i = made.count; i-- > 0;) {
        used -= made.picked[i] != 0;
        if (made.picked[i] + 1 >= made.options[i] || used >= deviations)
            continue;
        memcpy(given.picked, made.picked, i);
        given.picked[i] = (uint8_t)(made.picked[i] + 1);
        given.count = i + 1;
        return true;
    }
    return false;
}

bool explore_bounded(const struct step_scenario *scenario, unsigned deviations,
                     uint64_t runs_max, uint64_t *runs)
{
    given.count = 0;
    do {
        mode = MODE_BOUNDED;
        made.count = 0;
        ++*runs;
        if (!run_once(scenario))
            return false;
    } while (*runs < runs_max && next_bounded(deviations));
    return true;
}

bool explore_seed(const struct step_scenario *scenario, uint64_t seed)
{
    mode = MODE_RANDOM;
    made.count = 0;
    random_begin(seed);
    return run_once(scenario);
}

/* --- Shrinking ------------------------------------------------------------ */

static uint32_t weight(const struct choices *c)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < c->count; i++)
        count += c->picked[i] != 0;
    return count;
}

/* Try @trial; if it fails as well and is simpler, it is the one. */
static bool simpler(const struct step_scenario *scenario,
                    struct choices *failing)
{
    if (run_given(scenario) || weight(&made) > weight(failing) ||
        (weight(&made) == weight(failing) && made.count >= failing->count))
        return false;
    *failing = made;
    return true;
}

void explore_shrink(const struct step_scenario *scenario)
{
    static struct choices failing;
    bool better = true;

    failing = made;
    while (better) {
        better = false;
        for (uint32_t i = failing.count; i-- > 0;) {
            if (i >= failing.count || !failing.picked[i])
                continue;
            given = failing;
            given.picked[i] = 0;
            better |= simpler(scenario, &failing);
            /* Without what comes after it. */
            given = failing;
            given.count = i;
            better |= simpler(scenario, &failing);
        }
    }
    given = failing;
    run.traced = true;
    run_given(scenario);
    run.traced = false;
}

const struct choices *explore_made(void)
{
    return &made;
}

/* --- Given schedules ------------------------------------------------------ */

bool explore_given(const struct step_scenario *scenario, const char *text)
{
    given.count = 0;
    memset(given.picked, 0, sizeof(given.picked));
    while (*text) {
        char *end;
        unsigned long at = strtoul(text, &end, 10), picked;

        if (*end != ':' || at >= CHOICES_MAX)
            return true;
        picked = strtoul(end + 1, &end, 10);
        given.picked[at] = (uint8_t)picked;
        if (given.count <= at)
            given.count = (uint32_t)at + 1;
        text = *end == ',' ? end + 1 : end;
    }
    run.traced = true;
    bool held = run_given(scenario);
    run.traced = false;
    return held;
}
