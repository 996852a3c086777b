/* DRASYNC_ON_DEATH=continue: what the others find, whatever a rank was at when it
 * died. */
#include <pthread.h>

#include "native_death.h"

/* --- What it wrote -------------------------------------------------------- */

/* One part of a tree is lost, with what is below it; the rest is there, and all
 * of it once that is deleted. */
static void written(void)
{
    struct tree t = make_tree();
    drasync_request_t request;

    if (dies()) {
        OK(drasync_acquire(t.part[1], DRASYNC_WRITE));
        pair_of(t.part[1])->first = 77;
    }
    meet_all();
    if (dies())
        die();
    CODE(drasync_acquire(t.part[1], DRASYNC_WRITE), DRASYNC_ELOST);
    CODE(drasync_acquire(t.part[1], DRASYNC_READ), DRASYNC_ELOST);
    CODE(drasync_try_acquire(t.part[1], DRASYNC_READ), DRASYNC_ELOST);
    CODE(drasync_acquire(t.below, DRASYNC_READ), DRASYNC_ELOST);
    CODE(drasync_acquire(t.top, DRASYNC_WRITE), DRASYNC_ELOST);
    CODE(drasync_acquire(t.top, DRASYNC_READ), DRASYNC_ELOST);
    CODE(drasync_iacquire(t.top, DRASYNC_READ, &request), DRASYNC_ELOST);
    use(t.part[0]);
    use(t.part[2]);
    meet();
    if (check_rank == first)
        OK(drasync_delete(t.part[1]));
    meet();
    use(t.top);
    use(t.part[2]);
}

/* What it made and never gave back; its magazine is open. */
static void made(void)
{
    drasync_region_t r[2] = {0};
    void *v;

    if (dies()) {
        OK(drasync_new_region(&r[0]));
        OK(drasync_new_subregion(r[0], &r[1]));
        for (int i = 0; i < 1000; i++)
            OK(drasync_alloc(r[1], 48, &v));
    }
    MPI_Bcast(r, sizeof(r), MPI_BYTE, dying, MPI_COMM_WORLD);
    meet_all();
    if (dies())
        die();
    CODE(drasync_acquire(r[1], DRASYNC_READ), DRASYNC_ELOST);
    CODE(drasync_acquire(r[0], DRASYNC_WRITE), DRASYNC_ELOST);
    meet();
    if (check_rank == first) {
        OK(drasync_delete(r[0]));
        CODE(drasync_acquire(r[1], DRASYNC_READ), DRASYNC_ENOREGION);
    }
}

/* Those who wait for what it writes are told. */
static void awaited(void)
{
    struct tree t = make_tree();

    if (dies())
        OK(drasync_acquire(t.top, DRASYNC_WRITE));
    meet_all();
    if (dies()) {
        await_waiting(t.part[0], check_ranks - 1);
        die();
    }
    CODE(drasync_acquire(t.part[0], DRASYNC_WRITE), DRASYNC_ELOST);
}

/* It is killed at any instruction of those that write, or of the library: then
 * the job may end, if it had a lock. */
static void middle(void)
{
    struct tree t = make_tree();
    drasync_region_t r;
    void *v;
    int err;

    for (int i = 0; dies(); i++) {
        if (i == ROUNDS)
            OK(drasync_publish("begun", t.top));
        OK(drasync_acquire(t.part[i % 3],
                           i % 2 ? DRASYNC_WRITE : DRASYNC_READ));
        see(t.part[i % 3]);
        OK(drasync_release(t.part[i % 3]));
        OK(drasync_new_region(&r));
        OK(drasync_alloc(r, 100, &v));
        OK(drasync_release(r));
        OK(drasync_delete(r));
    }
    if (!kill_begun())
        return;
    for (int i = 0; i < 3 * ROUNDS; i++) {
        err = drasync_acquire(t.part[i % 3], DRASYNC_WRITE);
        CHECK(err == 0 || err == DRASYNC_ELOST || err == DRASYNC_EPEER);
        if (!err)
            err = drasync_release(t.part[i % 3]);
    }
}

/* --- Leases --------------------------------------------------------------- */

/* It had given its hold back, or took it again, or waits for it, without a step. */
static void leased(int takes)
{
    drasync_region_t r = shared_region(NULL);
    struct pair *p = known_pair(r);

    meet_all();
    if (dies()) {
        many(r, p, ROUNDS);
        if (takes)
            OK(drasync_acquire(r, DRASYNC_WRITE));
    }
    meet_all();
    if (dies())
        die();
    if (takes) {
        CODE(drasync_acquire(r, DRASYNC_WRITE), DRASYNC_ELOST);
        return;
    }
    OK(drasync_acquire(r, DRASYNC_READ));
    CHECK(see(r)->first >= ROUNDS);
    OK(drasync_release(r));
    use(r);
}

static void free_lease(void)
{
    leased(0);
}

static void held_lease(void)
{
    leased(1);
}

/* It waits in a lease's word, while it has another part of the tree for WRITE. */
static void waits(void)
{
    struct tree t = make_tree();
    drasync_region_t r;

    meet_all();
    if (check_rank == first || dies())
        for (int i = 0; i < ROUNDS; i++)
            use(t.part[1]);
    meet_all();
    if (check_rank == first)
        OK(drasync_acquire(t.part[1], DRASYNC_WRITE));
    if (dies())
        OK(drasync_acquire(t.part[0], DRASYNC_WRITE));
    meet_all();
    if (dies()) {
        OK(drasync_publish("waits", t.top));
        drasync_acquire(t.part[1], DRASYNC_WRITE);
    }
    OK(drasync_lookup("waits", DRASYNC_FOREVER, &r));
    kill_dying();
    CODE(drasync_acquire(t.part[0], DRASYNC_READ), DRASYNC_ELOST);
    if (check_rank == first)
        OK(drasync_release(t.part[1]));
    use(t.part[1]);
    use(t.part[2]);
}

/* Its request is in the queue when it is killed. */
static void queued(void)
{
    struct tree t = make_tree();

    if (check_rank == first)
        OK(drasync_acquire(t.part[1], DRASYNC_WRITE));
    if (dies())
        OK(drasync_acquire(t.part[0], DRASYNC_WRITE));
    meet_all();
    if (dies())
        drasync_acquire(t.part[1], DRASYNC_WRITE);
    if (check_rank == first) {
        await_waiting(t.part[1], 1);
        kill_dying();
    }
    CODE(drasync_acquire(t.part[0], DRASYNC_READ), DRASYNC_ELOST);
    if (check_rank == first) {
        struct drasync_info info;

        OK(drasync_get_info(t.part[1], &info));
        CHECK(info.waiting == 0);
        OK(drasync_release(t.part[1]));
    }
    meet();
    use(t.part[1]);
}

/* --- What it read --------------------------------------------------------- */

static drasync_region_t to_read;

static void *reads(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        OK(drasync_acquire(to_read, DRASYNC_READ));
        see(to_read);
        if (i < ROUNDS - 1)
            OK(drasync_release(to_read));
    }
    return unused;
}

/* Two of its threads READ, by a shared lease; a delete waits for no reader. */
static void read_only(void)
{
    pthread_t thread;
    int err;

    to_read = shared_region(NULL);
    if (dies()) {
        CHECK(!pthread_create(&thread, NULL, reads, NULL));
        reads(NULL);
        CHECK(!pthread_join(thread, NULL));
    }
    meet_all();
    if (dies())
        die();
    use(to_read);
    meet();
    while (check_rank == first && (err = drasync_delete(to_read)) != 0) {
        CHECK(err == DRASYNC_EBUSY);
        sched_yield();
    }
}

static void *kills_itself(void *unused)
{
    usleep(20000);
    die();
    return unused;
}

/* It dies while it saves, as it READs by a rank of its own. */
static void saves(void)
{
    const size_t bytes = (size_t)256 << 20;
    drasync_region_t r = shared_region(NULL), large = NULL;
    pthread_t thread;
    void *v;
    int err;

    if (dies()) {
        OK(drasync_new_region(&large));
        OK(drasync_alloc(large, bytes, &v));
        memset(v, 1, bytes);
        OK(drasync_release(large));
        OK(drasync_acquire(r, DRASYNC_WRITE));
    }
    MPI_Bcast(&large, sizeof(large), MPI_BYTE, dying, MPI_COMM_WORLD);
    meet_all();
    if (dies()) {
        CHECK(!pthread_create(&thread, NULL, kills_itself, NULL));
        for (;;)
            OK(drasync_save(large, "/dev/shm/drasync_death.saved"));
    }
    CODE(drasync_acquire(r, DRASYNC_READ), DRASYNC_ELOST);
    meet();
    while (check_rank == first && (err = drasync_delete(large)) != 0) {
        CHECK(err == DRASYNC_EBUSY);
        sched_yield();
    }
}

/* --- Gifts ---------------------------------------------------------------- */

/* What was given to it, and what it has not taken, is as it was; what is given to
 * it later is free. */
static void given(void)
{
    struct tree t = make_tree();

    if (dies())
        OK(drasync_acquire(t.part[0], DRASYNC_WRITE));
    meet_all();
    if (check_rank == first) {
        OK(drasync_acquire(t.part[1], DRASYNC_WRITE));
        change(pair_of(t.part[1]));
        OK(drasync_give(t.part[1], dying, 0));
    }
    meet_all();
    if (dies())
        die();
    CODE(drasync_acquire(t.part[0], DRASYNC_READ), DRASYNC_ELOST);
    use(t.part[1]);
    meet();
    if (check_rank == first) {
        OK(drasync_acquire(t.part[2], DRASYNC_WRITE));
        OK(drasync_give(t.part[2], dying, 0));
    }
    meet();
    use(t.part[2]);
}

/* What it gave can be taken, and then no more comes of it: also to who waits. */
static void gave(void)
{
    struct tree t = make_tree();
    drasync_region_t r;

    if (dies()) {
        OK(drasync_acquire(t.part[0], DRASYNC_WRITE));
        OK(drasync_acquire(t.part[1], DRASYNC_WRITE));
        change(pair_of(t.part[1]));
        OK(drasync_give(t.part[1], first, 0));
    }
    meet_all();
    if (dies())
        die();
    if (check_rank == first) {
        OK(drasync_take(dying, 0, DRASYNC_FOREVER, &r, NULL));
        CHECK(r == t.part[1] && see(r)->first == 1);
        OK(drasync_release(r));
    }
    CODE(drasync_take(dying, 0, DRASYNC_FOREVER, &r, NULL), DRASYNC_EPEER);
    CODE(drasync_acquire(t.part[0], DRASYNC_READ), DRASYNC_ELOST);
    CODE(drasync_take(dying, 0, 0, &r, NULL), DRASYNC_EPEER);
    CODE(drasync_take(dying, 1, DRASYNC_FOREVER, &r, NULL), DRASYNC_EPEER);
    CODE(drasync_take(first, 0, 0, &r, NULL), DRASYNC_EAGAIN);
    use(t.part[1]);
}

/* --- Others --------------------------------------------------------------- */

/* The leader's names are there, and new regions, and a next death. */
static void next(void)
{
    drasync_region_t r = shared_region(NULL), more;
    int second = dying == 1 ? 2 : first + 1; /* who dies then */
    struct tree t = make_tree();

    if (dies())
        OK(drasync_acquire(t.part[0], DRASYNC_WRITE));
    if (check_rank == 0)
        OK(drasync_publish("pair", r));
    meet_all();
    if (dies())
        die();
    CODE(drasync_acquire(t.part[0], DRASYNC_READ), DRASYNC_ELOST);
    OK(drasync_lookup("pair", DRASYNC_FOREVER, &r));
    use(r);
    for (int i = 0; i < ROUNDS; i++) {
        OK(drasync_new_region(&more));
        make_pair(more);
        OK(drasync_release(more));
        use(more);
        OK(drasync_delete(more));
    }
    if (check_rank == second && check_ranks > 2)
        OK(drasync_acquire(t.part[1], DRASYNC_WRITE));
    meet();
    if (check_rank == second && check_ranks > 2)
        die();
    CODE(drasync_acquire(t.part[1], DRASYNC_READ), DRASYNC_ELOST);
    use(t.part[2]);
}

/* The one who would be told of its death dies at the same time. */
static void both(void)
{
    int before = (dying + check_ranks - 1) % check_ranks;
    struct tree t = make_tree();

    if (dies())
        OK(drasync_acquire(t.part[0], DRASYNC_WRITE));
    if (check_rank == before)
        OK(drasync_acquire(t.part[1], DRASYNC_WRITE));
    meet_all();
    if (dies() || check_rank == before)
        die();
    CODE(drasync_acquire(t.part[0], DRASYNC_READ), DRASYNC_ELOST);
    CODE(drasync_acquire(t.part[1], DRASYNC_READ), DRASYNC_ELOST);
    use(t.part[2]);
}

/* A part keeps a region from being held by who it is given to; once that is over it
 * takes the region otherwise, writes, and dies without having taken the gift. */
static void given_back(void)
{
    struct tree t = make_tree();

    if (dies())
        OK(drasync_acquire(t.below, DRASYNC_READ));
    meet_all();
    if (check_rank == first) {
        OK(drasync_acquire(t.part[1], DRASYNC_WRITE));
        OK(drasync_give(t.part[1], dying, 0));
    }
    meet_all();
    if (dies()) {
        OK(drasync_release(t.below));
        OK(drasync_acquire(t.part[1], DRASYNC_WRITE));
        pair_of(t.part[1])->first = 77;
    }
    meet_all();
    if (dies())
        die();
    CODE(drasync_acquire(t.part[1], DRASYNC_READ), DRASYNC_ELOST);
    use(t.part[2]);
}

static int leave(drasync_region_t region, const void *arg, size_t arg_bytes,
                 void *answer, size_t answer_bytes)
{
    (void)region;
    (void)arg;
    (void)arg_bytes;
    (void)answer;
    (void)answer_bytes;
    exit(0);
}

/* It leaves by exit() in a function that it runs. */
static void leaves_in(void)
{
    struct tree t = make_tree();
    drasync_function_t f;

    OK(drasync_register("leave", leave, &f));
    if (dies())
        OK(drasync_acquire(t.part[0], DRASYNC_WRITE));
    meet_all();
    if (dies())
        drasync_run(t.part[0], f, DRASYNC_WRITE, NULL, 0, NULL, 0);
    CODE(drasync_acquire(t.part[0], DRASYNC_READ), DRASYNC_ELOST);
    use(t.part[1]);
}

/* It leaves by exit(), with a hold. */
static void leaves(void)
{
    struct tree t = make_tree();

    if (dies())
        OK(drasync_acquire(t.part[0], DRASYNC_WRITE));
    meet_all();
    if (dies())
        exit(0);
    CODE(drasync_acquire(t.part[0], DRASYNC_READ), DRASYNC_ELOST);
    use(t.part[1]);
}

/* The others are in MPI_Finalize when it dies. */
static void finalized(void)
{
    struct tree t = make_tree();
    struct drasync_info info = {0};

    if (!dies())
        OK(drasync_acquire(t.part[1 + (check_rank == first)], DRASYNC_WRITE));
    meet_all();
    /* Their holds end in MPI_Finalize. */
    if (dies()) {
        OK(drasync_acquire(t.top, DRASYNC_WRITE));
        OK(drasync_get_info(t.top, &info));
        CHECK(info.held_write == 1);
        die();
    }
}

int main(int argc, char **argv)
{
    static const struct story stories[] = {
        {"written", written}, {"made", made},       {"awaited", awaited},
        {"middle", middle},   {"free", free_lease}, {"held", held_lease},
        {"waits", waits},     {"queued", queued},   {"read", read_only},
        {"given", given},     {"gave", gave},       {"next", next},
        {"both", both},       {"leaves", leaves},   {"finalized", finalized},
        {"saves", saves},     {"back", given_back}, {"leaves_in", leaves_in},
        {NULL, NULL},
    };

    return death_story(argc, argv, stories);
}
