/* Control memory: its header, its growth, and the poison flag. */
#include "memory/control.h"

#include "drasync.h"
#include "memory/dump.h"
#include "memory/limit.h"
#include "memory/os.h"
#include "memory/pages.h"
#include "memory/shared.h"

static uint64_t round_up(uint64_t bytes, uint64_t to)
{
    return (bytes + to - 1) / to * to;
}

/* Place a table at *offset, and its bitmap at *bitmap_offset. */
static struct table place_table(uint64_t entries, uint64_t entry_bytes,
                                uint64_t *offset, uint64_t *bitmap_offset)
{
    struct table table = {
        .offset = *offset,
        .bitmap_offset = *bitmap_offset,
        .entry_bytes = entry_bytes,
        .entries = entries,
    };

    *offset += table_bytes(&table);
    *bitmap_offset += table_bitmap_bytes(&table);
    return table;
}

/* Lay everything out from @offset on, the bitmaps from @bitmap_offset on. */
static struct shared_layout lay_out(uint64_t data_bytes, uint64_t bitmap_offset,
                                    uint64_t offset, uint64_t *bitmaps_end)
{
    uint64_t pages = data_bytes >> PAGE_SHIFT;
    struct shared_layout layout;

    layout.heap_bytes = data_bytes / 16;
    if (layout.heap_bytes < CONTROL_HEAP_BYTES_MIN)
        layout.heap_bytes = CONTROL_HEAP_BYTES_MIN;
    layout.user_offset = offset;
    offset = round_up(offset + CONTROL_USER_BYTES, TABLE_GRANULE_BYTES);
    layout.page_map =
        place_table(pages, sizeof(void *), &offset, &bitmap_offset);
    layout.records = place_table(pages + pages / 4, sizeof(struct buddy_record),
                                 &offset, &bitmap_offset);
    layout.class_map = place_table(layout.heap_bytes / CONTROL_GRANULE_BYTES, 1,
                                   &offset, &bitmap_offset);
    layout.heap_offset = offset;
    layout.total_bytes = offset + layout.heap_bytes;
    *bitmaps_end = bitmap_offset;
    return layout;
}

struct shared_layout shared_layout_for(uint64_t data_bytes)
{
    uint64_t bitmaps = round_up(sizeof(struct shared), 64), end;

    lay_out(data_bytes, bitmaps, 0, &end);
    return lay_out(data_bytes, bitmaps, round_up(end, PAGE_BYTES), &end);
}

int shared_reserve(const struct space *space, uint64_t offset, uint64_t bytes)
{
    int err;

    /* What the page allocator keeps in store goes first. */
    do
        err = limit_charge(space, bytes, LIMIT_FOR_CONTROL);
    while (err == DRASYNC_ENOMEM && pages_trim_try(space));
    if (err)
        return err;
    err = os_file_reserve(space->control_fd, offset, bytes);
    if (err) {
        limit_release(space, bytes);
        return err;
    }
    atomic_fetch_add(&shared_of(space)->control_reserved_bytes, bytes);
    return 0;
}

void shared_unreserve(const struct space *space, uint64_t offset,
                      uint64_t bytes)
{
    if (os_file_punch(space->control_fd, offset, bytes))
        return;
    atomic_fetch_sub(&shared_of(space)->control_reserved_bytes, bytes);
    limit_release(space, bytes);
}

int control_create(const struct space *space, int node, int nodes,
                   uint64_t memory_limit_bytes)
{
    struct shared_layout layout = shared_layout_for(space->layout.data_bytes);
    uint64_t fixed_bytes = layout.user_offset + CONTROL_USER_BYTES;
    struct shared *shared = shared_of(space);
    int err;

    if (nodes < 1 || node < 0 || node >= nodes)
        return DRASYNC_EINVAL;
    /* The limit is kept in what is being reserved here. */
    err = os_file_reserve(space->control_fd, 0, fixed_bytes);
    if (err)
        return err;
    shared->layout = layout;
    shared->node = node;
    shared->nodes = nodes;
    shared->data_bytes = space->layout.data_bytes;
    shared->shared_bytes = sizeof(struct shared);
    atomic_init(&shared->limit.limit_bytes, memory_limit_bytes
                                                ? memory_limit_bytes
                                                : limit_default_bytes());
    err = limit_charge(space, fixed_bytes, LIMIT_FOR_CONTROL);
    if (err)
        return err;
    atomic_init(&shared->control_reserved_bytes, fixed_bytes);
    err = control_heap_create(space);
    if (err)
        return err;
    err = frames_create(space);
    if (err)
        return err;
    err = pages_create(space);
    if (err)
        return err;
    dump_cover_control(space, 0, fixed_bytes);
    atomic_store(&shared->magic, SHARED_MAGIC);
    return 0;
}

int control_check(const struct space *space)
{
    const struct shared *shared = shared_of(space);

    if (atomic_load(&shared->magic) != SHARED_MAGIC ||
        shared->shared_bytes != sizeof(struct shared) ||
        shared->data_bytes != space->layout.data_bytes ||
        shared->layout.total_bytes != space->layout.control_bytes)
        return DRASYNC_EINTERNAL;
    return 0;
}

int control_look(void *control, uint64_t bytes, struct space *space_out,
                 int *node_out, int *nodes_out)
{
    const struct shared *shared = control;
    struct space *s = space_out;

    *s = (struct space){.control = control, .data_fd = -1, .control_fd = -1};
    if (bytes < sizeof(*shared) ||
        atomic_load(&shared->magic) != SHARED_MAGIC ||
        shared->shared_bytes != sizeof(*shared) ||
        space_layout_for(shared->data_bytes, &s->layout) ||
        s->layout.control_bytes > bytes)
        return DRASYNC_EINVAL;
    s->window = s->control - (s->layout.data_bytes + s->layout.alternate_bytes);
    s->base = s->window - s->layout.data_bytes;
    s->pages = s->layout.data_bytes >> PAGE_SHIFT;
    *node_out = shared->node;
    *nodes_out = shared->nodes;
    return 0;
}

void *control_user(const struct space *space)
{
    return space->control + shared_of(space)->layout.user_offset;
}

_Atomic uint32_t *control_poison_flag(const struct space *space)
{
    return &shared_of(space)->poison;
}

void control_poison(const struct space *space)
{
    atomic_store(&shared_of(space)->poison, 1);
}
