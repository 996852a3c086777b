/* Without a hash for pages, regions are always sent whole: see delta.h. */
#include "config.h"

#include "runtime/native/delta.h"

#ifndef HAVE_XXHASH

int native_delta_note(struct native_memory *memory,
                      const struct native_frames *frames, uint64_t version)
{
    (void)memory;
    (void)frames;
    (void)version;
    return DRASYNC_ENOMEM;
}

int native_delta_list(struct native_memory *memory,
                      const struct native_frames *frames,
                      struct delta_list *list)
{
    (void)memory;
    (void)frames;
    (void)list;
    return DRASYNC_ENOMEM;
}

enum delta_answer native_delta_since(const struct proto_region *region,
                                     const struct native_frames *frames,
                                     uint64_t version, uint64_t base)
{
    (void)region;
    (void)frames;
    (void)version;
    (void)base;
    return DELTA_ALL;
}

void native_delta_sent(const struct proto_region *region,
                       const struct native_frames *frames, uint64_t version,
                       uint64_t *spent)
{
    (void)region;
    (void)frames;
    (void)version;
    (void)spent;
}

void native_delta_finish(uint64_t address)
{
    (void)address;
}

void native_delta_free(struct native_memory *memory)
{
    (void)memory;
}

void native_delta_start(void)
{
}

#endif
