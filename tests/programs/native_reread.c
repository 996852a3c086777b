/*
 * A region that is read again and again by other nodes while it changes here
 * and there: what they see is right, and where only a little changed, only a
 * little is sent.
 *
 * native_reread        every rank a node; 3 ranks or more
 */
#include <stdbool.h>

#include "native_check.h"

#define PAGE   4096
#define BLOCKS 512
#define BYTES  ((size_t)BLOCKS * PAGE)

struct header {
    uint64_t round, blocks;
    unsigned char *block[2 * BLOCKS];
    unsigned char fill[2 * BLOCKS]; /* while it is raced for */
};

static uint64_t state = 1;

static uint32_t number(uint32_t below)
{
    state = state * UINT64_C(6364136223846793005) + 1;
    return (uint32_t)(state >> 33) % below;
}

/* What block @i is filled with; every rank computes the same. */
static unsigned char fill_of[2 * BLOCKS];
static uint64_t blocks_now;

/* The changes of a round; they are applied to the region if @h. */
static void change(struct header *h, uint32_t times)
{
    for (uint32_t n = 0; n < times; n++) {
        uint32_t i = number((uint32_t)blocks_now);

        fill_of[i]++;
        if (h)
            memset(h->block[i], fill_of[i], PAGE);
    }
}

static void grow(drasync_region_t r, struct header *h, uint32_t count)
{
    for (uint32_t n = 0; n < count; n++) {
        void *v = NULL;

        fill_of[blocks_now] = (unsigned char)(blocks_now % 251);
        if (h) {
            OK(drasync_alloc(r, PAGE, &v));
            memset(v, fill_of[blocks_now], PAGE);
            h->block[blocks_now] = v;
            h->blocks = blocks_now + 1;
        }
        blocks_now++;
    }
}

static void verify(drasync_region_t r, uint64_t round)
{
    struct header *h;
    void *v;

    OK(drasync_get_root(r, &v));
    h = v;
    CHECK(h->round == round && h->blocks == blocks_now);
    for (uint64_t i = 0; i < blocks_now; i++)
        for (size_t n = 0; n < PAGE; n++)
            CHECK(h->block[i][n] == fill_of[i]);
}

static uint64_t received(void)
{
    struct drasync_stats stats;

    OK(drasync_get_stats(&stats));
    return stats.bytes_received;
}

/* What one rank has written before it came here, all see. */
static void seen_by_all(drasync_region_t r, uint64_t round)
{
    check_barrier();
    OK(drasync_acquire(r, DRASYNC_READ));
    verify(r, round);
    OK(drasync_release(r));
    check_barrier();
}

/* Rank @writer changes @times blocks and adds @more; the others read. */
static void round_of(drasync_region_t r, uint64_t round, int writer,
                     uint32_t times, uint32_t more)
{
    bool mine = writer == check_rank;
    struct header *h = NULL;
    void *v;

    if (mine) {
        OK(drasync_acquire(r, DRASYNC_WRITE));
        OK(drasync_get_root(r, &v));
        h = v;
        h->round = round;
    }
    change(h, times);
    grow(r, h, more);
    if (mine)
        OK(drasync_release(r));
    seen_by_all(r, round);
}

/* A reader keeps the old version while the others get the new one. */
static void held_while_changed(drasync_region_t r, uint64_t round)
{
    unsigned char old[2 * BLOCKS];
    bool keeps = check_rank == check_ranks - 1;
    struct header *h;
    void *v;

    memcpy(old, fill_of, sizeof(old));
    if (keeps)
        OK(drasync_acquire(r, DRASYNC_READ));
    check_barrier();
    if (!keeps) {
        round_of(r, round, 0, 20, 0);
    } else {
        change(NULL, 20);
        check_barrier();
        OK(drasync_get_root(r, &v));
        h = v;
        CHECK(h->round == round - 1);
        for (uint64_t i = 0; i < blocks_now; i++)
            CHECK(h->block[i][0] == old[i] && h->block[i][PAGE - 1] == old[i]);
        check_barrier();
        OK(drasync_release(r));
        OK(drasync_acquire(r, DRASYNC_READ));
        verify(r, round);
        OK(drasync_release(r));
    }
    check_barrier();
}

/* WRITE is taken and nothing is written: nothing has to be sent. */
static void nothing_written(drasync_region_t r, uint64_t round)
{
    for (int i = 0; i < 4; i++) {
        if (check_rank == 0) {
            OK(drasync_acquire(r, DRASYNC_WRITE));
            OK(drasync_release(r));
        }
        seen_by_all(r, round);
    }
}

static void race_write(drasync_region_t r, struct header *h)
{
    OK(drasync_acquire(r, DRASYNC_WRITE));
    if (h->blocks < 2 * BLOCKS && number(8) == 0) {
        h->fill[h->blocks] = 0;
        grow(r, h, 1);
        memset(h->block[h->blocks - 1], 0, PAGE);
    }
    for (uint32_t n = number(6); n; n--) {
        uint32_t i = number((uint32_t)h->blocks);

        memset(h->block[i], ++h->fill[i], PAGE);
    }
    h->round++;
    OK(drasync_release(r));
}

static void race_read(drasync_region_t r, uint64_t *last)
{
    struct header *h;
    void *v;

    OK(drasync_acquire(r, DRASYNC_READ));
    OK(drasync_get_root(r, &v));
    h = v;
    CHECK(h->round >= *last);
    *last = h->round;
    for (uint64_t i = 0; i < h->blocks; i++)
        for (size_t n = 0; n < PAGE; n += 64)
            CHECK(h->block[i][n] == h->fill[i]);
    OK(drasync_release(r));
}

/* Nobody waits: the owner writes again, and the region grows, while what it
 * shipped before is still under way. */
static void race(drasync_region_t r)
{
    struct header *h = NULL;
    uint64_t last = 0;
    void *v;

    if (check_rank == 0) {
        OK(drasync_acquire(r, DRASYNC_WRITE));
        OK(drasync_get_root(r, &v));
        h = v;
        memcpy(h->fill, fill_of, sizeof(h->fill));
        OK(drasync_release(r));
    }
    check_barrier();
    for (int i = 0; i < 150; i++) {
        if (check_rank == 0)
            race_write(r, h);
        else
            race_read(r, &last);
    }
    check_barrier();
}

int main(int argc, char **argv)
{
    drasync_region_t r = NULL;
    uint64_t round = 1, before, i;
    struct header *h = NULL;
    void *v;

    check_start(&argc, &argv);
    CHECK(check_ranks > 2);
    if (check_rank == 0) {
        OK(drasync_new_region(&r));
        OK(drasync_alloc(r, sizeof(*h), &v));
        h = v;
        memset(h, 0, sizeof(*h));
        OK(drasync_set_root(r, h));
    }
    grow(r, h, BLOCKS);
    if (check_rank == 0)
        OK(drasync_release(r));
    check_share(&r, 0);

    /* The owner comes to know what the others keep. */
    for (i = 0; i < 4; i++)
        round_of(r, round++, 0, 5, 0);
    before = received();
    for (i = 0; i < 10; i++)
        round_of(r, round++, 0, 5, 0);
    /* Ten times all of it would be ten times BYTES; what is counted may be late
     * by one. */
    if (check_rank && argc > 1 && !strcmp(argv[1], "less"))
        CHECK(received() - before < 3 * BYTES);

    held_while_changed(r, round++);
    for (i = 0; i < 30; i++)
        round_of(r, round++, (int)(i % (uint64_t)check_ranks), number(40),
                 number(8));
    /* Everything changes; then little again. */
    for (i = 0; i < 6; i++)
        round_of(r, round++, 0, 8 * BLOCKS, 0);
    for (i = 0; i < 20; i++)
        round_of(r, round++, (int)number((uint32_t)check_ranks), 3, 0);
    nothing_written(r, round - 1);
    race(r);
    if (check_rank == 0)
        OK(drasync_delete(r));
    return check_end("reread");
}
