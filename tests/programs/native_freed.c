/*
 * With DRASYNC_MEMORY=64M: what was freed in one region is there for objects of
 * another size, and for other regions; what was not freed stays as it is.
 */
#include "native_check.h"

#include <stdbool.h>

#define OBJECTS_MAX 1000000
#define BLOCK       ((size_t)1 << 20)

static uint64_t *object[OBJECTS_MAX];

/* Allocate objects of @bytes in @r until there is no memory; how many. */
static int fill(drasync_region_t r, size_t bytes)
{
    int count = 0, err;
    void *v;

    while ((err = drasync_alloc(r, bytes, &v)) == 0) {
        CHECK(count < OBJECTS_MAX);
        object[count] = v;
        object[count][0] = (uint64_t)count;
        object[count][1] = bytes;
        count++;
    }
    CODE(err, DRASYNC_ENOMEM);
    return count;
}

/* Free objects [@from, @count) of those. */
static void empty(int from, int count)
{
    for (int i = from; i < count; i++)
        OK(drasync_free(object[i]));
}

static void verify(int count, size_t bytes)
{
    for (int i = 0; i < count; i++)
        CHECK(object[i][0] == (uint64_t)i && object[i][1] == bytes);
}

/* The first @kept objects of a region stay, and the others' memory serves
 * @to, which may be the same region. */
static void serve(drasync_region_t from, drasync_region_t to, size_t bytes,
                  int kept, bool held)
{
    int count = fill(from, bytes);
    uint64_t *block[64];
    void *v;

    CHECK((size_t)count * bytes > 16 * BLOCK);
    empty(kept, count);
    if (!held)
        OK(drasync_release(from));
    for (int i = 0; i < 16; i++) {
        OK(drasync_alloc(to, i % 2 ? BLOCK : 10000, &v));
        block[i] = v;
        memset(v, i, i % 2 ? BLOCK : 10000);
    }
    if (!held)
        OK(drasync_acquire(from, DRASYNC_WRITE));
    verify(kept, bytes);
    for (int i = 0; i < 16; i++) {
        CHECK(*(char *)block[i] == i);
        OK(drasync_free(block[i]));
    }
    empty(0, kept);
}

/* A region may be small, then large, and small again; and is deleted. */
static void alone(void)
{
    drasync_region_t a, b, below;

    OK(drasync_new_region(&a));
    OK(drasync_new_region(&b));
    OK(drasync_new_subregion(a, &below));
    for (int round = 0; round < 2; round++) {
        serve(a, a, 100, 10, true);
        serve(a, b, 5000, 10, true);
        serve(a, b, 1000, 10, false);
        serve(below, b, 300, 10, true);
        serve(b, below, 50000, 3, true);
        serve(b, a, 2 * BLOCK, 1, true);
    }
    OK(drasync_delete(a));
    OK(drasync_delete(b));
}

/* New regions find memory that others have freed. */
static void for_regions(void)
{
    drasync_region_t a, many[200];
    int count;
    void *v;

    OK(drasync_new_region(&a));
    count = fill(a, 3000);
    CODE(drasync_alloc(a, BLOCK, &v), DRASYNC_ENOMEM);
    empty(1, count);
    for (int i = 0; i < 200; i++) {
        OK(drasync_new_region(&many[i]));
        OK(drasync_alloc(many[i], 40000, &v));
    }
    for (int i = 0; i < 200; i++)
        OK(drasync_delete(many[i]));
    OK(drasync_delete(a));
}

/* A region goes to the others, and comes back with what it has then. */
static void together(void)
{
    drasync_region_t a = NULL, b;
    void *v;

    if (check_rank == 0) {
        OK(drasync_new_region(&a));
        OK(drasync_new_region(&b));
        serve(a, b, 2000, 0, true);
        OK(drasync_alloc(a, 100, &v));
        strcpy(v, "here");
        OK(drasync_set_root(a, v));
        OK(drasync_release(a));
        OK(drasync_delete(b));
    }
    check_share(&a, 0);
    for (int rank = 1; rank < check_ranks; rank++) {
        if (rank == check_rank) {
            OK(drasync_acquire(a, DRASYNC_WRITE));
            OK(drasync_get_root(a, &v));
            CHECK(!strcmp(v, "here"));
            for (int i = 0; i < 20; i++)
                OK(drasync_alloc(a, 100000, (void **)&object[i]));
            empty(0, 20);
            OK(drasync_release(a));
        }
        check_barrier();
    }
    if (check_rank == 0) {
        OK(drasync_acquire(a, DRASYNC_WRITE));
        OK(drasync_get_root(a, &v));
        CHECK(!strcmp(v, "here"));
        for (int i = 0; i < 10000; i++)
            OK(drasync_alloc(a, 700, (void **)&object[i]));
        empty(0, 10000);
        /* Where others know of it, it keeps what it has. */
        OK(drasync_new_region(&b));
        fill(b, 100000);
        OK(drasync_delete(b));
        OK(drasync_release(a));
    }
    check_barrier();
    OK(drasync_acquire(a, DRASYNC_READ));
    OK(drasync_get_root(a, &v));
    CHECK(!strcmp(v, "here"));
    OK(drasync_release(a));
    check_barrier();
    if (check_rank == 0)
        OK(drasync_delete(a));
    check_barrier();
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int rank = 0; rank < check_ranks; rank++) {
        if (rank == check_rank) {
            alone();
            for_regions();
        }
        check_barrier();
    }
    together();
    return check_end("freed");
}
