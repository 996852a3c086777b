/*
 * drasync_iacquire_newer() and drasync_wait_any(): what several ranks write is
 * taken as it comes, with other requests beside it.
 *
 * native_any ROUNDS | leave
 */
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#include "native_check.h"

#define WORDS     600 /* more than a page */
#define RANKS_MAX 16

struct box {
    uint64_t word[WORDS];
};

/* Boxes of all ranks, two of each, which it writes in turn. */
struct boxes {
    drasync_region_t region[2][RANKS_MAX];
    uint64_t seen[2][RANKS_MAX];
};

static uint64_t *words_of(drasync_region_t region)
{
    void *box;

    OK(drasync_get_root(region, &box));
    return ((struct box *)box)->word;
}

static void fill(drasync_region_t region, uint64_t number)
{
    uint64_t *word = words_of(region);

    for (int i = 0; i < WORDS; i++)
        word[i] = number;
}

static void look(drasync_region_t region, uint64_t number)
{
    const uint64_t *word = words_of(region);

    for (int i = 0; i < WORDS; i += 97)
        CHECK(word[i] == number);
}

static void write_box(drasync_region_t region, uint64_t number)
{
    OK(drasync_acquire(region, DRASYNC_WRITE));
    fill(region, number);
    OK(drasync_release(region));
}

/* Of rank @root; *version is what it is made with. */
static drasync_region_t make(int root, uint64_t *version)
{
    drasync_region_t region = NULL;
    void *box;

    if (check_rank == root) {
        OK(drasync_new_region(&region));
        OK(drasync_alloc(region, sizeof(struct box), &box));
        OK(drasync_set_root(region, box));
        fill(region, 0);
        OK(drasync_get_version(region, version));
        OK(drasync_release(region));
    }
    check_share(&region, root);
    MPI_Bcast(version, 1, MPI_UINT64_T, root, MPI_COMM_WORLD);
    return region;
}

static uint64_t written(int rank, int round)
{
    return (uint64_t)(1000 * rank + round + 1);
}

/* --- Every rank takes what all others write -------------------------------- */

static void ask(struct boxes *b, int k, drasync_request_t *request)
{
    for (int i = 0; i < check_ranks; i++) {
        request[i] = NULL;
        if (i != check_rank)
            OK(drasync_iacquire_newer(b->region[k][i], DRASYNC_READ,
                                      &b->seen[k][i], &request[i]));
    }
}

/* The first that is there; now and then by looking at each. */
static int next(drasync_request_t *request, bool looks)
{
    int i, done = 0;

    if (!looks) {
        OK(drasync_wait_any(check_ranks, request, DRASYNC_FOREVER, &i));
        return i;
    }
    for (i = 0; !done; i = (i + 1) % check_ranks)
        if (request[i])
            OK(drasync_test(&request[i], &done));
    return (i + check_ranks - 1) % check_ranks;
}

static void exchange(int rounds)
{
    drasync_request_t request[RANKS_MAX];
    struct boxes b;

    for (int k = 0; k < 2; k++)
        for (int i = 0; i < check_ranks; i++)
            b.region[k][i] = make(i, &b.seen[k][i]);
    for (int round = 0; round < rounds; round++) {
        int k = round % 2;
        bool taken[RANKS_MAX] = {false};

        ask(&b, k, request);
        if (round % 5 == check_rank % 5)
            usleep(200);
        write_box(b.region[k][check_rank], written(check_rank, round));
        for (int left = check_ranks - 1; left > 0; left--) {
            uint64_t before[RANKS_MAX];

            memcpy(before, b.seen[k], sizeof(before));
            int i = next(request, round % 7 == 3);
            CHECK(i >= 0 && i < check_ranks && i != check_rank && !taken[i]);
            CHECK(!request[i] && b.seen[k][i] > before[i]);
            taken[i] = true;
            look(b.region[k][i], written(i, round));
            OK(drasync_release(b.region[k][i]));
        }
    }
    check_barrier();
}

/* --- What does not come --------------------------------------------------- */

static void limits(void)
{
    uint64_t seen[2], first;
    drasync_region_t region[2] = {make(0, &seen[0]), make(1, &seen[1])};
    drasync_request_t request[3] = {NULL, NULL, NULL}, copy;
    int index = 7;

    CODE(drasync_wait_any(3, request, 0, &index), DRASYNC_EINVAL);
    CHECK(index == -1);
    CODE(drasync_wait_any(0, request, 0, &index), DRASYNC_EINVAL);
    CODE(drasync_wait_any(3, NULL, 0, &index), DRASYNC_EINVAL);
    CODE(drasync_wait_any(3, request, 0, NULL), DRASYNC_EINVAL);
    CODE(drasync_iacquire_newer(region[0], DRASYNC_READ, NULL, &request[0]),
         DRASYNC_EINVAL);
    CODE(drasync_iacquire_newer(region[0], DRASYNC_READ, &seen[0], NULL),
         DRASYNC_EINVAL);
    CODE(drasync_iacquire_newer(region[0], (enum drasync_mode)9, &seen[0],
                                &request[0]),
         DRASYNC_EINVAL);
    CODE(drasync_iacquire_newer((drasync_region_t)&index, DRASYNC_READ,
                                &seen[0], &request[0]),
         DRASYNC_ENOREGION);
    for (int i = 0; i < 2; i++)
        OK(drasync_iacquire_newer(region[i], DRASYNC_READ, &seen[i],
                                  &request[i]));
    /* By itself first, until that time has passed. */
    CODE(drasync_wait(&request[0], 0), DRASYNC_EAGAIN);
    CODE(drasync_wait(&request[1], 1000), DRASYNC_EAGAIN);
    for (uint64_t us = 0; us <= 2000; us += 1000) {
        CODE(drasync_wait_any(3, request, us, &index), DRASYNC_EAGAIN);
        CHECK(index == -1 && request[0] && request[1]);
    }
    check_barrier();
    if (check_rank == 1)
        write_box(region[1], 5);
    first = seen[0];
    OK(drasync_wait_any(3, request, DRASYNC_FOREVER, &index));
    CHECK(index == 1 && !request[1] && seen[0] == first);
    look(region[1], 5);
    OK(drasync_release(region[1]));
    copy = request[0];
    OK(drasync_cancel(&request[0]));
    request[0] = copy;
    CODE(drasync_wait_any(3, request, 0, &index), DRASYNC_EINVAL);
    CHECK(index == -1);
    check_barrier();
}

/* It is held, or deleted, meanwhile. */
static void refused(void)
{
    uint64_t seen;
    drasync_region_t region = make(0, &seen);
    drasync_request_t request;
    int index, err;

    OK(drasync_acquire(region, DRASYNC_READ));
    CODE(drasync_iacquire_newer(region, DRASYNC_READ, &seen, &request),
         DRASYNC_ENESTED);
    OK(drasync_release(region));
    check_barrier();
    OK(drasync_iacquire_newer(region, DRASYNC_READ, &seen, &request));
    check_barrier();
    if (check_rank == 0) {
        OK(drasync_cancel(&request));
        while (drasync_delete(region) == DRASYNC_EBUSY)
            ;
    } else {
        err = drasync_wait_any(1, &request, DRASYNC_FOREVER, &index);
        CHECK(index == 0 && !request);
        CHECK(err == DRASYNC_EDELETED || err == DRASYNC_ENOREGION);
    }
    check_barrier();
}

/* --- Beside other requests ------------------------------------------------- */

static int add(drasync_region_t region, const void *arg, size_t arg_bytes,
               void *answer, size_t answer_bytes)
{
    uint64_t *word = words_of(region);

    CHECK(arg_bytes == sizeof(*word) && answer_bytes == sizeof(*word));
    *word += *(const uint64_t *)arg;
    *(uint64_t *)answer = *word;
    return 0;
}

/* Requests of three kinds, and more of them than have room on a stack. */
static void mixed(drasync_function_t function)
{
    enum { KINDS = 3, EACH = 20 };
    drasync_request_t request[KINDS * EACH];
    drasync_region_t region[KINDS];
    const uint64_t one = 1;
    uint64_t seen[KINDS], answer[EACH] = {0};
    int index, first = 0, count[KINDS] = {0};

    for (int i = 0; i < KINDS; i++)
        region[i] = make(i % check_ranks, &seen[i]);
    memset(request, 0, sizeof(request));
    OK(drasync_iacquire_newer(region[0], DRASYNC_READ, &seen[0], &request[0]));
    for (int i = 0; i < EACH; i++) {
        OK(drasync_iacquire(region[1], DRASYNC_READ, &request[EACH + i]));
        OK(drasync_irun(region[2], function, DRASYNC_WRITE, &one, sizeof(one),
                        &answer[i], sizeof(answer[i]), &request[2 * EACH + i]));
    }
    for (int left = 2 * EACH; left > 0; left--) {
        OK(drasync_wait_any(KINDS * EACH, request, DRASYNC_FOREVER, &index));
        CHECK(index >= EACH && index < KINDS * EACH && !request[index]);
        count[index / EACH]++;
        if (index / EACH == 1)
            OK(drasync_release(region[1]));
    }
    CHECK(count[1] == EACH && count[2] == EACH);
    for (int i = 1; i < EACH; i++)
        CHECK(answer[i] > answer[i - 1]);
    CODE(drasync_wait_any(KINDS * EACH, request, 100, &index), DRASYNC_EAGAIN);
    check_barrier();
    if (check_rank == check_ranks - 1) {
        OK(drasync_cancel(&request[0]));
        write_box(region[0], 3);
    } else {
        OK(drasync_wait_any(KINDS * EACH, request, DRASYNC_FOREVER, &first));
        CHECK(first == 0);
        look(region[0], 3);
        OK(drasync_release(region[0]));
    }
    check_barrier();
}

/* All others take its region again and again, until the function has run. */
static void turn_of_run(drasync_function_t function)
{
    const uint64_t one = 1;
    drasync_request_t request;
    uint64_t made, answer;
    drasync_region_t region = make(0, &made);
    int index;

    check_barrier();
    if (check_rank == 0) {
        OK(drasync_irun(region, function, DRASYNC_WRITE, &one, sizeof(one),
                        &answer, sizeof(answer), &request));
        OK(drasync_wait_any(1, &request, DRASYNC_FOREVER, &index));
        CHECK(index == 0 && answer == 1);
    } else {
        for (bool over = false; !over;) {
            OK(drasync_acquire(region, DRASYNC_WRITE));
            over = words_of(region)[0] == 1;
            usleep(100);
            OK(drasync_release(region));
        }
    }
    check_barrier();
}

/* Rank 0 ends without its requests, of which one would get WRITE; others go on. */
static void leave(void)
{
    drasync_request_t request[2];
    uint64_t seen[2];
    drasync_region_t region = make(0, &seen[0]);

    seen[1] = seen[0];
    if (check_rank == 0) {
        OK(drasync_iacquire_newer(region, DRASYNC_READ, &seen[0], &request[0]));
        OK(drasync_iacquire_newer(region, DRASYNC_WRITE, &seen[1],
                                  &request[1]));
        return;
    }
    usleep(100000);
    for (int i = 0; i < 3; i++)
        write_box(region, 1);
}

/* --- By threads ----------------------------------------------------------- */

#define THREADS 3

static struct {
    drasync_region_t region[THREADS][2];
    uint64_t seen[THREADS][2];
} threads;

/* The second of its regions is written, and then the first. */
static void *waits(void *number)
{
    const int t = *(int *)number;
    drasync_request_t request[2];
    int index;

    for (int i = 0; i < 2; i++)
        OK(drasync_iacquire_newer(threads.region[t][i], DRASYNC_READ,
                                  &threads.seen[t][i], &request[i]));
    for (int i = 1; i >= 0; i--) {
        OK(drasync_wait_any(2, request, DRASYNC_FOREVER, &index));
        look(threads.region[t][index], (uint64_t)(10 * t + index));
        OK(drasync_release(threads.region[t][index]));
    }
    return NULL;
}

static void by_threads(void)
{
    pthread_t thread[THREADS];
    int number[THREADS];

    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < 2; i++)
            threads.region[t][i] = make(0, &threads.seen[t][i]);
    for (int t = 0; t < THREADS && check_rank > 0; t++) {
        number[t] = t;
        if (pthread_create(&thread[t], NULL, waits, &number[t]))
            abort();
    }
    for (int i = 1; i >= 0 && check_rank == 0; i--)
        for (int t = 0; t < THREADS; t++)
            write_box(threads.region[t][i], (uint64_t)(10 * t + i));
    for (int t = 0; t < THREADS && check_rank > 0; t++)
        pthread_join(thread[t], NULL);
    check_barrier();
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 20;
    drasync_function_t function;

    check_start_threads(&argc, &argv);
    CHECK(check_ranks >= 2 && check_ranks <= RANKS_MAX);
    if (argc > 1 && !strcmp(argv[1], "leave")) {
        leave();
        MPI_Finalize();
        return 0;
    }
    OK(drasync_register("add", add, &function));
    exchange(rounds);
    limits();
    refused();
    mixed(function);
    turn_of_run(function);
    for (int i = 0; i < rounds; i++)
        by_threads();
    return check_end("native_any");
}
