/*
 * hooks.c - what a compiler's -fsanitize=thread calls, for the engine instead of
 * ThreadSanitizer.
 */
#include <string.h>

#include "engine.h"

#define PC ((uintptr_t)__builtin_return_address(0))

/* The compiler declares these itself. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wbuiltin-declaration-mismatch"
#endif

void __tsan_init(void);
void __tsan_init(void)
{
}

void __tsan_func_entry(void *pc)
{
    (void)pc;
}

void __tsan_func_exit(void)
{
}

#define PLAIN(bytes)                                                \
    void __tsan_read##bytes(void *at)                               \
    {                                                               \
        plain_access((uintptr_t)at, bytes, PLAIN_READ, false, PC);  \
    }                                                               \
    void __tsan_write##bytes(void *at)                              \
    {                                                               \
        plain_access((uintptr_t)at, bytes, PLAIN_WRITE, false, PC); \
    }                                                               \
    void __tsan_unaligned_read##bytes(void *at)                     \
    {                                                               \
        plain_access((uintptr_t)at, bytes, PLAIN_READ, false, PC);  \
    }                                                               \
    void __tsan_unaligned_write##bytes(void *at)                    \
    {                                                               \
        plain_access((uintptr_t)at, bytes, PLAIN_WRITE, false, PC); \
    }                                                               \
    void __tsan_volatile_read##bytes(void *at)                      \
    {                                                               \
        plain_access((uintptr_t)at, bytes, PLAIN_READ, false, PC);  \
    }                                                               \
    void __tsan_volatile_write##bytes(void *at)                     \
    {                                                               \
        plain_access((uintptr_t)at, bytes, PLAIN_WRITE, false, PC); \
    }

PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_read_range(void *at, size_t bytes)
{
    plain_access((uintptr_t)at, bytes, PLAIN_READ, false, PC);
}

void __tsan_write_range(void *at, size_t bytes)
{
    plain_access((uintptr_t)at, bytes, PLAIN_WRITE, false, PC);
}

void __tsan_vptr_update(void **at, void *value)
{
    (void)value;
    plain_access((uintptr_t)at, sizeof(*at), PLAIN_WRITE, false, PC);
}

void __tsan_atomic_thread_fence(int order)
{
    if (run.on && run.self >= 0)
        memory_fence(order, PC);
}

void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}

static uint64_t add(uint64_t a, uint64_t b)
{
    return a + b;
}

static uint64_t sub(uint64_t a, uint64_t b)
{
    return a - b;
}

static uint64_t and (uint64_t a, uint64_t b)
{
    return a & b;
}

static uint64_t or (uint64_t a, uint64_t b)
{
    return a | b;
}

static uint64_t xor (uint64_t a, uint64_t b) { return a ^ b; }

    static bool stepped(void *at, unsigned size)
{
    if (run.on && run.self >= 0)
        return true;
    /* In begin(): to be undone. */
    plain_access((uintptr_t)at, size, PLAIN_WRITE, true, 0);
    return false;
}

#define FETCH(type, bits, name, function)                                  \
    type __tsan_atomic##bits##_fetch_##name(volatile type *at, type value, \
                                            int order)                     \
    {                                                                      \
        struct operation op = {.kind = STEP_RMW,                           \
                               .pc = PC,                                   \
                               .address = (uintptr_t)at,                   \
                               .size = sizeof(type),                       \
                               .order = order,                             \
                               .value = value,                             \
                               .apply = function};                         \
        bool swapped;                                                      \
        if (stepped((void *)(uintptr_t)at, sizeof(type)))                  \
            return (type)memory_operation(&op, &swapped);                  \
        type before = *at;                                                 \
        *at = (type)function(before, value);                               \
        return before;                                                     \
    }

#define ATOMIC(type, bits)                                                     \
    type __tsan_atomic##bits##_load(const volatile type *at, int order)        \
    {                                                                          \
        struct operation op = {.kind = STEP_LOAD,                              \
                               .pc = PC,                                       \
                               .address = (uintptr_t)at,                       \
                               .size = sizeof(type),                           \
                               .order = order};                                \
        bool swapped;                                                          \
        return run.on && run.self >= 0 ? (type)memory_operation(&op, &swapped) \
                                       : *at;                                  \
    }                                                                          \
    void __tsan_atomic##bits##_store(volatile type *at, type value, int order) \
    {                                                                          \
        struct operation op = {.kind = STEP_STORE,                             \
                               .pc = PC,                                       \
                               .address = (uintptr_t)at,                       \
                               .size = sizeof(type),                           \
                               .order = order,                                 \
                               .value = value};                                \
        bool swapped;                                                          \
        if (stepped((void *)(uintptr_t)at, sizeof(type)))                      \
            memory_operation(&op, &swapped);                                   \
        else                                                                   \
            *at = value;                                                       \
    }                                                                          \
    type __tsan_atomic##bits##_exchange(volatile type *at, type value,         \
                                        int order)                             \
    {                                                                          \
        struct operation op = {.kind = STEP_EXCHANGE,                          \
                               .pc = PC,                                       \
                               .address = (uintptr_t)at,                       \
                               .size = sizeof(type),                           \
                               .order = order,                                 \
                               .value = value};                                \
        bool swapped;                                                          \
        if (stepped((void *)(uintptr_t)at, sizeof(type)))                      \
            return (type)memory_operation(&op, &swapped);                      \
        type before = *at;                                                     \
        *at = value;                                                           \
        return before;                                                         \
    }                                                                          \
    static bool swap##bits(volatile type *at, type *expected, type value,      \
                           int order, int failed, bool weak, uintptr_t pc)     \
    {                                                                          \
        struct operation op = {.kind = STEP_CAS,                               \
                               .pc = pc,                                       \
                               .address = (uintptr_t)at,                       \
                               .size = sizeof(type),                           \
                               .order = order,                                 \
                               .order_failed = failed,                         \
                               .weak = weak,                                   \
                               .value = value,                                 \
                               .expected = *expected};                         \
        bool swapped;                                                          \
        type before;                                                           \
        if (stepped((void *)(uintptr_t)at, sizeof(type))) {                    \
            before = (type)memory_operation(&op, &swapped);                    \
        } else {                                                               \
            before = *at;                                                      \
            swapped = before == *expected;                                     \
            if (swapped)                                                       \
                *at = value;                                                   \
        }                                                                      \
        if (!swapped)                                                          \
            *expected = before;                                                \
        return swapped;                                                        \
    }                                                                          \
    int __tsan_atomic##bits##_compare_exchange_strong(                         \
        volatile type *at, type *expected, type value, int order, int failed)  \
    {                                                                          \
        return swap##bits(at, expected, value, order, failed, false, PC);      \
    }                                                                          \
    int __tsan_atomic##bits##_compare_exchange_weak(                           \
        volatile type *at, type *expected, type value, int order, int failed)  \
    {                                                                          \
        return swap##bits(at, expected, value, order, failed, true, PC);       \
    }                                                                          \
    type __tsan_atomic##bits##_compare_exchange_val(                           \
        volatile type *at, type expected, type value, int order, int failed)   \
    {                                                                          \
        swap##bits(at, &expected, value, order, failed, false, PC);            \
        return expected;                                                       \
    }                                                                          \
    FETCH(type, bits, add, add)                                                \
    FETCH(type, bits, sub, sub)                                                \
    FETCH(type, bits, and, and)                                                \
    FETCH(type, bits, or, or)                                                  \
    FETCH(type, bits, xor, xor)

ATOMIC(uint8_t, 8)
ATOMIC(uint16_t, 16)
ATOMIC(uint32_t, 32)
ATOMIC(uint64_t, 64)
