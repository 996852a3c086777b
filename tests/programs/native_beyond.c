/*
 * With DRASYNC_MEMORY=64M, four ranks, each a node: more data than a node has
 * memory is made by one of them, changed by the others, read by all and deleted,
 * again and again.  Only what is held has to fit.
 */
#include "native_check.h"

#define REGIONS    20
#define WORDS      ((size_t)4 << 17) /* 4 MiB */
#define WORDS_PART ((size_t)1 << 17)
#define ROUNDS     3
#define HOLLOW     12 /* regions of 12 MiB */

struct root {
    uint64_t *words, *part; /* in the region, and in the one below it */
    drasync_region_t below;
};

static drasync_region_t regions[REGIONS];

static void fill(uint64_t *words, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        words[i] = (seed + i) * UINT64_C(0x9E3779B97F4A7C15);
}

static void look(const uint64_t *words, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        CHECK(words[i] == (seed + i) * UINT64_C(0x9E3779B97F4A7C15));
}

static struct root *root_of(drasync_region_t r)
{
    void *v;

    OK(drasync_get_root(r, &v));
    return v;
}

static void name_of(char name[16], int i)
{
    snprintf(name, 16, "region %d", i);
}

/* Held for WRITE. */
static void write_all(drasync_region_t r, uint64_t seed)
{
    struct root *root = root_of(r);

    fill(root->words, WORDS, seed);
    fill(root->part, WORDS_PART, seed + 1);
}

static void make(int i)
{
    struct root *root;
    char name[16];
    void *v;

    OK(drasync_new_region(&regions[i]));
    OK(drasync_alloc(regions[i], sizeof(*root), &v));
    root = v;
    OK(drasync_new_subregion(regions[i], &root->below));
    OK(drasync_alloc(regions[i], WORDS * 8, &v));
    root->words = v;
    OK(drasync_alloc(root->below, WORDS_PART * 8, &v));
    root->part = v;
    OK(drasync_set_root(regions[i], root));
    write_all(regions[i], 7);
    name_of(name, i);
    OK(drasync_publish(name, regions[i]));
}

static int owner_of(int i)
{
    return 1 + i % (check_ranks - 1);
}

/* Rank 0 makes one after the other, and who is to have it takes it. */
static void spread(void)
{
    for (int i = 0; i < REGIONS; i++) {
        int to = owner_of(i);

        if (check_rank == 0)
            make(i);
        check_share(&regions[i], 0);
        if (check_rank == 0)
            OK(drasync_give(regions[i], to, i));
        if (check_rank == to) {
            drasync_region_t given;

            OK(drasync_take(0, i, DRASYNC_FOREVER, &given, NULL));
            CHECK(given == regions[i]);
            look(root_of(given)->words, WORDS, 7);
            write_all(given, 100 + (uint64_t)i);
            OK(drasync_release(given));
        }
        check_barrier();
    }
}

static void read_all(uint64_t seed)
{
    for (int i = 0; i < REGIONS; i++) {
        struct root *root;

        OK(drasync_acquire(regions[i], DRASYNC_READ));
        root = root_of(regions[i]);
        look(root->words, WORDS, seed + (uint64_t)i);
        look(root->part, WORDS_PART, seed + 1 + (uint64_t)i);
        OK(drasync_release(regions[i]));
    }
    check_barrier();
}

/* Each changes some that another one has. */
static void change(void)
{
    for (int i = 0; i < REGIONS; i++)
        if (i % 4 == 0 && check_rank == owner_of(i + 1)) {
            OK(drasync_acquire(regions[i], DRASYNC_WRITE));
            write_all(regions[i], 100 + (uint64_t)i);
            OK(drasync_release(regions[i]));
        }
    check_barrier();
}

static void delete_all(int by)
{
    char name[16];
    drasync_region_t found;
    int err;

    for (int i = 0; i < REGIONS && check_rank == by; i++) {
        OK(drasync_acquire(regions[i], DRASYNC_WRITE));
        OK(drasync_delete(regions[i]));
    }
    check_barrier();
    for (int i = 0; i < REGIONS; i++) {
        name_of(name, i);
        /* Its home tells the manager, in a message. */
        do
            err = drasync_lookup(name, 0, &found);
        while (err == 0);
        CODE(err, DRASYNC_EAGAIN);
    }
    check_barrier();
}

/* In one of three ways. */
static void acquire(drasync_region_t r, int how)
{
    drasync_request_t request;
    int done = 0;

    if (how % 3 == 0) {
        OK(drasync_acquire(r, DRASYNC_READ));
        return;
    }
    OK(drasync_iacquire(r, DRASYNC_READ, &request));
    if (how % 3 == 1)
        OK(drasync_wait(&request, DRASYNC_FOREVER));
    while (how % 3 == 2 && !done)
        OK(drasync_test(&request, &done));
}

/* Of what was freed little is sent, but it has its place. */
static void hollow(void)
{
    for (int i = 0; i < HOLLOW; i++) {
        int from = i % 3;
        void *v;

        if (check_rank == from) {
            OK(drasync_new_region(&regions[i]));
            OK(drasync_alloc(regions[i], (size_t)12 << 20, &v));
            OK(drasync_free(v));
            OK(drasync_alloc(regions[i], 8, &v));
            *(int *)v = i;
            OK(drasync_set_root(regions[i], v));
            OK(drasync_release(regions[i]));
        }
        check_share(&regions[i], from);
        if (check_rank == 3) {
            acquire(regions[i], i);
            OK(drasync_get_root(regions[i], &v));
            CHECK(*(int *)v == i);
            OK(drasync_release(regions[i]));
        }
    }
    check_barrier();
    for (int i = 0; i < HOLLOW; i++)
        if (check_rank == i % 3)
            OK(drasync_delete(regions[i]));
    check_barrier();
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int round = 0; round < ROUNDS; round++) {
        spread();
        read_all(100);
        change();
        read_all(100);
        delete_all(round % check_ranks);
    }
    hollow();
    return check_end("beyond");
}
