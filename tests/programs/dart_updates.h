/*
 * dart_updates.h - atomic operations of all types and kinds, against a model
 * and from everywhere at once; on any memory that global pointers name.
 */
#ifndef TESTS_DART_UPDATES_H
#define TESTS_DART_UPDATES_H

#include <pthread.h>
#include <stddef.h>

#include "dart_check.h"

/* --- Against a model, alone --------------------------------------------------- */

#define MODEL_COMMON(old, by)       \
    case DART_OP_MIN:               \
        return by < old ? by : old; \
    case DART_OP_MAX:               \
        return by > old ? by : old; \
    case DART_OP_REPLACE:           \
        return by;                  \
    case DART_OP_NO_OP:             \
        return old;

/* Signed numbers wrap as unsigned ones do. */
#define INTEGER_MODEL(name, c)                                            \
    static inline c name##_model(dart_operation_t op, c old, c by)        \
    {                                                                     \
        switch (op) {                                                     \
            MODEL_COMMON(old, by)                                         \
        case DART_OP_SUM:                                                 \
            return (c)((unsigned long long)old + (unsigned long long)by); \
        case DART_OP_PROD:                                                \
            return (c)((unsigned long long)old * (unsigned long long)by); \
        case DART_OP_BAND:                                                \
            return (c)(old & by);                                         \
        case DART_OP_LAND:                                                \
            return old && by;                                             \
        case DART_OP_BOR:                                                 \
            return (c)(old | by);                                         \
        case DART_OP_LOR:                                                 \
            return old || by;                                             \
        case DART_OP_BXOR:                                                \
            return (c)(old ^ by);                                         \
        default:                                                          \
            return !old != !by;                                           \
        }                                                                 \
    }                                                                     \
    static inline c name##_any(uint64_t *random)                          \
    {                                                                     \
        uint64_t bits = next_random(random);                              \
        return bits % 4 ? (c)bits : 0;                                    \
    }

#define REAL_MODEL(name, c)                                        \
    static inline c name##_model(dart_operation_t op, c old, c by) \
    {                                                              \
        switch (op) {                                              \
            MODEL_COMMON(old, by)                                  \
        case DART_OP_SUM:                                          \
            return old + by;                                       \
        default:                                                   \
            return old * by;                                       \
        }                                                          \
    }                                                              \
    static inline c name##_any(uint64_t *random)                   \
    {                                                              \
        return ((c)(next_random(random) % 2001) - 1000) / 4;       \
    }

/* @n elements in @slot, which is this caller's alone. */
#define COMPARE_WITH_MODEL(name, c, dtype, integer)                            \
    static inline void name##_expect(dart_gptr_t slot, const c *expected)      \
    {                                                                          \
        c seen[5];                                                             \
        assert(dart_get_blocking(seen, slot, 5, dtype, dtype) == DART_OK);     \
        for (int i = 0; i < 5; i++)                                            \
            assert(seen[i] == expected[i]);                                    \
    }                                                                          \
    static inline void name##_operation(dart_gptr_t slot, dart_operation_t op, \
                                        uint64_t *random)                      \
    {                                                                          \
        bool real = op < DART_OP_BAND || op > DART_OP_LXOR;                    \
        dart_ret_t ret = integer || real ? DART_OK : DART_ERR_INVAL;           \
        c values[5], by[5], was = 0;                                           \
        for (int i = 0; i < 5; i++) {                                          \
            values[i] = name##_any(random);                                    \
            by[i] = name##_any(random);                                        \
        }                                                                      \
        assert(dart_put_blocking(slot, values, 5, dtype, dtype) == DART_OK);   \
        assert(dart_accumulate(slot, by, 5, dtype, op) == ret);                \
        for (int i = 0; i < 5 && !ret; i++)                                    \
            values[i] = name##_model(op, values[i], by[i]);                    \
        name##_expect(slot, values);                                           \
        assert(dart_accumulate_blocking_local(slot, by, 4, dtype, op) == ret); \
        for (int i = 0; i < 4 && !ret; i++)                                    \
            values[i] = name##_model(op, values[i], by[i]);                    \
        name##_expect(slot, values);                                           \
        assert(dart_fetch_and_op(at_offset(slot, sizeof(c)), &by[2], &was,     \
                                 dtype, op) == ret);                           \
        assert(was == (ret ? 0 : values[1]));                                  \
        if (!ret)                                                              \
            values[1] = name##_model(op, values[1], by[2]);                    \
        name##_expect(slot, values);                                           \
    }                                                                          \
    static inline void name##_swap(dart_gptr_t slot)                           \
    {                                                                          \
        const c values[5] = {1, 2, 3, 4, 5}, swapped[5] = {1, 9, 3, 4, 5};     \
        dart_ret_t ret = integer ? DART_OK : DART_ERR_INVAL;                   \
        dart_gptr_t second = at_offset(slot, sizeof(c));                       \
        c was = 0, by = 9, other = 3, same = 2;                                \
        assert(dart_put_blocking(slot, values, 5, dtype, dtype) == DART_OK);   \
        assert(dart_compare_and_swap(second, &by, &other, &was, dtype) ==      \
               ret);                                                           \
        assert(was == (ret ? 0 : 2));                                          \
        name##_expect(slot, values);                                           \
        was = 0;                                                               \
        assert(dart_compare_and_swap(second, &by, &same, &was, dtype) == ret); \
        assert(was == (ret ? 0 : 2));                                          \
        name##_expect(slot, ret ? values : swapped);                           \
    }                                                                          \
    static inline void name##_check(dart_gptr_t slot, uint64_t *random)        \
    {                                                                          \
        for (dart_operation_t op = DART_OP_MIN; op < DART_OP_LAST; op++) {     \
            if (op != DART_OP_MINMAX)                                          \
                name##_operation(slot, op, random);                            \
        }                                                                      \
        name##_swap(slot);                                                     \
    }

#define INTEGERS(of)                                                          \
    of(byte, signed char, DART_TYPE_BYTE, true)                               \
        of(short_, short, DART_TYPE_SHORT, true)                              \
            of(int_, int, DART_TYPE_INT, true)                                \
                of(uint, unsigned, DART_TYPE_UINT, true)                      \
                    of(long_, long, DART_TYPE_LONG, true)                     \
                        of(ulong_, unsigned long, DART_TYPE_ULONG, true)      \
                            of(longlong, long long, DART_TYPE_LONGLONG, true) \
                                of(ulonglong, unsigned long long,             \
                                   DART_TYPE_ULONGLONG, true)

#define REALS(of)                                    \
    of(float_, float, DART_TYPE_FLOAT, false)        \
        of(double_, double, DART_TYPE_DOUBLE, false) \
            of(long_double, long double, DART_TYPE_LONG_DOUBLE, false)

#define MAKE_INTEGER(name, c, dtype, integer) \
    INTEGER_MODEL(name, c)                    \
    COMPARE_WITH_MODEL(name, c, dtype, integer)
#define MAKE_REAL(name, c, dtype, integer) \
    REAL_MODEL(name, c)                    \
    COMPARE_WITH_MODEL(name, c, dtype, integer)
#define CHECK_ONE(name, c, dtype, integer) name##_check(slot, &random);

INTEGERS(MAKE_INTEGER)
REALS(MAKE_REAL)

#define UPDATE_SLOT_BYTES 128

/* All types and operations, in UPDATE_SLOT_BYTES that are this caller's; at an
 * odd address too. */
static inline void updates_alone(dart_gptr_t slot, uint64_t seed)
{
    uint64_t random = seed;

    INTEGERS(CHECK_ONE)
    REALS(CHECK_ONE)
    slot = at_offset(slot, 3);
    INTEGERS(CHECK_ONE)
    REALS(CHECK_ONE)
}

/* --- From everywhere at once ---------------------------------------------------- */

#define THREADS 2

/* What everybody changes; zero at first. */
struct board {
    signed char bytes;
    short shorts;
    int ints;
    unsigned uints;
    long longs;
    unsigned long ulongs;
    long long longlongs;
    unsigned long long ulonglongs;
    float floats;
    double doubles;
    long double long_doubles;
    unsigned long product; /* of 3s, and 1 */
    long least, greatest, tickets, turns, passed, toggled;
    unsigned bits;
    short small_turns;
    char odd[16]; /* a long at 3 */
};

struct updater {
    const dart_gptr_t *boards; /* [units] */
    int thread, rounds;
    long passed_sum;
    unsigned char *tickets; /* [units][rounds * units * THREADS] seen here */
};

#define FIELD(owner, field) \
    at_offset(updater->boards[owner], offsetof(struct board, field))

#define ADD(field, c, dtype, amount)                                \
    do {                                                            \
        const c by_ = amount;                                       \
        assert(dart_accumulate(FIELD(owner, field), &by_, 1, dtype, \
                               DART_OP_SUM) == DART_OK);            \
    } while (0)

static inline void add_to_all(const struct updater *updater, int owner)
{
    long one = 1;

    ADD(bytes, signed char, DART_TYPE_BYTE, 1);
    ADD(shorts, short, DART_TYPE_SHORT, 1);
    ADD(ints, int, DART_TYPE_INT, -1);
    ADD(uints, unsigned, DART_TYPE_UINT, 1);
    ADD(longs, long, DART_TYPE_LONG, -1);
    ADD(ulongs, unsigned long, DART_TYPE_ULONG, 1);
    ADD(longlongs, long long, DART_TYPE_LONGLONG, 1);
    ADD(ulonglongs, unsigned long long, DART_TYPE_ULONGLONG, 1);
    ADD(floats, float, DART_TYPE_FLOAT, 1);
    ADD(doubles, double, DART_TYPE_DOUBLE, 0.5);
    ADD(long_doubles, long double, DART_TYPE_LONG_DOUBLE, 0.25L);
    assert(dart_accumulate(at_offset(updater->boards[owner],
                                     offsetof(struct board, odd) + 3),
                           &one, 1, DART_TYPE_LONG, DART_OP_SUM) == DART_OK);
}

static inline void fetch_from_all(struct updater *updater, int owner, int i)
{
    long number = (long)i * units * THREADS + me * THREADS + updater->thread;
    long one = 1, old, most = (long)updater->rounds * units * THREADS;
    unsigned long three = 3;
    unsigned bit = 1u << (me * THREADS + updater->thread);

#define UPDATE(field, dtype, op, by, was)                                     \
    assert(dart_fetch_and_op(FIELD(owner, field), by, was, DART_TYPE_##dtype, \
                             DART_OP_##op) == DART_OK)
    UPDATE(tickets, LONG, SUM, &one, &old);
    assert(old >= 0 && old < most);
    assert(!updater->tickets[owner * most + old]++);
    UPDATE(product, ULONG, PROD, &three, &three);
    number++; /* from 1 on, all different */
    UPDATE(greatest, LONG, MAX, &number, &old);
    number = -number;
    UPDATE(least, LONG, MIN, &number, &old);
    number = -number;
    UPDATE(passed, LONG, REPLACE, &number, &old);
    updater->passed_sum += number - old;
    UPDATE(toggled, LONG, LXOR, &one, &old);
    assert(old == 0 || old == 1);
    if (i % 2 == 0) {
        UPDATE(bits, UINT, BOR, &bit, &bit);
    } else {
        UPDATE(bits, UINT, BXOR, &bit, &bit);
        assert(bit & 1u << (me * THREADS + updater->thread));
    }
#undef UPDATE
}

static inline void turn_by_swap(const struct updater *updater, int owner)
{
    long old = 0, new, seen;
    short was = 0, by, found;

    assert(dart_fetch_and_op(FIELD(owner, turns), NULL, &old, DART_TYPE_LONG,
                             DART_OP_NO_OP) == DART_OK);
    for (;; old = seen) {
        new = old + 1;
        assert(dart_compare_and_swap(FIELD(owner, turns), &new, &old, &seen,
                                     DART_TYPE_LONG) == DART_OK);
        if (seen == old)
            break;
    }
    for (;; was = found) {
        by = (short)(was + 1);
        assert(dart_compare_and_swap(FIELD(owner, small_turns), &by, &was,
                                     &found, DART_TYPE_SHORT) == DART_OK);
        if (found == was)
            break;
    }
}

static inline void *update_all(void *argument)
{
    struct updater *updater = argument;

    for (int i = 0; i < updater->rounds; i++) {
        for (int u = 0; u < units; u++) {
            int owner = (u + me) % units;
            add_to_all(updater, owner);
            fetch_from_all(updater, owner, i);
            turn_by_swap(updater, owner);
        }
    }
    return NULL;
}

static inline void board_is(const struct board *board, int rounds)
{
    long n = (long)rounds * units * THREADS, odd;
    unsigned long product = 1;

    for (long i = 0; i < n; i++)
        product *= 3;
    memcpy(&odd, board->odd + 3, sizeof(odd));
    assert(board->bytes == (signed char)n && board->shorts == (short)n);
    assert(board->ints == -n && board->uints == (unsigned)n);
    assert(board->longs == -n && board->ulongs == (unsigned long)n);
    assert(board->longlongs == n);
    assert(board->ulonglongs == (unsigned long long)n);
    assert(board->floats == (float)n && board->doubles == (double)n / 2);
    assert(board->long_doubles == (long double)n / 4);
    assert(board->product == product && odd == n);
    assert(board->least == -n && board->greatest == n);
    assert(board->tickets == n && board->turns == n);
    assert(board->small_turns == (short)n && board->toggled == n % 2);
    assert(board->bits == (rounds % 2 ? (1u << units * THREADS) - 1 : 0));
}

/* @mine is this unit's of @boards; collective. */
static inline void updates_together(const dart_gptr_t *boards,
                                    struct board *mine, int rounds)
{
    size_t tickets = (size_t)rounds * (size_t)units * THREADS * (size_t)units;
    struct updater updaters[THREADS];
    pthread_t threads[THREADS];
    unsigned char *all = calloc(tickets, 1);
    long passed = 0, left = 0;

    memset(mine, 0, sizeof(*mine));
    mine->product = 1;
    barrier();
    for (int t = 0; t < THREADS; t++) {
        updaters[t] = (struct updater){.boards = boards,
                                       .thread = t,
                                       .rounds = rounds,
                                       .tickets = calloc(tickets, 1)};
        assert(updaters[t].tickets);
        assert(!pthread_create(&threads[t], NULL, update_all, &updaters[t]));
    }
    for (int t = 0; t < THREADS; t++) {
        assert(!pthread_join(threads[t], NULL));
        passed += updaters[t].passed_sum;
        for (size_t i = 0; i < tickets; i++)
            all[i] = (unsigned char)(all[i] + updaters[t].tickets[i]);
        free(updaters[t].tickets);
    }
    barrier();
    board_is(mine, rounds);
    /* Each number that was put in came out, or is still there. */
    left = mine->passed;
    MPI_Allreduce(MPI_IN_PLACE, &left, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &passed, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    assert(left == passed);
    /* Each ticket was given once. */
    MPI_Allreduce(MPI_IN_PLACE, all, (int)tickets, MPI_UNSIGNED_CHAR, MPI_SUM,
                  MPI_COMM_WORLD);
    for (size_t i = 0; i < tickets; i++)
        assert(all[i] == 1);
    free(all);
    barrier();
}

#endif /* TESTS_DART_UPDATES_H */
