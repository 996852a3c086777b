/*
 * os.h - everything memory/ asks of the operating system.
 *
 * No other file of memory/ makes a system call for mappings, files or limits.
 * Nothing here allocates memory, locks or prints.  Callers guarantee that
 * addresses, offsets and lengths are multiples of OS_PAGE_BYTES where a mapping
 * or a file range is meant.
 */
#ifndef MEMORY_OS_H
#define MEMORY_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OS_PAGE_BYTES 4096u

/* How large pages are on this machine. */
uint64_t os_page_bytes(void);

/* No limit. */
#define OS_UNLIMITED UINT64_MAX

/* A line of /proc/self/maps, with a path, fits. */
#define OS_LINE_BYTES 512

/*
 * A sparse file without a name, @size_bytes long, close-on-exec.
 * Returns 0, DRASYNC_ENOMEM, or DRASYNC_ELIMIT (no descriptor left); errno says
 * why.  @size_bytes is within the process's limit of file size, or the kernel
 * kills it.
 */
int os_file_new(const char *name, uint64_t size_bytes, int *fd_out);

/*
 * Give frames to a range of a file, so that touching it cannot fail later.
 * Frames that are there already stay, with their contents; new ones read as 0.
 * Returns 0, or DRASYNC_ENOMEM with the file as it was.
 */
int os_file_reserve(int fd, uint64_t offset, uint64_t bytes);

/*
 * The same for a range that has no frames, by writing zeros.  It takes a third
 * longer than os_file_reserve(), but frames that were written once can be
 * entered many at a time (os_enter), which saves more than that when they are
 * used.
 */
int os_file_fill(int fd, uint64_t offset, uint64_t bytes);

/* Give the frames of a range back; it reads as 0 afterwards.  0 or
 * DRASYNC_EINTERNAL. */
int os_file_punch(int fd, uint64_t offset, uint64_t bytes);

/*
 * Map a file, shared and writable, at exactly @address, where nothing may be
 * mapped.  The range is left out of core dumps.
 *   DRASYNC_EEXIST  something is mapped there
 *   DRASYNC_ENOMEM  no address space or page tables; errno says why
 */
int os_map_new(void *address, uint64_t bytes, int fd, uint64_t offset);

/*
 * The same, replacing whatever is mapped there, which must be ours.
 *   DRASYNC_ELIMIT  the process has too many mappings (vm.max_map_count);
 *                   the range is as it was
 * Core dumps show it if @dumped.
 */
int os_map_over(void *address, uint64_t bytes, int fd, uint64_t offset,
                int dumped);

/* Let core dumps show a mapped range, all of which has frames or may get them
 * by that. */
void os_dump(void *address, uint64_t bytes);

/*
 * Enter a mapped range, whose frames are filled, in the page tables, if the
 * kernel can: a write there is then no page fault.  A page that is read brings
 * those around it along (fault_around_bytes, 64 KiB unless the administrator
 * changed it) if they have been written once; a page that is written does not.
 */
void os_enter(void *address, uint64_t bytes);

/* Has the page at @address been entered by this process?  0 if that cannot be
 * said. */
int os_entered(const void *address);

/* Pages of a file that is mapped here leave the page tables, and what else the
 * process keeps for these addresses (punched.h): a touch enters them again. */
void os_drop(void *address, uint64_t bytes);

void os_unmap(void *address, uint64_t bytes);

/*
 * What this process may do with a mapped range from now on: read it, write it
 * (which is to read it, too), or neither.  0, or DRASYNC_ELIMIT: the process
 * has too many mappings (vm.max_map_count), and only a part has changed.
 */
int os_protect(void *address, uint64_t bytes, bool read, bool write);

/*
 * A few mappings to keep in hand, or NULL: a process that has as many as it may
 * (vm.max_map_count) is refused even one that takes the place of several, until
 * it unmaps something.
 */
void *os_spare_new(void);
void os_spare_free(void *spare);

/*
 * Which of the @count (up to 32) ranges of @bytes at @lows does anything in this
 * process overlap?  Bit i of *taken_out is range i.  Reads /proc/self/maps, once.
 * Returns 0 with the line in the way of the first range that is taken in @line
 * ("" if none; cut to fit; NULL allowed), or DRASYNC_EINTERNAL if it cannot be
 * read; errno says why.
 */
int os_ranges_taken(const uintptr_t *lows, int count, uint64_t bytes,
                    uint32_t *taken_out, char *line, size_t line_bytes);

/* The same of [low, high): 1, 0 or DRASYNC_EINTERNAL. */
int os_range_taken(uintptr_t low, uintptr_t high, char *line,
                   size_t line_bytes);

/* The machine's memory. */
uint64_t os_memory_bytes(void);

/*
 * The least memory limit of the cgroups (version 1 and 2) that this process is
 * in, or OS_UNLIMITED.
 */
uint64_t os_cgroup_limit_bytes(void);

/*
 * How much may be used now before the kernel kills somebody: the least, over
 * the machine and our cgroups, of what is left, file cache counted as left.
 */
uint64_t os_available_bytes(void);

#endif
