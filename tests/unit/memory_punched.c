/* What was taken out of the data file, madvise() tells, once in each process. */
#include "memory_common.h"

#include "memory/frames.h"
#include "memory/pages.h"
#include "memory/punched.h"
#include "memory/shared.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#define AT    MIB
#define FIRST (AT >> PAGE_SHIFT)
#define BYTES (16 * PAGE_BYTES)

/* The last two calls that drop pages, and how many there were. */
static struct {
    char *at;
    size_t bytes;
} dropped[2];
static int drops;

int madvise(void *at, size_t bytes, int advice)
{
    if (advice == MADV_DONTNEED) {
        dropped[0] = dropped[1];
        dropped[1].at = at;
        dropped[1].bytes = bytes;
        drops++;
    }
    return (int)syscall(SYS_madvise, at, bytes, advice);
}

/* Were @bytes at data-file offset @offset dropped, and nothing else? */
static int dropped_primary(const struct space *space, uint64_t offset,
                           uint64_t bytes)
{
    int good = drops == 2 && dropped[0].at == space->window + offset &&
               dropped[1].at == space->base + offset &&
               dropped[0].bytes == bytes && dropped[1].bytes == bytes;

    drops = 0;
    return good;
}

static int dropped_all(const struct space *space)
{
    int good = drops == 2 && dropped[0].at == space->window &&
               dropped[0].bytes == space->layout.data_bytes +
                                       space->layout.alternate_bytes &&
               dropped[1].at == space->base &&
               dropped[1].bytes == space->layout.data_bytes;

    drops = 0;
    return good;
}

static int dropped_nothing(const struct space *space)
{
    frames_catch_up(space);
    return drops == 0;
}

static int come_and_go(const struct space *space, int index)
{
    uint64_t at = AT + (uint64_t)index * BYTES;

    return frames_reserve(space, at, BYTES) ||
           frames_unreserve(space, at, BYTES);
}

static void test_without(void)
{
    struct space space;

    node_open(&space, 64 * MIB, 0, 1, 0);
    REQUIRE(!come_and_go(&space, 0));
    tap_ok(dropped_nothing(&space), "without adapters nothing is dropped");
    node_close(&space);
}

static void test_told(void)
{
    struct space space;
    uint64_t alternate, first;

    node_open(&space, 64 * MIB, 0, 2, 0);
    tap_ok(dropped_nothing(&space), "nothing was punched yet");
    REQUIRE(!come_and_go(&space, 0));
    frames_catch_up(&space);
    tap_ok(dropped_primary(&space, AT, BYTES),
           "frames that went: in the window and at their address");
    tap_ok(dropped_nothing(&space), "once");

    REQUIRE(in_processes(&space, 1, come_and_go));
    tap_ok(!pages_take(&space, 1, PAGES_FRAMES, &first) &&
               dropped_primary(&space, AT, BYTES),
           "another process punched: before new pages are used");

    alternate = space.layout.data_bytes + MIB;
    REQUIRE(!frames_reserve(&space, alternate, BYTES) &&
            !frames_unreserve(&space, alternate, BYTES));
    frames_catch_up(&space);
    tap_ok(drops == 1 && dropped[1].at == space.window + alternate &&
               dropped[1].bytes == BYTES,
           "alternate frames: in the window");
    drops = 0;
    node_close(&space);
}

static void test_behind(void)
{
    struct punched *log;
    struct space space;

    node_open(&space, 64 * MIB, 0, 2, 0);
    log = &shared_of(&space)->punched;
    frames_catch_up(&space);
    drops = 0;
    for (uint64_t i = 0; i < PUNCHED_LOGGED; i++)
        punched_add(log, FIRST + i, 1);
    frames_catch_up(&space);
    tap_ok(drops == 2 * PUNCHED_LOGGED, "as many as are logged: each one");
    drops = 0;
    for (uint64_t i = 0; i <= PUNCHED_LOGGED; i++)
        punched_add(log, FIRST, 1);
    frames_catch_up(&space);
    tap_ok(dropped_all(&space), "one more: the whole space");

    /* As by a process that died between the number and the words. */
    atomic_fetch_add(&log->count, 1);
    punched_add(log, FIRST, 1);
    frames_catch_up(&space);
    tap_ok(dropped_all(&space), "an entry that is not there: the whole space");
    tap_ok(dropped_nothing(&space), "once, too");
    node_close(&space);
}

int main(void)
{
    test_without();
    frames_set_adapters(true);
    test_told();
    test_behind();
    return tap_end();
}
