/*
 * Regions of which a few words change, in hands of ranks of several nodes: what
 * each finds is right, and where little changed, little was sent.
 *
 * native_diff SEED        every rank a node; 2 ranks or more
 * native_diff SEED scarce without memory for that: all may be sent
 */
#include <stdbool.h>
#include <stdlib.h>

#include "native_check.h"

#define REGIONS 6
#define ROUNDS  300

/* All ranks compute what the words are, by the same random numbers. */
static uint64_t state;

static uint32_t number(uint32_t below)
{
    state = state * UINT64_C(6364136223846793005) + 1;
    return (uint32_t)(state >> 33) % below;
}

struct block {
    struct block *next;
    uint64_t words;
    uint32_t word[]; /* half words: what changes need not be aligned */
};

struct header {
    struct block *first;
    uint64_t round;
};

/* A region, and what is in it. */
struct kept {
    drasync_region_t region;
    uint64_t round;
    uint32_t **block; /* the newest last */
    uint64_t *words;
    uint64_t blocks;
};

static struct kept kept[REGIONS];

static void add_block(struct kept *k, struct header *h, uint64_t words)
{
    uint32_t *copy = calloc(words, sizeof(*copy));

    CHECK(copy != NULL);
    k->block = realloc(k->block, (k->blocks + 1) * sizeof(*k->block));
    k->words = realloc(k->words, (k->blocks + 1) * sizeof(*k->words));
    CHECK(k->block && k->words);
    for (uint64_t i = 0; i < words; i++)
        copy[i] = number(4);
    k->block[k->blocks] = copy;
    k->words[k->blocks++] = words;
    if (h) {
        struct block *b;
        void *v;

        OK(drasync_alloc(k->region, sizeof(*b) + words * sizeof(b->word[0]),
                         &v));
        b = v;
        b->next = h->first;
        b->words = words;
        memcpy(b->word, copy, words * sizeof(b->word[0]));
        h->first = b;
    }
}

static struct block *block_at(struct header *h, uint64_t from_newest)
{
    struct block *b = h->first;

    while (from_newest--)
        b = b->next;
    return b;
}

/* Some words, one here and there, or a run of them; many get a value that they
 * had before. */
static void change(struct kept *k, struct header *h)
{
    uint32_t times = number(4) ? number(20) : number(2000);
    uint32_t length = number(3) ? 1 : 1 + number(300);

    for (uint32_t n = 0; n < times && k->blocks; n++) {
        uint64_t b = number((uint32_t)k->blocks);
        uint64_t at = number((uint32_t)k->words[b]);

        for (uint64_t i = at; i < at + length && i < k->words[b]; i++) {
            k->block[b][i] = (k->block[b][i] + 1 + n) % 4;
            if (h)
                block_at(h, k->blocks - 1 - b)->word[i] = k->block[b][i];
        }
    }
}

static void verify(const struct kept *k)
{
    struct header *h;
    struct block *b;
    void *v;

    OK(drasync_get_root(k->region, &v));
    h = v;
    CHECK(h->round == k->round);
    b = h->first;
    for (uint64_t i = k->blocks; i-- > 0; b = b->next) {
        CHECK(b->words == k->words[i]);
        CHECK(!memcmp(b->word, k->block[i], b->words * sizeof(b->word[0])));
    }
    CHECK(!b);
}

/* One rank writes, some read, and the next round may be another's. */
static void round_of(struct kept *k)
{
    int writer = (int)number((uint32_t)check_ranks);
    uint32_t readers = number(1u << check_ranks);
    bool grows = number(8) == 0 || !k->blocks, empty = number(10) == 0;
    struct header *h = NULL;
    uint64_t words = 8 + number(number(4) ? 3000 : 60000);
    void *v;

    if (writer == check_rank) {
        OK(drasync_acquire(k->region, DRASYNC_WRITE));
        verify(k);
        OK(drasync_get_root(k->region, &v));
        h = v;
        h->round = k->round + 1;
    }
    k->round++;
    if (!empty)
        change(k, h);
    if (grows)
        add_block(k, h, words);
    if (h)
        OK(drasync_release(k->region));
    check_barrier();
    if (readers >> check_rank & 1) {
        OK(drasync_acquire(k->region, DRASYNC_READ));
        verify(k);
        OK(drasync_release(k->region));
    }
    check_barrier();
}

static void make(struct kept *k)
{
    void *v = NULL;

    if (check_rank == 0) {
        OK(drasync_new_region(&k->region));
        OK(drasync_alloc(k->region, sizeof(struct header), &v));
        memset(v, 0, sizeof(struct header));
        OK(drasync_set_root(k->region, v));
        OK(drasync_release(k->region));
    }
    check_share(&k->region, 0);
    check_barrier();
}

/* Two ranks write in turn, one word in a hundred each time. */
static void little(void)
{
    enum { WORDS = 25000, TIMES = 40 };
    struct drasync_stats before, after;
    drasync_region_t region = NULL;
    uint64_t *word = NULL;
    void *v = NULL;

    if (check_rank == 0) {
        OK(drasync_new_region(&region));
        OK(drasync_alloc(region, WORDS * sizeof(*word), &v));
        memset(v, 0, WORDS * sizeof(*word));
        OK(drasync_release(region));
    }
    check_share(&region, 0);
    check_share(&v, 0);
    word = v;
    OK(drasync_get_stats(&before));
    for (uint64_t i = 0; i < TIMES; i++) {
        check_barrier();
        if (i % 2 != (uint64_t)check_rank)
            continue;
        OK(drasync_acquire(region, DRASYNC_WRITE));
        for (uint64_t at = i; at < WORDS; at += 100)
            CHECK(word[at]++ == 0);
        OK(drasync_release(region));
    }
    check_barrier();
    OK(drasync_get_stats(&after));
    if (check_rank < 2)
        CHECK(after.bytes_received - before.bytes_received <
              TIMES * WORDS * sizeof(*word) / 8);
    check_barrier();
    if (check_rank == 0)
        OK(drasync_delete(region));
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    for (int i = 0; i < REGIONS; i++)
        make(&kept[i]);
    for (int r = 0; r < ROUNDS; r++)
        round_of(&kept[number(REGIONS)]);
    if (argc < 3)
        little();
    check_barrier();
    for (int i = 0; i < REGIONS; i++) {
        if (check_rank == 0)
            OK(drasync_delete(kept[i].region));
        for (uint64_t b = 0; b < kept[i].blocks; b++)
            free(kept[i].block[b]);
        free(kept[i].block);
        free(kept[i].words);
    }
    return check_end("diff");
}
