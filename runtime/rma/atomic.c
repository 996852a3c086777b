/*
 * Atomic operations on the memory of this node.
 *
 * An integer is changed by the processor's own operation if it has one,
 * anything else of up to 8 bytes by compare-and-swap of its bits.  What is
 * larger, or not aligned, is changed under a lock.
 */
#include <string.h>

#include "runtime/rma/state.h"

struct rma_shared *rma_shared;

/* An element; of integers the bits that it has not are 0. */
union element {
    uint64_t word;
    float single;
    double real;
    long double large;
};

static const struct type {
    uint8_t bytes;
    bool integer, with_sign;
} types[RMA_TYPES] = {
    [RMA_INT8] = {1, true, true},
    [RMA_UINT8] = {1, true, false},
    [RMA_INT16] = {2, true, true},
    [RMA_UINT16] = {2, true, false},
    [RMA_INT32] = {4, true, true},
    [RMA_UINT32] = {4, true, false},
    [RMA_INT64] = {8, true, true},
    [RMA_UINT64] = {8, true, false},
    [RMA_FLOAT] = {sizeof(float), false, true},
    [RMA_DOUBLE] = {sizeof(double), false, true},
    [RMA_LONG_DOUBLE] = {sizeof(long double), false, true},
};

size_t rma_type_bytes(enum rma_type type)
{
    return (unsigned)type < RMA_TYPES ? types[type].bytes : 0;
}

bool rma_defined(enum rma_type type, enum rma_op op)
{
    if ((unsigned)type >= RMA_TYPES || (unsigned)op >= RMA_OPS)
        return false;
    return types[type].integer || op < RMA_BAND || op > RMA_LXOR;
}

/* --- What an operation gives ---------------------------------------------- */

static int64_t extended(uint64_t word, size_t bytes)
{
    unsigned left = 64 - 8 * (unsigned)bytes;

    return (int64_t)(word << left) >> left;
}

static bool less(const struct type *type, uint64_t a, uint64_t b)
{
    return type->with_sign ? extended(a, type->bytes) < extended(b, type->bytes)
                           : a < b;
}

static uint64_t combine_integers(const struct type *type, enum rma_op op,
                                 uint64_t old, uint64_t value)
{
    switch (op) {
    case RMA_MIN:
        return less(type, value, old) ? value : old;
    case RMA_MAX:
        return less(type, old, value) ? value : old;
    case RMA_SUM:
        return old + value;
    case RMA_PROD:
        return old * value;
    case RMA_BAND:
        return old & value;
    case RMA_LAND:
        return old && value;
    case RMA_BOR:
        return old | value;
    case RMA_LOR:
        return old || value;
    case RMA_BXOR:
        return old ^ value;
    case RMA_LXOR:
        return !old != !value;
    case RMA_REPLACE:
        return value;
    case RMA_NO_OP:
    case RMA_OPS:
        break;
    }
    return old;
}

#define COMBINED_REALS(op, old, value)                        \
    ((op) == RMA_MIN    ? ((value) < (old) ? (value) : (old)) \
     : (op) == RMA_MAX  ? ((value) > (old) ? (value) : (old)) \
     : (op) == RMA_SUM  ? (old) + (value)                     \
     : (op) == RMA_PROD ? (old) * (value)                     \
                        : (old))

static union element combine(enum rma_type type, enum rma_op op,
                             union element old, union element value)
{
    union element result = {0};

    if (op == RMA_REPLACE)
        return value;
    switch (type) {
    case RMA_FLOAT:
        result.single = COMBINED_REALS(op, old.single, value.single);
        break;
    case RMA_DOUBLE:
        result.real = COMBINED_REALS(op, old.real, value.real);
        break;
    case RMA_LONG_DOUBLE:
        result.large = COMBINED_REALS(op, old.large, value.large);
        break;
    default:
        result.word = combine_integers(&types[type], op, old.word, value.word);
    }
    return result;
}

/* --- One aligned element -------------------------------------------------- */

/*
 * These operations pair with each other only, on the program's element; nothing
 * of the library's depends on them.  To be atomic they need no order.  They are
 * sequentially consistent for a program that orders other data by such an
 * element.
 */

static uint64_t load(const void *at, size_t bytes)
{
    switch (bytes) {
    case 1:
        return atomic_load((const _Atomic uint8_t *)at);
    case 2:
        return atomic_load((const _Atomic uint16_t *)at);
    case 4:
        return atomic_load((const _Atomic uint32_t *)at);
    default:
        return atomic_load((const _Atomic uint64_t *)at);
    }
}

/* Compare and swap, with the type of the word. */
#define SWAP(type, at, old, value)                            \
    do {                                                      \
        type expected_ = (type) * (old);                      \
        bool done_ = atomic_compare_exchange_strong(          \
            (_Atomic type *)(at), &expected_, (type)(value)); \
        *(old) = expected_;                                   \
        return done_;                                         \
    } while (0)

static bool swap(void *at, size_t bytes, uint64_t *old, uint64_t value)
{
    switch (bytes) {
    case 1:
        SWAP(uint8_t, at, old, value);
    case 2:
        SWAP(uint16_t, at, old, value);
    case 4:
        SWAP(uint32_t, at, old, value);
    default:
        SWAP(uint64_t, at, old, value);
    }
}

/* What the processor does by itself, for a word of @type. */
#define DIRECTLY(type, at, op, value, old)                   \
    do {                                                     \
        _Atomic type *word_ = (_Atomic type *)(at);          \
        switch (op) {                                        \
        case RMA_SUM:                                        \
            *(old) = atomic_fetch_add(word_, (type)(value)); \
            return true;                                     \
        case RMA_BAND:                                       \
            *(old) = atomic_fetch_and(word_, (type)(value)); \
            return true;                                     \
        case RMA_BOR:                                        \
            *(old) = atomic_fetch_or(word_, (type)(value));  \
            return true;                                     \
        case RMA_BXOR:                                       \
            *(old) = atomic_fetch_xor(word_, (type)(value)); \
            return true;                                     \
        case RMA_REPLACE:                                    \
            *(old) = atomic_exchange(word_, (type)(value));  \
            return true;                                     \
        default:                                             \
            return false;                                    \
        }                                                    \
    } while (0)

/* False: not for this operation. */
static bool direct(void *at, size_t bytes, enum rma_op op, uint64_t value,
                   uint64_t *old)
{
    switch (bytes) {
    case 1:
        DIRECTLY(uint8_t, at, op, value, old);
    case 2:
        DIRECTLY(uint16_t, at, op, value, old);
    case 4:
        DIRECTLY(uint32_t, at, op, value, old);
    default:
        DIRECTLY(uint64_t, at, op, value, old);
    }
}

static void apply_word(void *at, enum rma_type type, enum rma_op op,
                       union element value, union element *old)
{
    size_t bytes = types[type].bytes;

    if ((types[type].integer || op == RMA_REPLACE) &&
        direct(at, bytes, op, value.word, &old->word))
        return;
    old->word = load(at, bytes);
    while (op != RMA_NO_OP &&
           !swap(at, bytes, &old->word, combine(type, op, *old, value).word))
        ;
}

/* --- One element under a lock --------------------------------------------- */

int rma_shared_init(struct rma_shared *shared, _Atomic uint32_t *poison)
{
    int err = 0;

    for (int i = 0; i < RMA_LOCKS && !err; i++)
        err = lock_init(&shared->locks[i].lock, LOCK_RANK_RMA, poison);
    return err;
}

static struct lock *lock_of(const void *at)
{
    return &rma_shared->locks[(uintptr_t)at % PAGE_BYTES / 16 % RMA_LOCKS].lock;
}

static int apply_locked(void *at, enum rma_type type, enum rma_op op,
                        union element value, union element *old)
{
    int err = rma_shared ? lock_take(lock_of(at)) : DRASYNC_ENOTREADY;

    if (err)
        return err;
    memcpy(old, at, types[type].bytes);
    value = combine(type, op, *old, value);
    if (op != RMA_NO_OP)
        memcpy(at, &value, types[type].bytes);
    lock_give(lock_of(at));
    return 0;
}

/* --- Calls ---------------------------------------------------------------- */

int rma_apply(void *address, enum rma_type type, enum rma_op op,
              const void *values, void *results, size_t count)
{
    size_t bytes = rma_type_bytes(type);
    bool words;
    int err = 0;

    if (!rma_defined(type, op) || count > SIZE_MAX / bytes ||
        (count && (!address || (!values && op != RMA_NO_OP))))
        return DRASYNC_EINVAL;
    words = type != RMA_LONG_DOUBLE && (uintptr_t)address % bytes == 0;
    for (size_t i = 0; i < count && !err; i++) {
        char *at = (char *)address + i * bytes;
        union element value = {0}, old = {0};

        if (op != RMA_NO_OP)
            memcpy(&value, (const char *)values + i * bytes, bytes);
        if (words)
            apply_word(at, type, op, value, &old);
        else
            err = apply_locked(at, type, op, value, &old);
        if (results && !err)
            memcpy((char *)results + i * bytes, &old, bytes);
    }
    return err;
}

static int swap_locked(void *at, size_t bytes, uint64_t *old, uint64_t value)
{
    uint64_t found = 0;
    int err = rma_shared ? lock_take(lock_of(at)) : DRASYNC_ENOTREADY;

    if (err)
        return err;
    memcpy(&found, at, bytes);
    if (found == *old)
        memcpy(at, &value, bytes);
    *old = found;
    lock_give(lock_of(at));
    return 0;
}

int rma_swap_if(void *address, enum rma_type type, const void *compare,
                const void *value, void *result)
{
    size_t bytes = rma_type_bytes(type);
    uint64_t old = 0, by = 0;
    int err = 0;

    if (!bytes || !types[type].integer || !address || !compare || !value)
        return DRASYNC_EINVAL;
    memcpy(&old, compare, bytes);
    memcpy(&by, value, bytes);
    if ((uintptr_t)address % bytes)
        err = swap_locked(address, bytes, &old, by);
    else
        swap(address, bytes, &old, by);
    if (!err && result)
        memcpy(result, &old, bytes);
    return err;
}
