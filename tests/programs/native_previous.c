/* DRASYNC_RECOVERY_PREVIOUS: a rank dies that has regions for WRITE, and the others
 * find what was there before. */
#include "native_death.h"

#define OBJECTS 3000
#define BYTES   480

/* A list whose sum is known. */
struct item {
    struct item *next;
    uint64_t value;
};

static void push(drasync_region_t r, uint64_t value)
{
    struct item *item;
    void *v, *head;

    OK(drasync_get_root(r, &head));
    OK(drasync_alloc(r, sizeof(*item), &v));
    item = v;
    item->next = head;
    item->value = value;
    OK(drasync_set_root(r, item));
}

static uint64_t sum(drasync_region_t r)
{
    const struct item *item;
    uint64_t all = 0;
    void *head;

    OK(drasync_get_root(r, &head));
    for (item = head; item; item = item->next)
        all += item->value;
    return all;
}

/* Two lists, of 3 and 4, the second one below the first; nobody holds them. */
static void make_lists(drasync_region_t list[2])
{
    if (check_rank == first) {
        OK(drasync_new_region(&list[0]));
        OK(drasync_set_recovery(list[0], DRASYNC_RECOVERY_PREVIOUS));
        OK(drasync_new_subregion(list[0], &list[1]));
        push(list[0], 3);
        push(list[1], 4);
        OK(drasync_release(list[0]));
    }
    MPI_Bcast(list, 2 * sizeof(*list), MPI_BYTE, first, MPI_COMM_WORLD);
    meet_all();
}

/* Both are as they were, and go on: READ, WRITE, and the next version. */
static void check_lists(const drasync_region_t list[2])
{
    OK(drasync_acquire(list[0], DRASYNC_READ));
    CHECK(sum(list[0]) == 3 && sum(list[1]) == 4);
    OK(drasync_release(list[0]));
    meet();
    if (check_rank == first) {
        struct drasync_info info;
        void *v;

        OK(drasync_acquire(list[0], DRASYNC_WRITE));
        for (int i = 0; i < OBJECTS; i++) {
            OK(drasync_alloc(list[1], BYTES, &v));
            memset(v, i, BYTES);
        }
        push(list[1], 1);
        OK(drasync_get_info(list[1], &info));
        CHECK(info.reserved_bytes >= (uint64_t)OBJECTS * BYTES);
        OK(drasync_release(list[0]));
    }
    meet();
    OK(drasync_acquire(list[1], DRASYNC_READ));
    CHECK(sum(list[1]) == 5);
    OK(drasync_release(list[1]));
    meet();
    if (check_rank == first)
        OK(drasync_delete(list[0]));
}

/* It changed both, grew one, and made a region below. */
static void changed(void)
{
    drasync_region_t list[2] = {0}, made = NULL;
    uint64_t reserved = 0;
    struct drasync_info info;
    void *v;

    make_lists(list);
    OK(drasync_get_info(list[1], &info));
    reserved = info.reserved_bytes;
    meet_all();
    if (dies()) {
        OK(drasync_acquire(list[0], DRASYNC_WRITE));
        push(list[0], 100);
        for (int i = 0; i < OBJECTS; i++) {
            OK(drasync_alloc(list[1], BYTES, &v));
            memset(v, 255, BYTES);
        }
        OK(drasync_new_subregion(list[1], &made));
        push(made, 7);
        push(list[1], (uint64_t)(uintptr_t)made);
        OK(drasync_publish("made", made));
    }
    OK(drasync_lookup("made", DRASYNC_FOREVER, &made));
    meet_all();
    if (dies())
        die();
    OK(drasync_acquire(list[0], DRASYNC_READ));
    CHECK(sum(list[0]) == 3 && sum(list[1]) == 4);
    OK(drasync_release(list[0]));
    CODE(drasync_acquire(made, DRASYNC_READ), DRASYNC_ENOREGION);
    CODE(drasync_lookup("made", 0, &made), DRASYNC_EAGAIN);
    OK(drasync_get_info(list[1], &info));
    CHECK(info.reserved_bytes == reserved && info.subregions == 0);
    meet();
    check_lists(list);
}

/* It freed what was there, and others wait meanwhile. */
static void awaited(void)
{
    drasync_region_t list[2] = {0};

    make_lists(list);
    if (dies()) {
        void *head;

        OK(drasync_acquire(list[0], DRASYNC_WRITE));
        OK(drasync_get_root(list[1], &head));
        OK(drasync_set_root(list[1], NULL));
        OK(drasync_free(head));
    }
    meet_all();
    if (dies()) {
        await_waiting(list[0], check_ranks - 1);
        die();
    }
    OK(drasync_acquire(list[0], DRASYNC_WRITE));
    CHECK(sum(list[0]) == 3 && sum(list[1]) == 4);
    OK(drasync_release(list[0]));
    meet();
    check_lists(list);
}

/* A reader from before goes on, and sees the same as those after. */
static void beside(void)
{
    drasync_region_t list[2] = {0};

    make_lists(list);
    if (check_rank == first)
        OK(drasync_acquire(list[0], DRASYNC_READ));
    meet_all();
    if (dies()) {
        OK(drasync_acquire(list[1], DRASYNC_WRITE));
        push(list[1], 50);
        meet_all();
        die();
    }
    meet_all();
    if (check_rank != first) {
        OK(drasync_acquire(list[1], DRASYNC_WRITE));
        CHECK(sum(list[1]) == 4);
        push(list[1], 10);
        OK(drasync_release(list[1]));
    }
    meet();
    if (check_rank == first) {
        CHECK(sum(list[0]) == 3 && sum(list[1]) == 4);
        OK(drasync_release(list[0]));
    }
    OK(drasync_acquire(list[1], DRASYNC_READ));
    CHECK(sum(list[1]) == 14);
    OK(drasync_release(list[1]));
}

/* Only what was told to recover does; a hold that was there before does not. */
static void partly(void)
{
    struct tree t = make_tree();

    if (dies()) {
        OK(drasync_acquire(t.part[0], DRASYNC_WRITE));
        OK(drasync_set_recovery(t.part[0], DRASYNC_RECOVERY_PREVIOUS));
        OK(drasync_set_recovery(t.part[1], DRASYNC_RECOVERY_PREVIOUS));
        OK(drasync_set_recovery(t.part[2], DRASYNC_RECOVERY_PREVIOUS));
        OK(drasync_set_recovery(t.part[2], DRASYNC_RECOVERY_NONE));
        for (int i = 1; i < 3; i++) {
            OK(drasync_acquire(t.part[i], DRASYNC_WRITE));
            pair_of(t.part[i])->first = 99;
        }
    }
    meet_all();
    if (dies())
        die();
    CODE(drasync_acquire(t.part[0], DRASYNC_READ), DRASYNC_ELOST);
    CODE(drasync_acquire(t.part[2], DRASYNC_READ), DRASYNC_ELOST);
    use(t.part[1]);
    use(t.below);
    CODE(drasync_set_recovery(t.part[1], (enum drasync_recovery)2),
         DRASYNC_EINVAL);
    CODE(drasync_set_recovery(NULL, DRASYNC_RECOVERY_PREVIOUS),
         DRASYNC_ENOREGION);
}

/* Ranks take turns, and one is killed at any instruction: either the job ends, or
 * the numbers are equal. */
static void middle(void)
{
    struct tree t = make_tree();
    struct pair *pair[3];

    if (check_rank == first)
        OK(drasync_set_recovery(t.top, DRASYNC_RECOVERY_PREVIOUS));
    for (int i = 0; i < 3; i++)
        pair[i] = known_pair(t.part[i]);
    meet_all();
    for (int i = 0; dies(); i++) {
        OK(drasync_acquire(t.part[i % 3], DRASYNC_WRITE));
        CHECK(pair[i % 3]->first == pair[i % 3]->second);
        pair[i % 3]->first++;
        sched_yield();
        pair[i % 3]->second++;
        OK(drasync_release(t.part[i % 3]));
        if (i == ROUNDS)
            OK(drasync_publish("begun", t.top));
    }
    if (!kill_begun())
        return;
    for (int i = 0; i < 3 * ROUNDS; i++) {
        int err = drasync_acquire(t.part[i % 3], DRASYNC_WRITE);

        if (!err) {
            change(pair[i % 3]);
            err = drasync_release(t.part[i % 3]);
        }
        if (err == DRASYNC_EPEER)
            return;
        OK(err);
    }
}

/* Without a death nothing is different: holds nest, and readers stand beside. */
static void orderly(void)
{
    struct tree t = make_tree();
    struct drasync_info info;

    if (check_rank == first)
        OK(drasync_set_recovery(t.top, DRASYNC_RECOVERY_PREVIOUS));
    meet_all();
    for (int i = 0; i < ROUNDS; i++) {
        OK(drasync_acquire(t.top, DRASYNC_WRITE));
        OK(drasync_acquire(t.part[i % 3], DRASYNC_WRITE));
        change(pair_of(t.top));
        OK(drasync_release(t.top));
        change(pair_of(t.part[i % 3]));
        OK(drasync_release(t.part[i % 3]));
        OK(drasync_acquire(t.part[i % 3], DRASYNC_READ));
        see(t.part[i % 3]);
        OK(drasync_release(t.part[i % 3]));
    }
    meet_all();
    OK(drasync_acquire(t.top, DRASYNC_READ));
    CHECK(pair_of(t.top)->first == (uint64_t)check_ranks * ROUNDS);
    OK(drasync_get_info(t.top, &info));
    OK(drasync_release(t.top));
    meet_all();
    if (check_rank == first)
        OK(drasync_delete(t.top));
    if (dies())
        die();
}

int main(int argc, char **argv)
{
    static const struct story stories[] = {
        {"changed", changed}, {"awaited", awaited}, {"beside", beside},
        {"partly", partly},   {"middle", middle},   {"orderly", orderly},
        {NULL, NULL},
    };

    return death_story(argc, argv, stories);
}
