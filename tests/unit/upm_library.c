/* libupm.so: its calls, engines, sources and placements, on a machine that the test
 * makes up. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "memory/sanitizer.h"
#include "upm/place.h"
#include "upm_machine.h"

/* Threads of a process that has one: ThreadSanitizer adds its own. */
#define ALONE (1 + SANITIZER_THREAD)

static void test_errors(void)
{
    void *hole = mmap(NULL, 4 * UPM_PAGE_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    tap_ok(upmlib_memrefcnt(arena, 1) == -EPERM &&
               upmlib_migrate_memory() == -EPERM && upmlib_record() == -EPERM &&
               upmlib_replay() == -EPERM && upmlib_undo() == -EPERM &&
               upmlib_sample(1) == -EPERM &&
               upmlib_set(UPMLIB_BATCH, 1) == -EPERM &&
               strstr(upmlib_error(), "upmlib_init() first"),
           "nothing goes before upmlib_init()");
    upmlib_end();
    setenv("UPM_SOURCE", "tea-leaves", 1);
    tap_ok(upmlib_init() == -EINVAL && strstr(upmlib_error(), "tea-leaves") &&
               strstr(upmlib_error(), "userfaultfd"),
           "a variable's wrong value is named, with what it may be");
    setenv("UPM_SOURCE", "file:", 1);
    tap_ok(upmlib_init() == -EINVAL, "a source file needs a name");
    unsetenv("UPM_SOURCE");
    tap_ok(upmlib_init() == 0 && upmlib_init() == 0,
           "upmlib_init() may be called again");
    tap_ok(upmlib_set(77, 1) == -EINVAL &&
               upmlib_set(UPMLIB_BATCH, 0) == -EINVAL &&
               upmlib_set(UPMLIB_FREEZE, -2) == -EINVAL &&
               upmlib_set(UPMLIB_SOURCE, UPMLIB_SOURCE_FILE) == -EINVAL &&
               upmlib_set(100, 1) == -EINVAL &&
               upmlib_set(UPMLIB_CRITICAL, 3) == 0,
           "unknown options and values out of range are refused");
    tap_ok(upmlib_memrefcnt(NULL, 10) == -EINVAL &&
               upmlib_memrefcnt(arena, SIZE_MAX) == -EINVAL &&
               upmlib_memrefcnt(arena, 0) == -EINVAL,
           "no area, one that wraps, and the end of none are refused");
    munmap((char *)hole + UPM_PAGE_BYTES, UPM_PAGE_BYTES);
    tap_ok(upmlib_memrefcnt(hole, 4 * UPM_PAGE_BYTES) == -EFAULT,
           "addresses that are not mapped are refused");
    tap_ok(upmlib_memrefcnt("constant", 5) == -EFAULT,
           "memory that cannot be written is refused");
    tap_ok(upmlib_memrefcnt(arena, 100) == 0 && stats().pages == 0,
           "an area without a whole page is none to count, and no error");
    tap_ok(upmlib_memrefcnt(arena + 99, 10) == -EEXIST &&
               upmlib_memrefcnt(arena + 100, 10) == 0 &&
               upmlib_memrefcnt(arena, 0) == 0 &&
               upmlib_memrefcnt(arena, 100) == 0,
           "areas may not overlap, but touch each other");
    tap_ok(upmlib_set(UPMLIB_SOURCE, UPMLIB_SOURCE_NONE) == -EBUSY,
           "the source does not change while there are areas");
    tap_ok(upmlib_replay() == -ENODATA && upmlib_record() == 0 &&
               upmlib_replay() == -ENODATA && upmlib_undo() == -ENODATA,
           "there is no replay without a recorded phase, and no undo without "
           "replay");
    tap_ok(upmlib_sample(UINT32_MAX) == -EINVAL &&
               upmlib_get_stats(NULL) == -EINVAL,
           "an interval above the limit, and no place for statistics, are "
           "refused");
    munmap(hole, 4 * UPM_PAGE_BYTES);
}

static void test_iterative(void)
{
    upmlib_end();
    int before = threads();

    begin();
    upmlib_memrefcnt(arena, PAGES * UPM_PAGE_BYTES);
    tap_ok(stats().nodes == NODES && stats().pages == PAGES &&
               stats().counting && !stats().why,
           "the statistics say what is counted");
    touch(1, 0, 4);
    touch(2, 4, 8);
    tap_ok(upmlib_migrate_memory() == 8 && are_on(1, 0, 4) && are_on(2, 4, 8) &&
               are_on(0, 8, PAGES),
           "pages go to the nodes that touched them");
    touch(1, 0, 4);
    touch(2, 4, 8);
    tap_ok(upmlib_migrate_memory() == 0 && stats().off && !stats().counting,
           "after a stable iteration the engine is off");
    uint64_t counted = stats().counted;
    touch(3, 0, PAGES);
    tap_ok(upmlib_migrate_memory() == 0 && stats().counted == counted &&
               threads_are(before),
           "then there is no fault and no thread any more");
    tap_ok(stats().moved == 8 && stats().iterations == 2 && stats().frozen == 0,
           "and the statistics keep what was done");
    upmlib_memrefcnt(arena + PAGES * UPM_PAGE_BYTES, UPM_PAGE_BYTES);
    tap_ok(!stats().off && stats().counting,
           "another area switches it on again");
    upmlib_end();
    tap_ok(threads_are(before), "upmlib_end() ends the thread");
}

static void test_full(void)
{
    begin();
    upmlib_set(UPMLIB_BATCH, 3);
    upmlib_memrefcnt(arena, PAGES * UPM_PAGE_BYTES);
    atomic_store(&full_node, 3);
    touch(3, 0, 8);
    touch(1, 8, PAGES);
    tap_ok(upmlib_migrate_memory() == 8 && are_on(0, 0, 8) &&
               are_on(1, 8, PAGES) && stats().stayed == 8,
           "pages stay where they are if the node is full, others move");
    touch(3, 0, 8);
    touch(1, 8, PAGES);
    tap_ok(upmlib_migrate_memory() == 0 && stats().off,
           "and the engine ends all the same");
}

static void test_freezing(void)
{
    int moved = 0;

    begin();
    upmlib_memrefcnt(arena, PAGES * UPM_PAGE_BYTES);
    for (unsigned i = 0; i < 3; i++) {
        touch(i % 2 ? 0 : 1, 0, 1);
        moved += upmlib_migrate_memory();
    }
    tap_ok(moved == 2 && stats().frozen == 1,
           "a page that bounces is frozen within 3 iterations");
}

static void test_replay(void)
{
    int good = 1;

    begin();
    upmlib_set(UPMLIB_CRITICAL, 3);
    upmlib_memrefcnt(arena, PAGES * UPM_PAGE_BYTES);
    homes[5] = 2;
    touch(1, 0, PAGES); /* outside the phase */
    good &= upmlib_record() == 0;
    touch(2, 2, 4);
    touch(3, 7, 9);
    good &= upmlib_record() == 0;
    tap_ok(good && stats().counting, "phases are recorded");
    int16_t then[4 * PAGES];
    memcpy(then, homes, sizeof(then));
    tap_ok(upmlib_replay() == 3 && are_on(2, 2, 4) && homes[7] == 3 &&
               homes[8] == 0 && !stats().counting,
           "a replay moves the critical pages, and counting is over");
    tap_ok(upmlib_undo() == 3 && !memcmp(then, homes, sizeof(then)),
           "undo restores exactly");
    tap_ok(upmlib_undo() == -ENODATA, "once");
    for (int i = 0; i < 5; i++)
        good &= upmlib_replay() == 3 && upmlib_undo() == 3;
    tap_ok(good && !memcmp(then, homes, sizeof(then)) &&
               stats().replayed == 18 && stats().undone == 18,
           "iteration after iteration");
    tap_ok(upmlib_memrefcnt(arena, 0) == 0 && upmlib_replay() == 0,
           "an area that is dropped is not replayed");
}

/* First the iterative engine, then record and replay. */
static void test_hybrid(void)
{
    begin();
    upmlib_memrefcnt(arena, PAGES * UPM_PAGE_BYTES);
    touch(1, 0, PAGES);
    upmlib_migrate_memory();
    touch(1, 0, PAGES);
    upmlib_migrate_memory();
    upmlib_record();
    tap_ok(stats().counting, "a recording counts though the engine is off");
    touch(2, 0, 2);
    upmlib_record();
    tap_ok(upmlib_replay() == 2 && are_on(2, 0, 2) && upmlib_undo() == 2 &&
               are_on(1, 0, PAGES),
           "replays start from where the iterative engine has put pages");
    tap_ok(upmlib_migrate_memory() == 0 && !stats().counting,
           "and the engine stays off");
}

/* --- Sources -------------------------------------------------------------- */

/* begin(), with counts from the file @path. */
static void begin_from(const char *path)
{
    char source[64];

    snprintf(source, sizeof(source), "file:%s", path);
    setenv("UPM_SOURCE", source, 1);
    begin();
    unsetenv("UPM_SOURCE");
}

static void test_file(void)
{
    char path[] = "/tmp/upm_library.XXXXXX";
    int fd = mkstemp(path);

    dprintf(fd, "# iteration area page counts\n0 0 1 5 9 0 0\n0 1 0 0 0 7 1\n"
                "1 0 1 9 5 0 0\n0 0 99 0 9 0 0\n0 9 0 0 9 0 0\nnonsense\n");
    close(fd);
    begin_from(path);
    upmlib_memrefcnt(arena, 4 * UPM_PAGE_BYTES);
    upmlib_memrefcnt(arena + 4 * UPM_PAGE_BYTES, 4 * UPM_PAGE_BYTES);
    tap_ok(upmlib_migrate_memory() == 2 && homes[1] == 1 && homes[4] == 2 &&
               stats().counted == 22,
           "counts come from a file");
    tap_ok(upmlib_migrate_memory() == 1 && homes[1] == 0,
           "the next iteration's by the next call");
    unlink(path);
    upmlib_end();
    begin_from(path);
    tap_ok(upmlib_memrefcnt(arena, UPM_PAGE_BYTES) == -ENOTSUP &&
               strstr(upmlib_error(), path) && stats().areas == 0,
           "a source that does not work here is an error with its reason");
}

/* With the file of its counts gone, no recording begins: neither by the first
 * call nor by the next. */
static void test_record_fails(void)
{
    char path[] = "/tmp/upm_library.XXXXXX";
    int fd = mkstemp(path);

    dprintf(fd, "0 0 1 9 0 0 0\n");
    close(fd);
    begin_from(path);
    upmlib_memrefcnt(arena, 4 * UPM_PAGE_BYTES);
    upmlib_record();
    upmlib_record();
    upmlib_replay(); /* nothing is counted from here on */
    unlink(path);
    tap_ok(!stats().counting && upmlib_record() == -ENOTSUP &&
               upmlib_record() == -ENOTSUP && upmlib_replay() == -ENODATA,
           "a recording that did not begin is no phase");
}

/* A mapping of a file: userfaultfd refuses it, when its thread has begun. */
static void test_refused_area(void)
{
    char path[] = "/tmp/upm_library.XXXXXX";
    size_t bytes = 4 * UPM_PAGE_BYTES;
    int fd = mkstemp(path);

    unlink(path);
    if (fd < 0 || ftruncate(fd, (off_t)bytes))
        abort();
    char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    begin();
    upmlib_set(UPMLIB_SOURCE, UPMLIB_SOURCE_USERFAULTFD);
    alarm(20);
    tap_ok(upmlib_memrefcnt(at, bytes) == -ENOTSUP && threads_are(ALONE),
           "an area that a source refuses is an error, and leaves no thread");
    for (int i = 0; i < 100; i++) {
        upmlib_memrefcnt(arena, UPM_PAGE_BYTES);
        upmlib_memrefcnt(arena, 0);
    }
    tap_ok(threads_are(ALONE), "nor does one that is dropped at once");
    alarm(0);
    munmap(at, bytes);
    close(fd);
}

static void test_userfaultfd(void)
{
    begin();
    upmlib_set(UPMLIB_SOURCE, UPMLIB_SOURCE_USERFAULTFD);
    int err = upmlib_memrefcnt(arena, PAGES * UPM_PAGE_BYTES);
    if (err == -ENOTSUP) {
        tap_skip("userfaultfd", upmlib_error());
        return;
    }
    touch(1, 0, 3);
    touch(2, 3, 5);
    tap_ok(!err && upmlib_migrate_memory() == 5 && are_on(1, 0, 3) &&
               are_on(2, 3, 5),
           "userfaultfd tells who writes");
    touch(1, 0, 3);
    touch(2, 3, 5);
    tap_ok(upmlib_migrate_memory() == 0 && stats().off, "until nothing moves");
    upmlib_end();
    tap_ok(threads_are(ALONE), "and leaves no thread");
    test_refused_area();
}

static void test_perf(void)
{
    begin();
    upmlib_set(UPMLIB_SOURCE, UPMLIB_SOURCE_PERF);
    int err = upmlib_memrefcnt(arena, PAGES * UPM_PAGE_BYTES);
    tap_ok(err == 0 ||
               (err == -ENOTSUP && strstr(upmlib_error(), "source perf")),
           "perf counts, or says why it does not");
}

static void test_none(void)
{
    begin();
    upmlib_set(UPMLIB_SOURCE, UPMLIB_SOURCE_NONE);
    upmlib_memrefcnt(arena, PAGES * UPM_PAGE_BYTES);
    touch(1, 0, PAGES);
    tap_ok(upmlib_migrate_memory() == 0 && are_on(0, 0, PAGES) && stats().why,
           "with no source nothing moves, and the statistics say why");
}

/* --- Sampling and placements ---------------------------------------------- */

static void test_sampling(void)
{
    upmlib_end();
    int before = threads(), tries = 0;

    begin();
    upmlib_set(UPMLIB_BATCH, 4);
    upmlib_memrefcnt(arena, PAGES * UPM_PAGE_BYTES);
    tap_ok(upmlib_sample(2) == 0, "sampling starts");
    /* The program goes on touching; the thread comes round to all pages. */
    while (!are_on(2, 0, PAGES) && tries++ < 20000) {
        touch(2, 0, PAGES);
        usleep(500);
    }
    tap_ok(are_on(2, 0, PAGES) && stats().sampled >= PAGES &&
               stats().moved == PAGES,
           "all pages come to the node that uses them, without a call");
    tap_ok(upmlib_sample(0) == 0 && threads_are(before) && !stats().counting,
           "sampling ends, and its thread");
}

static void test_places(void)
{
    unsigned seen = 0;

    setenv("UPM_PLACE", "round-robin", 1);
    begin();
    upmlib_memrefcnt(arena, PAGES * UPM_PAGE_BYTES);
    tap_ok(homes[0] == 0 && homes[1] == 1 && homes[5] == 1 && homes[15] == 3,
           "round robin deals pages out");
    upmlib_memrefcnt(arena + PAGES * UPM_PAGE_BYTES, 2 * UPM_PAGE_BYTES);
    tap_ok(homes[PAGES] == 0 && homes[PAGES + 1] == 1, "over all areas");
    setenv("UPM_PLACE", "random", 1);
    begin();
    upmlib_memrefcnt(arena, PAGES * UPM_PAGE_BYTES);
    for (size_t i = 0; i < PAGES; i++)
        seen |= 1u << homes[i];
    tap_ok(seen == 15 && homes[3] == upm_place_of(UPM_PLACE_RANDOM, 3, NODES),
           "random uses all nodes, and the same ones in each run");
    setenv("UPM_PLACE", "worst", 1);
    begin();
    homes[2] = 3;
    upmlib_memrefcnt(arena, PAGES * UPM_PAGE_BYTES);
    tap_ok(are_on(0, 0, PAGES), "worst puts all on one node");
    unsetenv("UPM_PLACE");
}

static void test_one_node(void)
{
    host_nodes = 1;
    begin();
    touch(0, 0, 1);
    tap_ok(upmlib_memrefcnt(arena, PAGES * UPM_PAGE_BYTES) == 0 &&
               upmlib_migrate_memory() == 0 && upmlib_record() == 0 &&
               upmlib_record() == 0 && upmlib_replay() == 0 &&
               upmlib_undo() == 0 && upmlib_sample(10) == 0 &&
               upmlib_set(UPMLIB_THRESHOLD, 50) == 0,
           "on one node every call succeeds");
    tap_ok(threads_are(ALONE) && !stats().counting && stats().nodes == 1 &&
               stats().counted == 0 &&
               !strcmp(stats().why, "there is one NUMA node"),
           "and does nothing, and the statistics say so");
    tap_ok(upmlib_memrefcnt(arena + 5, 5) == -EEXIST &&
               upmlib_undo() == -ENODATA,
           "but a wrong call is one there too");
    upmlib_end();
    host_nodes = NODES;
}

int main(void)
{
    make_arena();
    test_errors();
    test_iterative();
    test_full();
    test_freezing();
    test_replay();
    test_hybrid();
    test_file();
    test_record_fails();
    test_userfaultfd();
    test_perf();
    test_none();
    test_sampling();
    test_places();
    test_one_node();
    upmlib_end();
    return tap_end();
}
