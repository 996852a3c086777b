/*
 * A tree of regions with lists in them, saved and loaded.
 *
 *   save_tree save FILE [RANK]   every rank makes a part of the tree; RANK saves
 *   save_tree load FILE [RANK]   RANK loads; every rank looks, and goes on
 *   save_tree each PREFIX        every rank saves a region of its own, at once,
 *                                from two threads
 *   save_tree empty FILE         a region without objects, there and back
 *   save_tree many FILE COUNT    so many small ones, there and back
 *   save_tree busy FILE          saved while others write
 *   save_tree race FILE          all ranks load it at once: one has it at most
 *   save_tree by_itself FILE     DRASYNC_SAVE makes FILE
 */
#include <pthread.h>

#include "save_tree.h"

/* Each rank in turn, @count lists; every other one below the last one. */
static void grow(drasync_region_t top, int count, uint64_t seed)
{
    for (int rank = 0; rank < check_ranks; rank++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank != check_rank)
            continue;
        OK(drasync_acquire(top, DRASYNC_WRITE));
        for (int i = 0; i < count; i++) {
            struct top *t = top_of(top);
            drasync_region_t above = i % 2 ? t->region[t->lists - 1] : top;

            list_add(above, t, seed + (uint64_t)(rank * count + i));
        }
        OK(drasync_release(top));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static drasync_region_t look_up(const char *name)
{
    drasync_region_t region;

    OK(drasync_lookup(name, WAIT_US, &region));
    return region;
}

static void say_hash(drasync_region_t top)
{
    uint64_t hash = hash_held(top);

    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0)
        printf("hash=%016llx\n", (unsigned long long)hash);
}

static void save(const char *path, int saver)
{
    drasync_region_t top;

    if (check_rank == 0) {
        top = make_top("tree");
        OK(drasync_release(top));
    }
    top = look_up("tree");
    grow(top, 5, 7);
    if (check_rank == 1 % check_ranks) {
        OK(drasync_acquire(top, DRASYNC_READ));
        OK(drasync_publish("third list", top_of(top)->region[2]));
        OK(drasync_release(top));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == saver)
        OK(drasync_save(top, path));
    say_hash(top);
}

/* The names are there; allocation and free go on; then all can go, and come
 * again. */
static void load(const char *path, int loader)
{
    drasync_region_t top = NULL, again;
    struct item *item;
    uint64_t hash;

    if (check_rank == loader) {
        OK(drasync_load(path, &top));
        OK(drasync_release(top));
    }
    top = look_up("tree");
    say_hash(top);
    hash = hash_held(top);
    OK(drasync_acquire(top, DRASYNC_READ));
    CHECK(look_up("third list") == top_of(top)->region[2]);
    OK(drasync_region_of(top_of(top)->list[2], &again));
    CHECK(again == top_of(top)->region[2]);
    OK(drasync_release(top));
    grow(top, 3, 99);
    CHECK(hash_held(top) != hash);
    for (int rank = 0; rank < check_ranks; rank++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank != check_rank)
            continue;
        /* Items that were saved are freed, and subregions deleted. */
        OK(drasync_acquire(top, DRASYNC_WRITE));
        item = top_of(top)->list[2];
        top_of(top)->list[2] = item->next;
        OK(drasync_free(item));
        CODE(drasync_free(item), DRASYNC_EFREED);
        OK(drasync_release(top));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == loader) {
        CODE(drasync_load(path, &again), DRASYNC_ETAKEN);
        OK(drasync_acquire(top, DRASYNC_WRITE));
        OK(drasync_delete(top_of(top)->region[0]));
        OK(drasync_delete(top));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == (loader + 1) % check_ranks) {
        again = load_again(path);
        CHECK(hash_tree(again) == hash);
        OK(drasync_delete(again));
    }
}

/* --- Several at once ------------------------------------------------------ */

struct task {
    char path[512];
    drasync_region_t region;
};

static void *save_task(void *arg)
{
    struct task *task = arg;

    for (int i = 0; i < 3; i++)
        OK(drasync_save(task->region, task->path));
    return NULL;
}

static void each(const char *prefix)
{
    struct task task[2];
    pthread_t thread[2];
    char name[32];

    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof(name), "tree %d.%d", check_rank, i);
        snprintf(task[i].path, sizeof(task[i].path), "%s%d.%d", prefix,
                 check_rank, i);
        task[i].region = make_top(name);
        list_add(task[i].region, top_of(task[i].region),
                 (uint64_t)(check_rank * 2 + i));
        OK(drasync_release(task[i].region));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++)
        CHECK(!pthread_create(&thread[i], NULL, save_task, &task[i]));
    for (int i = 0; i < 2; i++)
        CHECK(!pthread_join(thread[i], NULL));
    for (int i = 0; i < 2; i++) {
        uint64_t hash = hash_held(task[i].region);
        drasync_region_t back;

        OK(drasync_delete(task[i].region));
        back = load_again(task[i].path);
        CHECK(back == task[i].region && hash_tree(back) == hash);
    }
}

/* --- Sizes ---------------------------------------------------------------- */

static drasync_region_t there_and_back(drasync_region_t region,
                                       const char *path)
{
    drasync_region_t back;

    OK(drasync_save(region, path));
    OK(drasync_delete(region));
    back = load_again(path);
    CHECK(back == region);
    return back;
}

static void empty(const char *path)
{
    drasync_region_t region;
    void *root;

    if (check_rank)
        return;
    OK(drasync_new_region(&region));
    region = there_and_back(region, path);
    OK(drasync_get_root(region, &root));
    CHECK(!root);
    object(region, 100000);
    OK(drasync_delete(region));
}

static void many(const char *path, int count)
{
    drasync_region_t top, *sub;
    void *root;

    if (check_rank)
        return;
    OK(drasync_new_region(&top));
    sub = malloc((size_t)count * sizeof(*sub));
    CHECK(sub);
    for (int i = 0; i < count; i++) {
        OK(drasync_new_subregion(i % 3 == 2 ? sub[i / 2] : top, &sub[i]));
        OK(drasync_set_root(sub[i], &sub[i]));
    }
    top = there_and_back(top, path);
    for (int i = 0; i < count; i++) {
        OK(drasync_get_root(sub[i], &root));
        CHECK(root == (void *)&sub[i]);
    }
    free(sub);
    OK(drasync_delete(top));
}

/* --- While others write --------------------------------------------------- */

enum { PAIRS = 20000 };

/* A writer keeps all numbers equal, and READ sees no other. */
static void busy(const char *path)
{
    drasync_region_t top;
    uint64_t *number;
    void *root;
    int stop = 0;

    if (check_rank == 0) {
        OK(drasync_new_region(&top));
        number = object(top, PAIRS * sizeof(*number));
        memset(number, 0, PAIRS * sizeof(*number));
        OK(drasync_set_root(top, number));
        OK(drasync_publish("numbers", top));
        OK(drasync_release(top));
    }
    top = look_up("numbers");
    MPI_Request over;
    MPI_Ibarrier(MPI_COMM_WORLD, &over);
    MPI_Wait(&over, MPI_STATUS_IGNORE);
    if (check_rank == 0) {
        for (int i = 0; i < 10; i++)
            OK(drasync_save(top, path));
        MPI_Ibarrier(MPI_COMM_WORLD, &over);
        MPI_Wait(&over, MPI_STATUS_IGNORE);
    } else {
        MPI_Ibarrier(MPI_COMM_WORLD, &over);
        while (!stop) {
            OK(drasync_acquire(top, DRASYNC_WRITE));
            OK(drasync_get_root(top, &root));
            number = root;
            for (int i = 0; i < PAIRS; i++)
                number[i]++;
            OK(drasync_release(top));
            MPI_Test(&over, &stop, MPI_STATUS_IGNORE);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0) {
        OK(drasync_acquire(top, DRASYNC_WRITE));
        OK(drasync_delete(top));
        top = load_again(path);
        OK(drasync_get_root(top, &root));
        number = root;
        for (int i = 1; i < PAIRS; i++)
            CHECK(number[i] == number[0]);
    }
}

/* --- All want the same ---------------------------------------------------- */

static void race(const char *path)
{
    drasync_region_t top;
    int err, won, winners;

    for (int i = 0; i < 5; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        err = drasync_load(path, &top);
        won = !err;
        CHECK(won || err == DRASYNC_ETAKEN);
        MPI_Allreduce(&won, &winners, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(winners <= 1);
        if (!winners && check_rank == 0)
            top = load_again(path);
        if (won || (!winners && check_rank == 0)) {
            hash_tree(top);
            OK(drasync_delete(top));
        }
    }
}

/* --- By itself ------------------------------------------------------------ */

/* DRASYNC_SAVE is set: the last rank makes a tree and waits for its file. */
static void by_itself(const char *path)
{
    drasync_region_t top;
    uint64_t hash;
    int err;

    if (check_rank != check_ranks - 1)
        return;
    top = make_top("by/itself");
    list_add(top, top_of(top), 5);
    OK(drasync_publish("below it", top_of(top)->region[0]));
    OK(drasync_release(top));
    hash = hash_held(top);
    while (access(path, F_OK))
        usleep(20000);
    OK(drasync_acquire(top, DRASYNC_WRITE));
    while ((err = drasync_delete(top)) == DRASYNC_EBUSY)
        usleep(20000); /* it is just being saved */
    CODE(err, DRASYNC_OK);
    top = load_again(path);
    CHECK(hash_tree(top) == hash);
    CHECK(look_up("below it") == top_of(top)->region[0]);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const char *path = argc > 2 ? argv[2] : "";
    const char *more = argc > 3 ? argv[3] : "0";

    check_start_threads(&argc, &argv);
    if (!strcmp(what, "save"))
        save(path, atoi(more) % check_ranks);
    else if (!strcmp(what, "load"))
        load(path, atoi(more) % check_ranks);
    else if (!strcmp(what, "each"))
        each(path);
    else if (!strcmp(what, "empty"))
        empty(path);
    else if (!strcmp(what, "many"))
        many(path, atoi(more));
    else if (!strcmp(what, "busy"))
        busy(path);
    else if (!strcmp(what, "race"))
        race(path);
    else if (!strcmp(what, "by_itself"))
        by_itself(path);
    else
        CHECK(!"a word that this program knows");
    return check_end(what);
}
