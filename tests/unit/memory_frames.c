/* Alternate frames, and sets of frames. */
#include "memory_common.h"
#include "memory_look.h"

#include "memory/extents.h"
#include "memory/frames.h"
#include "memory/frameset.h"
#include "memory/lock.h"
#include "memory/os.h"
#include "memory/pages.h"

#define EXTENTS 3

/* Let this process see the set at the extents' addresses. */
static int show(const struct space *space, const struct frameset *set)
{
    int err = 0;

    for (uint64_t i = 0; i < set->runs && !err; i++)
        err = frames_map(space, set->run[i].first_page, set->run[i].pages,
                         set->run[i].offset);
    return err;
}

/* Or the extents' primary frames. */
static int show_primary(const struct space *space, const struct frameset *set)
{
    int err = 0;

    for (uint64_t i = 0; i < set->runs && !err; i++)
        err = frames_map(space, set->run[i].first_page, set->run[i].pages,
                         space_page_offset(set->run[i].first_page));
    return err;
}

static int owner;

static void make(const struct space *space, struct frameset_extent *extents)
{
    static const uint64_t lengths[EXTENTS] = {1, 3, 16};
    struct extent *extent;
    int i;

    for (i = 0; i < EXTENTS; i++) {
        REQUIRE(!extent_new(space, lengths[i], &owner, 1, &extent));
        extents[i] =
            (struct frameset_extent){extent->first_page, lengths[i], 0};
    }
}

static void write_all(const struct space *space,
                      const struct frameset_extent *extents, int value)
{
    int i;

    for (i = 0; i < EXTENTS; i++)
        memset(space_address(space, extents[i].first_page), value,
               extents[i].pages * PAGE_BYTES);
}

static int reads(const struct space *space,
                 const struct frameset_extent *extents, int value)
{
    uint64_t k;
    int i;

    for (i = 0; i < EXTENTS; i++) {
        const char *at = space_address(space, extents[i].first_page);

        for (k = 0; k < extents[i].pages * PAGE_BYTES; k++)
            if (at[k] != value)
                return 0;
    }
    return 1;
}

static uint64_t mappings(void)
{
    FILE *file = fopen("/proc/self/maps", "r");
    uint64_t lines = 0;
    int c;

    REQUIRE(file);
    while ((c = getc(file)) != EOF)
        lines += c == '\n';
    fclose(file);
    return lines;
}

static void single(const struct space *space)
{
    uint64_t a, b, used = limit_used_bytes(space);
    struct extent *extent;
    char *data, *far;

    REQUIRE(!extent_new(space, 4, &owner, 1, &extent));
    data = space_address(space, extent->first_page);
    strcpy(data, "old");
    tap_ok(!frames_take(space, 4, &a) && !frames_take(space, 4, &b) && a != b &&
               frames_alternate(space, a) &&
               space_window(space, a, 4 * PAGE_BYTES),
           "alternate frames lie behind the data part in the file");
    tap_ok(!frames_copy(space, a, space_page_offset(extent->first_page),
                        4 * PAGE_BYTES) &&
               !strcmp(space_window(space, a, 4), "old"),
           "frames are copied through the window");
    tap_ok(!frames_map(space, extent->first_page, 4, a), "they are mapped");
    strcpy(data, "new");
    far = space_window_of(space, data);
    tap_ok(!strcmp(far, "old") && !strcmp(data, "new"),
           "then one address means two things");
    tap_ok(!frames_map_primary(space, extent->first_page, 4) &&
               !strcmp(data, "old"),
           "and one again");
    tap_ok(frames_map(space, extent->first_page, 4, a + 1) == DRASYNC_EINVAL &&
               frames_map(space, extent->first_page, UINT64_MAX, a) ==
                   DRASYNC_EINVAL &&
               frames_map(space, UINT64_MAX, 1, a) == DRASYNC_EINVAL &&
               frames_map(space, 1, 1,
                          space->layout.data_bytes +
                              space->layout.alternate_bytes) ==
                   DRASYNC_EINVAL &&
               frames_map(space, 1, 0, a) == DRASYNC_EINVAL,
           "what lies outside is not mapped");
    tap_ok(frames_copy(space, a, UINT64_MAX - 8, 16) == DRASYNC_EINVAL &&
               frames_copy(space, UINT64_MAX, a, 1) == DRASYNC_EINVAL &&
               frames_reserve(space, 1, 4096) == DRASYNC_EINVAL &&
               frames_unreserve(space, UINT64_MAX - 4095, 4096) ==
                   DRASYNC_EINVAL,
           "nor copied, nor reserved");
    tap_ok(frames_give(space, a, 3) == DRASYNC_EINVAL &&
               frames_give(space, 4096, 4) == DRASYNC_EINVAL &&
               !frames_give(space, a, 4) &&
               frames_give(space, a, 4) == DRASYNC_EINVAL &&
               !frames_give(space, b, 4),
           "frames are given back once, as they were taken");
    tap_ok(frames_take(space, space->layout.alternate_bytes / PAGE_BYTES * 2,
                       &a) == DRASYNC_ENOSPACE,
           "more than there are cannot be had");
    REQUIRE(!extent_delete(space, extent) && !pages_trim(space));
    tap_ok(limit_used_bytes(space) - used < MIB, "all memory is back");
}

static void sets(const struct space *space)
{
    struct frameset_extent extents[EXTENTS];
    struct frameset *primary = NULL, *copy = NULL, *third = NULL;
    uint64_t bytes, before;

    make(space, extents);
    write_all(space, extents, 1);
    before = mappings();
    tap_ok(!frameset_new_primary(space, extents, EXTENTS, &primary) &&
               !frameset_new(space, extents, EXTENTS, &copy) &&
               !frameset_has_alternate(space, primary) &&
               frameset_has_alternate(space, copy),
           "sets over primary and alternate frames");
    tap_ok(!frameset_copy(space, copy, primary, &bytes) &&
               bytes == 20 * PAGE_BYTES,
           "a set is copied");
    tap_ok(!show(space, copy) && reads(space, extents, 1),
           "and mapped, with the same contents");
    write_all(space, extents, 2);
    tap_ok(!show(space, primary) && reads(space, extents, 1) &&
               !show(space, copy) && reads(space, extents, 2),
           "writing one leaves the other alone");
    tap_ok(!show(space, copy) && reads(space, extents, 2) &&
               !show_primary(space, copy) && reads(space, extents, 1),
           "primary frames come back");
    tap_ok(mappings() == before, "and no mapping is left over");
    extents[2].used_bytes = 100;
    tap_ok(!frameset_new(space, extents, EXTENTS, &third) &&
               !frameset_copy(space, third, copy, NULL) &&
               !frameset_copy(space, primary, third, &bytes) &&
               bytes == 4 * PAGE_BYTES + 100,
           "only what is used is copied");
    tap_ok(*(char *)space_address(space, extents[2].first_page) == 2 &&
               ((char *)space_address(space, extents[2].first_page))[100] == 1,
           "to the byte");
    tap_ok(!frameset_free(space, copy) && !frameset_free(space, third) &&
               !frameset_free(space, NULL),
           "sets are freed");
    extents[0].first_page = space->pages;
    tap_ok(frameset_new(space, extents, EXTENTS, &copy) == DRASYNC_EINVAL &&
               frameset_new(space, extents, FRAMESET_RUNS_MAX + 1, &copy) < 0,
           "extents outside the space are refused");
    tap_ok(!frameset_new(space, NULL, 0, &copy) && !frameset_free(space, copy),
           "a set of nothing is a set");
    REQUIRE(!frameset_free(space, primary));
}

static void growing(const struct space *space)
{
    struct frameset_extent extents[EXTENTS], added;
    struct frameset *set, *copy;
    struct extent *extent;
    int i, good = 1;

    make(space, extents);
    REQUIRE(!frameset_new(space, extents, EXTENTS, &set));
    for (i = 0; i < 200; i++) {
        REQUIRE(!extent_new(space, 2, &owner, 1, &extent));
        added = (struct frameset_extent){extent->first_page, 2, 0};
        good = good && !frameset_add_primary(space, &set, &added);
        *(int *)space_address(space, extent->first_page) = i;
    }
    tap_ok(good && set->runs == EXTENTS + 200 &&
               frameset_has_alternate(space, set),
           "a set grows with its region");
    for (i = 0; i < 200; i++)
        good = good && *(int *)space_window(space, set->run[EXTENTS + i].offset,
                                            4) == i;
    tap_ok(good, "and keeps what was there");
    REQUIRE(!frameset_new_primary(space, extents, EXTENTS, &copy));
    tap_ok(!frameset_copy(space, copy, set, NULL) && !show(space, set) &&
               !show(space, copy) && !show_primary(space, set),
           "sets of different extents share what they have in common");
    tap_ok(!frameset_free(space, set) && !frameset_free(space, copy),
           "and are freed");
}

static void no_memory(void)
{
    struct space space;
    struct frameset_extent extents[2];
    struct frameset *set;
    uint64_t used, first;
    int i;

    node_open(&space, 64 * MIB, 0, 1, 15 * MIB);
    for (i = 0; i < 2; i++) {
        REQUIRE(!pages_take(&space, 1024, PAGES_FRAMES, &first));
        extents[i] = (struct frameset_extent){first, 1024, 0};
    }
    REQUIRE(!frameset_new_primary(&space, extents, 2, &set));
    REQUIRE(!frameset_free(&space, set));
    used = limit_used_bytes(&space);
    tap_ok(frameset_new(&space, extents, 2, &set) == DRASYNC_ENOMEM,
           "without memory there is no set");
    tap_ok(limit_used_bytes(&space) - used < MIB, "and nothing is lost");
    limit_set(&space, GIB);
    for (i = 0; i < 100 && !frames_take(&space, 512, &first); i++)
        ;
    used = limit_used_bytes(&space);
    tap_ok(frameset_new(&space, extents, 2, &set) == DRASYNC_ENOSPACE &&
               limit_used_bytes(&space) - used < MIB,
           "nor without room in the alternate part");
    node_close(&space);
}

/* How many mappings a process has before: of what it may have, the last ones
 * are used up in one way or another. */
static int mappings_before;

static int too_many_mappings(const struct space *space, int index)
{
    uint64_t first, offset, i;
    int err = 0;
    int *at;

    (void)index;
    for (i = 0; i < (uint64_t)mappings_before; i++)
        if (!os_spare_new())
            return 1;
    if (pages_take(space, 80000, PAGES_FRAMES, &first) ||
        frames_take(space, 1, &offset))
        return 1;
    for (i = 0; i < 80000; i++)
        *(uint64_t *)space_address(space, first + i) = i;
    for (i = 1; i < 80000 && !err; i += 2)
        err = frames_map(space, first + i, 1, offset);
    if (!err)
        return 0; /* this machine allows more */
    /* A process that is full of mappings can still undo them. */
    at = space_address(space, first + i - 2);
    if (err != DRASYNC_ELIMIT || *at != (int)(i - 2) ||
        frames_map_primary(space, first + 1, 1) ||
        frames_map_primary(space, first, i - 2) ||
        *(int *)space_address(space, first + 1) != 1)
        return 1;
    return frames_give(space, offset, 1) ||
           pages_give(space, first, 80000, PAGES_FRAMES);
}

static int all_too_many(const struct space *space)
{
    int good = 1;

    for (mappings_before = 0; mappings_before < 4; mappings_before++)
        good &= in_processes(space, 1, too_many_mappings);
    return good;
}

static int churn(const struct space *space, int index)
{
    uint64_t offset[8] = {0};
    uint32_t random = (uint32_t)index + 1;
    int i;

    for (i = 0; i < 3000; i++) {
        uint32_t at, pages;

        random = random * 1664525 + 1013904223;
        at = random >> 29;
        pages = at * 3 + 1;
        if (offset[at]) {
            uint32_t *data = space_window(space, offset[at], 4);

            if (*data != (uint32_t)index ||
                frames_give(space, offset[at], pages))
                return 1;
            offset[at] = 0;
        } else {
            if (frames_take(space, pages, &offset[at]))
                return 1;
            *(uint32_t *)space_window(space, offset[at], 4) = (uint32_t)index;
        }
    }
    return 0;
}

int main(void)
{
    struct space space;

    node_open(&space, GIB, 0, 1, 0);
    single(&space);
    sets(&space);
    growing(&space);
    tap_ok(in_processes(&space, 4, churn),
           "four processes take and give frames at once");
    if (LOCK_CHECKED)
        tap_skip("too many mappings are an error", "sanitizers need some too");
    else
        tap_ok(all_too_many(&space),
               "too many mappings are an error, and nothing is lost");
    node_close(&space);
    no_memory();
    return tap_end();
}
