/* Frames are reserved, mapped, copied and given back: see frames.h. */
#include "memory/frames.h"

#include "drasync.h"
#include "memory/dump.h"
#include "memory/limit.h"
#include "memory/os.h"
#include "memory/pages.h"
#include "memory/punched.h"
#include "memory/shared.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#define RESERVE_PIECE_BYTES ((uint64_t)16 << 20)

/* Fewer pages than these are not entered at once. */
#define ENTERED_PAGES_MIN 8

/* From here on it is worth a look (3 us) whether they are: the kernel takes 0.3
 * us for each 16 pages even so.  The last page stands for all. */
#define LOOKED_AT_PAGES_MIN 256

int frames_create(const struct space *space)
{
    struct buddy *alternates = &shared_of(space)->alternates;
    uint64_t pages = space->layout.alternate_bytes >> PAGE_SHIFT;
    int err;

    err = buddy_create(space, alternates, space->pages, pages);
    if (err)
        return err;
    return buddy_add(space, alternates, 1, pages - 1);
}

static int range_usable(const struct space *space, uint64_t offset,
                        uint64_t bytes)
{
    return bytes && !(offset % PAGE_BYTES) && !(bytes % PAGE_BYTES) &&
           space_range_valid(space, offset, bytes);
}

/* --- What is entered ------------------------------------------------------ */

/*
 * Runs that this process entered, each with how often pages had been taken out of
 * the data file by then, by any process, or mapped anew in this one: such a run
 * is not entered again.  Hints, so relaxed: what is missing all the same is
 * entered when it is touched, page by page.
 */
#define ENTERED_RUNS_SHIFT 8

static _Atomic uint64_t entered[1 << ENTERED_RUNS_SHIFT];
static _Atomic uint32_t remapped;

/* Its bits: 36 of the first page, 8 of their number, 20 of the changes. */
static uint64_t entered_word(const struct space *space, const char *address,
                             uint64_t pages)
{
    uint32_t changes =
        punched_count(&shared_of(space)->punched) +
        atomic_load_explicit(&remapped, memory_order_relaxed);

    return (uint64_t)(uintptr_t)address >> PAGE_SHIFT << 28 | pages << 20 |
           (changes & 0xfffff);
}

static void enter(const struct space *space, char *address, uint64_t pages)
{
    _Atomic uint64_t *slot = &entered[space_page_hash(
        (uint64_t)(uintptr_t)address, ENTERED_RUNS_SHIFT)];
    uint64_t word;

    if (pages < ENTERED_PAGES_MIN)
        return;
    if (pages >= LOOKED_AT_PAGES_MIN) {
        if (!os_entered(address + space_page_offset(pages - 1)))
            os_enter(address, space_page_offset(pages));
        return;
    }
    word = entered_word(space, address, pages);
    if (atomic_load_explicit(slot, memory_order_relaxed) == word)
        return;
    os_enter(address, space_page_offset(pages));
    atomic_store_explicit(slot, word, memory_order_relaxed);
}

static int punch(const struct space *space, uint64_t offset, uint64_t bytes)
{
    int err = os_file_punch(space->data_fd, offset, bytes);

    punched_add(&shared_of(space)->punched, offset >> PAGE_SHIFT,
                bytes >> PAGE_SHIFT);
    return err;
}

/* In the window, and at the addresses whose primary frames they are. */
static void drop(const struct space *space, uint64_t first, uint64_t pages)
{
    uint64_t all = space->layout.data_bytes + space->layout.alternate_bytes;
    uint64_t offset = space_page_offset(first);
    uint64_t bytes = pages ? space_page_offset(pages) : all;

    os_drop(space->window + offset, bytes);
    if (!frames_alternate(space, offset))
        os_drop(space->base + offset, pages ? bytes : space->layout.data_bytes);
}

static bool adapters;

void frames_set_adapters(bool are_there)
{
    adapters = are_there;
}

void frames_catch_up(const struct space *space)
{
    if (adapters)
        punched_catch_up(&shared_of(space)->punched, drop, space);
}

static int map_over(const struct space *space, void *address, uint64_t bytes,
                    uint64_t offset, int dumped)
{
    int err = os_map_over(address, bytes, space->data_fd, offset, dumped);

    atomic_fetch_add_explicit(&remapped, 1, memory_order_relaxed);
    return err;
}

/* --- Reserved ------------------------------------------------------------- */

/*
 * Piece by piece: a signal makes the kernel begin a piece again, and a program
 * with a timer would never get a large one.
 */
static int reserve_pieces(const struct space *space, uint64_t offset,
                          uint64_t bytes)
{
    uint64_t done, piece = 0;
    int err = 0;

    for (done = 0; done < bytes; done += piece) {
        piece = bytes - done < RESERVE_PIECE_BYTES ? bytes - done
                                                   : RESERVE_PIECE_BYTES;
        err = os_file_fill(space->data_fd, offset + done, piece);
        if (err)
            break;
    }
    /* Of the last piece nothing is left, but that is not in the log. */
    if (err)
        punch(space, offset, done + piece);
    return err;
}

int frames_reserve(const struct space *space, uint64_t offset, uint64_t bytes)
{
    int err;

    if (!range_usable(space, offset, bytes))
        return DRASYNC_EINVAL;
    /* What the page allocator keeps in store goes first. */
    do
        err = limit_charge(space, bytes, LIMIT_FOR_DATA);
    while (err == DRASYNC_ENOMEM && pages_trim_try(space));
    if (err)
        return err;
    err = reserve_pieces(space, offset, bytes);
    if (err)
        limit_release(space, bytes);
    return err;
}

int frames_unreserve(const struct space *space, uint64_t offset, uint64_t bytes)
{
    int err;

    if (!range_usable(space, offset, bytes))
        return DRASYNC_EINVAL;
    err = punch(space, offset, bytes);
    if (!err)
        limit_release(space, bytes);
    return err;
}

int frames_take(const struct space *space, uint64_t pages, uint64_t *offset_out)
{
    struct buddy *alternates = &shared_of(space)->alternates;
    uint64_t at;
    int err = buddy_take(space, alternates, pages, 1, &at);

    if (!err)
        *offset_out = space_page_offset(alternates->base_page + at);
    return err;
}

int frames_give(const struct space *space, uint64_t offset, uint64_t pages)
{
    struct buddy *alternates = &shared_of(space)->alternates;

    if (offset % PAGE_BYTES || !frames_alternate(space, offset))
        return DRASYNC_EINVAL;
    return buddy_give(space, alternates,
                      (offset >> PAGE_SHIFT) - alternates->base_page, pages, 1,
                      FRAMES_CACHED_BYTES_MAX >> PAGE_SHIFT);
}

/* This process's, so that what it has mapped can be undone.  Changed under the
 * mutex. */
static pthread_mutex_t spare_mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(void *) spare;

/* Map primary frames in a process that may have no more mappings: they join
 * with their neighbours, so it has fewer afterwards. */
static int map_with_spare(const struct space *space, void *address,
                          uint64_t bytes, uint64_t offset, int dumped)
{
    int err;

    pthread_mutex_lock(&spare_mutex);
    if (spare)
        os_spare_free(spare);
    err = map_over(space, address, bytes, offset, dumped);
    spare = os_spare_new();
    pthread_mutex_unlock(&spare_mutex);
    return err;
}

static void keep_spare(void)
{
    if (atomic_load_explicit(&spare, memory_order_relaxed))
        return;
    pthread_mutex_lock(&spare_mutex);
    if (!spare)
        spare = os_spare_new();
    pthread_mutex_unlock(&spare_mutex);
}

int frames_map(const struct space *space, uint64_t first, uint64_t pages,
               uint64_t offset)
{
    void *address = space_address(space, first);
    uint64_t bytes = space_page_offset(pages);
    int primary = offset == space_page_offset(first), dumped, err;

    if (first >= space->pages || pages > space->pages - first ||
        !range_usable(space, offset, bytes))
        return DRASYNC_EINVAL;
    if (!primary)
        keep_spare();
    dumped = dump_cover(space, first, pages);
    err = map_over(space, address, bytes, offset, dumped);
    if (err == DRASYNC_ELIMIT && primary)
        err = map_with_spare(space, address, bytes, offset, dumped);
    return err;
}

void frames_enter(const struct space *space, uint64_t first, uint64_t pages)
{
    char *address = space_address(space, first);

    if (address && pages <= space->pages - first)
        enter(space, address, pages);
}

void frames_enter_window(const struct space *space, uint64_t offset,
                         uint64_t bytes)
{
    uint64_t first = offset >> PAGE_SHIFT;
    char *address = space_window(space, offset, bytes);

    if (address)
        enter(space, space->window + space_page_offset(first),
              space_pages_for(offset + bytes) - first);
}

int frames_copy(const struct space *space, uint64_t to_offset,
                uint64_t from_offset, uint64_t bytes)
{
    void *to = space_window(space, to_offset, bytes);
    const void *from = space_window(space, from_offset, bytes);

    if (!to || !from)
        return DRASYNC_EINVAL;
    frames_enter_window(space, to_offset, bytes);
    memmove(to, from, bytes);
    return 0;
}

static frames_forget_hook *forget_hook;

void frames_on_forget(frames_forget_hook *hook)
{
    forget_hook = hook;
}

int frames_forget(uint64_t first, uint64_t pages)
{
    return forget_hook ? forget_hook(first, pages) : 0;
}
