/*
 * dart_forms.h - transfers in all their forms and shapes, against a model; for
 * any memory that global pointers name.
 *
 * Each unit (or thread) has a slot in everybody's memory that it writes alone.
 */
#ifndef TESTS_DART_FORMS_H
#define TESTS_DART_FORMS_H

#include "dart_check.h"

/* --- Forms ---------------------------------------------------------------------- */

/* How a transfer is completed. */
enum form {
    BLOCKING,
    FLUSH,
    FLUSH_ALL,
    FLUSH_LOCAL,
    FLUSH_LOCAL_ALL,
    WAIT,
    WAITALL,
    WAIT_LOCAL,
    WAITALL_LOCAL,
    TEST,
    TESTALL,
    TEST_LOCAL,
    TESTALL_LOCAL,
    FREE_FLUSH,
    FORMS
};

/* All but these leave a put complete remotely. */
static inline bool is_local(enum form form)
{
    return form == FLUSH_LOCAL || form == FLUSH_LOCAL_ALL ||
           form == WAIT_LOCAL || form == WAITALL_LOCAL || form == TEST_LOCAL ||
           form == TESTALL_LOCAL;
}

static inline void complete_handle(enum form form, dart_gptr_t gptr,
                                   dart_handle_t handle)
{
    dart_handle_t handles[3] = {DART_HANDLE_NULL, handle, DART_HANDLE_NULL};
    int32_t done = 0;

    if (form == WAIT)
        assert(dart_wait(&handles[1]) == DART_OK);
    else if (form == WAITALL)
        assert(dart_waitall(handles, 3) == DART_OK);
    else if (form == WAIT_LOCAL)
        assert(dart_wait_local(&handles[1]) == DART_OK);
    else if (form == WAITALL_LOCAL)
        assert(dart_waitall_local(handles, 3) == DART_OK);
    while (form >= TEST && form <= TESTALL_LOCAL && !done) {
        if (form == TEST)
            assert(dart_test(&handles[1], &done) == DART_OK);
        else if (form == TESTALL)
            assert(dart_testall(handles, 3, &done) == DART_OK);
        else if (form == TEST_LOCAL)
            assert(dart_test_local(&handles[1], &done) == DART_OK);
        else
            assert(dart_testall_local(handles, 3, &done) == DART_OK);
        assert(done == 1 || handles[1] == handle);
    }
    if (form == FREE_FLUSH) {
        assert(dart_handle_free(&handles[1]) == DART_OK);
        assert(dart_flush(gptr) == DART_OK);
    }
    assert(handles[1] == DART_HANDLE_NULL);
}

static inline void complete_flush(enum form form, dart_gptr_t gptr)
{
    dart_ret_t ret = form == FLUSH         ? dart_flush(gptr)
                     : form == FLUSH_ALL   ? dart_flush_all(gptr)
                     : form == FLUSH_LOCAL ? dart_flush_local(gptr)
                                           : dart_flush_local_all(gptr);

    assert(ret == DART_OK);
}

/* Complete remotely when it returns; @src, of @bytes, is changed as soon as that
 * is allowed. */
static inline void put_by(enum form form, dart_gptr_t gptr, void *src,
                          size_t bytes, size_t nelem, dart_datatype_t src_type,
                          dart_datatype_t dst_type)
{
    dart_handle_t handle = (dart_handle_t)src;

    if (form == BLOCKING) {
        assert(dart_put_blocking(gptr, src, nelem, src_type, dst_type) ==
               DART_OK);
    } else if (form < WAIT) {
        assert(dart_put(gptr, src, nelem, src_type, dst_type) == DART_OK);
        complete_flush(form, gptr);
    } else {
        assert(dart_put_handle(gptr, src, nelem, src_type, dst_type, &handle) ==
               DART_OK);
        complete_handle(form, gptr, handle);
    }
    memset(src, 0x5a, bytes);
    if (is_local(form))
        assert(dart_flush(gptr) == DART_OK);
}

static inline void get_by(enum form form, void *dest, dart_gptr_t gptr,
                          size_t nelem, dart_datatype_t src_type,
                          dart_datatype_t dst_type)
{
    dart_handle_t handle = (dart_handle_t)dest;

    if (form == BLOCKING) {
        assert(dart_get_blocking(dest, gptr, nelem, src_type, dst_type) ==
               DART_OK);
    } else if (form < WAIT) {
        assert(dart_get(dest, gptr, nelem, src_type, dst_type) == DART_OK);
        complete_flush(form, gptr);
    } else {
        assert(dart_get_handle(dest, gptr, nelem, src_type, dst_type,
                               &handle) == DART_OK);
        complete_handle(form, gptr, handle);
    }
}

/* --- Shapes ---------------------------------------------------------------------- */

#define BLOCKS_MAX 8
#define SLOT_BYTES 8192

/* A type, and where its elements lie. */
struct shape {
    dart_datatype_t type;
    size_t elements; /* in one of it */
    size_t extent;   /* to the next one, in elements */
    size_t blocks, length[BLOCKS_MAX], offset[BLOCKS_MAX];
};

/* Where the i-th element is. */
static inline size_t position(const struct shape *shape, size_t i)
{
    size_t at = i / shape->elements * shape->extent, in = i % shape->elements;

    for (size_t b = 0;; b++) {
        if (in < shape->length[b])
            return at + shape->offset[b] + in;
        in -= shape->length[b];
    }
}

static inline struct shape plain(dart_datatype_t base)
{
    return (struct shape){base, 1, 1, 1, {1}, {0}};
}

static inline struct shape strided(dart_datatype_t base, uint64_t *random)
{
    size_t length = 1 + next_random(random) % 4;
    size_t stride = length + next_random(random) % 4;
    struct shape shape = {0, length, stride, 1, {length}, {0}};

    assert(dart_type_create_strided(base, stride, length, &shape.type) ==
           DART_OK);
    return shape;
}

/* Blocks in any order, some of them empty, that do not overlap. */
static inline struct shape indexed(dart_datatype_t base, uint64_t *random)
{
    size_t low = next_random(random) % 3, at = low, end = low;
    struct shape shape = {.blocks = 1 + next_random(random) % BLOCKS_MAX};
    size_t turn = next_random(random) % shape.blocks;

    for (size_t i = 0; i < shape.blocks; i++) {
        size_t b = (i + turn) % shape.blocks;

        shape.length[b] = i == 0 ? 1 : next_random(random) % 4;
        shape.offset[b] = at;
        shape.elements += shape.length[b];
        if (shape.length[b])
            end = at + shape.length[b];
        at += shape.length[b] + next_random(random) % 3;
    }
    shape.extent = end - low;
    assert(dart_type_create_indexed(base, shape.blocks, shape.length,
                                    shape.offset, &shape.type) == DART_OK);
    return shape;
}

static inline struct shape any_shape(dart_datatype_t base, uint64_t *random)
{
    switch (next_random(random) % 3) {
    case 0:
        return plain(base);
    case 1:
        return strided(base, random);
    default:
        return indexed(base, random);
    }
}

static inline void shape_end(struct shape *shape, dart_datatype_t base)
{
    if (shape->type != base)
        assert(dart_type_destroy(&shape->type) == DART_OK);
}

/* --- Against the model ------------------------------------------------------------- */

static inline void fill(unsigned char *bytes, size_t n, uint64_t *random)
{
    for (size_t i = 0; i < n; i++)
        bytes[i] = (unsigned char)next_random(random);
}

/* What a transfer of @nelem elements of @size bytes must do. */
static inline void model(unsigned char *to, const struct shape *to_shape,
                         const unsigned char *from,
                         const struct shape *from_shape, size_t nelem,
                         size_t size)
{
    for (size_t i = 0; i < nelem; i++)
        memcpy(to + position(to_shape, i) * size,
               from + position(from_shape, i) * size, size);
}

/* Elements from the first to beyond the last, of @n. */
static inline size_t reach(const struct shape *shape, size_t n)
{
    size_t end = 0;

    for (size_t i = 0; i < n; i++) {
        if (end < position(shape, i) + 1)
            end = position(shape, i) + 1;
    }
    return end;
}

/* A number of elements that fits both, and the slot. */
static inline size_t count_for(const struct shape *a, const struct shape *b,
                               size_t size, uint64_t *random)
{
    size_t step = a->elements * b->elements;
    size_t n = step * (next_random(random) % 12);

    while (reach(a, n) * size > SLOT_BYTES || reach(b, n) * size > SLOT_BYTES)
        n -= step;
    return n;
}

/* One put and one get of elements of @base, of @size bytes, in @slot, whose
 * SLOT_BYTES are this caller's alone. */
static inline void put_and_get(dart_gptr_t slot, dart_datatype_t base,
                               size_t size, uint64_t *random)
{
    static _Thread_local unsigned char here[SLOT_BYTES], there[SLOT_BYTES],
        expected[SLOT_BYTES], seen[SLOT_BYTES];
    struct shape a = any_shape(base, random), b = any_shape(base, random);
    enum form form = next_random(random) % FORMS;
    size_t n = count_for(&a, &b, size, random);

    fill(here, SLOT_BYTES, random);
    fill(there, SLOT_BYTES, random);
    assert(dart_put_blocking(slot, there, SLOT_BYTES, DART_TYPE_BYTE,
                             DART_TYPE_BYTE) == DART_OK);
    memcpy(expected, there, SLOT_BYTES);
    model(expected, &b, here, &a, n, size);
    put_by(form, slot, here, SLOT_BYTES, n, a.type, b.type);
    assert(dart_get_blocking(seen, slot, SLOT_BYTES, DART_TYPE_BYTE,
                             DART_TYPE_BYTE) == DART_OK);
    assert(memcmp(seen, expected, SLOT_BYTES) == 0);

    fill(here, SLOT_BYTES, random);
    memcpy(expected, here, SLOT_BYTES);
    model(expected, &b, seen, &a, n, size);
    get_by(form, here, slot, n, a.type, b.type);
    assert(memcmp(here, expected, SLOT_BYTES) == 0);
    shape_end(&a, base);
    shape_end(&b, base);
}

/* Many of these, of all types.  @memory[u] is SLOT_BYTES for each unit on unit
 * u. */
static inline void any_transfers(const dart_gptr_t *memory, int targets,
                                 int slot, int rounds, uint64_t seed)
{
    static const size_t sizes[DART_TYPE_LAST] = {0,
                                                 1,
                                                 sizeof(short),
                                                 sizeof(int),
                                                 sizeof(int),
                                                 sizeof(long),
                                                 sizeof(long),
                                                 sizeof(long long),
                                                 sizeof(long long),
                                                 sizeof(float),
                                                 sizeof(double),
                                                 sizeof(long double)};
    uint64_t random = seed * 1000 + (uint64_t)me;

    for (int i = 0; i < rounds; i++) {
        dart_datatype_t base = 1 + i % (DART_TYPE_LAST + 1), custom = 0;
        size_t size = base < DART_TYPE_LAST ? sizes[base]
                                            : 1 + next_random(&random) % 100;
        dart_gptr_t at =
            at_offset(memory[(me + i) % targets], (size_t)slot * SLOT_BYTES);

        if (base >= DART_TYPE_LAST) {
            assert(dart_type_create_custom(size, &custom) == DART_OK);
            base = custom;
        }
        put_and_get(at, base, size, &random);
        if (custom)
            assert(dart_type_destroy(&custom) == DART_OK);
    }
}

/* --- The memory itself --------------------------------------------------------------- */

/* Everybody writes to everybody in each form; the owners look by address.
 * @own is this unit's memory, slots as above; collective. */
static inline void owners_see(const dart_gptr_t *memory, const char *own)
{
    long values[100];

    for (int form = 0; form < FORMS; form++) {
        for (int u = 0; u < units; u++) {
            for (int i = 0; i < 100; i++)
                values[i] = form * 1000000 + me * 10000 + u * 100 + i;
            put_by(form, at_offset(memory[u], (size_t)me * SLOT_BYTES), values,
                   sizeof(values), 100, DART_TYPE_LONG, DART_TYPE_LONG);
        }
        barrier();
        for (int u = 0; u < units; u++) {
            const long *slot =
                (const long *)(const void *)(own + u * SLOT_BYTES);
            for (int i = 0; i < 100; i++)
                assert(slot[i] == form * 1000000 + u * 10000 + me * 100 + i);
        }
        for (int u = 0; u < units; u++) {
            size_t next = (size_t)((me + 1) % units);
            memset(values, 0, sizeof(values));
            get_by(form, values, at_offset(memory[u], next * SLOT_BYTES), 100,
                   DART_TYPE_LONG, DART_TYPE_LONG);
            for (int i = 0; i < 100; i++)
                assert(values[i] ==
                       form * 1000000 + (long)next * 10000 + u * 100 + i);
        }
        barrier();
    }
}

#endif /* TESTS_DART_FORMS_H */
