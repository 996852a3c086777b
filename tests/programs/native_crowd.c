/*
 * All nodes READ one region at once, again and again, with WRITEs between: each
 * sees what was written before it asked, the whole of it from one moment; and
 * what everybody had is deleted.
 *
 * native_crowd         3 ranks or more
 */
#include "native_check.h"

#define ROUNDS 30
#define WORDS  600

struct part {
    uint64_t round, words;
    struct part *next; /* in the subregion */
    uint64_t *word;
};

static void fill(struct part *p, uint64_t round)
{
    p->round = round;
    for (uint64_t i = 0; i < p->words; i++)
        p->word[i] = round * 1000 + i;
}

static struct part *make(drasync_region_t r)
{
    void *v, *words;
    struct part *p;

    OK(drasync_alloc(r, sizeof(*p), &v));
    OK(drasync_alloc(r, WORDS * sizeof(uint64_t), &words));
    p = v;
    memset(p, 0, sizeof(*p));
    p->words = WORDS;
    p->word = words;
    fill(p, 0);
    OK(drasync_set_root(r, p));
    return p;
}

/* What is seen was written in round @from or later, all in the same round. */
static uint64_t look(drasync_region_t r, uint64_t from)
{
    struct part *p, *below;
    uint64_t round;
    void *v;

    OK(drasync_acquire(r, DRASYNC_READ));
    OK(drasync_get_root(r, &v));
    p = v;
    below = p->next;
    round = p->round;
    CHECK(round >= from && below->round == round);
    for (uint64_t i = 0; i < p->words; i++)
        CHECK(p->word[i] == round * 1000 + i);
    for (uint64_t i = 0; i < below->words; i++)
        CHECK(below->word[i] == round * 1000 + i);
    OK(drasync_release(r));
    return round;
}

/* The region is larger from now on. */
static void grow(drasync_region_t r, struct part *p)
{
    void *v;

    p->words += WORDS * 8;
    OK(drasync_alloc(r, p->words * sizeof(uint64_t), &v));
    p->word = v;
}

static void write(drasync_region_t r, uint64_t round)
{
    struct part *p;
    void *v;

    OK(drasync_acquire(r, DRASYNC_WRITE));
    OK(drasync_get_root(r, &v));
    p = v;
    if (round % 16 == 5)
        grow(r, p);
    fill(p, round);
    fill(p->next, round);
    OK(drasync_release(r));
}

/* Nobody waits for a WRITE to be told of, but who was told of it sees it. */
static void rounds(drasync_region_t r, int writer)
{
    uint64_t told = 0;

    for (uint64_t round = 1; round <= ROUNDS; round++) {
        if (check_rank == writer)
            write(r, round);
        if (round % 3 == 0)
            check_barrier();
        if (round % 3 == 0)
            told = round;
        if (check_rank != writer || round % 2)
            CHECK(look(r, told) <= ROUNDS);
    }
    check_barrier();
    CHECK(look(r, ROUNDS) == ROUNDS);
}

static void gone(drasync_region_t r)
{
    int err = drasync_acquire(r, DRASYNC_READ);

    CHECK(err == DRASYNC_ENOREGION || err == DRASYNC_EDELETED);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int times = 0; times < 6; times++) {
        drasync_region_t r = NULL, below;
        int maker = times % check_ranks;

        if (check_rank == maker) {
            OK(drasync_new_region(&r));
            OK(drasync_new_subregion(r, &below));
            make(r)->next = make(below);
            OK(drasync_release(r));
        }
        check_share(&r, maker);
        rounds(r, (times * 5 + 1) % check_ranks);
        check_barrier();
        if (check_rank == (times + 2) % check_ranks)
            OK(drasync_delete(r));
        check_barrier();
        gone(r);
        check_barrier();
    }
    return check_end("crowd");
}
