/*
 * The record of phases from tables of acquires: what is asked ahead at the
 * beginning of each phase.
 */
#include <stdio.h>
#include <string.h>

#include "ahead/engine.h"
#include "tap.h"

static struct ahead_phases phases;

/* What was asked since the last look: "A" a READ, "a" a WRITE; twice as "AA". */
static char asked[4 * AHEAD_NOTES_MAX];

/* How hints are answered; letters in `here` and `gone` otherwise. */
static const char *here, *gone;

static uint64_t address_of(char letter)
{
    return (uint64_t)(letter & ~32) << 12;
}

static void restart(void)
{
    memset(&phases, 0, sizeof(phases));
    here = gone = "";
}

static void answer(struct ahead_note *n)
{
    char letter = (char)(n->address >> 12);
    size_t end = strlen(asked);

    if (strchr(gone, letter)) {
        ahead_phases_answer(&phases, n, AHEAD_GONE);
        return;
    }
    if (strchr(here, letter)) {
        ahead_phases_answer(&phases, n, AHEAD_HERE);
        return;
    }
    for (int i = 0; i < n->times; i++)
        asked[end++] = (char)(n->mode == DRASYNC_WRITE ? letter | 32 : letter);
    ahead_phases_answer(&phases, n, AHEAD_ASKED);
}

/* Is @letter on its way? */
static bool comes(char letter)
{
    return strchr(asked, letter) || strchr(asked, letter ^ 32);
}

/*
 * A program: "|" begins an iteration, a digit a phase, a letter acquires what is
 * another node's (upper case READ, lower case WRITE), and waits if nothing was
 * asked; after "-" the region is here.  What was asked, in order of the hints.
 */
static const char *run(const char *program)
{
    static char result[8 * AHEAD_NOTES_MAX];
    bool away = true;

    result[0] = 0;
    for (; *program; program++) {
        struct ahead_note *n;

        if (*program == '|') {
            ahead_phases_iteration(&phases);
        } else if (*program == '-') {
            away = false;
        } else if (*program >= '0' && *program <= '9') {
            asked[0] = 0;
            tap_ok(ahead_phases_begin(&phases, *program - '0'),
                   "a phase begins");
            while ((n = ahead_phases_hint(&phases))) {
                memset(asked + strlen(asked), 0, 2 * AHEAD_TIMES_MAX);
                answer(n);
            }
            strcat(result, asked);
            strcat(result, ".");
        } else {
            struct ahead_acquire a = {
                .address = address_of(*program),
                .mode = *program & 32 ? DRASYNC_WRITE : DRASYNC_READ,
                .away = away,
                .waits = away && !comes(*program),
            };

            ahead_phases_acquired(&phases, &a);
            away = true;
        }
    }
    return result;
}

static void is(const char *program, const char *want, const char *what)
{
    const char *got = run(program);

    tap_ok(!strcmp(got, want), what);
    if (strcmp(got, want))
        printf("# %s: \"%s\", not \"%s\"\n", program, got, want);
}

static void test_replay(void)
{
    restart();
    tap_ok(!ahead_phases_begin(&phases, 0), "no phase outside an iteration");
    is("|0A1B2C", "...", "the first iteration asks nothing");
    is("|0A1B2C", "B.C.A.",
       "the second asks for the next phase, and goes round");
    is("|0A1B2C|0A1B2C", "B.C.A.B.C.A.", "so does each that comes");
    restart();
    is("|0A|0A|0A", ".A.A.", "a phase that is alone is asked for itself");
    restart();
    is("|0a1Bb", "..", "modes are recorded");
    is("|0a1Bb", "bb.a.", "a region that is written is asked for WRITE");
    is("|0A1B", "bb.A.", "its mode is that of the last time");
    is("|0A1B", "B.A.", "so READ, once it is only read");
    restart();
    is("|0A1BBB|0A1B|0A1B", "..BBB.A.B.A.",
       "there are as many hints as acquires the last time");
    restart();
    is("|0-A1-B|0-A1-B", "....", "what is at home is not recorded");
}

static void test_order(void)
{
    restart();
    is("|0A1B|0A1B", "..B.A.", "two phases");
    is("|0A2C|0A2C",
       "B.."
       "C.A.",
       "what follows a phase is what followed last");
    is("|0A1B", "C.A.", "a phase did not come");
}

static void test_vain(void)
{
    restart();
    is("|0A1B|0A1|0A1|0A1", "..B.A..A..A.", "what is asked in vain is dropped");
    is("|0A1B|0A1B", ".A.B.A.", "it comes back when it was missed");
    is("|0A1|0A1B|0A1B", "B.A..A.B.A.", "once more");
    is("|0A1|0A1B|0A1B|0A1B", "B.A..A..A..A.", "and not a third time");
    restart();
    is("|0A1|0A1B|0A1B", "...A.B.A.", "what was missed is added");
    restart();
    is("|0A1B|0A1B", "..B.A.", "two phases");
    here = "B";
    is("|0A1-B|0A1-B|0A1", ".A..A..A.", "what is here is asked no hint for");
    here = "";
    is("|0A1B", "B.A.", "and was not dropped");
    gone = "B";
    is("|0A1|0A1", ".A..A.", "what was deleted is forgotten");
    gone = "";
    is("|0A1B|0A1B", ".A.B.A.", "and is as new when it comes again");
}

static void test_limits(void)
{
    struct ahead_acquire a = {
        .mode = DRASYNC_READ, .away = true, .waits = true};
    int hints = 0;
    struct ahead_note *n;

    restart();
    ahead_phases_iteration(&phases);
    ahead_phases_begin(&phases, 0);
    for (uint64_t i = 1; i <= AHEAD_NOTES_MAX; i++) {
        a.address = i << 12;
        ahead_phases_acquired(&phases, &a);
    }
    tap_ok(!phases.full, "as many regions as there is room for");
    a.address = (uint64_t)(AHEAD_NOTES_MAX + 1) << 12;
    ahead_phases_acquired(&phases, &a);
    tap_ok(phases.full, "one more is told");
    ahead_phases_begin(&phases, 0);
    ahead_phases_iteration(&phases);
    ahead_phases_begin(&phases, 0);
    while ((n = ahead_phases_hint(&phases))) {
        hints++;
        ahead_phases_answer(&phases, n, AHEAD_ASKED);
    }
    tap_ok(hints == AHEAD_NOTES_MAX, "all that were recorded are asked");
    ahead_phases_begin(&phases, 0);
    tap_ok(!ahead_phases_hint(&phases), "all of them in vain");
    phases.full = false;
    for (uint64_t i = 1; i <= AHEAD_NOTES_MAX; i++) {
        a.address = (AHEAD_NOTES_MAX + i) << 12;
        ahead_phases_acquired(&phases, &a);
    }
    tap_ok(!phases.full, "which makes room");
    for (int i = 0; i < 1000; i++)
        ahead_phases_acquired(&phases, &a);
    ahead_phases_begin(&phases, 0);
    for (hints = 0; (n = ahead_phases_hint(&phases)); hints++) {
        if (n->times > 1)
            tap_ok(n->times == AHEAD_TIMES_MAX,
                   "hints for a region are limited");
        ahead_phases_answer(&phases, n, AHEAD_GONE);
    }
    tap_ok(hints == AHEAD_NOTES_MAX, "all of them are asked");
    ahead_phases_begin(&phases, 0);
    tap_ok(!ahead_phases_hint(&phases), "all of them gone");
}

int main(void)
{
    test_replay();
    test_order();
    test_vain();
    test_limits();
    return tap_end();
}
