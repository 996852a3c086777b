/* Which addresses core dumps show. */
#include "memory_common.h"

#include "memory/dump.h"
#include "memory/frames.h"
#include "memory/pages.h"

#include <inttypes.h>

/* Do dumps show @page, by what the kernel says of its mapping? */
static int shows(const struct space *space, uint64_t page)
{
    uint64_t at = (uint64_t)(uintptr_t)space_address(space, page);
    FILE *smaps = fopen("/proc/self/smaps", "re");
    char line[512];
    int here = 0, shown = -1;

    REQUIRE(smaps);
    while (fgets(line, sizeof(line), smaps)) {
        uint64_t low, high;

        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " ", &low, &high) == 2)
            here = low <= at && at < high;
        else if (here && !strncmp(line, "VmFlags:", 8))
            shown = !strstr(line, " dd");
    }
    fclose(smaps);
    REQUIRE(shown >= 0);
    return shown;
}

static uint64_t taken(const struct space *space, uint64_t pages)
{
    uint64_t first;

    REQUIRE(!pages_take(space, pages, PAGES_FRAMES, &first));
    return first;
}

static uint64_t page_count(uint64_t bytes)
{
    return bytes >> PAGE_SHIFT;
}

static uint64_t made_elsewhere;

static int make(const struct space *space, int index)
{
    (void)index;
    return taken(space, page_count(8 * MIB)) != made_elsewhere;
}

static void used(const struct space *space)
{
    uint64_t first = taken(space, 1), last, offset;

    tap_ok(shows(space, first), "pages in use are shown");
    tap_ok(!shows(space, space->pages / 2), "others are not");
    last = taken(space, page_count(4 * MIB));
    tap_ok(shows(space, last) && shows(space, last + 1023) &&
               shows(space, first),
           "large runs are, from end to end");
    REQUIRE(!frames_take(space, 16, &offset) &&
            !frames_reserve(space, offset, 16 * PAGE_BYTES) &&
            !frames_map(space, last, 16, offset));
    tap_ok(shows(space, last) && shows(space, last + 16),
           "and so are other frames at their addresses");
    REQUIRE(!frames_map(space, last, 16, space_page_offset(last)));
    tap_ok(shows(space, last), "and their own again");
}

/* The next run of another process, whose address this one knows beforehand. */
static void elsewhere(const struct space *space)
{
    made_elsewhere = taken(space, page_count(8 * MIB));
    REQUIRE(
        !pages_give(space, made_elsewhere, page_count(8 * MIB), PAGES_FRAMES));
    REQUIRE(in_processes(space, 1, make));
    dump_refresh(space);
    tap_ok(shows(space, made_elsewhere), "what another process uses is too");
}

static void limited(void)
{
    struct space space;
    uint64_t first, second;

    node_open(&space, 256 * MIB, 0, 1, GIB);
    dump_set(4 * MIB);
    first = taken(&space, page_count(2 * MIB));
    second = taken(&space, page_count(32 * MIB));
    tap_ok(shows(&space, first) && !shows(&space, second + 32 * 256 - 1),
           "what is more than allowed is left out");
    node_close(&space);

    node_open(&space, 256 * MIB, 0, 1, GIB);
    dump_set(0);
    first = taken(&space, 1);
    tap_ok(!shows(&space, first), "all is, where nothing is allowed");
    node_close(&space);
}

/* Pages apart, so that each wants a range of its own. */
static void scattered(void)
{
    struct space space;
    int shown = 0;

    node_open(&space, GIB, 0, 1, GIB);
    dump_set(UINT64_MAX);
    for (uint64_t i = 0; i < 2 * DUMP_RANGES_MAX; i++) {
        uint64_t page = page_count(2 * i * DUMP_GRANULE_BYTES) + 1;

        shown += dump_cover(&space, page, 1) && shows(&space, page);
    }
    tap_ok(shown == DUMP_RANGES_MAX, "of places too many, the first are shown");
    tap_ok(dump_cover(&space, page_count(DUMP_GRANULE_BYTES), 256) &&
               dump_cover(&space, 1, page_count(3 * MIB) - 1),
           "places that touch one another join");
    node_close(&space);
}

static int cover_some(const struct space *space, int index)
{
    for (uint64_t i = 0; i < 200; i++)
        dump_cover(space, 1 + (i * 4 + (uint64_t)index) * 64, 64);
    for (uint64_t i = 0; i < 200; i++) {
        if (!dump_cover(space, 1 + i * 256, 200))
            return 1;
    }
    return 0;
}

static void together(void)
{
    struct space space;

    node_open(&space, GIB, 0, 1, GIB);
    dump_set(UINT64_MAX);
    tap_ok(in_processes(&space, 4, cover_some), "four processes at once");
    node_close(&space);
}

int main(void)
{
    struct space space;

    node_open(&space, 256 * MIB, 0, 1, GIB);
    dump_set(UINT64_MAX);
    used(&space);
    elsewhere(&space);
    node_close(&space);
    limited();
    scattered();
    together();
    return tap_end();
}
