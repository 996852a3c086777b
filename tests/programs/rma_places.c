/*
 * Where memory lies: objects of regions in primary and in alternate frames,
 * what is no region, and every error.  Any number of ranks.
 */
#include "native_check.h"
#include "runtime/rma/rma.h"

/* What is written at @object is seen at its place. */
static void same(uint64_t *object)
{
    const struct rma_job *job = rma_job();
    uint64_t place = RMA_NOWHERE, *seen;

    OK(rma_place_of(object, sizeof(*object), &place));
    CHECK(place < job->window_bytes);
    seen = rma_address(job, place);
    CHECK(seen != object);
    *object = 4711;
    CHECK(*seen == 4711);
    __atomic_store_n(seen, 12, __ATOMIC_SEQ_CST);
    CHECK(*object == 12);
    /* An address in the window is one too. */
    OK(rma_place_of(seen, sizeof(*seen), &place));
    CHECK(rma_address(job, place) == seen);
}

static void regions(void)
{
    drasync_region_t region, sub;
    uint64_t place;
    char *large;
    void *object;

    OK(drasync_new_region(&region));
    OK(drasync_alloc(region, 8, &object));
    same(object);
    OK(drasync_new_subregion(region, &sub));
    OK(drasync_alloc(sub, 5 << 20, (void **)&large));
    same((uint64_t *)large);
    same((uint64_t *)(large + (4 << 20)));
    OK(rma_place_of(large, 5 << 20, &place));
    OK(rma_place_of(large, 0, &place));
    CODE(rma_place_of(large, 50 << 20, &place), DRASYNC_EINVAL);
    OK(drasync_release(region));
    CODE(rma_place_of(object, 8, &place), DRASYNC_ENOTHELD);
    CODE(rma_place_of(large, 8, &place), DRASYNC_ENOTHELD);
    OK(drasync_acquire(region, DRASYNC_READ));
    CODE(rma_place_of(object, 8, &place), DRASYNC_ENOTHELD);
    OK(drasync_release(region));
    /* Nobody makes another there meanwhile. */
    check_barrier();
    OK(drasync_delete(region));
    CODE(rma_place_of(object, 8, &place), DRASYNC_ENOREGION);
    check_barrier();
}

static void elsewhere(void)
{
    const struct rma_job *job = rma_job();
    uint64_t place, local = 0;
    uintptr_t base = (uintptr_t)job->data;

    OK(rma_place_of(&local, sizeof(local), &place));
    CHECK(place == (RMA_PRIVATE | (uintptr_t)&local));
    CODE(rma_place_of(NULL, 1, &place), DRASYNC_EINVAL);
    CODE(rma_place_of(&local, SIZE_MAX, &place), DRASYNC_EINVAL);
    CODE(rma_place_of((void *)~(uintptr_t)7, 1, &place), DRASYNC_EINVAL);
    CODE(rma_place_of((void *)(base - 16), 32, &place), DRASYNC_EINVAL);
    CODE(rma_place_of((void *)base, 8, &place), DRASYNC_ENOREGION);
    CODE(rma_place_of(job->data + 8, job->data_bytes, &place), DRASYNC_EINVAL);
    CODE(rma_place_of(job->window, job->window_bytes + 1, &place),
         DRASYNC_EINVAL);
    OK(rma_place_of(job->window, job->window_bytes, &place));
    CHECK(place == 0);
}

/* Writers while an older version is read: the data is now here, now there. */
static void moving(void)
{
    drasync_region_t region = NULL;
    uint64_t *object = NULL;

    if (check_rank == 0) {
        OK(drasync_new_region(&region));
        OK(drasync_alloc(region, 20000, (void **)&object));
        OK(drasync_release(region));
    }
    check_share(&region, 0);
    check_share(&object, 0);
    for (int round = 0; round < 3 * check_ranks; round++) {
        int writer = round % check_ranks;

        if (check_rank == (writer + 1) % check_ranks && check_ranks > 1)
            OK(drasync_acquire(region, DRASYNC_READ));
        check_barrier();
        if (check_rank == writer) {
            OK(drasync_acquire(region, DRASYNC_WRITE));
            same(object);
            same(object + 2000);
            OK(drasync_release(region));
        }
        check_barrier();
        if (check_rank == (writer + 1) % check_ranks && check_ranks > 1)
            OK(drasync_release(region));
    }
    check_barrier();
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    OK(rma_enter());
    CHECK(rma_job()->rank == check_rank && rma_job()->ranks == check_ranks);
    CHECK(rma_job()->node_of[check_rank] == rma_job()->node);
    CHECK(rma_job()->local_of[check_rank] == rma_job()->local);
    CHECK(rma_job()->node_of[rma_job()->leader_of[rma_job()->node]] ==
          rma_job()->node);
    elsewhere();
    regions();
    moving();
    return check_end("places");
}
