/*
 * space.h - the one range of addresses that all ranks agree on.
 *
 * Fixed order inside, from the base upwards:
 *
 *   data     S bytes       what user pointers see; file offset = address - base
 *   window   S + A bytes   the whole data file, linear; A = S / 4
 *   control  C bytes       the control file (control.h)
 *
 * Data-file offsets [0, S) are primary frames, [S, S + A) alternate frames.
 * Pages are numbered from the base; page 0 is never given to anybody.  Offsets
 * count in the data file, so page p's primary frame has offset p * PAGE_BYTES.
 *
 * `struct space` is plain data of this process; the mapping is the same on
 * every rank.  Everything here is thread-safe once space_map() has returned;
 * conversions are safe for any argument.
 */
#ifndef MEMORY_SPACE_H
#define MEMORY_SPACE_H

#include <stddef.h>
#include <stdint.h>

#define PAGE_SHIFT 12
#define PAGE_BYTES ((uint64_t)1 << PAGE_SHIFT)

#define SPACE_BYTES_MIN      ((uint64_t)64 << 20)
#define SPACE_BYTES_MAX      ((uint64_t)16 << 40)
#define SPACE_CANDIDATES_MAX 32
#define SPACE_NO_PAGE        UINT64_MAX

/* A hash of @bits (1 to 63) bits of the page that @address is on: the high bits
 * of a product (Knuth, vol. 3, 6.4), as what is hashed is often powers of two
 * apart. */
static inline uint64_t space_page_hash(uint64_t address, unsigned bits)
{
    return (address >> PAGE_SHIFT) * UINT64_C(0x9E3779B97F4A7C15) >>
           (64 - bits);
}

struct space_layout {
    uint64_t data_bytes;      /* S, a power of two */
    uint64_t alternate_bytes; /* A */
    uint64_t control_bytes;   /* C */
};

struct space {
    char *base; /* of the data part, and of the range */
    char *window;
    char *control;
    void *page_map; /* see extents.h */
    uint64_t pages; /* of the data part */
    struct space_layout layout;
    int data_fd;
    int control_fd;
};

/*
 * The layout for a data part of @data_bytes; 0 means the default (16 TiB; 64
 * GiB in a ThreadSanitizer build).  DRASYNC_EINVAL unless it is a power of two
 * within SPACE_BYTES_MIN..MAX.
 */
int space_layout_for(uint64_t data_bytes, struct space_layout *layout_out);

/* What space_map() maps in all. */
uint64_t space_total_bytes(const struct space_layout *layout);

/*
 * Base addresses to try, best first; the same on every rank.  Returns how many,
 * at least 1.
 */
int space_candidates(const struct space_layout *layout,
                     uintptr_t addresses_out[SPACE_CANDIDATES_MAX]);

/*
 * Which candidates are free in this process?  Bit i of *mask_out is candidate
 * i.  Maps nothing.  @line, if not NULL, gets the line of /proc/self/maps that
 * is in the way of the first candidate that is not free ("" if none).
 * Returns 0 or DRASYNC_EINTERNAL; errno says why.
 */
int space_probe(const struct space_layout *layout, uint32_t *mask_out,
                char *line, size_t line_bytes);

/*
 * The two files of a node, made by its leader: sparse, without names.  Other
 * ranks open them through /proc/PID/fd.  DRASYNC_ENOMEM, DRASYNC_ELIMIT; errno
 * says why.
 */
int space_files_new(const struct space_layout *layout, int *data_fd_out,
                    int *control_fd_out);

/*
 * Map everything at candidate @candidate.  The descriptors stay the caller's,
 * and stay open as long as the space is used.
 *   DRASYNC_EINVAL    no such candidate
 *   DRASYNC_EADDRESS  something is there; its line of /proc/self/maps is in
 *                     @line (NULL allowed)
 *   DRASYNC_ENOMEM    errno says why
 */
int space_map(struct space *space, const struct space_layout *layout,
              int candidate, int data_fd, int control_fd, char *line,
              size_t line_bytes);

/* For tests and for a start that failed; nobody may use the space any more. */
void space_unmap(struct space *space);

/* The page that @ptr points into, or SPACE_NO_PAGE. */
static inline uint64_t space_page(const struct space *space, const void *ptr)
{
    uint64_t offset = (uint64_t)((uintptr_t)ptr - (uintptr_t)space->base);

    return offset < space->layout.data_bytes ? offset >> PAGE_SHIFT
                                             : SPACE_NO_PAGE;
}

/* Where @page begins, or NULL. */
static inline void *space_address(const struct space *space, uint64_t page)
{
    return page < space->pages ? space->base + (page << PAGE_SHIFT) : NULL;
}

/* Is [first, first + pages) a run of pages inside the data part that may be
 * given to somebody? */
static inline int space_run_valid(const struct space *space, uint64_t first,
                                  uint64_t pages)
{
    return first > 0 && pages > 0 && first < space->pages &&
           pages <= space->pages - first;
}

/* Is [offset, offset + bytes) inside the data file? */
static inline int space_range_valid(const struct space *space, uint64_t offset,
                                    uint64_t bytes)
{
    uint64_t size = space->layout.data_bytes + space->layout.alternate_bytes;

    return offset <= size && bytes <= size - offset;
}

/* The window's view of a range of the data file, or NULL. */
static inline void *space_window(const struct space *space, uint64_t offset,
                                 uint64_t bytes)
{
    return space_range_valid(space, offset, bytes) ? space->window + offset
                                                   : NULL;
}

/* The primary frame behind @ptr seen through the window, or NULL. */
static inline void *space_window_of(const struct space *space, const void *ptr)
{
    uint64_t offset = (uint64_t)((uintptr_t)ptr - (uintptr_t)space->base);

    return offset < space->layout.data_bytes ? space->window + offset : NULL;
}

/* What to add to a data address to see its primary frame in the window. */
static inline ptrdiff_t space_window_view(const struct space *space)
{
    return space->window - space->base;
}

static inline uint64_t space_page_offset(uint64_t page)
{
    return page << PAGE_SHIFT;
}

/* Whole pages that hold @bytes; no overflow for any value. */
static inline uint64_t space_pages_for(uint64_t bytes)
{
    return (bytes >> PAGE_SHIFT) + ((bytes & (PAGE_BYTES - 1)) != 0);
}

#endif
