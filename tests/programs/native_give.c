/*
 * Regions that ranks give each other: order, tags, subtrees, parts of trees,
 * large ones, wrong calls, threads.  Runs with any number of ranks.
 */
#include <pthread.h>
#include <stdbool.h>

#include "native_check.h"

#define MANY        60
#define TAGS        3
#define LARGE_BYTES ((size_t)5 << 20)
#define THREADS     2

struct node {
    struct node *next;
    uint64_t value;
};

static int next_rank(void)
{
    return (check_rank + 1) % check_ranks;
}

static int previous_rank(void)
{
    return (check_rank + check_ranks - 1) % check_ranks;
}

/* A region with one number in it, held for WRITE. */
static drasync_region_t number_new(uint64_t value)
{
    drasync_region_t region;
    void *object;

    OK(drasync_new_region(&region));
    OK(drasync_alloc(region, sizeof(value), &object));
    *(uint64_t *)object = value;
    OK(drasync_set_root(region, object));
    return region;
}

static uint64_t *number_of(drasync_region_t region)
{
    void *object;

    OK(drasync_get_root(region, &object));
    return object;
}

/* --- Order ---------------------------------------------------------------- */

static void all_come_in_order(void)
{
    struct drasync_gift gift;
    drasync_region_t region;

    for (uint64_t i = 0; i < MANY; i++)
        OK(drasync_give(number_new(i), next_rank(), (int)(i % TAGS)));
    /* Those of the last tag first, each tag in its order. */
    for (int tag = TAGS - 1; tag > 0; tag--) {
        for (uint64_t i = (uint64_t)tag; i < MANY; i += TAGS) {
            OK(drasync_take(DRASYNC_ANY, tag, DRASYNC_FOREVER, &region, &gift));
            CHECK(gift.from == previous_rank() && gift.tag == tag);
            CHECK(*number_of(region) == i);
            OK(drasync_delete(region));
        }
    }
    for (uint64_t i = 0; i < MANY; i += TAGS) {
        OK(drasync_take(previous_rank(), DRASYNC_ANY, DRASYNC_FOREVER, &region,
                        NULL));
        CHECK(*number_of(region) == i);
        OK(drasync_release(region));
        OK(drasync_delete(region));
    }
    CODE(drasync_take(DRASYNC_ANY, DRASYNC_ANY, 0, &region, &gift),
         DRASYNC_EAGAIN);
    check_barrier();
}

/* All give to rank 0, which asks for one giver after the other. */
static void from_all(void)
{
    drasync_region_t region;

    OK(drasync_give(number_new((uint64_t)check_rank), 0, check_rank));
    for (int rank = check_ranks; check_rank == 0 && rank-- > 0;) {
        struct drasync_gift gift;

        OK(drasync_take(rank, DRASYNC_ANY, DRASYNC_FOREVER, &region, &gift));
        CHECK(gift.from == rank && gift.tag == rank);
        CHECK(*number_of(region) == (uint64_t)rank);
        OK(drasync_delete(region));
    }
    check_barrier();
}

/* One region goes round. */
static void round_and_round(void)
{
    drasync_region_t region;

    if (check_rank == 0)
        OK(drasync_give(number_new(0), 0, 9));
    for (int i = 0; i < 10; i++) {
        OK(drasync_take(DRASYNC_ANY, 9, DRASYNC_FOREVER, &region, NULL));
        uint64_t *number = number_of(region);
        CHECK(*number == (uint64_t)(i * check_ranks + check_rank));
        ++*number;
        if (i == 9 && check_rank == check_ranks - 1)
            OK(drasync_delete(region));
        else
            OK(drasync_give(region, next_rank(), 9));
    }
    check_barrier();
}

/* --- Subtrees ------------------------------------------------------------- */

static struct node *push(drasync_region_t region, struct node *head,
                         uint64_t value)
{
    void *node;

    OK(drasync_alloc(region, sizeof(*head), &node));
    ((struct node *)node)->next = head;
    ((struct node *)node)->value = value;
    return node;
}

static uint64_t sum(const struct node *head)
{
    uint64_t total = 0;

    for (; head; head = head->next)
        total += head->value;
    return total;
}

/* A list whose nodes are in a root, a subregion and one below that. */
static void a_tree_goes_with_its_subregions(void)
{
    drasync_region_t region[3], taken;
    struct node *head = NULL;
    void *object;

    OK(drasync_new_region(&region[0]));
    OK(drasync_new_subregion(region[0], &region[1]));
    OK(drasync_new_subregion(region[1], &region[2]));
    for (uint64_t i = 0; i < 3000; i++)
        head = push(region[i % 3], head, i);
    OK(drasync_set_root(region[0], head));
    OK(drasync_give(region[0], next_rank(), 1));
    if (check_ranks > 1)
        for (int i = 0; i < 3; i++)
            CODE(drasync_alloc(region[i], 8, &object), DRASYNC_ENOTHELD);
    check_barrier();
    OK(drasync_take(previous_rank(), 1, DRASYNC_FOREVER, &taken, NULL));
    OK(drasync_get_root(taken, &object));
    CHECK(sum(object) == 3000 * 2999 / 2);
    /* It grows, in all of its parts, and comes back. */
    head = object;
    for (struct node *node = object; node; node = node->next) {
        drasync_region_t part;

        OK(drasync_region_of(node, &part));
        if (node->value % 1000 < 3)
            head = push(part, head, 1000000);
    }
    OK(drasync_set_root(taken, head));
    OK(drasync_give(taken, previous_rank(), 2));
    OK(drasync_take(next_rank(), 2, DRASYNC_FOREVER, &taken, NULL));
    CHECK(taken == region[0]);
    OK(drasync_get_root(taken, &object));
    CHECK(sum(object) == 9000000 + 3000 * 2999 / 2);
    OK(drasync_delete(taken));
    check_barrier();
}

/* A subregion goes, its parent stays. */
static void a_part_goes_alone(void)
{
    drasync_region_t root, part, taken;
    void *object;

    OK(drasync_new_region(&root));
    OK(drasync_new_subregion(root, &part));
    CODE(drasync_give(part, next_rank(), 3), DRASYNC_ENOTHELD);
    OK(drasync_acquire(part, DRASYNC_WRITE));
    CODE(drasync_give(part, next_rank(), 3), DRASYNC_ENESTED);
    CODE(drasync_give(root, next_rank(), 3), DRASYNC_ENESTED);
    OK(drasync_release(root));
    OK(drasync_alloc(part, sizeof(uint64_t), &object));
    *(uint64_t *)object = 77;
    OK(drasync_set_root(part, object));
    OK(drasync_give(part, next_rank(), 3));
    OK(drasync_take(DRASYNC_ANY, 3, DRASYNC_FOREVER, &taken, NULL));
    CHECK(*number_of(taken) == 77);
    *number_of(taken) = 78;
    OK(drasync_release(taken));
    check_barrier();
    OK(drasync_acquire(root, DRASYNC_WRITE));
    CHECK(*number_of(part) == 78);
    OK(drasync_delete(root));
    check_barrier();
}

static void large_and_empty(void)
{
    drasync_region_t region, taken;
    unsigned char *bytes;
    void *object;

    OK(drasync_new_region(&region));
    OK(drasync_alloc(region, LARGE_BYTES, &object));
    for (size_t i = 0; i < LARGE_BYTES; i++)
        ((unsigned char *)object)[i] = (unsigned char)(i * 7 >> 3);
    OK(drasync_set_root(region, object));
    OK(drasync_give(region, next_rank(), 4));
    OK(drasync_new_region(&region));
    OK(drasync_give(region, next_rank(), 4));
    OK(drasync_take(DRASYNC_ANY, 4, DRASYNC_FOREVER, &taken, NULL));
    OK(drasync_get_root(taken, &object));
    bytes = object;
    for (size_t i = 0; i < LARGE_BYTES; i++)
        CHECK(bytes[i] == (unsigned char)(i * 7 >> 3));
    OK(drasync_delete(taken));
    OK(drasync_take(DRASYNC_ANY, 4, DRASYNC_FOREVER, &taken, NULL));
    OK(drasync_get_root(taken, &object));
    CHECK(!object);
    OK(drasync_delete(taken));
    check_barrier();
}

/* --- Others --------------------------------------------------------------- */

/* Who waits for a region that is given has it when the taker releases it. */
static void others_wait(void)
{
    drasync_region_t region = NULL;
    drasync_request_t request;
    int last = check_ranks - 1;

    if (!last)
        return;
    if (check_rank == 0)
        region = number_new(1);
    check_share(&region, 0);
    if (check_rank != last)
        OK(drasync_iacquire(region, DRASYNC_WRITE, &request));
    check_barrier();
    if (check_rank == 0) {
        /* Its own request is granted beside what it holds already. */
        OK(drasync_wait(&request, DRASYNC_FOREVER));
        CODE(drasync_give(region, last, 5), DRASYNC_ENESTED);
        OK(drasync_release(region));
        OK(drasync_give(region, last, 5));
    }
    if (check_rank == last) {
        OK(drasync_take(0, 5, DRASYNC_FOREVER, &region, NULL));
        *number_of(region) += 1;
        OK(drasync_release(region));
    }
    if (check_rank != 0 && check_rank != last) {
        OK(drasync_wait(&request, DRASYNC_FOREVER));
        *number_of(region) += 1;
        OK(drasync_release(region));
    }
    check_barrier();
    if (check_rank == 0) {
        OK(drasync_acquire(region, DRASYNC_WRITE));
        CHECK(*number_of(region) == (uint64_t)check_ranks);
        OK(drasync_delete(region));
    }
    check_barrier();
}

/* Who READs it may not have WRITE before that is over. */
static void a_reader_is_given_it(void)
{
    drasync_region_t region, taken;
    drasync_region_t reads;
    struct drasync_gift gift;

    region = number_new(5);
    OK(drasync_release(region));
    MPI_Sendrecv(&region, sizeof(region), MPI_BYTE, next_rank(), 0, &reads,
                 sizeof(reads), MPI_BYTE, previous_rank(), 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    OK(drasync_acquire(reads, DRASYNC_READ));
    check_barrier();
    if (check_ranks > 1) {
        OK(drasync_acquire(region, DRASYNC_WRITE));
        *number_of(region) = 6;
        OK(drasync_give(region, next_rank(), 6));
        taken = NULL;
        CODE(drasync_take(DRASYNC_ANY, 6, DRASYNC_FOREVER, &taken, &gift),
             DRASYNC_EUPGRADE);
        CHECK(taken == reads);
        CHECK(gift.from == previous_rank() && gift.tag == 6);
        CHECK(*number_of(reads) == 5);
    }
    OK(drasync_release(reads));
    if (check_ranks > 1) {
        struct drasync_info info;

        /* A hold of its own is not the gift's. */
        if (check_rank % 2)
            OK(drasync_acquire(reads, DRASYNC_WRITE));
        OK(drasync_take(DRASYNC_ANY, 6, DRASYNC_FOREVER, &taken, NULL));
        CHECK(taken == reads && *number_of(taken) == 6);
        OK(drasync_get_info(reads, &info));
        CHECK(info.held_write == 1 + check_rank % 2);
        OK(drasync_release(taken));
        if (check_rank % 2)
            OK(drasync_release(reads));
    }
    check_barrier();
    OK(drasync_delete(region));
    check_barrier();
}

/* Rank 0's value is there with the gift, in all parts, while the last rank keeps
 * what it reads. */
static void readers_keep_theirs(void)
{
    int taker = check_ranks > 2 ? check_ranks - 2 : check_ranks - 1;
    bool reads = check_ranks > 2 && check_rank == check_ranks - 1;
    drasync_region_t region[2] = {NULL};
    volatile uint64_t *value[2];
    void *v;

    if (!check_rank) {
        region[0] = number_new(1);
        OK(drasync_new_subregion(region[0], &region[1]));
        OK(drasync_alloc(region[1], sizeof(uint64_t), &v));
        *(uint64_t *)v = 1;
        OK(drasync_set_root(region[1], v));
        OK(drasync_release(region[0]));
    }
    MPI_Bcast(region, sizeof(region), MPI_BYTE, 0, MPI_COMM_WORLD);
    OK(drasync_acquire(region[0], DRASYNC_READ));
    for (int i = 0; i < 2; i++)
        value[i] = number_of(region[i]);
    CHECK(*value[0] == 1 && *value[1] == 1);
    if (!reads)
        OK(drasync_release(region[0]));
    check_barrier();
    if (!check_rank) {
        OK(drasync_acquire(region[0], DRASYNC_WRITE));
        *value[0] = *value[1] = 2;
        OK(drasync_give(region[0], taker, 0));
    }
    if (check_rank == taker) {
        OK(drasync_take(0, 0, DRASYNC_FOREVER, &region[0], NULL));
        for (int i = 0; i < 2; i++) {
            OK(drasync_acquire(region[i], DRASYNC_READ));
            CHECK(*value[0] == 2 && *value[1] == 2);
            OK(drasync_release(region[i]));
        }
        OK(drasync_release(region[0]));
    }
    check_barrier();
    if (reads) {
        CHECK(*value[0] == 1 && *value[1] == 1);
        OK(drasync_release(region[0]));
    }
    check_barrier();
    if (!check_rank)
        OK(drasync_delete(region[0]));
}

/* Until the last rank takes it, the others may have it. */
static void others_come_first(void)
{
    drasync_region_t region = NULL;
    int last = check_ranks - 1;

    if (check_rank == 0)
        region = number_new(0);
    check_share(&region, 0);
    if (check_rank == 0)
        OK(drasync_give(region, last, 8));
    check_barrier();
    for (int i = 0; i < 10; i++) {
        OK(drasync_acquire(region, DRASYNC_WRITE));
        *number_of(region) += 1;
        OK(drasync_release(region));
    }
    check_barrier();
    if (check_rank == last) {
        OK(drasync_take(0, 8, DRASYNC_FOREVER, &region, NULL));
        CHECK(*number_of(region) == (uint64_t)check_ranks * 10);
        OK(drasync_delete(region));
    }
    check_barrier();
}

static void wrong_calls(void)
{
    drasync_region_t region = number_new(1), taken;
    int local;

    CODE(drasync_give(region, -1, 0), DRASYNC_EINVAL);
    CODE(drasync_give(region, check_ranks, 0), DRASYNC_EINVAL);
    CODE(drasync_give(region, 0, -1), DRASYNC_EINVAL);
    CODE(drasync_give(NULL, 0, 0), DRASYNC_ENOREGION);
    CODE(drasync_give((drasync_region_t)(void *)&local, 0, 0),
         DRASYNC_ENOREGION);
    CODE(drasync_take(check_ranks, 0, 0, &taken, NULL), DRASYNC_EINVAL);
    CODE(drasync_take(-2, 0, 0, &taken, NULL), DRASYNC_EINVAL);
    CODE(drasync_take(0, -2, 0, &taken, NULL), DRASYNC_EINVAL);
    CODE(drasync_take(0, 0, 0, NULL, NULL), DRASYNC_EINVAL);
    CODE(drasync_take(DRASYNC_ANY, 0, 1000, &taken, NULL), DRASYNC_EAGAIN);
    OK(drasync_release(region));
    CODE(drasync_give(region, 0, 0), DRASYNC_ENOTHELD);
    OK(drasync_acquire(region, DRASYNC_READ));
    CODE(drasync_give(region, 0, 0), DRASYNC_ENOTHELD);
    OK(drasync_release(region));
    OK(drasync_acquire(region, DRASYNC_WRITE));
    OK(drasync_acquire(region, DRASYNC_READ));
    CODE(drasync_give(region, 0, 0), DRASYNC_ENESTED);
    OK(drasync_release(region));
    OK(drasync_give(region, check_rank, 7));
    CODE(drasync_release(region), DRASYNC_ENOTHELD);
    OK(drasync_delete(region));
    struct drasync_gift gift;
    CODE(drasync_take(DRASYNC_ANY, 7, DRASYNC_FOREVER, &taken, &gift),
         DRASYNC_EDELETED);
    CHECK(taken == region && gift.from == check_rank && gift.tag == 7);
    CODE(drasync_give(region, 0, 0), DRASYNC_ENOREGION);
    check_barrier();
}

/* --- Threads -------------------------------------------------------------- */

static void *gives(void *arg)
{
    for (uint64_t i = 0; i < MANY; i++)
        OK(drasync_give(number_new(i), next_rank(), 10 + *(int *)arg));
    return NULL;
}

static void *takes(void *arg)
{
    uint64_t *total = arg;
    drasync_region_t region;
    void *object;

    for (uint64_t i = 0; i < MANY; i++) {
        OK(drasync_take(DRASYNC_ANY, DRASYNC_ANY, DRASYNC_FOREVER, &region,
                        NULL));
        OK(drasync_alloc(region, 8, &object));
        *total += *number_of(region);
        if (i % 2)
            OK(drasync_release(region));
        else
            OK(drasync_delete(region));
    }
    return NULL;
}

static void threads_give_and_take(void)
{
    pthread_t giver[THREADS], taker[THREADS];
    uint64_t total[THREADS] = {0}, all = 0;
    int number[THREADS];

    for (int i = 0; i < THREADS; i++) {
        number[i] = i;
        CHECK(!pthread_create(&taker[i], NULL, takes, &total[i]));
        CHECK(!pthread_create(&giver[i], NULL, gives, &number[i]));
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(!pthread_join(giver[i], NULL));
        CHECK(!pthread_join(taker[i], NULL));
        all += total[i];
    }
    CHECK(all == (uint64_t)THREADS * MANY * (MANY - 1) / 2);
    check_barrier();
}

int main(int argc, char **argv)
{
    check_start_threads(&argc, &argv);
    all_come_in_order();
    from_all();
    round_and_round();
    a_tree_goes_with_its_subregions();
    a_part_goes_alone();
    large_and_empty();
    others_wait();
    a_reader_is_given_it();
    readers_keep_theirs();
    others_come_first();
    wrong_calls();
    threads_give_and_take();
    return check_end("give");
}
