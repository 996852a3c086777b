/*
 * Regions of 1 to 200 KB are given to the next rank, whose data is what was
 * written: in packets as long as MPI sends at once between hosts.  Each rank says
 * what UCX was told of that.
 *
 * native_at_once, any number of ranks
 */
#include "native_check.h"

#define KB_MAX 200

static unsigned char byte_of(size_t bytes, size_t at)
{
    return (unsigned char)(bytes * 7 + at * 31 + at / 251);
}

static void give(size_t bytes)
{
    drasync_region_t region;
    unsigned char *data;

    OK(drasync_new_region(&region));
    OK(drasync_alloc(region, bytes, (void **)&data));
    for (size_t i = 0; i < bytes; i++)
        data[i] = byte_of(bytes, i);
    OK(drasync_set_root(region, data));
    OK(drasync_give(region, (check_rank + 1) % check_ranks, 0));
}

static void take(size_t bytes)
{
    drasync_region_t region;
    void *root;
    const unsigned char *data;

    OK(drasync_take((check_rank + check_ranks - 1) % check_ranks, 0,
                    DRASYNC_FOREVER, &region, NULL));
    OK(drasync_get_root(region, &root));
    data = root;
    for (size_t i = 0; i < bytes; i++)
        CHECK(data[i] == byte_of(bytes, i));
    OK(drasync_delete(region));
}

int main(int argc, char **argv)
{
    const char *threshold;

    check_start(&argc, &argv);
    threshold = getenv("UCX_RNDV_THRESH");
    printf("rank %d: threshold %s\n", check_rank,
           threshold ? threshold : "unset");
    for (size_t kb = 1; kb <= KB_MAX; kb++) {
        give(kb * 1000);
        take(kb * 1000);
    }
    return check_end("at once");
}
