/*
 * Locks of teams: runtime/services/queue_lock.h does the work, and says why it
 * is not a region's WRITE hold.  Here is what is collective, and what a program
 * has in its hands.
 *
 * DART promises a lock in the order of asking, to one thread of one unit
 * (dart_synchronization.h).
 *
 * What a lock was before it was destroyed stays memory of locks for good, so
 * that a lock that is used too late is found out.
 */
#include "fronts/dart/lock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "fronts/dart/front.h"
#include "fronts/dart/team_call.h"
#include "fronts/dart/window.h"
#include "runtime/services/queue_lock.h"

enum lock_state {
    LOCK_UNUSED, /* destroyed */
    LOCK_OPEN,
    LOCK_DROPPED, /* its team has ended */
};

struct dart_lock_struct {
    struct queue_lock queue;
    _Atomic int state;
    struct team *team;
    struct dart_lock_struct *next, *before; /* of the team; or unused: next */
};

#define LOCKS_A_BLOCK 64

/* How many locks of a team are agreed on at a time. */
#define LOCKS_DROP_MAX 128

struct block {
    struct block *next;
    struct dart_lock_struct locks[LOCKS_A_BLOCK];
};

static pthread_mutex_t blocks_lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *blocks; /* never freed */
static struct dart_lock_struct *unused;

/* --- Memory --------------------------------------------------------------- */

/* Under blocks_lock. */
static void make_unused(struct dart_lock_struct *lock)
{
    atomic_store(&lock->state, LOCK_UNUSED);
    lock->next = unused;
    unused = lock;
}

/* NULL: no memory. */
static struct dart_lock_struct *lock_take(void)
{
    struct dart_lock_struct *lock;

    pthread_mutex_lock(&blocks_lock);
    if (!unused) {
        struct block *block = calloc(1, sizeof(*block));

        if (block) {
            block->next = blocks;
            blocks = block;
            for (int i = LOCKS_A_BLOCK - 1; i >= 0; i--)
                make_unused(&block->locks[i]);
        }
    }
    lock = unused;
    if (lock)
        unused = lock->next;
    pthread_mutex_unlock(&blocks_lock);
    return lock;
}

static void lock_give(struct dart_lock_struct *lock)
{
    pthread_mutex_lock(&blocks_lock);
    make_unused(lock);
    pthread_mutex_unlock(&blocks_lock);
}

/* --- Of a team ------------------------------------------------------------ */

static void add(struct team *team, struct dart_lock_struct *lock)
{
    lock->team = team;
    lock->before = NULL;
    lock->next = team->lock_first;
    if (lock->next)
        lock->next->before = lock;
    team->lock_first = lock;
    atomic_store(&lock->state, LOCK_OPEN);
}

static void remove_from_team(struct dart_lock_struct *lock)
{
    if (lock->before)
        lock->before->next = lock->next;
    else
        lock->team->lock_first = lock->next;
    if (lock->next)
        lock->next->before = lock->before;
    lock->team = NULL;
}

/* This unit's part of a new lock, not yet open; *tail_out if it is the home. */
static dart_ret_t part_new(const struct team *team, int home,
                           struct dart_lock_struct **out, uint64_t *tail_out)
{
    struct dart_lock_struct *lock = lock_take();
    int err;

    *out = NULL;
    if (!lock)
        return DART_ERR_NOMEM;
    err = queue_lock_new(&lock->queue, team->me == home, tail_out);
    if (err) {
        lock_give(lock);
        return front_error(err);
    }
    *out = lock;
    return DART_OK;
}

dart_ret_t dart_team_lock_init(dart_team_t teamid, dart_lock_t *lock)
{
    struct dart_lock_struct *made = NULL;
    struct team *team;
    dart_ret_t ret = team_get("dart_team_lock_init", teamid, &team);
    uint64_t tail = 0;
    int home;

    if (lock)
        *lock = DART_LOCK_NULL;
    if (ret)
        return ret;
    /* No unit has the tails of all locks, nor those of all teams' first. */
    home = (int)(((uint64_t)team->id + team->locks) % (uint64_t)team->size);
    ret = lock ? part_new(team, home, &made, &tail) : DART_ERR_INVAL;

    /* The worst error, and the one tail. */
    uint64_t agreed[2] = {(uint64_t)ret, tail};
    if (team_allreduce(team, agreed, 2, MPI_UINT64_T, MPI_MAX))
        agreed[0] = DART_ERR_OTHER;
    if (agreed[0]) {
        if (made) {
            queue_lock_end(&made->queue, 0);
            lock_give(made);
        }
        return front_fail(
            (dart_ret_t)agreed[0],
            "dart_team_lock_init: on some unit of team %d there is "
            "no memory, or nowhere to put the lock",
            (int)teamid);
    }
    team->locks++;
    queue_lock_open(&made->queue, front_job->node_of[team_rank(team, home)],
                    agreed[1]);
    add(team, made);
    *lock = made;
    return DART_OK;
}

/* Its team has ended, and nothing is left but this. */
static dart_ret_t destroy_dropped(dart_lock_t *lock)
{
    lock_give(*lock);
    *lock = DART_LOCK_NULL;
    return DART_OK;
}

dart_ret_t dart_team_lock_destroy(dart_lock_t *lock)
{
    struct dart_lock_struct *l;
    int err;

    if (!front_up)
        return front_fail(DART_ERR_NOTINIT,
                          "dart_team_lock_destroy: DART does not run");
    if (!lock)
        return front_fail(DART_ERR_INVAL, "dart_team_lock_destroy: NULL");
    l = *lock;
    if (!l)
        return DART_OK;
    switch (atomic_load(&l->state)) {
    case LOCK_OPEN:
        break;
    case LOCK_DROPPED:
        return destroy_dropped(lock);
    default:
        return front_fail(DART_ERR_INVAL, "dart_team_lock_destroy: the lock "
                                          "was destroyed before");
    }

    uint64_t sums[2];
    sums[0] = queue_lock_used(&l->queue);
    sums[1] = queue_lock_left(&l->queue); /* of all uses, if none goes on */
    if (team_allreduce(l->team, sums, 2, MPI_UINT64_T, MPI_SUM))
        return DART_ERR_OTHER;
    if (sums[0])
        return front_fail(DART_ERR_INVAL, "dart_team_lock_destroy: a unit has "
                                          "the lock, or waits for it");
    remove_from_team(l);
    err = queue_lock_end(&l->queue, sums[1]);
    lock_give(l);
    *lock = DART_LOCK_NULL;
    return front_error(err);
}

/* --- The end of a team, and of all ---------------------------------------- */

/* Does a unit have or await a lock of the team? */
static dart_ret_t all_free(const struct team *team)
{
    dart_ret_t mine = DART_OK;

    for (struct dart_lock_struct *l = team->lock_first; l; l = l->next) {
        if (queue_lock_used(&l->queue))
            mine = DART_ERR_INVAL;
    }
    return team_agree(team, mine);
}

dart_ret_t locks_drop(const char *what, struct team *team)
{
    struct dart_lock_struct *l = team->lock_first, *next;
    dart_ret_t ret;

    if (!l)
        return DART_OK;
    ret = all_free(team);
    if (ret)
        return front_fail(ret,
                          "%s: a unit of team %d has a lock of it, or waits "
                          "for one",
                          what, (int)team->id);
    while (l) {
        uint64_t left[LOCKS_DROP_MAX];
        int count = 0;

        for (next = l; next && count < LOCKS_DROP_MAX; next = next->next)
            left[count++] = queue_lock_left(&next->queue);
        if (team_allreduce(team, left, count, MPI_UINT64_T, MPI_SUM))
            return DART_ERR_OTHER;
        for (int i = 0; i < count; i++, l = next) {
            next = l->next;
            queue_lock_end(&l->queue, left[i]);
            remove_from_team(l);
            atomic_store(&l->state, LOCK_DROPPED);
        }
    }
    return DART_OK;
}

/* What this unit still has of the team's it gives back. */
static void give_back(struct team *team)
{
    for (struct dart_lock_struct *l = team->lock_first; l; l = l->next) {
        if (!queue_lock_free(&l->queue))
            front_fail(DART_OK,
                       "dart_exit: this unit had a lock of team %d; it was "
                       "released",
                       (int)team->id);
    }
}

/* Highest team first, on all units alike.  Locks that somebody waits for,
 * against the rules, are lost, with all of their team. */
void locks_stop(void)
{
    for (int id = TEAMS_MAX - 1; id >= 0; id--) {
        if (!team_table[id])
            continue;
        give_back(team_table[id]);
        locks_drop("dart_exit", team_table[id]);
    }
    pthread_mutex_lock(&blocks_lock);
    unused = NULL;
    for (struct block *block = blocks; block; block = block->next) {
        for (int i = 0; i < LOCKS_A_BLOCK; i++)
            make_unused(&block->locks[i]);
    }
    pthread_mutex_unlock(&blocks_lock);
}

/* --- Use ------------------------------------------------------------------ */

static inline dart_ret_t usable(const char *what, dart_lock_t lock)
{
    if (__builtin_expect(
            front_up && lock &&
                atomic_load_explicit(&lock->state, memory_order_relaxed) ==
                    LOCK_OPEN,
            1))
        return DART_OK;
    if (!front_up)
        return front_fail(DART_ERR_NOTINIT, "%s: DART does not run", what);
    return front_fail(
        DART_ERR_INVAL,
        "%s: NULL, or a lock that was destroyed, or whose team was", what);
}

static dart_ret_t failed(const char *what, int err)
{
    switch (err) {
    case DRASYNC_EINVAL:
        return front_fail(DART_ERR_INVAL,
                          "%s: this thread has the lock already", what);
    case DRASYNC_ENOTHELD:
        return front_fail(DART_ERR_INVAL,
                          "%s: this thread does not have the "
                          "lock",
                          what);
    default:
        return front_fail(front_error(err), "%s: %s", what,
                          drasync_strerror(err));
    }
}

dart_ret_t dart_lock_acquire(dart_lock_t lock)
{
    dart_ret_t ret = usable("dart_lock_acquire", lock);
    int err;

    if (ret)
        return ret;
    err = queue_lock_take(&lock->queue);
    return err ? failed("dart_lock_acquire", err) : DART_OK;
}

dart_ret_t dart_lock_try_acquire(dart_lock_t lock, int32_t *result)
{
    dart_ret_t ret = usable("dart_lock_try_acquire", lock);
    int err;

    if (result)
        *result = 0;
    if (ret)
        return ret;
    if (!result)
        return front_fail(DART_ERR_INVAL,
                          "dart_lock_try_acquire: no place for the result");
    window_go_on();
    err = queue_lock_try(&lock->queue);
    if (err && err != DRASYNC_EAGAIN)
        return failed("dart_lock_try_acquire", err);
    *result = !err;
    return DART_OK;
}

dart_ret_t dart_lock_release(dart_lock_t lock)
{
    dart_ret_t ret = usable("dart_lock_release", lock);
    int err;

    if (ret)
        return ret;
    err = queue_lock_give(&lock->queue);
    return err ? failed("dart_lock_release", err) : DART_OK;
}

bool dart_lock_initialized(struct dart_lock_struct const *lock)
{
    return front_up && lock && atomic_load(&lock->state) == LOCK_OPEN;
}
