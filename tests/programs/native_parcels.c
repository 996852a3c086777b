/*
 * Random gifts: trees of regions go from rank to rank, are changed, deleted and
 * made anew on their way, are released and taken by who comes first, while others
 * look into them.  Each tree counts its writes; at the end the counts of all
 * trees, there and deleted, are those of all ranks.
 *
 * native_parcels [OPERATIONS [SEED]]
 */
#include <inttypes.h>
#include <sched.h>

#include "native_check.h"

#define PARCELS     6
#define BELOW       3 /* subregions: 0 below the root, 1 and 2 below 0 */
#define WORDS_MAX   6000
#define PATIENCE_US 2000

struct page {
    struct page *next;
    uint64_t sum, words;
    uint64_t word[];
};

struct parcel {
    uint64_t number, writes;
    drasync_region_t below[BELOW];
    struct page *pages[BELOW + 1];
};

static drasync_region_t directory;

/* What this rank holds, and what it did in all. */
static struct {
    drasync_region_t region;
    int which;
} mine[PARCELS];
static int mine_count;
static int64_t writes, deleted_writes, gifts;

static uint64_t random_state;

static uint64_t random_below(uint64_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % limit;
}

static uint64_t sum_of(const struct page *p)
{
    uint64_t sum = p->words;

    for (uint64_t i = 0; i < p->words; i++)
        sum = sum * 31 + p->word[i];
    return sum;
}

static struct parcel *parcel_in(drasync_region_t region)
{
    void *v;

    OK(drasync_get_root(region, &v));
    CHECK(v);
    return v;
}

static void check_parcel(const struct parcel *p)
{
    for (int i = 0; i <= BELOW; i++)
        for (const struct page *page = p->pages[i]; page; page = page->next)
            CHECK(page->sum == sum_of(page));
}

static drasync_region_t new_parcel(int which)
{
    drasync_region_t region;
    struct parcel *p;
    void *v;

    OK(drasync_new_region(&region));
    OK(drasync_alloc(region, sizeof(*p), &v));
    p = memset(v, 0, sizeof(*p));
    p->number = (uint64_t)which;
    OK(drasync_set_root(region, p));
    return region;
}

/* --- Who has the directory ------------------------------------------------ */

static drasync_region_t look_up(int which)
{
    drasync_region_t region;
    void *v;

    OK(drasync_acquire(directory, DRASYNC_READ));
    OK(drasync_get_root(directory, &v));
    region = ((drasync_region_t *)v)[which];
    OK(drasync_release(directory));
    return region;
}

static void enter(int which, drasync_region_t region)
{
    void *v;

    OK(drasync_acquire(directory, DRASYNC_WRITE));
    OK(drasync_get_root(directory, &v));
    ((drasync_region_t *)v)[which] = region;
    OK(drasync_release(directory));
}

static void have(int which, drasync_region_t region)
{
    CHECK(mine_count < PARCELS);
    mine[mine_count].region = region;
    mine[mine_count++].which = which;
}

static void have_not(int at)
{
    mine[at] = mine[--mine_count];
}

/* --- What is done with a parcel that this rank holds ---------------------- */

static void add_page(drasync_region_t region, struct parcel *p)
{
    int at = (int)random_below(BELOW + 1);
    uint64_t words = random_below(random_below(5) ? 40 : WORDS_MAX);
    struct page *page;
    void *v;

    if (at > 0 && !p->below[at - 1])
        return;
    OK(drasync_alloc(at > 0 ? p->below[at - 1] : region,
                     sizeof(*page) + words * 8, &v));
    page = v;
    page->words = words;
    for (uint64_t i = 0; i < words; i++)
        page->word[i] = random_below(UINT64_MAX);
    page->sum = sum_of(page);
    page->next = p->pages[at];
    p->pages[at] = page;
}

static void drop_page(struct parcel *p)
{
    int at = (int)random_below(BELOW + 1);
    struct page *page = p->pages[at];

    if (!page)
        return;
    p->pages[at] = page->next;
    OK(drasync_free(page));
}

static void change_below(drasync_region_t region, struct parcel *p)
{
    int at = (int)random_below(BELOW);

    if (p->below[at]) {
        int err = drasync_delete(p->below[at]);

        /* Somebody may still read the version before. */
        CHECK(err == 0 || err == DRASYNC_EBUSY);
        if (err)
            return;
        for (int i = at; i < (at ? at + 1 : BELOW); i++) {
            p->below[i] = NULL;
            p->pages[i + 1] = NULL;
        }
    } else if (at == 0 || p->below[0]) {
        OK(drasync_new_subregion(at ? p->below[0] : region, &p->below[at]));
    }
}

static void change(drasync_region_t region)
{
    struct parcel *p = parcel_in(region);

    check_parcel(p);
    for (uint64_t i = 1 + random_below(4); i > 0; i--) {
        switch (random_below(4)) {
        case 0:
            change_below(region, p);
            break;
        case 1:
            drop_page(p);
            break;
        default:
            add_page(region, p);
        }
    }
    p->writes++;
    writes++;
}

static void replace(int at)
{
    int which = mine[at].which, err;
    drasync_region_t region = mine[at].region;
    int64_t count = (int64_t)parcel_in(region)->writes;

    err = drasync_delete(region);
    CHECK(err == 0 || err == DRASYNC_EBUSY);
    if (err)
        return;
    deleted_writes += count;
    region = new_parcel(which);
    mine[at].region = region;
    enter(which, region);
}

static void give_away(int at, int to)
{
    int err = drasync_give(mine[at].region, to, mine[at].which);

    /* A visit that was given up, before this rank had it, may not be over. */
    CHECK(err == 0 || err == DRASYNC_EBUSY);
    if (err)
        return;
    gifts++;
    have_not(at);
}

static void pass_on(void)
{
    int at;

    if (!mine_count)
        return;
    at = (int)random_below((uint64_t)mine_count);
    change(mine[at].region);
    switch (random_below(8)) {
    case 0:
        replace(at);
        break;
    case 1:
        OK(drasync_release(mine[at].region));
        have_not(at);
        break;
    case 2:
        break;
    default:
        give_away(at, (int)random_below((uint64_t)check_ranks));
    }
}

/* Returns whether there was one. */
static int receive(uint64_t timeout_us)
{
    struct drasync_gift gift;
    drasync_region_t region;
    int err =
        drasync_take(DRASYNC_ANY, DRASYNC_ANY, timeout_us, &region, &gift);

    if (err == DRASYNC_EAGAIN)
        return 0;
    OK(err);
    gifts--;
    CHECK(parcel_in(region)->number == (uint64_t)gift.tag);
    check_parcel(parcel_in(region));
    have(gift.tag, region);
    return 1;
}

/* --- What is done with another's ------------------------------------------ */

static int held(int which)
{
    for (int i = 0; i < mine_count; i++)
        if (mine[i].which == which)
            return 1;
    return 0;
}

/* Look into a parcel, or take one that nobody holds. */
static void visit(enum drasync_mode mode)
{
    int which = (int)random_below(PARCELS);
    drasync_region_t region = look_up(which);
    void *v;
    int err;

    if (held(which))
        return;
    err = drasync_acquire_timed(region, mode, random_below(PATIENCE_US));
    if (err) {
        CHECK(err == DRASYNC_EAGAIN || err == DRASYNC_EDELETED ||
              err == DRASYNC_ENOREGION);
        return;
    }
    /* Its address may have been used again: for another parcel, or below one. */
    OK(drasync_get_root(region, &v));
    if (!v || ((struct parcel *)v)->number != (uint64_t)which) {
        OK(drasync_release(region));
        return;
    }
    check_parcel(parcel_in(region));
    if (mode == DRASYNC_READ) {
        sched_yield();
        check_parcel(parcel_in(region));
        OK(drasync_release(region));
    } else {
        change(region);
        OK(drasync_release(region));
    }
}

/* --- All of it ------------------------------------------------------------ */

static void start(void)
{
    void *v;

    if (check_rank == 0) {
        OK(drasync_new_region(&directory));
        OK(drasync_alloc(directory, PARCELS * sizeof(drasync_region_t), &v));
        OK(drasync_set_root(directory, v));
        for (int i = 0; i < PARCELS; i++) {
            drasync_region_t region = new_parcel(i);

            ((drasync_region_t *)v)[i] = region;
            have(i, region);
        }
        OK(drasync_release(directory));
    }
    check_share(&directory, 0);
}

static void finish(void)
{
    int64_t under_way, count = 0, all[2];

    do {
        while (mine_count)
            OK(drasync_release(mine[--mine_count].region));
        while (receive(1000))
            ;
        MPI_Allreduce(&gifts, &under_way, 1, MPI_INT64_T, MPI_SUM,
                      MPI_COMM_WORLD);
    } while (under_way);
    while (mine_count)
        OK(drasync_release(mine[--mine_count].region));
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0)
        for (int i = 0; i < PARCELS; i++) {
            drasync_region_t region = look_up(i);

            OK(drasync_acquire(region, DRASYNC_WRITE));
            check_parcel(parcel_in(region));
            deleted_writes += (int64_t)parcel_in(region)->writes;
            OK(drasync_delete(region));
        }
    count = writes - deleted_writes;
    MPI_Allreduce(&count, &all[0], 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&writes, &all[1], 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all[0] == 0);
    if (check_rank == 0)
        printf("writes=%" PRId64 "\n", all[1]);
}

int main(int argc, char **argv)
{
    uint64_t operations = argc > 1 ? strtoull(argv[1], NULL, 10) : 500;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;

    check_start(&argc, &argv);
    random_state =
        (seed * 1000 + (uint64_t)check_rank) * UINT64_C(0x9E3779B97F4A7C15) | 1;
    start();
    for (uint64_t i = 0; i < operations; i++) {
        switch (random_below(6)) {
        case 0:
        case 1:
            if (mine_count < PARCELS)
                receive(random_below(2) ? 0 : random_below(PATIENCE_US));
            break;
        case 2:
            visit(DRASYNC_READ);
            break;
        case 3:
            visit(DRASYNC_WRITE);
            break;
        default:
            pass_on();
        }
    }
    finish();
    return check_end("parcels");
}
