/* Frames of a file: reserved, filled, entered, given back (memory/os.h). */
#include "memory_common.h"

#include "memory/os.h"
#include "memory/sanitizer.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define PAGE ((uint64_t)OS_PAGE_BYTES)

/* More than one call writes, and neither whole nor aligned pieces. */
#define FILL_BYTES (9 * MIB + 3 * PAGE)
#define FILL_AT    (5 * PAGE)
#define FILE_BYTES (16 * MIB)

static uint64_t frames_of(int fd)
{
    struct stat facts;

    REQUIRE(!fstat(fd, &facts));
    return (uint64_t)facts.st_blocks * 512 / PAGE;
}

static int file_new(void)
{
    int fd;

    REQUIRE(!os_file_new("test", FILE_BYTES, &fd));
    return fd;
}

static int is_filled_with(const char *from, uint64_t bytes, char value)
{
    for (uint64_t i = 0; i < bytes; i++)
        if (from[i] != value)
            return 0;
    return 1;
}

static void private(void)
{
    struct stat facts;
    int fd = file_new();

    REQUIRE(!fstat(fd, &facts));
    tap_ok(S_ISREG(facts.st_mode) && (facts.st_mode & 07777) == 0600,
           "a file is its user's only");
    close(fd);
}

static void filled(void)
{
    int fd = file_new();
    char *data =
        mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    REQUIRE(data != MAP_FAILED);
    memset(data + FILL_AT - PAGE, 1, PAGE);
    memset(data + FILL_AT + FILL_BYTES, 2, PAGE);
    tap_ok(!os_file_fill(fd, FILL_AT, FILL_BYTES) &&
               frames_of(fd) == FILL_BYTES / PAGE + 2,
           "a range has its frames, and nothing else has");
    tap_ok(is_filled_with(data + FILL_AT, FILL_BYTES, 0) &&
               is_filled_with(data + FILL_AT - PAGE, PAGE, 1) &&
               is_filled_with(data + FILL_AT + FILL_BYTES, PAGE, 2),
           "it reads as 0, its neighbours as before");
    tap_ok(!os_file_fill(fd, 12 * MIB, 0) &&
               frames_of(fd) == FILL_BYTES / PAGE + 2,
           "an empty range has none");
    tap_ok(!os_file_punch(fd, FILL_AT, FILL_BYTES) && frames_of(fd) == 2,
           "they are given back");
    munmap(data, FILE_BYTES);
    close(fd);
}

/* A file may have 5 MiB: the second call stops in the middle. */
static void not_filled(void)
{
    struct rlimit limit, less;
    int fd = file_new(), err, kept;

    REQUIRE(!getrlimit(RLIMIT_FSIZE, &limit));
    REQUIRE(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    less = limit;
    less.rlim_cur = 5 * MIB;
    REQUIRE(!setrlimit(RLIMIT_FSIZE, &less));
    errno = 77;
    err = os_file_fill(fd, FILL_AT, FILL_BYTES);
    kept = errno == 77;
    REQUIRE(!setrlimit(RLIMIT_FSIZE, &limit));
    tap_ok(err == DRASYNC_ENOMEM && kept && !frames_of(fd),
           "a range that cannot be filled is as it was");
    close(fd);
}

static void entered(void)
{
    const char *name = "what is filled and entered is in the page tables";
    struct rusage before, after;
    int fd = file_new();
    volatile char *data =
        mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    REQUIRE(data != MAP_FAILED);
    REQUIRE(!os_file_fill(fd, FILL_AT, FILL_BYTES));
    os_enter((char *)data + FILL_AT, FILL_BYTES);
    if (!os_entered((const char *)data + FILL_AT)) {
        tap_skip(name, "this kernel has no MADV_POPULATE_READ, or no pagemap");
        return;
    }
    tap_ok(os_entered((const char *)data + FILL_AT + FILL_BYTES - PAGE), name);
    getrusage(RUSAGE_SELF, &before);
    for (uint64_t at = 0; at < FILL_BYTES; at += PAGE)
        data[FILL_AT + at] = 3;
    getrusage(RUSAGE_SELF, &after);
    name = "writing there is no page fault";
    if (after.ru_minflt - before.ru_minflt < 16)
        tap_ok(1, name);
    else if (SANITIZER_THREAD)
        tap_skip(name, "ThreadSanitizer's own memory has some");
    else if (!os_entered((const char *)data + FILL_AT + PAGE))
        tap_skip(name, "this kernel enters no pages around one that is read");
    else
        tap_ok(0, name);
    munmap((char *)data, FILE_BYTES);
    close(fd);
}

int main(void)
{
    private();
    filled();
    not_filled();
    entered();
    return tap_end();
}
