/*
 * dart_collective: collective calls, reductions of every type by every
 * operation against plain C, messages; through the interface alone.
 */
#undef NDEBUG
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dash/dart/if/dart.h"

#define N         6 /* elements of a unit; even */
#define UNITS_MAX 8

static size_t units;
static int me;

#define PICK_MIN(a, b)  ((a) < (b) ? (a) : (b))
#define PICK_MAX(a, b)  ((a) > (b) ? (a) : (b))
#define PICK_SUM(a, b)  ((a) + (b))
#define PICK_PROD(a, b) ((a) * (b))
#define PICK_BAND(a, b) ((a) & (b))
#define PICK_LAND(a, b) ((a) && (b))
#define PICK_BOR(a, b)  ((a) | (b))
#define PICK_LOR(a, b)  ((a) || (b))
#define PICK_BXOR(a, b) ((a) ^ (b))
#define PICK_LXOR(a, b) (!(a) != !(b))

/* Small, of both signs where there are signs, and 0 among them. */
#define VALUE(c, unit, i) ((c)(((unit)*3 + (i)*2) % 7 - 2))

#define ONE(c, type, op)                                                     \
    do {                                                                     \
        c in[N], out[N], want[N];                                            \
        for (int i = 0; i < N; i++) {                                        \
            in[i] = VALUE(c, me, i);                                         \
            want[i] = VALUE(c, 0, i);                                        \
            for (int u = 1; u < (int)units; u++)                             \
                want[i] = (c)PICK_##op(want[i], VALUE(c, u, i));             \
        }                                                                    \
        assert(dart_allreduce(in, out, N, type, DART_OP_##op,                \
                              DART_TEAM_ALL) == DART_OK);                    \
        for (int i = 0; i < N; i++)                                          \
            assert(units == 1 ? out[i] == in[i] : out[i] == want[i]);        \
        memset(out, 0, sizeof(out));                                         \
        assert(dart_reduce(in, me ? NULL : out, N, type, DART_OP_##op,       \
                           DART_TEAM_UNIT_ID(0), DART_TEAM_ALL) == DART_OK); \
        for (int i = 0; i < N && me == 0; i++)                               \
            assert(units == 1 ? out[i] == in[i] : out[i] == want[i]);        \
        assert(dart_allreduce(NULL, in, N, type, DART_OP_##op,               \
                              DART_TEAM_ALL) == DART_OK);                    \
        for (int i = 0; i < N && units > 1; i++)                             \
            assert(in[i] == want[i]);                                        \
    } while (0)

#define PAIRS(c, type)                                              \
    do {                                                            \
        c in[N], out[N];                                            \
        for (int i = 0; i < N; i++)                                 \
            in[i] = VALUE(c, me, i / 2);                            \
        assert(dart_allreduce(in, out, N, type, DART_OP_MINMAX,     \
                              DART_TEAM_ALL) == DART_OK);           \
        for (int i = 0; i < N; i += 2) {                            \
            c least = VALUE(c, 0, i / 2), most = least;             \
            for (int u = 1; u < (int)units; u++) {                  \
                least = PICK_MIN(least, VALUE(c, u, i / 2));        \
                most = PICK_MAX(most, VALUE(c, u, i / 2));          \
            }                                                       \
            assert(out[i + DART_OP_MINMAX_MIN] == least);           \
            assert(out[i + DART_OP_MINMAX_MAX] == most);            \
        }                                                           \
        assert(dart_allreduce(in, out, N - 1, type, DART_OP_MINMAX, \
                              DART_TEAM_ALL) == DART_ERR_INVAL);    \
    } while (0)

#define NUMBERS(c, type)    \
    do {                    \
        ONE(c, type, MIN);  \
        ONE(c, type, MAX);  \
        ONE(c, type, SUM);  \
        ONE(c, type, PROD); \
        PAIRS(c, type);     \
    } while (0)

#define INTEGERS(c, type)   \
    do {                    \
        NUMBERS(c, type);   \
        ONE(c, type, BAND); \
        ONE(c, type, LAND); \
        ONE(c, type, BOR);  \
        ONE(c, type, LOR);  \
        ONE(c, type, BXOR); \
        ONE(c, type, LXOR); \
    } while (0)

static void no_operation(dart_operation_t op, dart_datatype_t type)
{
    long double in[2] = {0}, out[2];

    assert(dart_allreduce(in, out, 2, type, op, DART_TEAM_ALL) ==
           DART_ERR_INVAL);
    assert(dart_reduce(in, out, 2, type, op, DART_TEAM_UNIT_ID(0),
                       DART_TEAM_ALL) == DART_ERR_INVAL);
}

static void reductions(void)
{
    INTEGERS(signed char, DART_TYPE_BYTE);
    INTEGERS(short, DART_TYPE_SHORT);
    INTEGERS(int, DART_TYPE_INT);
    INTEGERS(unsigned, DART_TYPE_UINT);
    INTEGERS(long, DART_TYPE_LONG);
    INTEGERS(unsigned long, DART_TYPE_ULONG);
    INTEGERS(long long, DART_TYPE_LONGLONG);
    INTEGERS(unsigned long long, DART_TYPE_ULONGLONG);
    NUMBERS(float, DART_TYPE_FLOAT);
    NUMBERS(double, DART_TYPE_DOUBLE);
    NUMBERS(long double, DART_TYPE_LONG_DOUBLE);
    for (dart_operation_t op = DART_OP_BAND; op <= DART_OP_LXOR; op++) {
        no_operation(op, DART_TYPE_FLOAT);
        no_operation(op, DART_TYPE_DOUBLE);
        no_operation(op, DART_TYPE_LONG_DOUBLE);
    }
    for (dart_datatype_t t = DART_TYPE_BYTE; t < DART_TYPE_LAST; t++) {
        no_operation(DART_OP_REPLACE, t);
        no_operation(DART_OP_NO_OP, t);
        no_operation(DART_OP_UNDEFINED, t);
        no_operation(DART_OP_LAST, t);
    }
}

struct affine {
    long a, b;
};

/* x -> a x + b, one after another: associative, not commutative. */
static void compose(const void *first, void *then, size_t count, void *calls)
{
    const struct affine *f = first;
    struct affine *g = then;

    ++*(int *)calls;
    for (size_t i = 0; i < count; i++) {
        g[i].b += g[i].a * f[i].b;
        g[i].a *= f[i].a;
    }
}

static void own_operations(void)
{
    struct affine mine[3], all[3], want;
    dart_datatype_t type, other;
    dart_operation_t op, twin, gone;
    int calls = 0, twin_calls = 0;

    assert(dart_type_create_custom(sizeof(want), &type) == DART_OK);
    assert(dart_type_create_custom(8, &other) == DART_OK);
    assert(dart_op_create(compose, &calls, false, type, true, &op) == DART_OK);
    assert(dart_op_create(compose, &twin_calls, false, type, false, &twin) ==
           DART_OK);
    for (int i = 0; i < 3; i++)
        mine[i] = (struct affine){me + 2, i - me};
    assert(dart_allreduce(mine, all, 3, type, op, DART_TEAM_ALL) == DART_OK);
    for (int i = 0; i < 3; i++) {
        want = (struct affine){2, i};
        for (int u = 1; u < (int)units; u++) {
            want.b = (u + 2) * want.b + i - u;
            want.a *= u + 2;
        }
        assert(all[i].a == want.a && all[i].b == want.b);
    }
    assert(twin_calls == 0);
    no_operation(op, other);
    no_operation(op, DART_TYPE_LONG);
    no_operation(DART_OP_SUM, type);
    gone = op;
    assert(dart_op_destroy(&op) == DART_OK && op == DART_OP_UNDEFINED);
    assert(dart_op_destroy(&op) == DART_ERR_INVAL);
    assert(dart_op_destroy(&gone) == DART_ERR_INVAL);
    no_operation(gone, type);
    assert(dart_op_destroy(&twin) == DART_OK);
    assert(dart_op_destroy(NULL) == DART_ERR_INVAL);
    op = DART_OP_SUM;
    assert(dart_op_destroy(&op) == DART_ERR_INVAL);
    assert(dart_op_create(NULL, NULL, true, type, false, &op) ==
           DART_ERR_INVAL);
    assert(dart_op_create(compose, NULL, true, 0, false, &op) ==
           DART_ERR_INVAL);
    assert(dart_op_create(compose, NULL, true, type, false, NULL) ==
           DART_ERR_INVAL);
    assert(dart_type_destroy(&type) == DART_OK);
    assert(dart_type_destroy(&other) == DART_OK);
}

static void movement(void)
{
    int mine[UNITS_MAX], all[UNITS_MAX], n = (int)units;
    size_t counts[UNITS_MAX], places[UNITS_MAX];
    char letters[64], part[UNITS_MAX];
    size_t total = 0;

    for (int root = 0; root < n; root++) {
        dart_team_unit_t r = {root};
        int value = me == root ? 77 + root : 0;

        assert(dart_bcast(&value, 1, DART_TYPE_INT, r, 0) == DART_OK);
        assert(value == 77 + root);
        for (int i = 0; i < n; i++)
            all[i] = me == root ? 10 * i + root : 0;
        assert(dart_scatter(me == root ? all : NULL, &value, 1, DART_TYPE_INT,
                            r, 0) == DART_OK);
        assert(value == 10 * me + root);
        assert(dart_gather(&value, me == root ? mine : NULL, 1, DART_TYPE_INT,
                           r, 0) == DART_OK);
        for (int i = 0; i < n && me == root; i++)
            assert(mine[i] == 10 * i + root);
    }
    assert(dart_allgather(&me, all, 1, DART_TYPE_INT, 0) == DART_OK);
    for (int i = 0; i < n; i++)
        assert(all[i] == i);
    memset(all, 0, sizeof(all));
    all[me] = me + 5;
    assert(dart_allgather(NULL, all, 1, DART_TYPE_INT, 0) == DART_OK);
    for (int i = 0; i < n; i++)
        assert(all[i] == i + 5);
    for (int i = 0; i < n; i++)
        mine[i] = 100 * me + i;
    assert(dart_alltoall(mine, all, 1, DART_TYPE_INT, 0) == DART_OK);
    assert(dart_alltoall(mine, mine, 1, DART_TYPE_INT, 0) == DART_OK);
    for (int i = 0; i < n; i++)
        assert(all[i] == 100 * i + me && mine[i] == all[i]);
    /* Unit i has i elements, with a gap of 1 after each. */
    for (int i = 0; i < n; i++) {
        counts[i] = (size_t)i;
        places[i] = total;
        total += (size_t)i + 1;
    }
    memset(letters, '.', sizeof(letters));
    memset(part, 'a' + me, sizeof(part));
    assert(dart_allgatherv(part, (size_t)me, DART_TYPE_BYTE, letters, counts,
                           places, 0) == DART_OK);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++)
            assert(letters[places[i] + (size_t)k] == 'a' + i);
        assert(letters[places[i] + (size_t)i] == '.');
    }
}

/* Units with odd numbers have one buffer for what they send and what they get. */
static void mixed(size_t nelem)
{
    size_t count = units * nelem;
    int *from = malloc(count * sizeof(int)), *to = malloc(count * sizeof(int));
    const int *sent = me % 2 ? (me % 4 == 1 ? to : NULL) : from;

    assert(from && to);
    for (size_t i = 0; i < count; i++)
        from[i] = to[i] = me * 1000003 + (int)i;
    assert(dart_alltoall(sent, to, nelem, DART_TYPE_INT, 0) == DART_OK);
    for (size_t u = 0; u < units; u++) {
        for (size_t i = 0; i < nelem; i++)
            assert(to[u * nelem + i] ==
                   (int)u * 1000003 + (int)((size_t)me * nelem + i));
    }
    free(from);
    free(to);
}

static void nothing_and_wrong(void)
{
    dart_team_unit_t root = {0}, none = {(int)units};
    dart_datatype_t strided;
    size_t zero[UNITS_MAX] = {0};
    int x = 0;

    assert(dart_bcast(NULL, 0, DART_TYPE_INT, root, 0) == DART_OK);
    assert(dart_scatter(NULL, NULL, 0, DART_TYPE_INT, root, 0) == DART_OK);
    assert(dart_gather(NULL, NULL, 0, DART_TYPE_INT, root, 0) == DART_OK);
    assert(dart_allgather(NULL, NULL, 0, DART_TYPE_INT, 0) == DART_OK);
    assert(dart_alltoall(NULL, NULL, 0, DART_TYPE_INT, 0) == DART_OK);
    assert(dart_allgatherv(NULL, 0, DART_TYPE_INT, NULL, zero, zero, 0) ==
           DART_OK);
    assert(dart_allreduce(NULL, NULL, 0, DART_TYPE_INT, DART_OP_SUM, 0) ==
           DART_OK);
    assert(dart_reduce(NULL, NULL, 0, DART_TYPE_INT, DART_OP_SUM, root, 0) ==
           DART_OK);

    assert(dart_type_create_strided(DART_TYPE_INT, 2, 1, &strided) == DART_OK);
    assert(dart_bcast(&x, 1, DART_TYPE_INT, none, 0) == DART_ERR_INVAL);
    assert(dart_bcast(&x, 1, DART_TYPE_INT, root, 99) == DART_ERR_INVAL);
    assert(dart_bcast(&x, 1, strided, root, 0) == DART_ERR_INVAL);
    assert(dart_bcast(NULL, 1, DART_TYPE_INT, root, 0) == DART_ERR_INVAL);
    assert(dart_bcast(&x, SIZE_MAX, DART_TYPE_INT, root, 0) == DART_ERR_INVAL);
    assert(dart_scatter(&x, &x, 1, 0, root, 0) == DART_ERR_INVAL);
    assert(dart_gather(&x, &x, 1, DART_TYPE_INT, none, 0) == DART_ERR_INVAL);
    assert(dart_allgather(&x, NULL, 1, DART_TYPE_INT, 0) == DART_ERR_INVAL);
    assert(dart_alltoall(&x, NULL, 1, DART_TYPE_INT, 0) == DART_ERR_INVAL);
    assert(dart_allgatherv(&x, 0, DART_TYPE_INT, &x, NULL, zero, 0) ==
           DART_ERR_INVAL);
    assert(dart_allreduce(&x, NULL, 1, DART_TYPE_INT, DART_OP_SUM, 0) ==
           DART_ERR_INVAL);
    assert(dart_reduce(&x, &x, 1, DART_TYPE_INT, DART_OP_SUM, none, 0) ==
           DART_ERR_INVAL);
    assert(dart_type_destroy(&strided) == DART_OK);
}

static void messages(void)
{
    int next = (me + 1) % (int)units,
        before = (me + (int)units - 1) % (int)units, got = -1;
    dart_global_unit_t to = {next}, from = {before}, none = {(int)units};

    assert(dart_sendrecv(&me, 1, DART_TYPE_INT, 3, to, &got, 1, DART_TYPE_INT,
                         3, from) == DART_OK);
    assert(got == before);
    assert(dart_sendrecv(NULL, 0, DART_TYPE_INT, 3, to, NULL, 0, DART_TYPE_INT,
                         3, from) == DART_OK);
    if (units > 1 && me == 0) {
        assert(dart_send(&me, 1, DART_TYPE_INT, 5, to) == DART_OK);
    } else if (me == 1) {
        assert(dart_recv(&got, 1, DART_TYPE_INT, 5, from) == DART_OK);
        assert(got == 0);
    }
    assert(dart_send(&me, 1, DART_TYPE_INT, 5, none) == DART_ERR_INVAL);
    assert(dart_send(&me, 1, DART_TYPE_INT, -5, to) == DART_ERR_INVAL);
    assert(dart_send(NULL, 1, DART_TYPE_INT, 5, to) == DART_ERR_INVAL);
    assert(dart_recv(&got, 1, 0, 5, from) == DART_ERR_INVAL);
    assert(dart_recv(&got, 1, DART_TYPE_INT, 5, none) == DART_ERR_INVAL);
    assert(dart_sendrecv(&me, 1, DART_TYPE_INT, 3, none, &got, 1, DART_TYPE_INT,
                         3, from) == DART_ERR_INVAL);
}

static void types(void)
{
    dart_datatype_t t = 5, copy, of;
    size_t lengths[2] = {2, 0}, offsets[2] = {1, 9}, empty[1] = {0};

    assert(dart_type_create_strided(DART_TYPE_INT, 1, 2, &t) == DART_ERR_INVAL);
    assert(t == DART_TYPE_UNDEFINED);
    assert(dart_type_create_strided(DART_TYPE_INT, 1, 0, &t) == DART_ERR_INVAL);
    assert(dart_type_create_strided(0, 2, 1, &t) == DART_ERR_INVAL);
    assert(dart_type_create_strided(DART_TYPE_INT, SIZE_MAX, 1, &t) ==
           DART_ERR_INVAL);
    assert(dart_type_create_strided(DART_TYPE_INT, 2, 1, NULL) ==
           DART_ERR_INVAL);
    assert(dart_type_create_strided(DART_TYPE_INT, 4, 2, &t) == DART_OK);
    assert(dart_type_create_strided(t, 4, 2, &of) == DART_ERR_INVAL);
    copy = t;
    assert(dart_type_destroy(&t) == DART_OK && t == DART_TYPE_UNDEFINED);
    assert(dart_type_destroy(&t) == DART_ERR_INVAL);
    assert(dart_type_destroy(&copy) == DART_ERR_INVAL);
    assert(dart_type_destroy(NULL) == DART_ERR_INVAL);
    t = DART_TYPE_INT;
    assert(dart_type_destroy(&t) == DART_ERR_INVAL);
    assert(dart_type_create_indexed(DART_TYPE_INT, 2, lengths, offsets, &t) ==
           DART_OK);
    assert(dart_type_destroy(&t) == DART_OK);
    assert(dart_type_create_indexed(DART_TYPE_INT, 1, empty, offsets, &t) ==
           DART_ERR_INVAL);
    assert(dart_type_create_indexed(DART_TYPE_INT, 0, lengths, offsets, &t) ==
           DART_ERR_INVAL);
    assert(dart_type_create_indexed(DART_TYPE_INT, 2, NULL, offsets, &t) ==
           DART_ERR_INVAL);
    assert(dart_type_create_custom(0, &t) == DART_ERR_INVAL);
    assert(dart_type_create_custom(SIZE_MAX, &t) == DART_ERR_INVAL);
    assert(dart_type_create_custom(8, NULL) == DART_ERR_INVAL);
}

/* Counts beyond 32 bits; one unit has its values in place, and touches none. */
static void large(void)
{
    size_t n = ((size_t)1 << 31) + 17, place = 0;
    char *values = malloc(n);

    assert(values);
    assert(dart_bcast(values, n, DART_TYPE_BYTE, DART_TEAM_UNIT_ID(0),
                      DART_TEAM_ALL) == DART_OK);
    assert(dart_allgather(NULL, values, n, DART_TYPE_BYTE, DART_TEAM_ALL) ==
           DART_OK);
    assert(dart_allgatherv(NULL, n, DART_TYPE_BYTE, values, &n, &place,
                           DART_TEAM_ALL) == DART_OK);
    assert(dart_gather(NULL, values, n, DART_TYPE_BYTE, DART_TEAM_UNIT_ID(0),
                       DART_TEAM_ALL) == DART_OK);
    assert(dart_scatter(values, NULL, n, DART_TYPE_BYTE, DART_TEAM_UNIT_ID(0),
                        DART_TEAM_ALL) == DART_OK);
    assert(dart_allreduce(NULL, values, n, DART_TYPE_BYTE, DART_OP_BOR,
                          DART_TEAM_ALL) == DART_OK);
    free(values);
}

int main(void)
{
    dart_config_t *config;
    dart_global_unit_t id;

    dart_config(&config);
    config->log_enabled = 0;
    assert(dart_init(NULL, NULL) == DART_OK);
    assert(dart_size(&units) == DART_OK && units <= UNITS_MAX);
    assert(dart_myid(&id) == DART_OK);
    me = id.id;
    reductions();
    own_operations();
    movement();
    mixed(1);
    mixed(500);
    mixed(50000);
    nothing_and_wrong();
    messages();
    types();
    if (units == 1)
        large();
    assert(dart_exit() == DART_OK);
    if (me == 0)
        printf("ok\n");
    return 0;
}
