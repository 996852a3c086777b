/*
 * The same mistakes as check_objects.c with the Myrmics calls, where each worker
 * has data of its own, or with DRASYNC_MYRMICS=move.
 *
 *   myrmics_objects WHAT     see tests/bats/check_objects.bats, and
 *                            check_pointers.bats for points_out
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "myrmics_check.h"

#define NOINLINE __attribute__((noinline))
#define KEEP     __asm__ volatile("")

#define BYTES 100

static const char *what;
static char *objects[10];
static rid_t top;

static int is(const char *name)
{
    return !strcmp(what, name);
}

NOINLINE static void *make_object(rid_t r)
{
    void *made = sys_alloc(BYTES, r);

    KEEP;
    return made;
}

NOINLINE static void make(void)
{
    top = sys_ralloc(0, 0);
    for (int i = 0; i < 10; i++)
        objects[i] = make_object(top);
}

/* What it calls the region itself. */
static void say_top(void)
{
    printf("the region is %u\n", top);
    fflush(stdout);
}

NOINLINE static void free_object(void *object)
{
    sys_free(object);
    KEEP;
}

NOINLINE static void spoil(char *object, size_t from, size_t count)
{
    memset(object + from, 7, count);
    KEEP;
}

NOINLINE static void go_wrong(void)
{
    if (is("past_free")) {
        spoil(objects[1], BYTES, 4);
        free_object(objects[1]);
    }
    if (is("past_send") || is("past_delete"))
        spoil(objects[1], BYTES, 4);
    if (is("points_out"))
        *(void **)(objects[1] + 8) = malloc(BYTES);
    if (is("past_send") || is("points_out"))
        sys_send(top, workers - 1);
    if (is("freed")) {
        free_object(objects[2]);
        spoil(objects[2], 8, 2);
    }
    if (is("twice")) {
        free_object(objects[3]);
        free_object(objects[3]);
    }
    KEEP;
}

/* The last worker frees an object of worker 0, which frees it too. */
NOINLINE static void free_by_two(void)
{
    if (me == 0) {
        make();
        say_top();
        sys_send(top, workers - 1);
    } else if (me == workers - 1) {
        top = sys_recv(0, 0);
    }
    MPI_Bcast(objects, sizeof(objects), MPI_BYTE, 0, MPI_COMM_WORLD);
    if (me == workers - 1)
        free_object(objects[4]);
    sys_barrier();
    if (me == 0)
        free_object(objects[4]);
    sys_barrier();
}

NOINLINE static void delete_top(void)
{
    sys_rfree(top);
    KEEP;
}

/* Nothing wrong: sizes of all kinds, of two workers, sent to and fro. */
NOINLINE static void tidy(void)
{
    static char *mine[300];
    unsigned seed = (unsigned)me + 1;
    rid_t r = sys_ralloc(0, 0);

    for (int i = 0; i < 6000; i++) {
        unsigned at = (seed = seed * 1103515245 + 12345) >> 8;
        char **slot = &mine[at % 300];
        size_t size = 1 + (at >> 4) % ((at & 15) == 0 ? 600000 : 2000);

        if (*slot && at % 3)
            *slot = sys_realloc(*slot, size, r);
        else if (*slot)
            sys_free(*slot), *slot = NULL;
        else
            *slot = sys_alloc(size, r);
        if (*slot)
            memset(*slot, i, size);
        if (i % 1000 == 999) {
            sys_send(r, (me + 1) % workers);
            sys_recv(0, (me + workers - 1) % workers);
        }
    }
    sys_barrier();
    sys_rfree(r);
}

int main(int argc, char **argv)
{
    what = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &workers);
    if (is("tidy")) {
        tidy();
    } else if (is("by_two")) {
        free_by_two();
    } else if (me == 0) {
        make();
        say_top();
        go_wrong();
        if (!is("left"))
            delete_top();
    }
    MPI_Finalize();
    if (me == 0)
        printf("over\n");
    return 0;
}
