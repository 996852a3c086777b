/*
 * Regions with a part are given round; who gets one often makes a new part and
 * deletes the old one before it gives the region on, at last to rank 0, which
 * deletes it.  The addresses of all come back and are used again.
 *
 * native_regiven SEED
 */
#include "native_check.h"

#define GIFTS 300
#define AHEAD 10 /* of them under way at a time */

enum { TO_DO, DONE, THE_END };

struct work {
    int hops;
    drasync_region_t part;
};

/* Some small objects, in either. */
static void fill(drasync_region_t a, drasync_region_t b)
{
    void *v;

    for (int i = rand() % 200; i > 0; i--)
        OK(drasync_alloc(i % 3 ? a : b, 24, &v));
}

static void make_and_give(void)
{
    struct work *w;
    drasync_region_t r;
    void *v;

    OK(drasync_new_region(&r));
    OK(drasync_alloc(r, sizeof(*w), &v));
    OK(drasync_set_root(r, v));
    w = v;
    w->hops = rand() % 6;
    OK(drasync_new_subregion(r, &w->part));
    fill(r, w->part);
    OK(drasync_give(r, 1 + rand() % (check_ranks - 1), TO_DO));
}

static void give_all(void)
{
    drasync_region_t r;
    int given = 0;

    for (int back = 0; back < GIFTS; back++) {
        for (; given < GIFTS && given - back < AHEAD; given++)
            make_and_give();
        OK(drasync_take(DRASYNC_ANY, DONE, DRASYNC_FOREVER, &r, NULL));
        OK(drasync_delete(r));
    }
    for (int i = 1; i < check_ranks; i++) {
        OK(drasync_new_region(&r));
        OK(drasync_give(r, i, THE_END));
    }
}

static void replace_part(drasync_region_t r, struct work *w)
{
    drasync_region_t part;

    OK(drasync_new_subregion(r, &part));
    fill(r, part);
    OK(drasync_delete(w->part));
    w->part = part;
}

static void give_on(void)
{
    struct drasync_gift gift;
    drasync_region_t r;
    void *v;

    for (;;) {
        struct work *w;

        OK(drasync_take(DRASYNC_ANY, DRASYNC_ANY, DRASYNC_FOREVER, &r, &gift));
        if (gift.tag == THE_END)
            break;
        OK(drasync_get_root(r, &v));
        w = v;
        if (rand() % 3 == 0)
            replace_part(r, w);
        if (w->hops-- > 0)
            OK(drasync_give(r, 1 + rand() % (check_ranks - 1), TO_DO));
        else
            OK(drasync_give(r, 0, DONE));
    }
    OK(drasync_delete(r));
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    CHECK(argc > 1 && check_ranks > 2);
    srand((unsigned)(atoi(argv[1]) * 100 + check_rank));
    if (check_rank == 0)
        give_all();
    else
        give_on();
    return check_end("regiven");
}
