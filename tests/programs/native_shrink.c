/*
 * A region whose large objects come and go, changed by all ranks in turn, while
 * some of them still read older versions: every version that anybody reads is
 * whole, and what was freed is not sent.
 *
 * native_shrink SEED         3 ranks or more
 * native_shrink SEED less    every rank a node: looks at what is sent as well
 */
#include <stdbool.h>

#include "native_check.h"

#define SLOTS  10
#define BIG    ((size_t)8 << 20)
#define ROUNDS 120

/* An object is filled with numbers that follow from `seed`, which changes with
 * each change of it. */
struct object {
    uint64_t *data;
    uint64_t words, seed;
};

struct header {
    uint64_t round;
    struct object object[SLOTS];
};

static uint64_t state;

/* The same on every rank, if all call it as often. */
static uint32_t number(uint32_t below)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

static uint64_t word_of(const struct object *o, uint64_t i)
{
    return (o->seed + i) * UINT64_C(0x9E3779B97F4A7C15);
}

static void fill(struct object *o, uint64_t from)
{
    for (uint64_t i = from; i < o->words; i++)
        o->data[i] = word_of(o, i);
}

static struct header *header_of(drasync_region_t r)
{
    void *v;

    OK(drasync_get_root(r, &v));
    return v;
}

/* One without objects, held for WRITE. */
static drasync_region_t region_new(void)
{
    drasync_region_t r;
    void *v;

    OK(drasync_new_region(&r));
    OK(drasync_alloc(r, sizeof(struct header), &v));
    memset(v, 0, sizeof(struct header));
    OK(drasync_set_root(r, v));
    return r;
}

static void verify(const struct header *h)
{
    for (int n = 0; n < SLOTS; n++) {
        const struct object *o = &h->object[n];

        for (uint64_t i = 0; o->data && i < o->words; i++)
            CHECK(o->data[i] == word_of(o, i));
    }
}

/* From 1 KiB to 1 MiB, most of them with an extent of their own. */
static uint64_t words(uint32_t random)
{
    return random % 4 == 0 ? 128 + random % 4096 : 32768 + random % 98304;
}

/* Allocate, free, resize or fill anew, as @random says. */
static void change(drasync_region_t r, struct object *o, uint32_t random)
{
    uint64_t old = o->data ? o->words : 0;
    void *v = NULL;

    if (!o->data) {
        o->words = words(random >> 4);
        OK(drasync_alloc(r, o->words * 8, &v));
        o->data = v;
        old = 0;
        o->seed += 7;
    } else if (random % 4 == 0) {
        o->words = words(random >> 4);
        OK(drasync_realloc(o->data, o->words * 8, NULL, &v));
        o->data = v;
    } else if (random % 4 == 1) {
        o->seed += 7;
        old = 0;
    } else {
        OK(drasync_free(o->data));
        o->data = NULL;
        return;
    }
    fill(o, old);
}

/* All make the same draws; the writer follows them. */
static void write_round(drasync_region_t r, uint64_t round, bool mine)
{
    uint32_t changes = 1 + number(4);
    struct header *h = NULL;

    if (mine) {
        OK(drasync_acquire(r, DRASYNC_WRITE));
        h = header_of(r);
        verify(h);
        CHECK(h->round == round - 1);
        h->round = round;
    }
    for (uint32_t i = 0; i < changes; i++) {
        uint32_t n = number(SLOTS), random = number(UINT32_MAX);

        if (mine)
            change(r, &h->object[n], random);
    }
    if (mine)
        OK(drasync_release(r));
}

static void read_now(drasync_region_t r, uint64_t round)
{
    OK(drasync_acquire(r, DRASYNC_READ));
    CHECK(header_of(r)->round == round);
    verify(header_of(r));
    OK(drasync_release(r));
}

/* One rank keeps a version for some rounds in which others write and read. */
static uint64_t rounds_of(drasync_region_t r, uint64_t round, uint32_t count)
{
    int keeper = (int)number((uint32_t)check_ranks);
    bool keeps = keeper == check_rank;
    uint64_t kept = round;

    if (keeps)
        OK(drasync_acquire(r, DRASYNC_READ));
    check_barrier();
    for (uint32_t i = 0; i < count; i++) {
        int writer =
            (keeper + 1 + (int)number((uint32_t)check_ranks - 1)) % check_ranks;
        uint32_t readers = number(1u << check_ranks);

        write_round(r, ++round, writer == check_rank);
        check_barrier();
        if (!keeps && readers >> check_rank & 1)
            read_now(r, round);
        check_barrier();
    }
    if (keeps) {
        CHECK(header_of(r)->round == kept);
        verify(header_of(r));
        OK(drasync_release(r));
        read_now(r, round);
    }
    check_barrier();
    return round;
}

static uint64_t received(void)
{
    struct drasync_stats stats;

    check_barrier(); /* what is counted may be late by one message */
    OK(drasync_get_stats(&stats));
    return stats.bytes_received;
}

/* What rank 0 had there and freed, none of the others is sent. */
static void freed_before_the_first(bool counts)
{
    drasync_region_t r = NULL;
    uint64_t before;
    void *big;

    if (check_rank == 0) {
        r = region_new();
        OK(drasync_alloc(r, BIG, &big));
        memset(big, 1, BIG);
        OK(drasync_free(big));
        OK(drasync_release(r));
    }
    check_share(&r, 0);
    before = received();
    read_now(r, 0);
    if (counts)
        CHECK(received() - before < BIG / 8);
    else
        received();
    if (check_rank == 0)
        OK(drasync_delete(r));
}

/* An object is freed, and made anew with what was in it before: who READ the
 * version without it gets it again. */
static void freed_and_filled(void)
{
    drasync_region_t r = NULL;
    struct header *h;
    void *v;

    if (check_rank == 0) {
        r = region_new();
        OK(drasync_release(r));
    }
    check_share(&r, 0);
    for (uint64_t round = 1; round < 12; round++) {
        if (check_rank == (int)(round / 4) % check_ranks) {
            OK(drasync_acquire(r, DRASYNC_WRITE));
            h = header_of(r);
            h->round = round;
            if (h->object[0].data) {
                OK(drasync_free(h->object[0].data));
                h->object[0].data = NULL;
            } else {
                h->object[0].words = 65536;
                OK(drasync_alloc(r, 65536 * 8, &v));
                h->object[0].data = v;
                fill(&h->object[0], 0);
            }
            OK(drasync_release(r));
        }
        check_barrier();
        if (round % 3 != (uint64_t)check_rank % 3)
            read_now(r, round);
        check_barrier();
    }
    if (check_rank == 0)
        OK(drasync_delete(r));
}

int main(int argc, char **argv)
{
    drasync_region_t r = NULL;
    uint64_t round = 0;

    check_start(&argc, &argv);
    CHECK(check_ranks > 2 && argc > 1);
    state = strtoull(argv[1], NULL, 10);
    freed_before_the_first(argc > 2 && !strcmp(argv[2], "less"));
    freed_and_filled();
    if (check_rank == 0) {
        r = region_new();
        OK(drasync_release(r));
    }
    check_share(&r, 0);
    while (round < ROUNDS)
        round = rounds_of(r, round, 1 + number(6));
    if (check_rank == 0)
        OK(drasync_delete(r));
    return check_end("shrink");
}
