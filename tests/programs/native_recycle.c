/*
 * Regions that come and go at the same addresses, while other ranks and threads
 * ask for what was or is there.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "native_check.h"

#define ROUNDS 30000

/* The addresses that rank 0's regions take in turn. */
#define PLACES 3

static struct {
    drasync_region_t region[PLACES];
    void *object;
} told;

static _Atomic int over;

static void fill(drasync_region_t r, unsigned tag, uint32_t *object[3])
{
    for (int i = 0; i < 3; i++) {
        OK(drasync_alloc(r, 48, (void **)&object[i]));
        for (int n = 0; n < 12; n++)
            object[i][n] = tag;
    }
}

static void check_filled(uint32_t *const object[3], unsigned tag)
{
    for (int i = 0; i < 3; i++)
        for (int n = 0; n < 12; n++)
            CHECK(object[i][n] == tag);
}

static void gone(drasync_region_t r)
{
    int err;

    /* Another rank has it just now. */
    while ((err = drasync_delete(r)) == DRASYNC_EBUSY)
        ;
    OK(err);
}

static void come_and_go(unsigned rounds)
{
    drasync_region_t r[PLACES];
    uint32_t *object[PLACES][3];
    void *root;

    for (unsigned i = 0; i < rounds; i++) {
        for (unsigned n = 0; n < PLACES; n++) {
            OK(drasync_new_region(&r[n]));
            fill(r[n], i + n, object[n]);
        }
        if (i % 5 == 1)
            OK(drasync_free(object[0][1]));
        if (i % 7 == 2) {
            OK(drasync_release(r[1]));
            gone(r[1]);
            OK(drasync_new_region(&r[1]));
            fill(r[1], i + 1, object[1]);
        }
        if (i % 11 == 3) {
            OK(drasync_get_root(r[2], &root));
            CHECK(!root);
            OK(drasync_set_root(r[2], object[2][0]));
        }
        for (unsigned n = 0; n < PLACES; n++) {
            if (i % 5 != 1)
                check_filled(object[n], i + n);
            gone(r[n]);
        }
    }
}

/* What is kept of regions that are gone is given to nobody. */
static void nowhere(void)
{
    enum { MANY = 16 };
    drasync_region_t r[MANY];
    uint32_t *object[3];
    void *v;

    for (unsigned i = 0; i < 2 * MANY; i++) {
        for (unsigned n = 0; n < MANY; n++) {
            OK(drasync_new_region(&r[n]));
            fill(r[n], n, object);
            CODE(drasync_alloc(NULL, 32, &v), DRASYNC_ENOREGION);
        }
        for (unsigned n = MANY; n-- > 0;) {
            OK(drasync_delete(r[n]));
            CODE(drasync_alloc(NULL, 32, &v), DRASYNC_ENOREGION);
        }
    }
}

/* Neither when a load has put back what the thread had ready. */
static void nowhere_after_load(void)
{
    drasync_region_t saved, loaded, r;
    uint32_t *object[3];
    char path[64];
    void *v;

    snprintf(path, sizeof(path), "/tmp/native_recycle.%d", (int)getpid());
    OK(drasync_new_region(&saved));
    OK(drasync_release(saved));
    OK(drasync_save(saved, path));
    for (unsigned i = 0; i < 3; i++) {
        OK(drasync_new_region(&r));
        fill(r, i, object);
        OK(drasync_delete(r));
    }
    CODE(drasync_load(path, &loaded), DRASYNC_ETAKEN);
    unlink(path);
    CODE(drasync_alloc(NULL, 32, &v), DRASYNC_ENOREGION);
    OK(drasync_delete(saved));
}

/* Whatever the answer, nothing may come of it. */
static void ask(unsigned i)
{
    drasync_region_t r = told.region[i % PLACES], of;
    struct drasync_info info;
    int err;

    switch (i / PLACES % 4) {
    case 0:
        err = drasync_get_info(r, &info);
        CHECK(!err || err == DRASYNC_ENOREGION);
        break;
    case 1:
        err = drasync_region_of(told.object, &of);
        CHECK(!err || err == DRASYNC_ENOREGION);
        break;
    default:
        err = drasync_try_acquire(r, i % 2 ? DRASYNC_READ : DRASYNC_WRITE);
        if (!err)
            OK(drasync_release(r));
        CHECK(!err || err == DRASYNC_EAGAIN || err == DRASYNC_ENOREGION ||
              err == DRASYNC_EDELETED);
    }
}

static void *ask_on(void *arg)
{
    drasync_region_t r = told.region[0], of;
    struct drasync_info info;

    (void)arg;
    while (!atomic_load(&over)) {
        int err = drasync_get_info(r, &info);

        CHECK(!err || err == DRASYNC_ENOREGION);
        err = drasync_region_of(told.object, &of);
        CHECK(!err || err == DRASYNC_ENOREGION);
        for (volatile int n = 0; n < 2000; n++)
            ;
    }
    return NULL;
}

/* --- Regions that grow ---------------------------------------------------- */

#define GROWN_OBJECTS 40
#define GROWN_BYTES   20000

struct grown {
    drasync_region_t region;
    char *object[GROWN_OBJECTS];
};

static void grown_write(const struct grown *g, int tag)
{
    for (int n = 0; n < GROWN_OBJECTS; n++)
        memset(g->object[n], tag + n, GROWN_BYTES);
}

static void grown_check(const struct grown *g, int tag)
{
    for (int n = 0; n < GROWN_OBJECTS; n++)
        for (int at = 0; at < GROWN_BYTES; at += 3999)
            CHECK(g->object[n][at] == (char)(tag + n));
}

/* The first rank makes one, and the others get to know it. */
static void grown_new(struct grown *g, int tag)
{
    if (check_rank == 0) {
        OK(drasync_new_region(&g->region));
        for (int n = 0; n < GROWN_OBJECTS; n++)
            OK(drasync_alloc(g->region, GROWN_BYTES, (void **)&g->object[n]));
        grown_write(g, tag);
        OK(drasync_release(g->region));
    }
    MPI_Bcast(g, sizeof(*g), MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void grown_delete(const struct grown *g)
{
    int err;

    check_barrier();
    if (check_rank == 0) {
        OK(drasync_acquire(g->region, DRASYNC_WRITE));
        OK(drasync_delete(g->region));
    }
    check_barrier();
    if (check_rank != 0) {
        err = drasync_acquire(g->region, DRASYNC_READ);
        CHECK(err == DRASYNC_ENOREGION || err == DRASYNC_EDELETED);
    }
    check_barrier();
}

static void grown_read(const struct grown *g, int tag)
{
    OK(drasync_acquire(g->region, DRASYNC_READ));
    grown_check(g, tag);
    OK(drasync_release(g->region));
}

/* Others hold what was there while the first rank writes what they see next. */
static void grown_change(const struct grown *g, int from, int to)
{
    if (check_rank != 0)
        OK(drasync_acquire(g->region, DRASYNC_READ));
    check_barrier();
    if (check_rank == 0) {
        OK(drasync_acquire(g->region, DRASYNC_WRITE));
        grown_write(g, to);
        OK(drasync_release(g->region));
    }
    check_barrier();
    if (check_rank != 0) {
        grown_check(g, from);
        OK(drasync_release(g->region));
        grown_read(g, to);
    }
}

/* What a region grew by is given back when it is deleted, and the next one has
 * it, with nothing of what ranks saw there. */
static void grown_again(void)
{
    struct drasync_stats early, late;
    drasync_region_t place;
    struct grown g;

    for (int i = 0; i < 12; i++) {
        grown_new(&g, i);
        if (check_rank != 0)
            grown_read(&g, i);
        grown_delete(&g);
        /* At another address, but with what the one before grew by. */
        if (check_rank == 0 && i % 2)
            OK(drasync_new_region(&place));
        grown_new(&g, i + 50);
        if (i % 3 != 2)
            grown_change(&g, i + 50, i + 100);
        grown_delete(&g);
        if (check_rank == 0 && i % 2)
            OK(drasync_delete(place));
        check_barrier();
        if (i == 5)
            OK(drasync_get_stats(&early));
        check_barrier();
    }
    OK(drasync_get_stats(&late));
    check_barrier();
    /* Other nodes give back what they have a moment later. */
    if (late.nodes > 1)
        return;
    CHECK(late.reserved_bytes == early.reserved_bytes);
    CHECK(late.regions == early.regions);
}

/* The first rank makes regions where it deleted some; the others ask. */
static void by_ranks(void)
{
    uint32_t *object[3];

    if (check_rank == 0) {
        for (int n = 0; n < PLACES; n++)
            OK(drasync_new_region(&told.region[n]));
        fill(told.region[0], 0, object);
        told.object = object[0];
        for (int n = PLACES; n-- > 0;)
            OK(drasync_delete(told.region[n]));
    }
    MPI_Bcast(&told, sizeof(told), MPI_BYTE, 0, MPI_COMM_WORLD);
    if (check_rank == 0)
        come_and_go(ROUNDS);
    else
        for (unsigned i = 0; i < ROUNDS; i++)
            ask(i);
    check_barrier();
}

/* The same with a thread of the rank that asks. */
static void by_threads(void)
{
    pthread_t thread;

    if (check_rank == 0) {
        CHECK(!pthread_create(&thread, NULL, ask_on, NULL));
        come_and_go(ROUNDS / 3);
        atomic_store(&over, 1);
        CHECK(!pthread_join(thread, NULL));
    }
    check_barrier();
}

int main(int argc, char **argv)
{
    struct drasync_stats before, after;
    int level;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_ranks);
    OK(drasync_get_stats(&before));
    check_barrier();
    by_ranks();
    by_threads();
    nowhere();
    nowhere_after_load();
    check_barrier();
    grown_again();
    /* Other nodes give back what they have a moment later; what they never give
     * back ends in the test's time limit. */
    do {
        OK(drasync_get_stats(&after));
        CHECK(after.nodes > 1 || after.regions == before.regions);
    } while (after.regions != before.regions && !sched_yield());
    return check_end("stock");
}
