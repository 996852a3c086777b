/* Memory of a unit that others may reach, from one region for each unit. */
#include "fronts/dart/heap.h"

#include <assert.h>

#include "drasync.h"

static drasync_region_t heap_region;

dart_ret_t heap_start(void)
{
    int err = drasync_new_region(&heap_region);

    return err ? front_fail(front_error(err), "dart_init: no heap: %s",
                            drasync_strerror(err))
               : DART_OK;
}

void heap_stop(void)
{
    memory_forget();
    drasync_delete(heap_region);
    heap_region = NULL;
}

dart_ret_t heap_take(size_t bytes, void **object_out, uint64_t *place_out)
{
    int err = drasync_alloc(heap_region, bytes, object_out);

    if (err)
        return front_error(err);
    *place_out = (uint64_t)((char *)*object_out - front_job->data);
    return DART_OK;
}

void heap_give(void *object)
{
    int err = drasync_free(object);

    /* Where a unit has died nothing is freed any more. */
    assert(!err || err == DRASYNC_EPEER);
    (void)err;
}

char *heap_at(uint64_t place, size_t bytes)
{
    drasync_region_t first, last;
    char *address;

    if (place >= front_job->data_bytes ||
        bytes > front_job->data_bytes - place || bytes == 0)
        return NULL;
    address = front_job->data + place;
    if (drasync_region_of(address, &first) || first != heap_region ||
        drasync_region_of(address + bytes - 1, &last) || last != heap_region)
        return NULL;
    return address;
}
