/*
 * Circles of managed regions with parts on several nodes: they end when nobody
 * refers to one of them, or holds one, and not before.
 *   native_circles ring|held|kept|beside|random [SEED [ROUNDS]]
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "native_check.h"

#define EACH      8 /* regions of a rank, in random graphs */
#define RANKS_MAX 16
#define TAG_GIVEN 9
#define TAG_ENDED 10

struct part {
    uint64_t number;
    struct part *next; /* in the region that this one is linked to */
};

static int ended; /* calls at the end of this rank's own */

static void count_end(drasync_region_t region, void *arg)
{
    (void)region;
    (void)arg;
    ended++;
}

static struct part *part_in(drasync_region_t region)
{
    void *v;

    OK(drasync_get_root(region, &v));
    return v;
}

static drasync_region_t make(uint64_t number)
{
    drasync_region_t region;
    void *v;

    OK(drasync_new_region(&region));
    OK(drasync_alloc(region, sizeof(struct part), &v));
    *(struct part *)v = (struct part){.number = number};
    OK(drasync_set_root(region, v));
    OK(drasync_manage(region));
    OK(drasync_on_end(region, count_end, NULL));
    OK(drasync_release(region));
    return region;
}

/* Of all ranks. */
static long sum(long mine)
{
    long all;

    MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* Regions of this node's that live; a node's ranks all say so. */
static long living(void)
{
    struct drasync_managed_stats stats;

    OK(drasync_get_managed_stats(&stats));
    return (long)(stats.managed - stats.ended);
}

/* Rank @who alone collects, or -1: all, until no region lives; messages that
 * nobody waits for may have to come first. */
static void collect_until_none(int who)
{
    do {
        if (who < 0 || who == check_rank)
            OK(drasync_collect());
    } while (sum(living()));
}

/* Nothing ends by that. */
static void collect_in_vain(void)
{
    long before = sum(living());

    for (int i = 0; i < 20; i++) {
        OK(drasync_collect());
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK(sum(living()) == before);
    CHECK(!ended);
}

/* --- A ring: each rank's region is linked to the next rank's --------------- */

static struct ring {
    drasync_region_t all[RANKS_MAX];
    drasync_region_t mine, next;
} ring;

/* @meets: each rank has READ the next one's too. */
static void make_ring(bool meets)
{
    int before = (check_rank + check_ranks - 1) % check_ranks;

    ring.mine = make((uint64_t)check_rank);
    MPI_Allgather(&ring.mine, sizeof(ring.mine), MPI_BYTE, ring.all,
                  sizeof(ring.mine), MPI_BYTE, MPI_COMM_WORLD);
    ring.next = ring.all[(check_rank + 1) % check_ranks];
    OK(drasync_ref(ring.mine));
    OK(drasync_ref_give(ring.mine, before));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(drasync_acquire(ring.mine, DRASYNC_WRITE));
    OK(drasync_link(ring.mine, ring.next));
    OK(drasync_release(ring.mine));
    if (meets) {
        OK(drasync_acquire(ring.next, DRASYNC_READ));
        CHECK(part_in(ring.next)->number ==
              (uint64_t)((check_rank + 1) % check_ranks));
        OK(drasync_release(ring.next));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void leave_ring(void)
{
    OK(drasync_unref(ring.next));
    OK(drasync_unref(ring.mine));
    MPI_Barrier(MPI_COMM_WORLD);
}

static void rings(void)
{
    for (int who = -1; who < check_ranks; who++) {
        ended = 0;
        make_ring(who % 2 == 0);
        leave_ring();
        collect_until_none(who);
        /* What is to be called is called in a call of that rank's. */
        OK(drasync_collect());
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(ended == 1);
    }
}

/* One part is held, without a reference: all are reached from that. */
static void held(void)
{
    enum drasync_mode mode[] = {DRASYNC_READ, DRASYNC_WRITE};

    for (int i = 0; i < 2; i++) {
        ended = 0;
        make_ring(i == 0);
        if (!check_rank)
            OK(drasync_acquire(ring.next, mode[i]));
        leave_ring();
        collect_in_vain();
        if (!check_rank) {
            CHECK(part_in(ring.next)->number == (uint64_t)(1 % check_ranks));
            OK(drasync_release(ring.next));
        }
        collect_until_none(-1);
        OK(drasync_collect());
        CHECK(ended == 1);
    }
}

/* The last rank refers to the first one's; then it has a weak handle. */
static void kept(void)
{
    drasync_region_t got;
    drasync_weak_t weak;
    int last = check_ranks - 1;

    ended = 0;
    make_ring(true);
    OK(drasync_weak(ring.next, &weak));
    if (check_rank == last)
        OK(drasync_ref(ring.next));
    leave_ring();
    collect_in_vain();
    OK(drasync_weak_lock(&weak, &got));
    CHECK(got == ring.next);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == last)
        OK(drasync_unref(ring.next));
    OK(drasync_unref(got));
    MPI_Barrier(MPI_COMM_WORLD);
    collect_until_none(-1);
    CODE(drasync_weak_lock(&weak, &got), DRASYNC_EDELETED);
    OK(drasync_collect());
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(ended == 1);
}

/* --- A ring, beside a circle that changes all the time --------------------- */

/* Of this rank, which holds it: now and then nobody refers to it. */
static drasync_region_t begin_restless(void)
{
    drasync_region_t region = make(0);

    OK(drasync_acquire(region, DRASYNC_READ));
    OK(drasync_link(region, region));
    OK(drasync_unref(region));
    return region;
}

/* Until rank 0 is through. */
static void change(drasync_region_t region)
{
    int through = 0;

    while (!through) {
        OK(drasync_ref(region));
        OK(drasync_unref(region));
        MPI_Iprobe(0, TAG_ENDED, MPI_COMM_WORLD, &through, MPI_STATUS_IGNORE);
    }
    MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG_ENDED, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
}

/* Nobody refers to the ring, and no message of it is under way. */
static drasync_weak_t make_unused_ring(void)
{
    drasync_weak_t weak;

    make_ring(false);
    OK(drasync_weak(ring.mine, &weak));
    OK(drasync_acquire(ring.mine, DRASYNC_READ));
    leave_ring();
    OK(drasync_collect());
    MPI_Barrier(MPI_COMM_WORLD);
    OK(drasync_release(ring.mine));
    MPI_Barrier(MPI_COMM_WORLD);
    return weak;
}

/* It ends by the first call, or the next ones if a part cannot be had in time. */
static void end_ring(const drasync_weak_t *weak, int other)
{
    drasync_region_t got;
    int err = DRASYNC_OK;

    for (int i = 0; i < 3 && !err; i++) {
        OK(drasync_collect());
        err = drasync_weak_lock(weak, &got);
        if (!err)
            OK(drasync_unref(got));
    }
    CHECK(err == DRASYNC_EDELETED);
    MPI_Send(NULL, 0, MPI_BYTE, other, TAG_ENDED, MPI_COMM_WORLD);
}

static void beside(void)
{
    const int last = check_ranks - 1;
    drasync_region_t restless = NULL;

    CHECK(check_ranks > 1);
    if (check_rank == last)
        restless = begin_restless();
    for (int i = 0; i < 20; i++) {
        drasync_weak_t weak = make_unused_ring();

        if (check_rank == last)
            change(restless);
        else if (!check_rank)
            end_ring(&weak, last);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (check_rank == last)
        OK(drasync_release(restless));
    collect_until_none(-1);
}

/* --- Graphs ----------------------------------------------------------------- */

static uint64_t state;

static int draw(int below)
{
    state =
        state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)(state >> 33) % below;
}

#define REGIONS (EACH * RANKS_MAX)

static struct {
    int count;
    drasync_region_t region[REGIONS];
    drasync_weak_t weak[REGIONS];
    bool root[REGIONS], reached[REGIONS];
    bool edge[REGIONS][REGIONS];
} graph;

static int owner(int i)
{
    return i % check_ranks;
}

static void reach(int i)
{
    if (graph.reached[i])
        return;
    graph.reached[i] = true;
    for (int k = 0; k < graph.count; k++)
        if (graph.edge[i][k])
            reach(k);
}

/* Each rank draws the same. */
static void draw_graph(void)
{
    memset(&graph, 0, sizeof(graph));
    graph.count = EACH * check_ranks;
    for (int e = draw(2 * graph.count); e > 0; e--)
        graph.edge[draw(graph.count)][draw(graph.count)] = true;
    for (int i = 0; i < graph.count; i++)
        graph.root[i] = draw(6) == 0;
    for (int i = 0; i < graph.count; i++)
        if (graph.root[i])
            reach(i);
}

static void make_regions(void)
{
    for (int i = 0; i < graph.count; i++) {
        if (owner(i) == check_rank) {
            graph.region[i] = make((uint64_t)i);
            OK(drasync_weak(graph.region[i], &graph.weak[i]));
        }
        MPI_Bcast(&graph.region[i], sizeof(graph.region[i]), MPI_BYTE, owner(i),
                  MPI_COMM_WORLD);
        MPI_Bcast(&graph.weak[i], sizeof(graph.weak[i]), MPI_BYTE, owner(i),
                  MPI_COMM_WORLD);
    }
}

static void make_edge(int i, int k)
{
    bool far = owner(i) != owner(k);

    if (owner(k) == check_rank) {
        OK(drasync_ref(graph.region[k]));
        if (far) {
            OK(drasync_ref_give(graph.region[k], owner(i)));
            MPI_Send(NULL, 0, MPI_BYTE, owner(i), TAG_GIVEN, MPI_COMM_WORLD);
        }
    }
    if (owner(i) != check_rank)
        return;
    if (far)
        MPI_Recv(NULL, 0, MPI_BYTE, owner(k), TAG_GIVEN, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    OK(drasync_acquire(graph.region[i], DRASYNC_WRITE));
    OK(drasync_link(graph.region[i], graph.region[k]));
    OK(drasync_release(graph.region[i]));
    OK(drasync_unref(graph.region[k]));
}

static void make_graph(void)
{
    make_regions();
    for (int i = 0; i < graph.count; i++)
        for (int k = 0; k < graph.count; k++)
            if (graph.edge[i][k])
                make_edge(i, k);
    for (int n = 0; n < graph.count; n++) {
        int i = draw(graph.count), reader = draw(check_ranks);

        if (reader != check_rank)
            continue;
        OK(drasync_acquire(graph.region[i], DRASYNC_READ));
        CHECK(part_in(graph.region[i])->number == (uint64_t)i);
        OK(drasync_release(graph.region[i]));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void check_graph(void)
{
    for (int i = 0; i < graph.count; i++) {
        drasync_region_t got;

        if (!graph.reached[i]) {
            CODE(drasync_weak_lock(&graph.weak[i], &got), DRASYNC_EDELETED);
            continue;
        }
        OK(drasync_weak_lock(&graph.weak[i], &got));
        OK(drasync_acquire(got, DRASYNC_READ));
        CHECK(part_in(got)->number == (uint64_t)i);
        OK(drasync_release(got));
        OK(drasync_unref(got));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Of all nodes: each is told by its first rank. */
static long living_all(bool first)
{
    return sum(first ? living() : 0);
}

static void random_graph(bool first)
{
    long expected = 0;

    draw_graph();
    make_graph();
    for (int i = 0; i < graph.count; i++) {
        expected += graph.reached[i];
        if (owner(i) == check_rank && !graph.root[i])
            OK(drasync_unref(graph.region[i]));
    }
    do
        OK(drasync_collect());
    while (living_all(first) > expected);
    for (int i = 0; i < 3; i++)
        OK(drasync_collect());
    CHECK(living_all(first) == expected);
    check_graph();
    for (int i = 0; i < graph.count; i++)
        if (owner(i) == check_rank && graph.root[i])
            OK(drasync_unref(graph.region[i]));
    collect_until_none(-1);
}

static void random_graphs(uint64_t seed, int rounds)
{
    struct drasync_stats stats;
    int *nodes = malloc((size_t)check_ranks * sizeof(*nodes));
    bool first = true;

    OK(drasync_get_stats(&stats));
    MPI_Allgather(&stats.node, 1, MPI_INT, nodes, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < check_rank; i++)
        first &= nodes[i] != stats.node;
    free(nodes);
    state = seed;
    for (int i = 0; i < rounds; i++)
        random_graph(first);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    check_start(&argc, &argv);
    if (!strcmp(what, "ring"))
        rings();
    else if (!strcmp(what, "held"))
        held();
    else if (!strcmp(what, "kept"))
        kept();
    else if (!strcmp(what, "beside"))
        beside();
    else if (!strcmp(what, "random"))
        random_graphs(argc > 2 ? strtoull(argv[2], NULL, 10) : 1,
                      argc > 3 ? atoi(argv[3]) : 3);
    else
        return 2;
    return check_end(what);
}
