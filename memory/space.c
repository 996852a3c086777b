/* The range of addresses: candidates, layout, mapping: see space.h. */
#include "memory/space.h"

#include "drasync.h"
#include "memory/os.h"
#include "memory/sanitizer.h"
#include "memory/shared.h"

#include <errno.h>
#include <unistd.h>

#if SANITIZER_THREAD
#define SPACE_BYTES_DEFAULT ((uint64_t)64 << 30)
#define LOW_ONLY            1
#else
#define SPACE_BYTES_DEFAULT ((uint64_t)16 << 40)
#define LOW_ONLY            0
#endif

#define GIB ((uint64_t)1 << 30)
#define TIB ((uint64_t)1 << 40)

/*
 * Where ranges may begin.  Low addresses, for spaces that fit there, are all
 * that ThreadSanitizer and valgrind allow.  High ones start above what ASan
 * keeps for itself (16 TiB) and end below where executables and libraries lie.
 */
#define LOW_FIRST     (64 * GIB)
#define LOW_STEP      (32 * GIB)
#define LOW_END       (508 * GIB)
#define LOW_SPACE_MAX (64 * GIB)
#define HIGH_FIRST    (17 * TIB)
#define HIGH_STEP     (3 * TIB)
#define HIGH_END      (84 * TIB)

int space_layout_for(uint64_t data_bytes, struct space_layout *layout_out)
{
    if (!data_bytes)
        data_bytes = SPACE_BYTES_DEFAULT;
    if (data_bytes < SPACE_BYTES_MIN || data_bytes > SPACE_BYTES_MAX ||
        (data_bytes & (data_bytes - 1)))
        return DRASYNC_EINVAL;
    layout_out->data_bytes = data_bytes;
    layout_out->alternate_bytes = data_bytes / 4;
    layout_out->control_bytes = shared_layout_for(data_bytes).total_bytes;
    return 0;
}

uint64_t space_total_bytes(const struct space_layout *layout)
{
    return 2 * layout->data_bytes + layout->alternate_bytes +
           layout->control_bytes;
}

static int add_candidates(uintptr_t *addresses, int count, uint64_t first,
                          uint64_t step, uint64_t end, uint64_t total)
{
    uint64_t at;

    for (at = first; count < SPACE_CANDIDATES_MAX && at + total <= end;
         at += step)
        addresses[count++] = (uintptr_t)at;
    return count;
}

int space_candidates(const struct space_layout *layout,
                     uintptr_t addresses_out[SPACE_CANDIDATES_MAX])
{
    uint64_t total = space_total_bytes(layout);
    int count = 0;

    if (layout->data_bytes <= LOW_SPACE_MAX)
        count = add_candidates(addresses_out, count, LOW_FIRST, LOW_STEP,
                               LOW_END, total);
    if (!LOW_ONLY || !count)
        count = add_candidates(addresses_out, count, HIGH_FIRST, HIGH_STEP,
                               HIGH_END, total);
    return count;
}

int space_probe(const struct space_layout *layout, uint32_t *mask_out,
                char *line, size_t line_bytes)
{
    uintptr_t addresses[SPACE_CANDIDATES_MAX];
    int count = space_candidates(layout, addresses);
    uint32_t taken;
    int err = os_ranges_taken(addresses, count, space_total_bytes(layout),
                              &taken, line, line_bytes);

    if (err)
        return err;
    *mask_out = ~taken & (UINT32_MAX >> (SPACE_CANDIDATES_MAX - count));
    return 0;
}

int space_files_new(const struct space_layout *layout, int *data_fd_out,
                    int *control_fd_out)
{
    int err, data_fd;

    err = os_file_new("drasync-data",
                      layout->data_bytes + layout->alternate_bytes, &data_fd);
    if (err)
        return err;
    err = os_file_new("drasync-control", layout->control_bytes, control_fd_out);
    if (err) {
        int error = errno;
        close(data_fd);
        errno = error;
        return err;
    }
    *data_fd_out = data_fd;
    return 0;
}

int space_map(struct space *space, const struct space_layout *layout,
              int candidate, int data_fd, int control_fd, char *line,
              size_t line_bytes)
{
    uintptr_t addresses[SPACE_CANDIDATES_MAX], low, high;
    uint64_t window_bytes = layout->data_bytes + layout->alternate_bytes;
    int err;

    if (line && line_bytes)
        line[0] = 0;
    if (candidate < 0 || candidate >= space_candidates(layout, addresses))
        return DRASYNC_EINVAL;
    low = addresses[candidate];
    high = low + space_total_bytes(layout);
    space->base = (char *)low;
    space->window = space->base + layout->data_bytes;
    space->control = space->window + window_bytes;
    space->page_map =
        space->control + shared_layout_for(layout->data_bytes).page_map.offset;
    space->pages = layout->data_bytes >> PAGE_SHIFT;
    space->layout = *layout;
    space->data_fd = data_fd;
    space->control_fd = control_fd;
    err = os_map_new(space->base, layout->data_bytes, data_fd, 0);
    if (err)
        goto say;
    err = os_map_new(space->window, window_bytes, data_fd, 0);
    if (err)
        goto unmap_data;
    err = os_map_new(space->control, layout->control_bytes, control_fd, 0);
    if (err)
        goto unmap_window;
    return 0;

unmap_window:
    os_unmap(space->window, window_bytes);
unmap_data:
    os_unmap(space->base, layout->data_bytes);
say:
    if (err != DRASYNC_EEXIST)
        return err;
    os_range_taken(low, high, line, line_bytes);
    return DRASYNC_EADDRESS;
}

void space_unmap(struct space *space)
{
    os_unmap(space->base, space_total_bytes(&space->layout));
}
