/*
 * Mistakes.  The last worker makes each; the others wait in a barrier for what
 * never comes.  The job must end with a line that names the place.
 */
#include "myrmics_semantics.h"

static int is_culprit(void)
{
    return me == workers - 1;
}

static void free_out_of_range(void)
{
    int local = 0;

    if (is_culprit())
        sys_free((void *)((uintptr_t)&local & ~(uintptr_t)63));
}

static void free_misaligned(void)
{
    if (is_culprit())
        sys_free((char *)sys_alloc(128, 0) + 8);
}

static void free_not_allocated(void)
{
    if (is_culprit())
        sys_free((char *)sys_alloc(128, sys_ralloc(0, 0)) + 64);
}

static void free_twice(void)
{
    void *object, *other;

    if (!is_culprit())
        return;
    object = sys_alloc(128, 0);
    other = sys_alloc(128, 0);
    sys_free(object);
    (void)other;
    sys_free(object);
}

/* In a region that is used much. */
static void free_twice_later(void)
{
    void *object = NULL;
    rid_t region;

    if (!is_culprit())
        return;
    region = sys_ralloc(0, 0);
    for (int i = 0; i < 2000; i++) {
        object = sys_alloc(128, region);
        sys_free(object);
    }
    sys_free(object);
}

static void alloc_bad_region(void)
{
    if (is_culprit())
        sys_alloc(64, 123456);
}

static void ralloc_bad_parent(void)
{
    if (is_culprit())
        sys_ralloc(0xfffffff0u, 0);
}

static void region_one(void)
{
    if (is_culprit())
        sys_alloc(64, 1);
}

static void rfree_twice(void)
{
    rid_t region;

    if (!is_culprit())
        return;
    region = sys_ralloc(0, 0);
    sys_rfree(region);
    sys_rfree(region);
}

static void rfree_by_two(void)
{
    rid_t region = me == 0 ? sys_ralloc(0, 0) : 0;

    MPI_Bcast(&region, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
    if (me == 0)
        sys_rfree(region);
    sys_barrier();
    if (is_culprit())
        sys_rfree(region);
}

static void rfree_root(void)
{
    if (is_culprit())
        sys_rfree(0);
}

static void subregion_gone(void)
{
    rid_t region, sub;

    if (!is_culprit())
        return;
    region = sys_ralloc(0, 99);
    sub = sys_ralloc(region, 0);
    sys_rfree(region);
    sys_alloc(64, sub);
}

static void send_freed(void)
{
    rid_t region;

    if (!is_culprit())
        return;
    region = sys_ralloc(0, 0);
    sys_rfree(region);
    sys_send(region, 0);
}

static void send_bad_worker(void)
{
    if (is_culprit())
        sys_send(0, workers);
}

static void recv_bad_worker(void)
{
    if (is_culprit())
        sys_recv(0, -1);
}

static void recv_other_region(void)
{
    rid_t region, other;

    if (!is_culprit())
        return;
    region = sys_ralloc(0, 0);
    other = sys_ralloc(0, 0);
    sys_send(region, me);
    sys_recv(other, me);
}

static void balloc_no_size(void)
{
    void *objects[2];

    if (is_culprit())
        sys_balloc(0, 0, 2, objects);
}

static void balloc_one(void)
{
    void *objects[2];

    if (is_culprit())
        sys_balloc(64, 0, 1, objects);
}

static void balloc_no_array(void)
{
    if (is_culprit())
        sys_balloc(64, 0, 2, NULL);
}

static void realloc_bad_region(void)
{
    if (is_culprit())
        sys_realloc(sys_alloc(64, 0), 128, 123456);
}

static void realloc_not_allocated(void)
{
    if (is_culprit())
        sys_realloc((char *)sys_alloc(128, sys_ralloc(0, 0)) + 64, 128, 0);
}

static void out_of_memory(void)
{
    if (is_culprit())
        sys_alloc((size_t)1 << 46, 0);
}

/* As many as there is room for. */
static void no_memory_left(void)
{
    rid_t region;

    if (!is_culprit())
        return;
    region = sys_ralloc(0, 0);
    for (;;)
        sys_alloc(100000, region);
}

static void free_null(void)
{
    if (is_culprit())
        sys_free(NULL);
}

static void alloc_none_bad_region(void)
{
    if (is_culprit())
        sys_alloc(0, 123456);
}

static void user_error(void)
{
    sys_barrier();
    if (is_culprit())
        sys_error("the program says %d", 42);
}

static void user_assert(void)
{
    if (is_culprit())
        sys_assert(me < 0);
}

static void user_abort(void)
{
    if (is_culprit())
        sys_abort();
}

const struct scenario error_scenarios[] = {
    {"free_out_of_range", free_out_of_range},
    {"free_misaligned", free_misaligned},
    {"free_not_allocated", free_not_allocated},
    {"free_twice", free_twice},
    {"free_twice_later", free_twice_later},
    {"alloc_bad_region", alloc_bad_region},
    {"ralloc_bad_parent", ralloc_bad_parent},
    {"region_one", region_one},
    {"rfree_twice", rfree_twice},
    {"rfree_by_two", rfree_by_two},
    {"rfree_root", rfree_root},
    {"subregion_gone", subregion_gone},
    {"send_freed", send_freed},
    {"send_bad_worker", send_bad_worker},
    {"recv_bad_worker", recv_bad_worker},
    {"recv_other_region", recv_other_region},
    {"balloc_no_size", balloc_no_size},
    {"balloc_one", balloc_one},
    {"balloc_no_array", balloc_no_array},
    {"realloc_bad_region", realloc_bad_region},
    {"realloc_not_allocated", realloc_not_allocated},
    {"out_of_memory", out_of_memory},
    {"no_memory_left", no_memory_left},
    {"free_null", free_null},
    {"alloc_none_bad_region", alloc_none_bad_region},
    {"user_error", user_error},
    {"user_assert", user_assert},
    {"user_abort", user_abort},
    {NULL, NULL},
};
