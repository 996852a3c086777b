/*
 * A random region program: trees of regions that every rank reads, writes,
 * deletes and makes anew, in all ways the API has.  Each region carries a
 * version, a checksum over its objects, and the count of writes of the whole
 * tree ("cut").  What a hold shows must be whole, must not change while it is
 * held, and must fit what all other ranks saw (native_random.h).
 *
 * native_random [OPERATIONS [SEED]]
 */
#include "native_random.h"

#include <inttypes.h>
#include <sched.h>
#include <time.h>

#include "native_check.h"

#define TREES     5
#define REGIONS   5  /* 0: root; 1, 2: below it; 3, 4: below 1 */
#define OBJECTS   12 /* in a region, at most */
#define WORDS_MAX 3000

struct object {
    struct object *next;
    uint64_t words;
    uint64_t word[];
};

struct head {
    uint64_t tree;
    uint32_t index, objects;
    uint64_t version, cut, sum;
    struct object *first;
};

/* In the directory, a region of its own. */
struct slot {
    uint64_t tree;
    drasync_region_t regions[REGIONS];
};

static const int parent_of[REGIONS] = {-1, 0, 0, 1, 1};

static drasync_region_t directory;
static uint64_t random_state;
static struct seen *logged;
static size_t logged_count, logged_max;

static uint64_t random_below(uint64_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (random_state >> 11) % limit;
}

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int inside(int region, int top)
{
    while (region >= 0 && region != top)
        region = parent_of[region];
    return region == top;
}

static uint64_t object_sum(const struct object *o)
{
    uint64_t sum = o->words;

    for (uint64_t i = 0; i < o->words; i++)
        sum = sum * 31 + o->word[i];
    return sum;
}

static struct head *head_of(drasync_region_t region)
{
    void *head;

    OK(drasync_get_root(region, &head));
    CHECK(head);
    return head;
}

/* Is all of it there and whole? */
static void check_region(const struct head *h, uint64_t tree, int index)
{
    const struct object *o = h->first;
    uint64_t sum = 0;

    CHECK(h->tree == tree && h->index == (uint32_t)index);
    for (uint32_t i = 0; i < h->objects; i++, o = o->next)
        sum += object_sum(o);
    CHECK(!o && sum == h->sum);
}

static void add_object(drasync_region_t region, struct head *h)
{
    uint64_t words = 1 + random_below(random_below(4) ? 30 : WORDS_MAX);
    struct object *o;
    void *v;

    OK(drasync_alloc(region, sizeof(*o) + words * 8, &v));
    o = v;
    o->words = words;
    for (uint64_t i = 0; i < words; i++)
        o->word[i] = random_below(UINT64_MAX);
    o->next = h->first;
    h->first = o;
    h->objects++;
    h->sum += object_sum(o);
}

static void drop_object(struct head *h)
{
    struct object *o = h->first;

    h->sum -= object_sum(o);
    h->first = o->next;
    h->objects--;
    OK(drasync_free(o));
}

static void change_region(drasync_region_t region, struct head *h)
{
    struct object *o = h->first;

    if (h->objects == 0 || (h->objects < OBJECTS && random_below(2))) {
        add_object(region, h);
    } else if (random_below(3) == 0) {
        drop_object(h);
    } else {
        h->sum -= object_sum(o);
        o->word[random_below(o->words)]++;
        h->sum += object_sum(o);
    }
    h->version++;
}

static void make_tree(struct slot *slot, uint64_t tree)
{
    slot->tree = tree;
    for (int i = 0; i < REGIONS; i++) {
        struct head *h;
        void *v;

        if (i == 0)
            OK(drasync_new_region(&slot->regions[0]));
        else
            OK(drasync_new_subregion(slot->regions[parent_of[i]],
                                     &slot->regions[i]));
        OK(drasync_alloc(slot->regions[i], sizeof(*h), &v));
        h = memset(v, 0, sizeof(*h));
        h->tree = tree;
        h->index = (uint32_t)i;
        OK(drasync_set_root(slot->regions[i], h));
    }
}

static struct seen *log_one(const struct head *h, int write, uint64_t asked,
                            uint64_t granted)
{
    struct seen *s = &logged[logged_count++];

    CHECK(logged_count <= logged_max);
    *s = (struct seen){.tree = h->tree,
                       .index = h->index,
                       .write = (uint32_t)write,
                       .version = h->version,
                       .asked = asked,
                       .granted = granted,
                       .rank = check_rank};
    return s;
}

/* One of the ways to take a hold.  0, or why there is none. */
static int take(drasync_region_t region, enum drasync_mode mode)
{
    drasync_request_t request;
    int err, done = 0;

    switch (random_below(8)) {
    case 0:
        return drasync_try_acquire(region, mode);
    case 1:
        return drasync_acquire_timed(region, mode, random_below(2000));
    case 2:
        err = drasync_iacquire(region, mode, &request);
        if (err)
            return err;
        for (int i = 0; i < 20 && !done; i++) {
            err = drasync_test(&request, &done);
            sched_yield();
        }
        if (done)
            return err;
        if (random_below(2))
            return drasync_wait(&request, DRASYNC_FOREVER);
        OK(drasync_cancel(&request));
        return DRASYNC_EAGAIN;
    default:
        return drasync_acquire(region, mode);
    }
}

static struct slot pick_slot(int which)
{
    struct slot slot;
    void *v;

    OK(drasync_acquire(directory, DRASYNC_READ));
    OK(drasync_get_root(directory, &v));
    slot = ((struct slot *)v)[which];
    OK(drasync_release(directory));
    return slot;
}

/* Look at everything below @top twice; log it. */
static void read_subtree(const struct slot *slot, int top, uint64_t asked,
                         uint64_t granted)
{
    size_t from = logged_count;
    uint64_t cut = 0;

    for (int i = 0; i < REGIONS; i++) {
        struct head *h;

        if (!inside(i, top))
            continue;
        h = head_of(slot->regions[i]);
        check_region(h, slot->tree, i);
        if (i == top)
            cut = h->cut;
        CHECK(h->cut == cut || top != 0);
        if (h->version)
            log_one(h, 0, asked, granted);
    }
    for (uint64_t i = random_below(4); i > 0; i--)
        sched_yield();
    for (int i = 0; i < REGIONS; i++)
        if (inside(i, top)) {
            struct head *h = head_of(slot->regions[i]);

            check_region(h, slot->tree, i);
            if (h->version) {
                CHECK(from < logged_count);
                CHECK(logged[from++].version == h->version);
            }
        }
}

static void write_subtree(const struct slot *slot, int top, uint64_t asked,
                          uint64_t granted)
{
    for (int i = 0; i < REGIONS; i++) {
        struct head *h;

        if (!inside(i, top))
            continue;
        h = head_of(slot->regions[i]);
        check_region(h, slot->tree, i);
        if (top == 0)
            h->cut++;
        if (top == 0 || random_below(2)) {
            change_region(slot->regions[i], h);
            log_one(h, 1, asked, granted);
        }
    }
}

/* Is it still the tree of the directory, or its address used again? */
static int same_tree(const struct slot *slot, int top)
{
    void *v;

    OK(drasync_get_root(slot->regions[top], &v));
    return v && ((struct head *)v)->tree == slot->tree &&
           ((struct head *)v)->index == (uint32_t)top;
}

static void touch(int which, enum drasync_mode mode)
{
    struct slot slot = pick_slot(which);
    int top = random_below(3) ? (int)random_below(REGIONS) : 0;
    size_t from = logged_count;
    uint64_t asked = now_ns(), granted, released;
    int err = take(slot.regions[top], mode);

    granted = now_ns();
    if (err) {
        CHECK(err == DRASYNC_EAGAIN || err == DRASYNC_EDELETED ||
              err == DRASYNC_ENOREGION);
        return;
    }
    if (same_tree(&slot, top)) {
        if (mode == DRASYNC_WRITE)
            write_subtree(&slot, top, asked, granted);
        else
            read_subtree(&slot, top, asked, granted);
        if (random_below(8) == 0) {
            OK(drasync_acquire(slot.regions[top], mode));
            OK(drasync_release(slot.regions[top]));
        }
    }
    released = now_ns();
    OK(drasync_release(slot.regions[top]));
    for (size_t i = from; i < logged_count; i++) {
        logged[i].released = released;
        logged[i].returned = now_ns();
    }
}

/* Delete a tree and put another in its place. */
static void replace(int which)
{
    static uint64_t made;
    struct slot *slots;
    void *v;
    int err;

    OK(drasync_acquire(directory, DRASYNC_WRITE));
    OK(drasync_get_root(directory, &v));
    slots = v;
    err = drasync_delete(slots[which].regions[0]);
    CHECK(err == 0 || err == DRASYNC_EBUSY);
    if (!err) {
        make_tree(&slots[which], ((uint64_t)check_rank + 1) << 32 | ++made);
        OK(drasync_release(slots[which].regions[0]));
    }
    OK(drasync_release(directory));
}

/* Hold one tree and touch a later one: two trees at a time, without deadlock. */
static void touch_two(void)
{
    int low = (int)random_below(TREES - 1);
    int high = low + 1 + (int)random_below((uint64_t)(TREES - low - 1));
    struct slot slot = pick_slot(low);

    if (drasync_acquire(slot.regions[2], DRASYNC_READ))
        return;
    if (same_tree(&slot, 2)) {
        uint64_t version = head_of(slot.regions[2])->version;

        touch(high, random_below(2) ? DRASYNC_READ : DRASYNC_WRITE);
        CHECK(head_of(slot.regions[2])->version == version);
        check_region(head_of(slot.regions[2]), slot.tree, 2);
    }
    OK(drasync_release(slot.regions[2]));
}

static void start_trees(void)
{
    void *v;

    if (check_rank == 0) {
        OK(drasync_new_region(&directory));
        OK(drasync_alloc(directory, TREES * sizeof(struct slot), &v));
        OK(drasync_set_root(directory, v));
        for (int i = 0; i < TREES; i++) {
            make_tree((struct slot *)v + i, (uint64_t)i + 1);
            OK(drasync_release(((struct slot *)v)[i].regions[0]));
        }
        OK(drasync_release(directory));
        OK(drasync_publish("directory", directory));
    } else {
        OK(drasync_lookup("directory", DRASYNC_FOREVER, &directory));
    }
}

static void gather_and_check(void)
{
    int bytes = (int)(logged_count * sizeof(struct seen)), total = 0;
    int *sizes = calloc((size_t)check_ranks, sizeof(int));
    int *offsets = calloc((size_t)check_ranks, sizeof(int));
    struct seen *all = NULL;

    CHECK(sizes && offsets);
    MPI_Gather(&bytes, 1, MPI_INT, sizes, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < check_ranks; i++) {
        offsets[i] = total;
        total += sizes[i];
    }
    if (check_rank == 0)
        all = malloc((size_t)total + 1);
    MPI_Gatherv(logged, bytes, MPI_BYTE, all, sizes, offsets, MPI_BYTE, 0,
                MPI_COMM_WORLD);
    if (check_rank == 0) {
        CHECK(all && oracle_check(all, (size_t)total / sizeof(*all)) == 0);
        printf("random checked=%zu\n", (size_t)total / sizeof(*all));
    }
    free(all);
    free(sizes);
    free(offsets);
}

int main(int argc, char **argv)
{
    uint64_t operations = argc > 1 ? strtoull(argv[1], NULL, 10) : 500;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;

    check_start(&argc, &argv);
    random_state =
        (seed * 1000 + (uint64_t)check_rank) * UINT64_C(0x9E3779B97F4A7C15) | 1;
    logged_max = (operations + 1) * REGIONS;
    logged = calloc(logged_max, sizeof(*logged));
    CHECK(logged);
    start_trees();
    for (uint64_t i = 0; i < operations; i++) {
        uint64_t dice = random_below(100);

        if (dice < 45)
            touch((int)random_below(TREES), DRASYNC_READ);
        else if (dice < 92)
            touch((int)random_below(TREES), DRASYNC_WRITE);
        else if (dice < 97)
            touch_two();
        else
            replace((int)random_below(TREES));
    }
    check_barrier();
    gather_and_check();
    free(logged);
    return check_end("random");
}
