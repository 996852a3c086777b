/*
 * Allocation by several threads and ranks in the same regions: what a thread
 * may hand out by itself is the region's again when the hold ends.
 *
 * native_magazines          all stories
 * native_magazines memory   with DRASYNC_MEMORY=64M: small objects until there
 *                           is no memory
 * native_magazines killed   the last rank dies in the middle of allocating
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "native_objects.h"

#define MANY    5000
#define REGIONS 20

/* @r is deleted: nothing comes from it, though another rank of the node may
 * have a new region there by now. */
static void no_more(drasync_region_t r)
{
    void *v;
    int err = drasync_alloc(r, 48, &v);

    CHECK(err == DRASYNC_ENOREGION || err == DRASYNC_ENOTHELD);
}

/* --- Threads -------------------------------------------------------------- */

struct work {
    drasync_region_t region;
    struct object *list, *others;
    unsigned char tag;
};

static void *fill_work(void *arg)
{
    struct work *w = arg;

    OK(drasync_acquire(w->region, DRASYNC_WRITE));
    thin(w->others);
    for (size_t i = 0; i < MANY; i++)
        w->list = make(w->region, w->list, i, w->tag);
    OK(drasync_release(w->region));
    return NULL;
}

static void both(struct work work[2])
{
    pthread_t thread[2];

    for (int i = 0; i < 2; i++)
        CHECK(!pthread_create(&thread[i], NULL, fill_work, &work[i]));
    for (int i = 0; i < 2; i++)
        CHECK(!pthread_join(thread[i], NULL));
}

/* Two threads allocate in one region, and free what the other one made. */
static void two_threads(void)
{
    struct drasync_stats before, after;
    struct work work[2] = {{.tag = 1}, {.tag = 2}};
    struct object *made[2];
    drasync_region_t r;

    OK(drasync_new_region(&r));
    OK(drasync_get_stats(&before));
    work[0].region = work[1].region = r;
    both(work);
    made[0] = work[0].list;
    made[1] = work[1].list;
    for (int i = 0; i < 2; i++) {
        CHECK(look(made[i], work[i].tag) == MANY);
        work[i].others = made[!i];
        work[i].list = NULL;
    }
    both(work);
    for (int i = 0; i < 2; i++) {
        CHECK(look(made[i], work[i].tag) == MANY / 2);
        CHECK(look(work[i].list, work[i].tag) == MANY);
    }
    OK(drasync_get_stats(&after));
    CHECK(after.allocations - before.allocations == 4 * MANY);
    CHECK(after.frees - before.frees == MANY);
    OK(drasync_delete(r));
}

struct trade {
    drasync_region_t region;
    pthread_barrier_t turn;
    void *object[2][MANY];
};

struct trader {
    struct trade *trade;
    int number;
};

/* Free what the other one made, and make as much; each sees its own alone. */
static void *trade_work(void *arg)
{
    struct trader *me = arg;
    struct trade *trade = me->trade;
    unsigned char *o;

    for (int round = 0; round < 20; round++) {
        void **mine = trade->object[(me->number + round) % 2];

        for (int i = 0; i < MANY; i++) {
            if (mine[i])
                OK(drasync_free(mine[i]));
            OK(drasync_alloc(trade->region, 48, &mine[i]));
            memset(mine[i], me->number, 48);
        }
        for (int i = 0; i < MANY; i++) {
            o = mine[i];
            CHECK(o[0] == me->number && o[47] == me->number);
        }
        pthread_barrier_wait(&trade->turn);
    }
    return NULL;
}

/* Two threads free what the other one made, both at a time. */
static void trading(void)
{
    static struct trade trade;
    struct trader trader[2] = {{&trade, 0}, {&trade, 1}};
    struct drasync_info info;
    pthread_t thread[2];

    OK(drasync_new_region(&trade.region));
    CHECK(!pthread_barrier_init(&trade.turn, NULL, 2));
    for (int i = 0; i < 2; i++)
        CHECK(!pthread_create(&thread[i], NULL, trade_work, &trader[i]));
    for (int i = 0; i < 2; i++)
        CHECK(!pthread_join(thread[i], NULL));
    OK(drasync_get_info(trade.region, &info));
    CHECK(info.used_bytes == 2 * MANY * 48);
    for (int i = 0; i < 2 * MANY; i++)
        OK(drasync_free(trade.object[i / MANY][i % MANY]));
    OK(drasync_get_info(trade.region, &info));
    CHECK(info.used_bytes == 0);
    for (int i = 0; i < 2 * MANY; i++)
        CODE(drasync_free(trade.object[i / MANY][i % MANY]), DRASYNC_EFREED);
    pthread_barrier_destroy(&trade.turn);
    OK(drasync_delete(trade.region));
    CODE(drasync_free(trade.object[0][0]), DRASYNC_ENOOBJECT);
}

struct race {
    drasync_region_t region;
    _Atomic int rounds;
    int result;
};

static void *race_work(void *arg)
{
    struct race *race = arg;
    void *v;

    while (!(race->result = drasync_alloc(race->region, 32, &v))) {
        memset(v, 0x55, 32);
        atomic_fetch_add(&race->rounds, 1);
        race->result = drasync_free(v);
        if (race->result)
            break;
    }
    return NULL;
}

/* A thread that still allocates when the last hold ends is told so. */
static void release_race(void)
{
    struct race race = {0};
    drasync_region_t r;
    pthread_t thread;

    OK(drasync_new_region(&r));
    OK(drasync_release(r));
    race.region = r;
    for (int i = 0; i < 30; i++) {
        atomic_store(&race.rounds, 0);
        OK(drasync_acquire(r, DRASYNC_WRITE));
        CHECK(!pthread_create(&thread, NULL, race_work, &race));
        while (atomic_load(&race.rounds) < 100)
            ;
        OK(drasync_release(r));
        CHECK(!pthread_join(thread, NULL));
        CODE(race.result, DRASYNC_ENOTHELD);
    }
    OK(drasync_delete(r));
    no_more(r);
}

struct last_words {
    drasync_region_t region;
    pthread_key_t key;
    int rounds;
};

static void say_last_words(void *arg)
{
    struct last_words *last = arg;

    three(last->region);
    if (++last->rounds < 2)
        CHECK(!pthread_setspecific(last->key, last));
}

static void *ending_work(void *arg)
{
    struct last_words *last = arg;

    three(last->region);
    CHECK(!pthread_setspecific(last->key, last));
    return NULL;
}

/* A thread that ends allocates after what it had of magazines is gone. */
static void thread_ends(void)
{
    struct last_words last = {0};
    drasync_region_t r;
    pthread_t thread;

    CHECK(!pthread_key_create(&last.key, say_last_words));
    OK(drasync_new_region(&r));
    last.region = r;
    three(r);
    CHECK(!pthread_create(&thread, NULL, ending_work, &last));
    CHECK(!pthread_join(thread, NULL));
    CHECK(last.rounds == 2);
    three(r);
    OK(drasync_delete(r));
    CHECK(!pthread_key_delete(last.key));
}

/* --- One rank ------------------------------------------------------------- */

/* A hold of the region above, or of the region itself, ends. */
static void subtree(void)
{
    drasync_region_t top, below;
    void *v;

    OK(drasync_new_region(&top));
    OK(drasync_new_subregion(top, &below));
    three(below);
    three(top);
    OK(drasync_acquire(below, DRASYNC_WRITE));
    three(below);
    OK(drasync_release(below));
    three(below);
    OK(drasync_acquire(below, DRASYNC_WRITE));
    OK(drasync_release(top));
    CODE(drasync_alloc(top, 48, &v), DRASYNC_ENOTHELD);
    three(below);
    OK(drasync_release(below));
    CODE(drasync_alloc(below, 48, &v), DRASYNC_ENOTHELD);
    OK(drasync_acquire(top, DRASYNC_READ));
    CODE(drasync_alloc(below, 48, &v), DRASYNC_ENOTHELD);
    OK(drasync_release(top));
    OK(drasync_acquire(top, DRASYNC_WRITE));
    three(below);
    OK(drasync_delete(below));
    no_more(below);
    three(top);
    OK(drasync_delete(top));
}

/* More regions than a thread has magazines, in turn; then they go. */
static void many_regions(void)
{
    struct object *list[REGIONS] = {NULL};
    drasync_region_t r[REGIONS];

    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < REGIONS; i++) {
            OK(drasync_new_region(&r[i]));
            list[i] = NULL;
        }
        for (size_t n = 0; n < 500; n++)
            for (int i = 0; i < REGIONS; i++)
                for (size_t k = 0; k < 3; k++)
                    list[i] = make(r[i], list[i], 3 * n + k, (unsigned char)i);
        for (int i = 0; i < REGIONS; i++) {
            drasync_region_t of;

            CHECK(look(list[i], (unsigned char)i) == 1500);
            OK(drasync_region_of(list[i], &of));
            CHECK(of == r[i]);
            OK(drasync_delete(r[i]));
        }
    }
}

static void in_child(void)
{
    drasync_region_t r;
    int status;
    pid_t pid;

    OK(drasync_new_region(&r));
    three(r);
    pid = fork();
    CHECK(pid >= 0);
    if (!pid)
        _exit(drasync_alloc(r, 48, &(void *){NULL}) == DRASYNC_ENOTREADY ? 0
                                                                         : 1);
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
          WEXITSTATUS(status) == 0);
    three(r);
    OK(drasync_delete(r));
}

/* Objects of a magazine are told from what is none, as all objects are. */
static void misuse(void)
{
    drasync_region_t r;
    char *v[4];

    OK(drasync_new_region(&r));
    for (int i = 0; i < 4; i++)
        OK(drasync_alloc(r, 40, (void **)&v[i]));
    CODE(drasync_free(v[3] + 48), DRASYNC_EFREED);
    CODE(drasync_free(v[3] + 16), DRASYNC_EFREED);
    CODE(drasync_free(v[3] + 8), DRASYNC_EALIGN);
    for (int i = 0; i < 4; i++) {
        OK(drasync_free(v[i]));
        CODE(drasync_free(v[i]), DRASYNC_EFREED);
    }
    for (size_t bytes = 0; bytes < 5000; bytes += 7) {
        void *p = NULL, *q;

        OK(drasync_alloc(r, bytes, &p));
        memset(p, 1, bytes);
        OK(drasync_realloc(p, bytes + 30, NULL, &q));
        memset(q, 2, bytes + 30);
    }
    OK(drasync_delete(r));
    CODE(drasync_free(v[0]), DRASYNC_ENOOBJECT);
}

/* --- Several ranks -------------------------------------------------------- */

/* Each rank in turn finds what the others made, frees half of it, adds its own.
 */
static void in_turn(void)
{
    drasync_region_t r = NULL;
    void *v;

    if (check_rank == 0) {
        OK(drasync_new_region(&r));
        OK(drasync_set_root(r, NULL));
        OK(drasync_release(r));
    }
    check_share(&r, 0);
    for (int turn = 0; turn < 3 * check_ranks; turn++) {
        if (turn % check_ranks == check_rank) {
            struct object *list;
            size_t count;

            OK(drasync_acquire(r, DRASYNC_WRITE));
            OK(drasync_get_root(r, &v));
            list = v;
            count = look(list, 9);
            thin(list);
            CHECK(look(list, 9) == count - count / 2);
            for (size_t i = 0; i < 300 + (size_t)turn; i++)
                list = make(r, list, i, 9);
            OK(drasync_set_root(r, list));
            OK(drasync_release(r));
            CODE(drasync_alloc(r, 48, &v), DRASYNC_ENOTHELD);
        }
        check_barrier();
    }
    if (check_rank == 0)
        OK(drasync_delete(r));
    check_barrier();
}

/* All ranks at once, each for a few objects at a time. */
static void at_once(void)
{
    drasync_region_t r = NULL;
    void *v;

    if (check_rank == 0) {
        OK(drasync_new_region(&r));
        OK(drasync_set_root(r, NULL));
        OK(drasync_release(r));
    }
    check_share(&r, 0);
    for (size_t turn = 0; turn < 50; turn++) {
        OK(drasync_acquire(r, DRASYNC_WRITE));
        OK(drasync_get_root(r, &v));
        struct object *list = v;
        for (size_t i = 0; i < turn % 7; i++)
            list = make(r, list, i + turn, 3);
        OK(drasync_set_root(r, list));
        OK(drasync_release(r));
    }
    check_barrier();
    OK(drasync_acquire(r, DRASYNC_READ));
    OK(drasync_get_root(r, &v));
    CHECK(look(v, 3) == (size_t)check_ranks * 147);
    OK(drasync_release(r));
    check_barrier();
    if (check_rank == 0)
        OK(drasync_delete(r));
    check_barrier();
}

/* --- Memory, death -------------------------------------------------------- */

static void memory(void)
{
    size_t first = 0;

    for (int round = 0; round < 3; round++) {
        struct object *list = NULL;
        drasync_region_t r;
        size_t count = 0;
        void *v;
        int err;

        OK(drasync_new_region(&r));
        while (!(err = drasync_alloc(r, 64, &v))) {
            struct object *o = v;

            o->next = list;
            o->bytes = 48;
            memset(o->fill, 5, 48);
            list = o;
            count++;
        }
        CODE(err, DRASYNC_ENOMEM);
        CODE(drasync_alloc(r, 64, &v), DRASYNC_ENOMEM);
        CHECK(look(list, 5) == count && count > 100000);
        CHECK(!round || count > first / 2);
        first = count;
        v = list->next;
        OK(drasync_free(list));
        OK(drasync_alloc(r, 64, &v));
        OK(drasync_delete(r));
    }
}

static void killed(void)
{
    drasync_region_t r = NULL;

    if (check_rank == check_ranks - 1) {
        OK(drasync_new_region(&r));
        three(r);
    }
    check_share(&r, check_ranks - 1);
    if (check_rank == check_ranks - 1)
        raise(SIGKILL);
    printf("rank %d: %s\n", check_rank,
           drasync_errname(drasync_acquire(r, DRASYNC_WRITE)));
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    check_start_threads(&argc, &argv);
    if (!strcmp(what, "memory")) {
        memory();
    } else if (!strcmp(what, "killed")) {
        killed();
        return 1;
    } else {
        two_threads();
        trading();
        release_race();
        thread_ends();
        misuse();
        subtree();
        many_regions();
        in_child();
        in_turn();
        at_once();
    }
    return check_end("magazines");
}
