/*
 * What programs do with regions, each story on any number of ranks, on one node
 * or several:   native_stories [STORY]...   (default: all of them)
 */
#include "native_check.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

struct item {
    struct item *next;
    int value;
};

/* A list that each rank in turn walks and adds to; pointers stay valid. */
static void list_handover(void)
{
    enum { EACH = 1000 };
    drasync_region_t list = NULL;
    void *v;

    if (check_rank == 0) {
        OK(drasync_new_region(&list));
        OK(drasync_release(list));
    }
    check_share(&list, 0);
    for (int turn = 0; turn < check_ranks; turn++) {
        if (turn == check_rank) {
            int count = 0;

            OK(drasync_acquire(list, DRASYNC_WRITE));
            OK(drasync_get_root(list, &v));
            for (struct item *i = v; i; i = i->next, count++)
                CHECK(i->value == turn * EACH - 1 - count);
            CHECK(count == turn * EACH);
            for (int n = 0; n < EACH; n++) {
                struct item *top = v;

                OK(drasync_alloc(list, sizeof(*top), &v));
                ((struct item *)v)->next = top;
                ((struct item *)v)->value = turn * EACH + n;
            }
            OK(drasync_set_root(list, v));
            OK(drasync_release(list));
        }
        check_barrier();
    }
    if (check_rank == 0)
        OK(drasync_delete(list));
}

/* Leaves written by their ranks, read together under a hold of the root. */
static void subtree(void)
{
    drasync_region_t root = NULL, leaf;
    char name[32];
    void *v;

    if (check_rank == 0) {
        drasync_region_t inner;

        OK(drasync_new_region(&root));
        OK(drasync_new_subregion(root, &inner));
        for (int i = 0; i < check_ranks; i++) {
            OK(drasync_new_subregion(i % 2 ? inner : root, &leaf));
            snprintf(name, sizeof(name), "leaf/%d", i);
            OK(drasync_publish(name, leaf));
        }
        OK(drasync_release(root));
    }
    check_share(&root, 0);
    snprintf(name, sizeof(name), "leaf/%d", check_rank);
    OK(drasync_lookup(name, DRASYNC_FOREVER, &leaf));
    for (int round = 1; round <= 3; round++) {
        OK(drasync_acquire(leaf, DRASYNC_WRITE));
        OK(drasync_alloc(leaf, 5000 * sizeof(int), &v));
        for (int i = 0; i < 5000; i++)
            ((int *)v)[i] = check_rank * 10 + round;
        OK(drasync_set_root(leaf, v));
        OK(drasync_release(leaf));
        check_barrier();
        OK(drasync_acquire(root,
                           check_rank % 2 ? DRASYNC_READ : DRASYNC_WRITE));
        for (int i = 0; i < check_ranks; i++) {
            drasync_region_t other;

            snprintf(name, sizeof(name), "leaf/%d", i);
            OK(drasync_lookup(name, 0, &other));
            OK(drasync_get_root(other, &v));
            CHECK(((int *)v)[0] == i * 10 + round);
            CHECK(((int *)v)[4999] == i * 10 + round);
        }
        OK(drasync_release(root));
        check_barrier();
    }
    if (check_rank == 0)
        OK(drasync_delete(root));
}

/* Readers keep what they see while a writer goes on, and do not stop it. */
static void pinned(void)
{
    enum { WORDS = 60000 };
    drasync_region_t r = NULL;
    int *words;
    void *v;

    if (check_rank == 0) {
        OK(drasync_new_region(&r));
        OK(drasync_alloc(r, WORDS * sizeof(int), &v));
        for (int i = 0; i < WORDS; i++)
            ((int *)v)[i] = 1;
        OK(drasync_set_root(r, v));
        OK(drasync_release(r));
    }
    check_share(&r, 0);
    if (check_rank != 0)
        OK(drasync_acquire(r, DRASYNC_READ));
    check_barrier();
    for (int version = 2; version < 5; version++) {
        if (check_rank == 0) {
            OK(drasync_acquire(r, DRASYNC_WRITE));
            OK(drasync_get_root(r, &v));
            for (int i = 0; i < WORDS; i++)
                ((int *)v)[i] = version;
            OK(drasync_alloc(r, 100000, &v));
            OK(drasync_free(v));
            OK(drasync_release(r));
        }
        check_barrier();
        if (check_rank != 0) {
            int wanted = check_rank == 1 ? 1 : version == 2 ? 1 : version - 1;

            OK(drasync_get_root(r, &v));
            words = v;
            CHECK(words[0] == wanted && words[WORDS - 1] == wanted);
            if (check_rank > 1) {
                OK(drasync_release(r));
                OK(drasync_acquire(r, DRASYNC_READ));
                OK(drasync_get_root(r, &v));
                words = v;
                CHECK(words[0] == version && words[WORDS - 1] == version);
            }
        }
        check_barrier();
    }
    if (check_rank != 0)
        OK(drasync_release(r));
    check_barrier();
    if (check_rank == 0)
        OK(drasync_delete(r));
}

static int gone(int err)
{
    return err == DRASYNC_EDELETED || err == DRASYNC_ENOREGION;
}

/* Requests that wait when a region is deleted end with DRASYNC_EDELETED; those
 * that come later find no region. */
static void delete_race(void)
{
    for (int round = 0; round < 10; round++) {
        enum drasync_mode mode = round % 2 ? DRASYNC_READ : DRASYNC_WRITE;
        drasync_request_t request = NULL;
        drasync_region_t r = NULL;
        int err = 0;

        if (check_rank == 0)
            OK(drasync_new_region(&r));
        check_share(&r, 0);
        if (check_rank != 0) {
            err = drasync_iacquire(r, mode, &request);
            CHECK(err == 0 || (round >= 5 && gone(err)));
        }
        if (round < 5)
            check_barrier();
        if (check_rank == 0)
            OK(drasync_delete(r));
        else if (!err)
            CHECK(gone(drasync_wait(&request, DRASYNC_FOREVER)));
        check_barrier();
    }
}

/* An address that is used again never shows what was there before. */
static void address_reuse(void)
{
    enum { ROUNDS = 20 };
    drasync_region_t before[ROUNDS + 1] = {NULL};
    int reused = 0;

    for (int round = 1; round <= ROUNDS; round++) {
        drasync_region_t r = NULL;
        void *v;

        if (check_rank == 0) {
            OK(drasync_new_region(&r));
            OK(drasync_alloc(r, 9000, &v));
            memset(v, round, 9000);
            OK(drasync_set_root(r, v));
            OK(drasync_release(r));
        }
        check_share(&r, 0);
        for (int i = 1; i < round; i++)
            reused += r == before[i];
        before[round] = r;
        OK(drasync_acquire(r, DRASYNC_READ));
        OK(drasync_get_root(r, &v));
        CHECK(((char *)v)[0] == round && ((char *)v)[8999] == round);
        OK(drasync_release(r));
        check_barrier();
        if (check_rank == 0)
            OK(drasync_delete(r));
        check_barrier();
    }
    CHECK(reused > 0);
}

/* As many as ask get it, one after the other. */
static void counter(void)
{
    enum { EACH = 300 };
    drasync_region_t r = NULL;
    void *v;

    if (check_rank == 0) {
        OK(drasync_new_region(&r));
        OK(drasync_alloc(r, sizeof(long), &v));
        *(long *)v = 0;
        OK(drasync_set_root(r, v));
        OK(drasync_release(r));
    }
    check_share(&r, 0);
    for (int i = 0; i < EACH; i++) {
        OK(drasync_acquire(r, DRASYNC_WRITE));
        OK(drasync_get_root(r, &v));
        ++*(long *)v;
        OK(drasync_release(r));
    }
    check_barrier();
    OK(drasync_acquire(r, DRASYNC_READ));
    OK(drasync_get_root(r, &v));
    CHECK(*(long *)v == (long)EACH * check_ranks);
    OK(drasync_release(r));
    check_barrier();
    if (check_rank == 0)
        OK(drasync_delete(r));
}

static void *thread_work(void *arg)
{
    drasync_region_t shared = *(drasync_region_t *)arg, own;
    void *v;

    for (int i = 0; i < 100; i++) {
        OK(drasync_new_region(&own));
        OK(drasync_alloc(own, 3000, &v));
        memset(v, i, 3000);
        CHECK(((char *)v)[2999] == (char)i);
        OK(drasync_acquire(shared, DRASYNC_READ));
        OK(drasync_get_root(shared, &v));
        CHECK(*(int *)v == 42);
        OK(drasync_release(shared));
        OK(drasync_delete(own));
    }
    return NULL;
}

/* The threads of a rank call at the same time. */
static void threads(void)
{
    enum { THREADS = 4 };
    drasync_region_t r = NULL;
    pthread_t thread[THREADS];
    void *v;

    if (check_rank == 0) {
        OK(drasync_new_region(&r));
        OK(drasync_alloc(r, sizeof(int), &v));
        *(int *)v = 42;
        OK(drasync_set_root(r, v));
        OK(drasync_release(r));
    }
    check_share(&r, 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(!pthread_create(&thread[i], NULL, thread_work, &r));
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    check_barrier();
    if (check_rank == 0)
        OK(drasync_delete(r));
}

/* What the ranks take again and again, and their threads. */
enum { AGAIN_RANKS = 8, AGAIN_THREADS = 2, AGAIN_REGIONS = 3 };

struct again {
    _Atomic int inside[AGAIN_RANKS];
    long count[AGAIN_RANKS][AGAIN_THREADS]; /* each by its thread only */
};

static drasync_region_t again_region[AGAIN_REGIONS];

static struct again *again_of(drasync_region_t r)
{
    void *v;

    OK(drasync_get_root(r, &v));
    return v;
}

/* Holds belong to the rank, and a release gives back WRITE first: so of ranks
 * that read too there is one thread. */
static int again_threads(void)
{
    return check_rank % 2 ? 1 : AGAIN_THREADS;
}

static void again_write(drasync_region_t r, int thread, bool look)
{
    static _Thread_local struct again *known[AGAIN_REGIONS];
    struct again *a;
    int i = 0;

    while (again_region[i] != r)
        i++;
    OK(drasync_acquire(r, DRASYNC_WRITE));
    if (look || !known[i])
        known[i] = again_of(r);
    a = known[i];
    atomic_fetch_add(&a->inside[check_rank], 1);
    for (int other = 0; other < check_ranks; other++)
        CHECK(other == check_rank || atomic_load(&a->inside[other]) == 0);
    a->count[check_rank][thread]++;
    atomic_fetch_sub(&a->inside[check_rank], 1);
    OK(drasync_release(r));
}

static void *again_work(void *arg)
{
    int thread = *(int *)arg;

    for (int i = 0; i < 60; i++) {
        drasync_region_t r = again_region[(i / 2 + check_rank) % AGAIN_REGIONS];

        for (int burst = 0; burst < 25; burst++)
            again_write(r, thread, burst % 10 == 9);
        if (again_threads() == 1 && i % 4 == 0) {
            struct again *a;

            OK(drasync_acquire(r, DRASYNC_READ));
            a = again_of(r);
            CHECK(a->count[check_rank][0] >= 25);
            OK(drasync_release(r));
        }
    }
    return NULL;
}

/* Nobody but the holder's rank is inside, and nothing written is lost. */
static void again(void)
{
    pthread_t thread[AGAIN_THREADS];
    int number[AGAIN_THREADS];
    long sum = 0;
    void *v;

    if (check_ranks > AGAIN_RANKS)
        return;
    for (int i = 0; i < AGAIN_REGIONS; i++) {
        if (check_rank == 0) {
            OK(drasync_new_region(&again_region[i]));
            OK(drasync_alloc(again_region[i], sizeof(struct again), &v));
            memset(v, 0, sizeof(struct again));
            OK(drasync_set_root(again_region[i], v));
            OK(drasync_release(again_region[i]));
        }
        check_share(&again_region[i], 0);
    }
    for (int i = 0; i < again_threads(); i++) {
        number[i] = i;
        CHECK(!pthread_create(&thread[i], NULL, again_work, &number[i]));
    }
    for (int i = 0; i < again_threads(); i++)
        pthread_join(thread[i], NULL);
    check_barrier();
    for (int i = 0; i < AGAIN_REGIONS; i++) {
        OK(drasync_acquire(again_region[i], DRASYNC_READ));
        for (int n = 0; n < AGAIN_RANKS * AGAIN_THREADS; n++)
            sum += again_of(again_region[i])
                       ->count[n / AGAIN_THREADS][n % AGAIN_THREADS];
        OK(drasync_release(again_region[i]));
    }
    CHECK(sum ==
          60L * 25 * (check_ranks / 2 + (check_ranks + 1) / 2 * AGAIN_THREADS));
    check_barrier();
    for (int i = 0; i < AGAIN_REGIONS && check_rank == 0; i++)
        OK(drasync_delete(again_region[i]));
}

/* Holds that are left when a rank finalizes are released: see the end of
 * main, after which nobody gives this back. */
static void left_behind(void)
{
    drasync_region_t r;

    OK(drasync_new_region(&r));
    OK(drasync_new_subregion(r, &r));
}

static const struct {
    const char *name;
    void (*run)(void);
} stories[] = {
    {"list_handover", list_handover},
    {"subtree", subtree},
    {"pinned", pinned},
    {"delete_race", delete_race},
    {"address_reuse", address_reuse},
    {"counter", counter},
    {"threads", threads},
    {"again", again},
    {"left_behind", left_behind},
};

static void tell(const char *name)
{
    check_barrier();
    if (check_rank == 0)
        printf("story %s ok\n", name);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (size_t i = 0; i < sizeof(stories) / sizeof(stories[0]); i++) {
        int wanted = argc < 2;

        for (int a = 1; a < argc; a++)
            wanted |= !strcmp(argv[a], stories[i].name);
        if (wanted) {
            stories[i].run();
            tell(stories[i].name);
        }
    }
    return check_end("stories");
}
