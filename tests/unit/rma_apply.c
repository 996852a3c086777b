/*
 * Atomic operations on this node: every operation on every type against plain
 * C, aligned and not; threads and processes at the same elements; what is
 * refused; a process that dies with a lock.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/rma/state.h"
#include "tap.h"

/* --- One at a time -------------------------------------------------------- */

/* x op y in type T, for all operations; bit ones for integers only. */
#define EXPECT_REAL(T, op, x, y)                        \
    ((op) == RMA_MIN       ? (T)((x) < (y) ? (x) : (y)) \
     : (op) == RMA_MAX     ? (T)((x) > (y) ? (x) : (y)) \
     : (op) == RMA_SUM     ? (T)((x) + (y))             \
     : (op) == RMA_PROD    ? (T)((x) * (y))             \
     : (op) == RMA_REPLACE ? (y)                        \
                           : (x))
#define EXPECT_INTEGER(T, op, x, y)         \
    ((op) == RMA_BAND   ? (T)((x) & (y))    \
     : (op) == RMA_BOR  ? (T)((x) | (y))    \
     : (op) == RMA_BXOR ? (T)((x) ^ (y))    \
     : (op) == RMA_LAND ? (T)((x) && (y))   \
     : (op) == RMA_LOR  ? (T)((x) || (y))   \
     : (op) == RMA_LXOR ? (T)(!(x) != !(y)) \
                        : EXPECT_REAL(T, op, x, y))

/* Two elements at byte @shift of a buffer, whose other bytes stay. */
#define TRY(T, type, EXPECT, integer)                                      \
    static int try_##type(enum rma_op op, size_t shift)                    \
    {                                                                      \
        static const T at[] = {(T)0,  (T)1,  (T)2,   (T)-1,                \
                               (T)-7, (T)11, (T)100, (T)-100};             \
        enum { N = sizeof(at) / sizeof(at[0]) };                           \
        _Alignas(16) char bytes[3 * sizeof(T) + 16];                       \
        int good = 1;                                                      \
        for (int i = 0; i < N * N; i++) {                                  \
            T was[2] = {at[i / N], at[i % N]}, by[2] = {at[i % N], at[5]}; \
            T old[2], now[2], x = was[0], y = by[0];                       \
            memset(bytes, 0x5a, sizeof(bytes));                            \
            memcpy(bytes + shift, was, sizeof(was));                       \
            if (rma_apply(bytes + shift, type, op, by, old, 2))            \
                return !(integer) && op >= RMA_BAND && op <= RMA_LXOR;     \
            memcpy(now, bytes + shift, sizeof(now));                       \
            good &= old[0] == was[0] && old[1] == was[1];                  \
            good &= now[0] == EXPECT(T, op, x, y);                         \
            x = was[1], y = by[1];                                         \
            good &= now[1] == EXPECT(T, op, x, y);                         \
            for (size_t b = 0; b < sizeof(bytes); b++)                     \
                good &= (b >= shift && b < shift + 2 * sizeof(T)) ||       \
                        bytes[b] == 0x5a;                                  \
        }                                                                  \
        return good && ((integer) || op < RMA_BAND || op > RMA_LXOR);      \
    }

TRY(int8_t, RMA_INT8, EXPECT_INTEGER, 1)
TRY(uint8_t, RMA_UINT8, EXPECT_INTEGER, 1)
TRY(int16_t, RMA_INT16, EXPECT_INTEGER, 1)
TRY(uint16_t, RMA_UINT16, EXPECT_INTEGER, 1)
TRY(int32_t, RMA_INT32, EXPECT_INTEGER, 1)
TRY(uint32_t, RMA_UINT32, EXPECT_INTEGER, 1)
TRY(int64_t, RMA_INT64, EXPECT_INTEGER, 1)
TRY(uint64_t, RMA_UINT64, EXPECT_INTEGER, 1)
TRY(float, RMA_FLOAT, EXPECT_REAL, 0)
TRY(double, RMA_DOUBLE, EXPECT_REAL, 0)
TRY(long double, RMA_LONG_DOUBLE, EXPECT_REAL, 0)

static int (*const try[RMA_TYPES])(enum rma_op, size_t) = {
    try_RMA_INT8,  try_RMA_UINT8,  try_RMA_INT16,       try_RMA_UINT16,
    try_RMA_INT32, try_RMA_UINT32, try_RMA_INT64,       try_RMA_UINT64,
    try_RMA_FLOAT, try_RMA_DOUBLE, try_RMA_LONG_DOUBLE,
};

static void all_operations(void)
{
    int aligned = 1, odd = 1;

    for (int type = 0; type < RMA_TYPES; type++)
        for (int op = 0; op < RMA_OPS; op++) {
            aligned &= try[type]((enum rma_op)op, 0);
            odd &= try[type]((enum rma_op)op, 3);
        }
    tap_ok(aligned, "every operation on every type gives what C gives");
    tap_ok(odd, "and so it does where elements are not aligned");
}

static void swaps(void)
{
    _Alignas(16) char bytes[32] = {0};
    int good = 1;

    for (int type = 0; type <= RMA_UINT64; type++)
        for (size_t shift = 0; shift < 2; shift++) {
            size_t size = rma_type_bytes((enum rma_type)type);
            uint64_t none = 0, one = UINT64_MAX, other = 7, got = 1;
            void *at = bytes + shift;

            memset(bytes, 0, sizeof(bytes));
            good &= !rma_swap_if(at, (enum rma_type)type, &other, &one, &got);
            good &= !memcmp(&got, &none, size) && !memcmp(at, &none, size);
            good &= !rma_swap_if(at, (enum rma_type)type, &none, &one, &got);
            good &= !memcmp(&got, &none, size) && !memcmp(at, &one, size);
            good &= !rma_swap_if(at, (enum rma_type)type, &one, &other, NULL);
            good &= !memcmp(at, &other, size) && !bytes[shift + size];
        }
    tap_ok(good, "compare and swap changes what is as expected, and tells");
}

static void refused(void)
{
    int32_t word = 5, by = 1;
    float real = 1;
    int good = rma_type_bytes(RMA_TYPES) == 0;

    good &=
        rma_apply(&word, RMA_TYPES, RMA_SUM, &by, NULL, 1) == DRASYNC_EINVAL;
    good &=
        rma_apply(&word, RMA_INT32, RMA_OPS, &by, NULL, 1) == DRASYNC_EINVAL;
    good &=
        rma_apply(&word, RMA_INT32, RMA_SUM, NULL, NULL, 1) == DRASYNC_EINVAL;
    good &= rma_apply(NULL, RMA_INT32, RMA_SUM, &by, NULL, 1) == DRASYNC_EINVAL;
    good &= rma_apply(&word, RMA_INT32, RMA_SUM, &by, NULL, SIZE_MAX) ==
            DRASYNC_EINVAL;
    good &= rma_apply(NULL, RMA_INT32, RMA_SUM, NULL, NULL, 0) == 0;
    good &= rma_apply(&word, RMA_INT32, RMA_NO_OP, NULL, &by, 1) == 0;
    good &= by == 5 && word == 5;
    good &= rma_swap_if(&real, RMA_FLOAT, &real, &real, NULL) == DRASYNC_EINVAL;
    good &= rma_swap_if(&word, RMA_INT32, NULL, &by, NULL) == DRASYNC_EINVAL;
    good &= rma_swap_if(&word, RMA_TYPES, &by, &by, NULL) == DRASYNC_EINVAL;
    tap_ok(good, "what cannot be is refused");
}

/* --- Many at a time ------------------------------------------------------- */

#define THREADS 3
#define ROUNDS  3000

struct many {
    int8_t small;
    uint16_t swapped;
    int64_t word, least;
    float single;
    double real;
    long double large;
    char odd[16];
};

static struct many *many;

static void *change(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        int8_t minus = -1;
        int64_t one = 1, i64 = -i;
        float single = 1;
        double real = 0.5;
        long double large = 2;
        uint16_t seen = 0, next;

        rma_apply(&many->small, RMA_INT8, RMA_SUM, &minus, NULL, 1);
        rma_apply(&many->word, RMA_INT64, RMA_SUM, &one, NULL, 1);
        rma_apply(&many->least, RMA_INT64, RMA_MIN, &i64, NULL, 1);
        rma_apply(&many->single, RMA_FLOAT, RMA_SUM, &single, NULL, 1);
        rma_apply(&many->real, RMA_DOUBLE, RMA_SUM, &real, NULL, 1);
        rma_apply(&many->large, RMA_LONG_DOUBLE, RMA_SUM, &large, NULL, 1);
        rma_apply(many->odd + 1, RMA_INT64, RMA_SUM, &one, NULL, 1);
        do {
            rma_apply(&many->swapped, RMA_UINT16, RMA_NO_OP, NULL, &seen, 1);
            next = (uint16_t)(seen + 1);
            one = seen;
            rma_swap_if(&many->swapped, RMA_UINT16, &seen, &next, &seen);
        } while (seen != (uint16_t)one);
    }
    return NULL;
}

static int all_there(int times)
{
    int64_t odd;

    memcpy(&odd, many->odd + 1, sizeof(odd));
    times *= ROUNDS;
    return many->small == (int8_t)-times && many->word == times &&
           many->least == -(ROUNDS - 1) && many->single == (float)times &&
           many->real == times * 0.5 && many->large == times * 2.0L &&
           odd == times && many->swapped == (uint16_t)times;
}

static void threads(void)
{
    pthread_t thread[THREADS];

    memset(many, 0, sizeof(*many));
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, change, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    tap_ok(all_there(THREADS), "no change of any thread is lost");
}

static void processes(void)
{
    memset(many, 0, sizeof(*many));
    fflush(stdout);
    for (int i = 0; i < 2; i++)
        if (fork() == 0) {
            change(NULL);
            _exit(0);
        }
    change(NULL);
    while (wait(NULL) > 0)
        ;
    tap_ok(all_there(3), "no change of any process is lost");
}

static void death(_Atomic uint32_t *poison)
{
    int64_t one = 1;
    int good;

    fflush(stdout);
    if (fork() == 0) {
        for (int i = 0; i < RMA_LOCKS; i++)
            lock_take(&rma_shared->locks[i].lock);
        _exit(0);
    }
    wait(NULL);
    good = rma_apply(&many->large, RMA_LONG_DOUBLE, RMA_SUM, &many->large, NULL,
                     1) == DRASYNC_EPEER;
    good &= rma_apply(many->odd + 1, RMA_INT64, RMA_SUM, &one, NULL, 1) ==
            DRASYNC_EPEER;
    good &= rma_swap_if(many->odd + 1, RMA_INT64, &one, &one, NULL) ==
            DRASYNC_EPEER;
    good &= rma_apply(&many->word, RMA_INT64, RMA_SUM, &one, NULL, 1) == 0;
    tap_ok(good && atomic_load(poison), "who dies with a lock leaves an error");
}

static void not_started(void)
{
    int64_t one = 1;

    rma_shared = NULL;
    tap_ok(rma_apply(many->odd + 1, RMA_INT64, RMA_SUM, &one, NULL, 1) ==
                   DRASYNC_ENOTREADY &&
               rma_swap_if(many->odd + 1, RMA_INT64, &one, &one, NULL) ==
                   DRASYNC_ENOTREADY &&
               rma_apply(&many->word, RMA_INT64, RMA_SUM, &one, NULL, 1) == 0,
           "without locks what needs one is an error");
}

int main(void)
{
    struct {
        struct rma_shared rma;
        struct many many;
        _Atomic uint32_t poison;
    } *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (shared == MAP_FAILED)
        return 1;
    rma_shared = &shared->rma;
    many = &shared->many;
    tap_ok(rma_shared_init(rma_shared, &shared->poison) == 0, "locks are made");
    all_operations();
    swaps();
    refused();
    threads();
    processes();
    death(&shared->poison);
    not_started();
    return tap_end();
}
