/*
 * Rank 2 reads a version of a part that lies in other frames than the part's own,
 * while rank 1 makes a newer one and tries to delete it in vain.  When the frames
 * that rank 2 read have become another region's, rank 2 deletes all of the part's
 * tree: the other region keeps what is in it.
 *
 * native_dead_lines, 3 ranks of a node
 */
#include <string.h>

#include "native_check.h"

#define BYTES (16 << 10)

static drasync_region_t top;
static struct box {
    drasync_region_t region;
    unsigned char *bytes;
} part, other;

static void fill(const struct box *box, int value)
{
    OK(drasync_acquire(box->region, DRASYNC_WRITE));
    memset(box->bytes, value, BYTES);
}

static void make(void)
{
    if (check_rank == 0) {
        OK(drasync_new_region(&top));
        OK(drasync_new_subregion(top, &part.region));
        OK(drasync_alloc(part.region, BYTES, (void **)&part.bytes));
        OK(drasync_release(top));
        OK(drasync_new_region(&other.region));
        OK(drasync_alloc(other.region, BYTES, (void **)&other.bytes));
        OK(drasync_release(other.region));
    }
    check_share(&top, 0);
    check_share(&part.region, 0);
    check_share(&part.bytes, 0);
    check_share(&other.region, 0);
    check_share(&other.bytes, 0);
}

/* While @reader READs the box's version, @writer makes the next one, and ends
 * with @then. */
static void beside(const struct box *box, int reader, int writer, int value,
                   void (*then)(void))
{
    if (check_rank == reader)
        OK(drasync_acquire(box->region, DRASYNC_READ));
    check_barrier();
    if (check_rank == writer) {
        fill(box, value);
        if (then)
            then();
        OK(drasync_release(box->region));
    }
    check_barrier();
    if (check_rank == reader)
        OK(drasync_release(box->region));
    check_barrier();
}

static void delete_in_vain(void)
{
    CODE(drasync_delete(part.region), DRASYNC_EBUSY);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    make();
    beside(&part, 2, 1, 1, NULL);           /* into other frames */
    beside(&part, 2, 1, 2, delete_in_vain); /* and back */
    beside(&other, 1, 0, 3, NULL);          /* into those */
    if (check_rank == 2)
        OK(drasync_delete(top));
    check_barrier();
    if (check_rank == 0) {
        OK(drasync_acquire(other.region, DRASYNC_READ));
        for (int i = 0; i < BYTES; i++)
            CHECK(other.bytes[i] == 3);
        OK(drasync_release(other.region));
        OK(drasync_delete(other.region));
    }
    return check_end("dead_lines");
}
