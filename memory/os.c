/* Files, mappings and limits of the system: see os.h. */
#include "memory/os.h"

#include "drasync.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* What a read of one page enters: the kernel's default of
 * fault_around_bytes. */
#define AROUND_BYTES 65536u

/* Zeros are written from one small buffer, so many times in one call. */
#define FILL_BYTES  65536u
#define FILL_PIECES 64

int os_file_new(const char *name, uint64_t size_bytes, int *fd_out)
{
    int fd = memfd_create(name, MFD_CLOEXEC);

    if (fd < 0)
        return errno == EMFILE || errno == ENFILE ? DRASYNC_ELIMIT
                                                  : DRASYNC_ENOMEM;
    /* The kernel makes it for everybody (mode 777). */
    if (fchmod(fd, S_IRUSR | S_IWUSR) || ftruncate(fd, (off_t)size_bytes)) {
        int error = errno;
        close(fd);
        errno = error;
        return DRASYNC_ENOMEM;
    }
    *fd_out = fd;
    return 0;
}

#define RESERVE_PIECE_BYTES ((uint64_t)16 << 20)

static int change_frames(int fd, int mode, uint64_t offset, uint64_t bytes)
{
    int result;

    do
        result = fallocate(fd, mode, (off_t)offset, (off_t)bytes);
    while (result && errno == EINTR);
    return result;
}

/*
 * Piece by piece: a signal makes the kernel begin a piece again, and a program
 * with a timer would never get a large one.  What was got of one that fails stays,
 * as another process may have reserved the same pages meanwhile.
 */
int os_file_reserve(int fd, uint64_t offset, uint64_t bytes)
{
    int saved = errno;
    uint64_t piece;

    for (uint64_t done = 0; done < bytes; done += piece) {
        piece = bytes - done < RESERVE_PIECE_BYTES ? bytes - done
                                                   : RESERVE_PIECE_BYTES;
        if (change_frames(fd, 0, offset + done, piece)) {
            errno = saved;
            return DRASYNC_ENOMEM;
        }
    }
    return 0;
}

int os_file_punch(int fd, uint64_t offset, uint64_t bytes)
{
    int saved = errno;

    if (!change_frames(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset,
                       bytes))
        return 0;
    errno = saved;
    return DRASYNC_EINTERNAL;
}

int os_file_fill(int fd, uint64_t offset, uint64_t bytes)
{
    static char zeros[FILL_BYTES]; /* never written: one frame */
    struct iovec pieces[FILL_PIECES];
    uint64_t done = 0;
    int saved = errno, i;

    for (i = 0; i < FILL_PIECES; i++)
        pieces[i] = (struct iovec){zeros, sizeof(zeros)};
    while (done < bytes) {
        uint64_t left = bytes - done, count = left / sizeof(zeros);
        off_t at = (off_t)(offset + done);
        ssize_t written;

        if (count > FILL_PIECES)
            count = FILL_PIECES;
        written = count ? pwritev(fd, pieces, (int)count, at)
                        : pwrite(fd, zeros, left, at);
        if (written > 0)
            done += (uint64_t)written;
        else if (!written || errno != EINTR)
            break;
    }
    if (done && done < bytes)
        os_file_punch(fd, offset, bytes);
    errno = saved;
    return done < bytes ? DRASYNC_ENOMEM : 0;
}

static int map_at(void *address, uint64_t bytes, int fd, uint64_t offset,
                  int how, int dumped)
{
    void *at = mmap(address, bytes, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_NORESERVE | how, fd, (off_t)offset);

    if (at == MAP_FAILED)
        return errno;
    /* A kernel that does not know MAP_FIXED_NOREPLACE takes it for a hint. */
    if (at != address) {
        munmap(at, bytes);
        return EEXIST;
    }
    /* Dumped, the unused rest would be filled.  What shows other frames is
     * advised as its neighbours are, or the kernel would not join them again.
     */
    if (!dumped)
        madvise(address, bytes, MADV_DONTDUMP);
    return 0;
}

int os_map_new(void *address, uint64_t bytes, int fd, uint64_t offset)
{
    int saved = errno;
    int err = map_at(address, bytes, fd, offset, MAP_FIXED_NOREPLACE, 0);

    errno = err ? err : saved;
    if (err == EEXIST)
        return DRASYNC_EEXIST;
    return err ? DRASYNC_ENOMEM : 0;
}

int os_map_over(void *address, uint64_t bytes, int fd, uint64_t offset,
                int dumped)
{
    int saved = errno;
    int err = map_at(address, bytes, fd, offset, MAP_FIXED, dumped);

    errno = saved;
    return err ? DRASYNC_ELIMIT : 0;
}

void os_dump(void *address, uint64_t bytes)
{
    int saved = errno;

    madvise(address, bytes, MADV_DODUMP);
    errno = saved;
}

void os_enter(void *address, uint64_t bytes)
{
#ifdef MADV_POPULATE_READ
    char *at = address, *end = at + bytes;
    int saved = errno;

    while (at < end && !madvise(at, OS_PAGE_BYTES, MADV_POPULATE_READ))
        at += AROUND_BYTES - (uintptr_t)at % AROUND_BYTES;
    errno = saved;
#else
    (void)address;
    (void)bytes;
#endif
}

int os_entered(const void *address)
{
    int saved = errno, fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    uint64_t entry = 0;
    off_t at = (off_t)((uintptr_t)address / OS_PAGE_BYTES * sizeof(entry));

    if (fd >= 0) {
        if (pread(fd, &entry, sizeof(entry), at) != (ssize_t)sizeof(entry))
            entry = 0;
        close(fd);
    }
    errno = saved;
    return entry >> 63 != 0;
}

void os_drop(void *address, uint64_t bytes)
{
    int saved = errno;

    madvise(address, bytes, MADV_DONTNEED);
    errno = saved;
}

void os_unmap(void *address, uint64_t bytes)
{
    int saved = errno;

    munmap(address, bytes);
    errno = saved;
}

int os_protect(void *address, uint64_t bytes, bool read, bool write)
{
    int saved = errno;
    int failed = mprotect(address, bytes,
                          write  ? PROT_READ | PROT_WRITE
                          : read ? PROT_READ
                                 : PROT_NONE);

    errno = saved;
    return failed ? DRASYNC_ELIMIT : 0;
}

/* Neighbours differ, or the kernel would take them for one. */
void *os_spare_new(void)
{
    const uint64_t bytes = 3 * OS_PAGE_BYTES;
    int saved = errno;
    char *spare =
        mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (spare == MAP_FAILED) {
        spare = NULL;
    } else if (mprotect(spare + OS_PAGE_BYTES, OS_PAGE_BYTES, PROT_READ)) {
        munmap(spare, bytes);
        spare = NULL;
    }
    errno = saved;
    return spare;
}

void os_spare_free(void *spare)
{
    os_unmap(spare, 3 * OS_PAGE_BYTES);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

static const char *parse_hex(const char *text, uint64_t *out)
{
    uint64_t value = 0;

    for (; hex_digit(*text) >= 0; text++)
        value = value * 16 + (uint64_t)hex_digit(*text);
    *out = value;
    return text;
}

/* What is looked for in the maps file. */
struct looked {
    const uintptr_t *lows;
    int count;
    uint64_t bytes;
    uint32_t taken;
    int first; /* of those taken; count: none */
    char *line;
    size_t line_bytes;
};

/* One line of the maps file. */
static void look_at_line(struct looked *l, const char *text)
{
    const char *rest;
    uint64_t start, end;

    rest = parse_hex(text, &start);
    if (*rest != '-')
        return;
    parse_hex(rest + 1, &end);
    for (int i = 0; i < l->count; i++) {
        if (start >= l->lows[i] + l->bytes || end <= l->lows[i])
            continue;
        l->taken |= (uint32_t)1 << i;
        if (i >= l->first)
            continue;
        l->first = i;
        size_t length = strlen(text);
        if (length >= l->line_bytes)
            length = l->line_bytes - 1;
        memcpy(l->line, text, length);
        l->line[length] = 0;
    }
}

int os_ranges_taken(const uintptr_t *lows, int count, uint64_t bytes,
                    uint32_t *taken_out, char *line, size_t line_bytes)
{
    char buffer[4096], current[OS_LINE_BYTES], none[1];
    bool told = line && line_bytes;
    struct looked l = {.lows = lows,
                       .count = count,
                       .bytes = bytes,
                       .first = count,
                       .line = told ? line : none,
                       .line_bytes = told ? line_bytes : sizeof(none)};
    int saved = errno;
    size_t length = 0;
    ssize_t got;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return DRASYNC_EINTERNAL;
    l.line[0] = 0;
    while ((got = read(fd, buffer, sizeof(buffer))) != 0) {
        if (got < 0 && errno != EINTR)
            break;
        for (ssize_t i = 0; i < got; i++) {
            if (buffer[i] != '\n') {
                if (length < sizeof(current) - 1)
                    current[length++] = buffer[i];
                continue;
            }
            current[length] = 0;
            length = 0;
            look_at_line(&l, current);
        }
    }
    close(fd);
    errno = saved;
    *taken_out = l.taken;
    return 0;
}

int os_range_taken(uintptr_t low, uintptr_t high, char *line, size_t line_bytes)
{
    uint32_t taken = 0;
    int err = os_ranges_taken(&low, 1, high - low, &taken, line, line_bytes);

    return err ? err : (int)taken;
}
