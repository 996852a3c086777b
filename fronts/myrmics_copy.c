/* The Myrmics calls as copies: every worker has data of its own. */
#include "fronts/myrmics.h"

static int copy_free(uint32_t region, const struct replica_place *place)
{
    int err = replica_region_free(region);

    if (!err)
        myrmics_freed(region, place);
    return err;
}

static int copy_send(uint32_t region, int worker,
                     const struct replica_place *place, uint64_t *bytes_out)
{
    (void)place;
    return replica_send(region, worker, bytes_out);
}

const struct myrmics_ops myrmics_copy = {
    .mode = "copy",
    .region_new = replica_region_new,
    .region_free = copy_free,
    .region_check = replica_region_check,
    .alloc = replica_alloc,
    .alloc_many = replica_alloc_many,
    .free = replica_free_object,
    .realloc = replica_realloc,
    .send = copy_send,
    .recv = replica_recv,
};
