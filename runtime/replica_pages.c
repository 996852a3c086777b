#include "runtime/native_state.h"
#include "runtime/replica.h"

void replica_native_pages(drasync_region_t region,
                          void (*each)(void *arg, uint64_t first,
                                       uint64_t pages),
                          void *arg)
{
    struct proto_region *known = native_find((uint64_t)(uintptr_t)region);
    struct native_memory *memory = known ? known->memory : NULL;
    struct extent *extent;

    for (extent = memory ? memory->first : NULL; extent; extent = extent->next)
        each(arg, extent->first_page, extent->pages);
}
