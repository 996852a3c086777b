/*
 * Everybody changes, reads and writes the memory of everybody: objects of
 * regions and private memory, on the node and on others, in small and in large
 * pieces.
 *
 * rma_remote [forbidden]   the kernel does not let ranks copy from each other
 */
#include <pthread.h>
#include <unistd.h>

#include "forbid_process_vm.h"
#include "native_check.h"
#include "tests/programs/rma_one.h"

#define ROUNDS 200
#define MANY   100000 /* elements: more than one piece */

/* What a rank lets others have. */
struct board {
    int64_t sum, turns;
    double real;
    long double large;
    uint8_t bits;
    char odd[16];
    int64_t many[MANY];
};

static struct board private;
static struct board *in_region;

/* All ranks' places of both. */
static uint64_t *places[2];

static uint64_t at(int which, int rank, size_t offset)
{
    return places[which][rank] + offset;
}

#define AT(which, rank, field) at(which, rank, offsetof(struct board, field))

static void share_places(void)
{
    drasync_region_t region;
    void *board;

    OK(drasync_new_region(&region));
    OK(drasync_alloc(region, sizeof(struct board), &board));
    in_region = board;
    memset(in_region, 0, sizeof(*in_region));
    OK(rma_private_begin(&private, sizeof(private)));
    for (int i = 0; i < 2; i++) {
        uint64_t place;

        OK(rma_place_of(i ? in_region : &private, sizeof(private), &place));
        places[i] = malloc((size_t)check_ranks * sizeof(place));
        CHECK(places[i]);
        MPI_Allgather(&place, 8, MPI_BYTE, places[i], 8, MPI_BYTE,
                      MPI_COMM_WORLD);
    }
}

static void change(int which, int rank)
{
    int64_t one = 1, old;
    double half = 0.5;
    long double two = 2;
    uint8_t bit = (uint8_t)(1 << check_rank % 8);

    OK(rma_update(rank, AT(which, rank, sum), RMA_INT64, RMA_SUM, &one, &old,
                  1));
    CHECK(old >= 0 && old < (int64_t)ROUNDS * check_ranks);
    OK(rma_update(rank, AT(which, rank, real), RMA_DOUBLE, RMA_SUM, &half, NULL,
                  1));
    OK(rma_update(rank, AT(which, rank, large), RMA_LONG_DOUBLE, RMA_SUM, &two,
                  NULL, 1));
    OK(rma_update(rank, AT(which, rank, bits), RMA_UINT8, RMA_BOR, &bit, NULL,
                  1));
    OK(rma_update(rank, AT(which, rank, odd) + 3, RMA_INT64, RMA_SUM, &one,
                  NULL, 1));
    /* The same by compare and swap. */
    OK(rma_update(rank, AT(which, rank, turns), RMA_INT64, RMA_NO_OP, NULL,
                  &old, 1));
    for (int64_t seen = old;; old = seen) {
        one = old + 1;
        OK(rma_compare(rank, AT(which, rank, turns), RMA_INT64, &old, &one,
                       &seen));
        if (seen == old)
            break;
    }
}

static void verify(const struct board *board)
{
    int64_t all = (int64_t)ROUNDS * check_ranks, odd;

    memcpy(&odd, board->odd + 3, sizeof(odd));
    CHECK(board->sum == all && board->turns == all && odd == all);
    CHECK(board->real == (double)all / 2 && board->large == 2.0L * all);
    CHECK(board->bits ==
          (uint8_t)((1 << (check_ranks < 8 ? check_ranks : 8)) - 1));
}

static void changes(void)
{
    for (int i = 0; i < ROUNDS; i++)
        for (int which = 0; which < 2; which++)
            for (int r = 0; r < check_ranks; r++)
                change(which, (r + check_rank) % check_ranks);
    check_barrier();
    verify(&private);
    verify(in_region);
}

/* Arrays, longer than what goes at once. */
static void many(void)
{
    int next = (check_rank + 1) % check_ranks;
    int64_t *by = malloc(MANY * sizeof(*by)), *old = malloc(MANY * sizeof(*by));

    CHECK(by && old);
    for (int which = 0; which < 2; which++) {
        const int64_t *mine = which ? in_region->many : private.many;

        for (int i = 0; i < MANY; i++)
            by[i] = i + check_rank;
        check_barrier();
        OK(rma_update(next, AT(which, next, many), RMA_INT64, RMA_SUM, by, NULL,
                      MANY));
        OK(rma_update(next, AT(which, next, many), RMA_INT64, RMA_NO_OP, NULL,
                      old, MANY));
        CHECK(memcmp(by, old, MANY * sizeof(*by)) == 0);
        check_barrier();
        for (int i = 0; i < MANY; i++)
            CHECK(mine[i] == i + (check_rank + check_ranks - 1) % check_ranks);
        /* Now backwards, by writing. */
        for (int i = 0; i < MANY; i++)
            by[i] = MANY - i + check_rank;
        check_barrier();
        OK(write_one(next, AT(which, next, many), by, MANY * sizeof(*by)));
        memset(old, 0, MANY * sizeof(*old));
        OK(read_one(next, AT(which, next, many), old, MANY * sizeof(*old)));
        CHECK(memcmp(by, old, MANY * sizeof(*by)) == 0);
        OK(read_one(next, AT(which, next, many) + 8, old, 3));
        CHECK(memcmp(by + 1, old, 3) == 0);
        check_barrier();
        CHECK(mine[0] == MANY + (check_rank + check_ranks - 1) % check_ranks);
    }
    free(by);
    free(old);
}

/* What cannot be, whoever has the memory. */
static void wrong(void)
{
    const uint64_t window = rma_job()->window_bytes;
    int64_t one = 1, old = 5;
    float real = 1;

    for (int rank = 0; rank < check_ranks; rank++) {
        uint64_t sum = AT(0, rank, sum);
        uint64_t end = at(0, rank, sizeof(struct board));

        CODE(rma_update(rank, sum, RMA_TYPES, RMA_SUM, &one, &old, 1),
             DRASYNC_EINVAL);
        CODE(rma_update(rank, sum, RMA_INT64, RMA_OPS, &one, &old, 1),
             DRASYNC_EINVAL);
        CODE(rma_update(rank, sum, RMA_FLOAT, RMA_BOR, &real, NULL, 1),
             DRASYNC_EINVAL);
        CODE(rma_update(rank, sum, RMA_INT64, RMA_SUM, NULL, &old, 1),
             DRASYNC_EINVAL);
        CODE(rma_update(rank, sum, RMA_INT64, RMA_SUM, &one, &old, SIZE_MAX),
             DRASYNC_EINVAL);
        CODE(rma_update(rank, window - 7, RMA_INT64, RMA_SUM, &one, &old, 1),
             DRASYNC_EINVAL);
        CODE(rma_update(rank, window + 8, RMA_INT64, RMA_SUM, &one, &old, 1),
             DRASYNC_EINVAL);
        CODE(rma_update(rank, RMA_NOWHERE, RMA_INT64, RMA_SUM, &one, &old, 1),
             DRASYNC_EINVAL);
        CODE(rma_compare(rank, sum, RMA_FLOAT, &real, &real, NULL),
             DRASYNC_EINVAL);
        CODE(rma_compare(rank, sum, RMA_INT64, &one, NULL, NULL),
             DRASYNC_EINVAL);
        /* Not announced. */
        CODE(rma_update(rank, end, RMA_INT64, RMA_SUM, &one, &old, 1),
             DRASYNC_EINVAL);
        CODE(rma_update(rank, end - 4, RMA_INT64, RMA_SUM, &one, &old, 1),
             DRASYNC_EINVAL);
        CODE(rma_update(rank, RMA_PRIVATE | 8, RMA_INT64, RMA_SUM, &one, &old,
                        1),
             DRASYNC_EINVAL);
        CODE(rma_compare(rank, end - 4, RMA_INT64, &one, &one, &old),
             DRASYNC_EINVAL);
        CODE(read_one(rank, end - 7, &old, 8), DRASYNC_EINVAL);
        CODE(write_one(rank, end - 7, &old, 8), DRASYNC_EINVAL);
        CODE(read_one(rank, window - 7, &old, 8), DRASYNC_EINVAL);
        CODE(read_one(rank, sum, NULL, 8), DRASYNC_EINVAL);
        /* Nothing is fine. */
        OK(rma_update(rank, sum, RMA_INT64, RMA_SUM, NULL, NULL, 0));
        OK(read_one(rank, sum, &old, 0));
        CHECK(old == 5);
    }
    CODE(rma_update(-1, 0, RMA_INT64, RMA_SUM, &one, &old, 1), DRASYNC_EINVAL);
    CODE(rma_update(check_ranks, 0, RMA_INT64, RMA_SUM, &one, &old, 1),
         DRASYNC_EINVAL);
    CODE(read_one(check_ranks, 0, &old, 8), DRASYNC_EINVAL);
}

static void announcements(void)
{
    static char bytes[4096];
    drasync_region_t region;
    void *object;
    char one;

    OK(rma_private_begin(bytes, 100));
    OK(rma_private_begin(bytes + 50, 4000));
    OK(rma_private_begin(bytes + 60, 10));
    OK(rma_private_begin(bytes, 100));
    OK(rma_private_begin(bytes, 0));
    OK(rma_private_end(bytes, 0));
    uint64_t place = RMA_PRIVATE | (uintptr_t)bytes;
    OK(read_one(check_rank, place + 4049, &one, 1));
    CODE(read_one(check_rank, place + 4050, &one, 1), DRASYNC_EINVAL);
    OK(rma_private_end(bytes, 100));
    OK(read_one(check_rank, place, &one, 1));
    OK(rma_private_end(bytes, 100));
    CODE(read_one(check_rank, place, &one, 1), DRASYNC_EINVAL);
    CODE(rma_private_end(bytes, 100), DRASYNC_EINVAL);
    CODE(rma_private_end(bytes + 50, 3999), DRASYNC_EINVAL);
    OK(read_one(check_rank, place + 70, &one, 1));
    OK(rma_private_end(bytes + 50, 4000));
    CODE(read_one(check_rank, place + 70, &one, 1), DRASYNC_EINVAL);
    OK(read_one(check_rank, place + 69, &one, 1));
    OK(rma_private_end(bytes + 60, 10));
    CODE(rma_private_begin(NULL, 8), DRASYNC_EINVAL);
    CODE(rma_private_begin(bytes, SIZE_MAX), DRASYNC_EINVAL);
    OK(drasync_new_region(&region));
    OK(drasync_alloc(region, 8, &object));
    CODE(rma_private_begin(object, 8), DRASYNC_EINVAL);
    OK(drasync_delete(region));
    for (int i = 0; i < 3000; i++)
        OK(rma_private_begin(bytes + i * 7 % 3000, 8));
    for (int i = 0; i < 3000; i++)
        OK(rma_private_end(bytes + i, 8));
}

/* The agent goes and comes while others ask; they get it or an error. */
static void comes_and_goes(void)
{
    static int64_t word;
    uint64_t *place = malloc((size_t)check_ranks * sizeof(*place));
    int64_t one = 1;

    CHECK(place);
    place[check_rank] = RMA_PRIVATE | (uintptr_t)&word;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, place, 8, MPI_BYTE,
                  MPI_COMM_WORLD);
    OK(rma_private_end(&private, sizeof(private)));
    for (int i = 0; i < 100; i++) {
        int rank = (check_rank + i) % check_ranks, err;

        OK(rma_private_begin(&word, sizeof(word)));
        err = rma_update(rank, place[rank], RMA_INT64, RMA_SUM, &one, NULL, 1);
        CHECK(err == 0 || err == DRASYNC_EINVAL);
        OK(rma_private_end(&word, sizeof(word)));
    }
    check_barrier();
    for (int rank = 0; rank < check_ranks; rank++) {
        CODE(rma_update(rank, place[rank], RMA_INT64, RMA_SUM, &one, NULL, 1),
             DRASYNC_EINVAL);
        CODE(write_one(rank, place[rank], &one, 8), DRASYNC_EINVAL);
    }
    check_barrier();
    free(place);
}

/* --- Where the kernel forbids --------------------------------------------- */

/* The first to copy finds that it may not; MPI's threads go on as they were. */
static void *first_copy(void *unused)
{
    int64_t old;

    (void)unused;
    forbid();
    for (int rank = 0; rank < check_ranks; rank++)
        OK(read_one(rank, AT(0, rank, sum), &old, 8));
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;

    if (rma_update(0, 0, RMA_INT64, RMA_NO_OP, NULL, NULL, 0) !=
            DRASYNC_ENOTREADY ||
        rma_private_begin(&private, 8) != DRASYNC_ENOTREADY)
        return 1;
    check_start_threads(&argc, &argv);
    OK(rma_enter());
    share_places();
    if (argc > 1) {
        CHECK(!pthread_create(&thread, NULL, first_copy, NULL));
        CHECK(!pthread_join(thread, NULL));
        check_barrier();
    }
    changes();
    many();
    wrong();
    announcements();
    check_barrier();
    comes_and_goes();
    return check_end("remote");
}
