/*
 * dart_lock_teams FILE [many|killed|tried]: locks of teams that are not all
 * units, what becomes of them when the team ends, and where they are; `many`:
 * 10,000 at a time; `killed`, `tried`: the last unit dies with a lock, and others,
 * who wait or try, write what they get to FILE with their number.
 *
 * What they guard lies in FILE, which all units map.  MPI's reductions are
 * counted: what a lock costs must not grow with the number of locks.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dart_check.h"
#include "dart_lock_check.h"
#include "dart_yield.h"
#include "drasync.h"

#define MANY   10000
#define ROUNDS 30
#define TIMES  8 /* this often shows where a lock is */

static uint64_t *counter; /* [of a team's lowest unit] */

static void use(dart_lock_t lock)
{
    ok(dart_lock_acquire(lock));
    ok(dart_lock_release(lock));
}

/* The units of @bits; DART_TEAM_NULL elsewhere.  Collective over all. */
static dart_team_t team_new(unsigned bits)
{
    dart_group_t group;
    dart_team_t team;

    ok(dart_group_create(&group));
    for (int i = 0; i < units; i++) {
        if (bits >> i & 1)
            ok(dart_group_addmember(group, DART_GLOBAL_UNIT_ID(i)));
    }
    ok(dart_team_create(DART_TEAM_ALL, group, &team));
    ok(dart_group_destroy(&group));
    return team;
}

static void team_end(dart_team_t *team)
{
    if (*team != DART_TEAM_NULL)
        ok(dart_team_destroy(team));
    assert(*team == DART_TEAM_NULL);
}

static int lowest(unsigned bits)
{
    return __builtin_ctz(bits);
}

/* --- Exclusion ------------------------------------------------------------------- */

static void count(dart_lock_t lock, unsigned bits)
{
    volatile uint64_t *c = &counter[lowest(bits)];

    for (int i = 0; i < ROUNDS; i++) {
        ok(dart_lock_acquire(lock));
        ++*c;
        ok(dart_lock_release(lock));
    }
}

static void counted(dart_team_t team, unsigned bits)
{
    uint64_t *c = &counter[lowest(bits)];

    ok(dart_barrier(team));
    assert(*c == (uint64_t)ROUNDS * (unsigned)__builtin_popcount(bits));
    ok(dart_barrier(team));
    *c = 0;
    ok(dart_barrier(team));
}

/* Two teams that share no unit at the same time, with each lock's home another. */
static void halves(unsigned bits)
{
    unsigned all = (1u << units) - 1,
             mine = bits >> me & 1 ? bits : all & ~bits;
    dart_team_t first = team_new(bits);
    dart_team_t second = mine == all ? DART_TEAM_NULL : team_new(all & ~bits);
    dart_team_t team = mine == bits ? first : second;

    for (int home = 0; home < __builtin_popcount(mine); home++) {
        dart_lock_t lock = lock_new(team);

        count(lock, mine);
        counted(team, mine);
        ok(dart_team_lock_destroy(&lock));
    }
    team_end(&first);
    team_end(&second);
}

/* Locks of teams that have units in common are different locks. */
static void overlapping(void)
{
    dart_team_t part = team_new(1u << (units - 1) | 1), same;
    dart_lock_t all = lock_new(DART_TEAM_ALL), few = NULL, again = NULL;
    int32_t had;

    if (part == DART_TEAM_NULL)
        invalid(dart_team_lock_init(part, &few));
    ok(dart_team_clone(DART_TEAM_ALL, &same));
    again = lock_new(same);
    if (part != DART_TEAM_NULL)
        few = lock_new(part);
    if (me == 0) {
        ok(dart_lock_acquire(all));
        ok(dart_lock_acquire(few));
    }
    barrier();
    if (part != DART_TEAM_NULL && me > 0) {
        ok(dart_lock_try_acquire(few, &had));
        assert(!had);
    }
    use(again);
    barrier();
    if (me == 0) {
        ok(dart_lock_release(all));
        ok(dart_lock_release(few));
    }
    if (part != DART_TEAM_NULL)
        use(few);
    team_end(&part);
    team_end(&same);
    barrier();
    ok(dart_team_lock_destroy(&all));
}

/* --- The end of a team ------------------------------------------------------------ */

static void not_usable(dart_lock_t lock)
{
    int32_t had = 7;

    assert(!dart_lock_initialized(lock));
    invalid(dart_lock_acquire(lock));
    invalid(dart_lock_try_acquire(lock, &had));
    assert(had == 0);
    invalid(dart_lock_release(lock));
}

static void team_ends(int holder)
{
    dart_team_t team, copy;
    dart_lock_t lock[3], stale;
    size_t size;

    ok(dart_team_clone(DART_TEAM_ALL, &team));
    copy = team;
    for (int i = 0; i < 3; i++)
        lock[i] = lock_new(team);
    use(lock[0]);
    if (me == holder)
        ok(dart_lock_acquire(lock[1]));
    /* The team stays as it was, and its locks. */
    invalid(dart_team_destroy(&team));
    assert(team == copy);
    ok(dart_team_size(team, &size));
    assert(size == (size_t)units);
    for (int i = 0; i < 3; i++)
        assert(dart_lock_initialized(lock[i]));
    use(lock[0]);
    if (me == holder)
        ok(dart_lock_release(lock[1]));
    use(lock[1]);
    ok(dart_team_lock_destroy(&lock[2]));

    ok(dart_team_destroy(&team));
    assert(team == DART_TEAM_NULL);
    not_usable(lock[0]);
    stale = lock[1];
    ok(dart_team_lock_destroy(&lock[1]));
    assert(lock[1] == DART_LOCK_NULL);
    invalid(dart_team_lock_destroy(&stale));
    not_usable(stale);
    /* By itself: no other unit is needed. */
    if (me == holder)
        ok(dart_team_lock_destroy(&lock[0]));
    barrier();
    if (me != holder)
        ok(dart_team_lock_destroy(&lock[0]));
}

/* What is left goes with dart_exit, of teams that are left too. */
static void exits(void)
{
    dart_team_t team = team_new((1u << units) - 1), dropped;
    dart_lock_t lock = lock_new(team), all = lock_new(DART_TEAM_ALL);
    dart_lock_t last;

    ok(dart_team_clone(DART_TEAM_ALL, &dropped));
    last = lock_new(dropped);
    use(lock);
    use(all);
    ok(dart_team_destroy(&dropped));
    ok(dart_exit());
    assert(!dart_lock_initialized(lock) && !dart_lock_initialized(all));
    assert(dart_lock_acquire(lock) == DART_ERR_NOTINIT);
    ok(dart_init(NULL, NULL));
    not_usable(lock);
    not_usable(all);
    not_usable(last);
    invalid(dart_team_lock_destroy(&lock));
    invalid(dart_team_lock_destroy(&last));
    lock = lock_new(DART_TEAM_ALL);
    use(lock);
    barrier();
    ok(dart_team_lock_destroy(&lock));
}

/* --- Where they are ---------------------------------------------------------------- */

static uint64_t messages(void)
{
    struct drasync_stats stats;

    assert(!drasync_get_stats(&stats));
    return stats.messages_sent;
}

/* Is this unit's node the lock's home?  Others send two messages for each use;
 * some of those that were sent before are perhaps counted only now. */
static bool is_home(dart_lock_t lock)
{
    uint64_t sent;
    bool home = false;

    for (int i = 0; i < units; i++) {
        barrier();
        if (i != me)
            continue;
        sent = messages();
        for (int k = 0; k < TIMES; k++)
            use(lock);
        home = messages() - sent < TIMES;
    }
    barrier();
    return home;
}

/* As many locks as units: each unit has one of them, as each is a node. */
static void spread(bool teams)
{
    struct drasync_stats stats;
    dart_team_t team[32];
    dart_lock_t lock;
    int homes = 0;

    assert(!drasync_get_stats(&stats) && units <= 32);
    if (stats.nodes < units)
        return;
    for (int i = 0; i < units; i++) {
        team[i] = DART_TEAM_ALL;
        if (teams)
            ok(dart_team_clone(DART_TEAM_ALL, &team[i]));
        lock = lock_new(team[i]);
        homes += is_home(lock);
        if (!teams)
            ok(dart_team_lock_destroy(&lock));
    }
    assert(homes == 1);
    for (int i = 0; i < units && teams; i++)
        ok(dart_team_destroy(&team[i]));
}

/* --- Many -------------------------------------------------------------------------- */

static void many(void)
{
    static dart_lock_t lock[MANY];
    dart_team_t team;
    int each = 0;

    ok(dart_team_clone(DART_TEAM_ALL, &team));
    for (int i = 0; i < MANY; i++) {
        int before = reductions;

        lock[i] = lock_new(team);
        if (i == 0)
            each = reductions - before;
        assert(reductions - before == each && each == 1);
    }
    for (int i = me; i < MANY; i += units)
        use(lock[i]);
    /* One by one, or all with the team. */
    for (int i = 0; i < MANY / 100; i++) {
        int before = reductions;

        ok(dart_team_lock_destroy(&lock[i * 100]));
        assert(reductions - before == 1);
    }
    for (int i = 0; i < MANY / 100; i++)
        lock[i * 100] = lock_new(team);
    reductions = 0;
    ok(dart_team_destroy(&team));
    assert(reductions <= MANY / 100);
    for (int i = 0; i < MANY; i++) {
        assert(!dart_lock_initialized(lock[i]));
        ok(dart_team_lock_destroy(&lock[i]));
    }
}

/* --- The end of a unit ---------------------------------------------------------------- */

static dart_ret_t try_for_ever(dart_lock_t lock)
{
    dart_ret_t ret;
    int32_t had;

    do
        ret = dart_lock_try_acquire(lock, &had);
    while (ret == DART_OK && !had);
    return ret;
}

static int killed(const char *path, bool tried)
{
    _Atomic uint64_t *here = (_Atomic uint64_t *)counter;
    dart_lock_t lock = lock_new(DART_TEAM_ALL);
    char mine[4096];
    dart_ret_t ret;
    FILE *f;

    if (me == units - 1)
        ok(dart_lock_acquire(lock));
    /* Not MPI's barrier, which may owe the others a message still. */
    atomic_fetch_add(here, 1);
    while (atomic_load(here) < (uint64_t)units)
        sched_yield();
    if (me == units - 1)
        raise(SIGKILL);
    ret = tried ? try_for_ever(lock) : dart_lock_acquire(lock);
    snprintf(mine, sizeof(mine), "%s.%d", path, me);
    f = fopen(mine, "w");
    assert(f && fprintf(f, "%d\n", (int)ret) > 0 && !fclose(f));
    return 1;
}

/* ---------------------------------------------------------------------------------- */

static void map(const char *path)
{
    const size_t bytes = 4096;
    int fd = -1;

    assert((size_t)units * sizeof(*counter) <= bytes);
    if (me == 0) {
        fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
        assert(fd >= 0 && !ftruncate(fd, (off_t)bytes));
    }
    barrier();
    if (me > 0)
        fd = open(path, O_RDWR);
    counter = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert(counter != MAP_FAILED);
    close(fd);
}

int main(int argc, char **argv)
{
    assert(argc > 1);
    check_begin();
    map(argv[1]);
    if (argc > 2 && !strcmp(argv[2], "many")) {
        many();
    } else if (argc > 2 && !strcmp(argv[2], "killed")) {
        return killed(argv[1], false);
    } else if (argc > 2 && !strcmp(argv[2], "tried")) {
        return killed(argv[1], true);
    } else {
        for (unsigned bits = 1; bits < 1u << units; bits++)
            halves(bits);
        overlapping();
        for (int holder = 0; holder < units; holder++)
            team_ends(holder);
        spread(false);
        spread(true);
        exits();
    }
    check_end();
    return 0;
}
