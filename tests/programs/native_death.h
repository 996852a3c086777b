/*
 * native_death.h - for test programs in which a rank dies and the others go on
 * (DRASYNC_ON_DEATH=continue).  What waits for the dead rank to be found dead is a
 * call that its death ends, so nothing is timed.
 *
 * Callers call death_story() with the stories that they can tell.
 */
#ifndef DRASYNC_TESTS_NATIVE_DEATH_H
#define DRASYNC_TESTS_NATIVE_DEATH_H

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include "native_pair.h"

#define ROUNDS 200

static int dying; /* who dies, */
static int first; /* and the first one who lives */

static inline int dies(void)
{
    return check_rank == dying;
}

static inline void die(void)
{
    raise(SIGKILL);
}

static pid_t pids[16];

/* Where ranks meet.  Not inside MPI: what a rank has sent there just before it
 * dies may never arrive. */
static drasync_region_t place;
static uint64_t *came, due;

/* So many ranks, all that live, come here. */
static inline void meet_of(int ranks)
{
    due += (uint64_t)ranks;
    OK(drasync_acquire(place, DRASYNC_WRITE));
    ++*came;
    while (*came < due) {
        OK(drasync_release(place));
        sched_yield();
        OK(drasync_acquire(place, DRASYNC_WRITE));
    }
    OK(drasync_release(place));
}

static inline void meet_all(void)
{
    meet_of(check_ranks);
}

static inline void meet(void)
{
    meet_of(check_ranks - 1);
}

static inline void prepare(void)
{
    void *v = NULL;
    int pid = (int)getpid();

    CHECK(check_ranks <= 16);
    MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
    if (check_rank == first) {
        OK(drasync_new_region(&place));
        OK(drasync_alloc(place, sizeof(*came), &v));
        memset(v, 0, sizeof(*came));
        OK(drasync_release(place));
    }
    check_share(&place, first);
    check_share(&v, first);
    came = v;
    meet_all();
}

static inline void kill_dying(void)
{
    if (check_rank == first)
        CHECK(kill(pids[dying], SIGKILL) == 0);
}

/* The dying rank has begun what it is killed in, and is killed; or died with a
 * lock already: false. */
static inline bool kill_begun(void)
{
    drasync_region_t r;
    int err = drasync_lookup("begun", DRASYNC_FOREVER, &r);

    if (err == DRASYNC_EPEER)
        return false;
    OK(err);
    kill_dying();
    return true;
}

static inline struct pair *see(drasync_region_t r)
{
    struct pair *p = pair_of(r);

    CHECK(p->first == p->second);
    return p;
}

/* It is there, whole, and can be changed. */
static inline void use(drasync_region_t r)
{
    OK(drasync_acquire(r, DRASYNC_WRITE));
    change(pair_of(r));
    OK(drasync_release(r));
    OK(drasync_acquire(r, DRASYNC_READ));
    see(r);
    OK(drasync_release(r));
}

static inline void make_pair(drasync_region_t r)
{
    void *v;

    OK(drasync_alloc(r, sizeof(struct pair), &v));
    memset(v, 0, sizeof(struct pair));
    OK(drasync_set_root(r, v));
}

/* A top with three parts, each with a pair, and something below the second. */
struct tree {
    drasync_region_t top, part[3], below;
};

static inline struct tree make_tree(void)
{
    struct tree t = {0};

    if (check_rank == first) {
        OK(drasync_new_region(&t.top));
        make_pair(t.top);
        for (int i = 0; i < 3; i++) {
            OK(drasync_new_subregion(t.top, &t.part[i]));
            make_pair(t.part[i]);
        }
        OK(drasync_new_subregion(t.part[1], &t.below));
        make_pair(t.below);
        OK(drasync_release(t.top));
    }
    MPI_Bcast(&t, sizeof(t), MPI_BYTE, first, MPI_COMM_WORLD);
    return t;
}

static inline void await_waiting(drasync_region_t r, int waiting)
{
    struct drasync_info info = {0};

    while (info.waiting < waiting) {
        OK(drasync_get_info(r, &info));
        sched_yield();
    }
}

struct story {
    const char *name;
    void (*run)(void);
};

/* STORY [RANK]: RANK dies (else the last).  Each of the others prints
 * "rank N: STORY ok". */
static inline int death_story(int argc, char **argv,
                              const struct story *stories)
{
    const char *name = argc > 1 ? argv[1] : "";

    check_start_threads(&argc, &argv);
    dying = argc > 2 ? atoi(argv[2]) : check_ranks - 1;
    first = dying == 0;
    while (stories->name && strcmp(stories->name, name) != 0)
        stories++;
    CHECK(stories->name);
    prepare();
    stories->run();
    CHECK(MPI_Finalize() == MPI_SUCCESS);
    printf("rank %d: %s ok\n", check_rank, name);
    return 0;
}

#endif /* DRASYNC_TESTS_NATIVE_DEATH_H */
