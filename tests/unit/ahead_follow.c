/*
 * What follows what, from tables of acquires: loops are found, and what has no
 * order is hardly asked.
 */
#include <stdio.h>
#include <string.h>

#include "ahead/engine.h"
#include "tap.h"

static struct ahead_follow follow;

/* Of the acquires since the last look. */
static struct {
    int acquires, asked, used, vain;
} now;

/* What is on its way: modes by region. */
enum { REGIONS = 1000 };
static uint8_t comes[REGIONS];
static int late; /* what was asked so many acquires ago comes in time */
static uint64_t asked_at[REGIONS], acquires;

static void restart(void)
{
    memset(&follow, 0, sizeof(follow));
    memset(comes, 0, sizeof(comes));
    late = 0;
}

static void look(void)
{
    memset(&now, 0, sizeof(now));
}

static void acquire(int region, enum drasync_mode mode)
{
    uint64_t address;
    enum drasync_mode hint;
    bool here = comes[region] >= (uint8_t)mode &&
                acquires >= asked_at[region] + (uint64_t)late;
    struct ahead_acquire a = {
        .address = (uint64_t)(region + 1) << 12,
        .mode = mode,
        .away = !(here && mode == DRASYNC_WRITE),
        .waits = !here,
    };

    acquires++;
    now.acquires++;
    now.used += comes[region] != 0;
    comes[region] = 0;
    ahead_follow_acquired(&follow, &a);
    while (ahead_follow_hint(&follow, &address, &hint)) {
        int next = (int)(address >> 12) - 1;

        now.asked++;
        now.vain += comes[next] != 0;
        comes[next] = (uint8_t)hint;
        asked_at[next] = acquires;
        ahead_follow_answer(&follow, AHEAD_ASKED);
    }
}

/* Letters: upper case READ, lower case WRITE; @times. */
static void loop(const char *what, int times)
{
    while (times--)
        for (const char *c = what; *c; c++)
            acquire((*c & ~32) - 'A', *c & 32 ? DRASYNC_WRITE : DRASYNC_READ);
}

static uint64_t state;

static int below(int limit)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (int)((state >> 33) % (uint64_t)limit);
}

static void test_loops(void)
{
    static const char *const loops[] = {"ABCDE", "AB",   "A",  "aBcD",
                                        "ABAC",  "AABB", "Aa", "ABCABD"};
    char title[64];

    for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++) {
        restart();
        look();
        loop(loops[i], 2);
        tap_ok(i > 0 || now.asked == 0, "twice is no habit");
        loop(loops[i], 6);
        look();
        loop(loops[i], 50);
        snprintf(title, sizeof(title), "%s is found", loops[i]);
        tap_ok(now.used == now.acquires && now.asked == now.acquires &&
                   !now.vain,
               title);
        if (now.used != now.acquires)
            printf("# %d of %d, asked %d\n", now.used, now.acquires, now.asked);
    }
    restart();
    for (int i = 0; i < 5 * REGIONS; i++)
        acquire(i % REGIONS, DRASYNC_READ);
    look();
    for (int i = 0; i < REGIONS; i++)
        acquire(i % REGIONS, DRASYNC_READ);
    tap_ok(now.used >= REGIONS * 95 / 100, "a loop of a thousand is found");
}

static void test_change(void)
{
    restart();
    loop("ABCDE", 10);
    look();
    loop("VWXYZ", 1);
    tap_ok(now.asked <= 1, "another loop: nothing of the old one is asked");
    loop("VWXYZ", 5);
    look();
    loop("VWXYZ", 10);
    tap_ok(now.used == now.acquires, "it is found");
    loop("ABCDE", 1);
    look();
    loop("ABCDE", 10);
    tap_ok(now.used * 10 >= now.acquires * 9, "and the old one is known still");
    restart();
    loop("ABCDE", 10);
    look();
    for (int i = 0; i < 20; i++) {
        loop("ABCDE", 2);
        acquire(20 + i, DRASYNC_READ);
    }
    tap_ok(now.used * 100 >= now.acquires * 80 &&
               (now.asked - now.used) * 20 <= now.acquires,
           "now and then another region does not end it");
}

static void test_late(void)
{
    restart();
    late = 4;
    loop("ABCDEFGHIJKL", 20);
    tap_ok(follow.depth >= 3 && follow.depth < AHEAD_DEPTH_MAX,
           "hints that come late look further ahead");
    look();
    loop("ABCDEFGHIJKL", 10);
    tap_ok(now.used == now.acquires && !now.vain, "all of them are used");
    restart();
    late = 1000;
    loop("ABCDEFGHIJKL", 50);
    tap_ok(follow.depth == AHEAD_DEPTH_MAX - 1, "so far and no further");
}

static void test_random(void)
{
    static const int sizes[] = {2, 3, 4, 8, 16, 100, REGIONS};
    char title[64];

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        int vain;

        restart();
        look();
        for (int j = 0; j < 20000; j++)
            acquire(below(sizes[i]), DRASYNC_READ);
        vain = now.asked - now.used;
        snprintf(title, sizeof(title), "%d regions in random order", sizes[i]);
        tap_ok(vain * 20 <= now.acquires, title);
        if (vain * 20 > now.acquires)
            printf("# %d of %d in vain\n", vain, now.acquires);
    }
}

/* A is followed by B and by C, each some times in a row. */
static void test_alternation(void)
{
    restart();
    look();
    for (int i = 0; i < 1000; i++) {
        int next = i / 4 % 2 ? 2 : 1;

        for (int j = 0; j < 3; j++)
            acquire(100 + below(800), DRASYNC_READ);
        acquire(0, DRASYNC_READ);
        acquire(next, DRASYNC_READ);
    }
    tap_ok((now.asked - now.used) * 20 <= now.acquires,
           "what alternates is frozen");
    look();
    for (int i = 0; i < 50; i++) {
        restart();
        loop("ABCDE", 4);
        look();
        for (int j = 0; j < 12; j++)
            acquire(100 + below(800), DRASYNC_READ);
        tap_ok(now.asked <= 1, "what ends is asked no further");
    }
}

static void test_answers(void)
{
    struct ahead_acquire a = {
        .mode = DRASYNC_READ, .away = true, .waits = true};
    uint64_t address;
    enum drasync_mode mode;

    restart();
    loop("AB", 10);
    a.address = UINT64_C(1) << 12;
    a.waits = false;
    ahead_follow_acquired(&follow, &a);
    tap_ok(ahead_follow_hint(&follow, &address, &mode) &&
               address == UINT64_C(2) << 12 && mode == DRASYNC_READ,
           "B is asked ahead");
    ahead_follow_answer(&follow, AHEAD_HERE);
    tap_ok(!ahead_follow_hint(&follow, &address, &mode), "and nothing else");
    a.address = UINT64_C(2) << 12;
    a.away = false;
    ahead_follow_acquired(&follow, &a);
    tap_ok(!ahead_follow_hint(&follow, &address, &mode),
           "what is here is not looked at");
    a.address = UINT64_C(1) << 12;
    a.away = true;
    restart();
    loop("ABC", 10);
    ahead_follow_acquired(&follow, &a);
    tap_ok(ahead_follow_hint(&follow, &address, &mode), "B is asked again");
    ahead_follow_answer(&follow, AHEAD_GONE);
    while (ahead_follow_hint(&follow, &address, &mode))
        ahead_follow_answer(&follow, AHEAD_ASKED);
    ahead_follow_acquired(&follow, &a);
    tap_ok(!ahead_follow_hint(&follow, &address, &mode),
           "what is gone is not asked again");
}

int main(void)
{
    test_loops();
    test_change();
    test_late();
    test_random();
    test_alternation();
    test_answers();
    return tap_end();
}
