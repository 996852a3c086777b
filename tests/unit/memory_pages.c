/* Page runs, chunks, and extents. */
#include "memory_common.h"
#include "memory_look.h"

#include "memory/extents.h"
#include "memory/frames.h"
#include "memory/pages.h"

static uint64_t aligned_to(uint64_t pages)
{
    uint64_t size = 1;

    while (size < pages)
        size *= 2;
    return size;
}

static void runs(void)
{
    struct space space;
    struct pages_stats stats;
    uint64_t first, again, used, i;

    node_open(&space, 64 * MIB, 0, 1, 0);
    used = limit_used_bytes(&space);
    tap_ok(!pages_take(&space, 5, PAGES_FRAMES, &first) && first > 0 &&
               first % 8 == 0,
           "a run of 5 pages lies at a multiple of 8");
    tap_ok(limit_used_bytes(&space) - used >= 5 * PAGE_BYTES,
           "its frames are charged");
    memset(space_address(&space, first), 7, 5 * PAGE_BYTES);
    tap_ok(
        pages_give(&space, first, 4, PAGES_FRAMES) == DRASYNC_EINVAL &&
            pages_give(&space, first + 1, 5, PAGES_FRAMES) == DRASYNC_EINVAL &&
            pages_give(&space, 0, 5, PAGES_FRAMES) == DRASYNC_EINVAL &&
            pages_give(&space, UINT64_MAX, 5, PAGES_FRAMES) == DRASYNC_EINVAL,
        "giving back what is not such a run is refused");
    tap_ok(!pages_give(&space, first, 5, PAGES_FRAMES) &&
               pages_give(&space, first, 5, PAGES_FRAMES) == DRASYNC_EINVAL,
           "a run is given back once");
    pages_get_stats(&space, &stats);
    tap_ok(stats.cached_pages == 5 && !stats.taken_pages && !stats.taken_runs,
           "its frames are kept");
    tap_ok(!pages_take(&space, 6, PAGES_FRAMES, &again) && again == first,
           "and used again for a run of the same size class");
    pages_get_stats(&space, &stats);
    tap_ok(stats.cached_pages == 0 && stats.taken_pages == 6,
           "then they are kept no more");
    tap_ok(!pages_give(&space, again, 6, PAGES_FRAMES) && !pages_trim(&space),
           "trimming works");
    pages_get_stats(&space, &stats);
    tap_ok(!stats.cached_pages, "and leaves nothing cached");
    tap_ok(pages_take(&space, 0, PAGES_FRAMES, &first) == DRASYNC_EINVAL,
           "a run of no pages is refused");
    tap_ok(pages_take(&space, UINT64_MAX, PAGES_FRAMES, &first) ==
                   DRASYNC_ENOSPACE &&
               pages_take(&space, space.pages, PAGES_FRAMES, &first) ==
                   DRASYNC_ENOSPACE,
           "a run that cannot be is refused");
    tap_ok(!pages_take(&space, space.pages / 2, PAGES_ADDRESSES, &first) &&
               !pages_give(&space, first, space.pages / 2, PAGES_ADDRESSES),
           "after everything is back, half the space is one run again");
    for (i = 0; !pages_take(&space, 3, PAGES_ADDRESSES, &first); i++)
        REQUIRE(first % aligned_to(3) == 0);
    tap_ok(i == space.pages / 4 - 1, "all addresses can be used, but page 0's");
    node_close(&space);
}

/* Blocks are entered when they are needed, from the smallest on. */
static void fresh(void)
{
    struct space small, large;
    uint64_t used, a, b, c, d;

    node_open(&small, 64 * MIB, 0, 1, 0);
    node_open(&large, 32 * 1024 * MIB, 0, 1, 0);
    used = limit_used_bytes(&small);
    tap_ok(limit_used_bytes(&large) < used + MIB,
           "a large space takes hardly more memory at first");
    tap_ok(!pages_take(&large, 5000, PAGES_ADDRESSES, &a) && a == 8192 &&
               !pages_take(&large, 1, PAGES_ADDRESSES, &b) && b == 1 &&
               !pages_take(&large, 4096, PAGES_ADDRESSES, &c) && c == 4096,
           "each run comes from the smallest block that holds it");
    tap_ok(!pages_take(&large, large.pages / 4, PAGES_ADDRESSES, &d) &&
               d == large.pages / 4 &&
               !pages_give(&large, d, large.pages / 4, PAGES_ADDRESSES) &&
               !pages_give(&large, a, 5000, PAGES_ADDRESSES) &&
               !pages_give(&large, b, 1, PAGES_ADDRESSES) &&
               !pages_give(&large, c, 4096, PAGES_ADDRESSES) &&
               !pages_take(&large, large.pages / 2, PAGES_ADDRESSES, &d) &&
               d == large.pages / 2,
           "also one of a quarter and of half the space");
    tap_ok(pages_take(&large, large.pages / 2, PAGES_ADDRESSES, &d) ==
               DRASYNC_ENOSPACE,
           "page 0 lacks for the other half");
    node_close(&small);
    node_close(&large);
}

static void memory_runs_out(void)
{
    struct space space;
    uint64_t first, used, count = 0, freed, runs[64];
    void *object;

    node_open(&space, 64 * MIB, 0, 1, 16 * MIB);
    used = limit_used_bytes(&space);
    tap_ok(pages_take(&space, 16 * MIB / PAGE_BYTES, PAGES_FRAMES, &first) ==
                   DRASYNC_ENOMEM &&
               limit_used_bytes(&space) <= used + 4 * MIB,
           "past the limit a run is refused, and nothing is charged");
    while (!pages_take(&space, 16, PAGES_FRAMES, &first)) {
        memset(space_address(&space, first), 1, 16 * PAGE_BYTES);
        if (count < 64)
            runs[count] = first;
        count++;
    }
    tap_ok(count > 100, "until then runs are given, and can be written");
    tap_ok(!pages_take(&space, 1000, PAGES_ADDRESSES, &first),
           "addresses without frames go on");
    tap_ok(limit_used_bytes(&space) <= 16 * MIB, "the limit holds");
    for (freed = 0; freed < 64; freed++)
        REQUIRE(!pages_give(&space, runs[freed], 16, PAGES_FRAMES));
    used = limit_used_bytes(&space);
    tap_ok(!control_alloc(&space, 3 * MIB, &object) &&
               limit_used_bytes(&space) <= used,
           "control memory takes what is kept in store");
    control_free(&space, object);
    limit_set(&space, 32 * MIB);
    tap_ok(!pages_take(&space, 16, PAGES_FRAMES, &first),
           "with a higher limit it goes on");
    node_close(&space);
}

static uint64_t had;

/* As a node does that has got what was granted since @had was 0. */
static int ask(const struct space *manager, int node, uint64_t pages,
               uint64_t *first_out, uint64_t *pages_out)
{
    int err = chunks_grant(manager, chunk_book_of(manager), node, pages,
                           chunks_wanted(manager, had), first_out, pages_out);

    had += err ? 0 : *pages_out;
    return err;
}

static int home_at(const struct space *space, uint64_t page)
{
    return chunks_home(space, chunk_book_of(space), page);
}

/* 18 nodes have 4 districts, of nodes 0-3, 4-8, 9-12 and 13-17. */
static void districts(void)
{
    struct space zero, four, six;
    uint64_t first, pages, end, granted = 0;
    int good = 1;

    node_open(&zero, 64 * MIB, 0, 18, 0);
    node_open(&four, 64 * MIB, 4, 18, 0);
    node_open(&six, 64 * MIB, 6, 18, 0);
    tap_ok(chunks_manager_of(&six, 3) == 0 && chunks_manager_of(&six, 4) == 4 &&
               chunks_manager_of(&six, 8) == 4 &&
               chunks_manager_of(&six, 9) == 9 &&
               chunks_manager_of(&six, 17) == 13,
           "each district has a manager");
    had = 0;
    while (!ask(&four, 6, 1, &first, &pages)) {
        good = good && chunks_manager(&zero, first) == 4 &&
               chunks_manager(&six, first + pages - 1) == 4 &&
               home_at(&four, first) == 6 && home_at(&zero, first) == -1;
        granted += pages;
    }
    tap_ok(good && granted == zero.pages / 16,
           "which grants it, and knows who has what");
    tap_ok(ask(&six, 6, 1, &first, &pages) == DRASYNC_ENOSPACE,
           "another node has nothing to grant");
    end = zero.pages / 4 * 3;
    tap_ok(!ask(&zero, 6, zero.pages / 4, &first, &pages) && first == end &&
               pages == zero.pages / 4 && chunks_manager(&six, end) == 0 &&
               chunks_manager(&six, zero.pages - 1) == 0 &&
               home_at(&zero, end) == 6,
           "node 0 has the last quarter");
    tap_ok(!pages_add_chunk(&six, first, pages) && chunks_had(&six) == pages &&
               page_home(&six, end) == 6,
           "what was granted is used");
    tap_ok(chunks_manager(&six, zero.pages) == -1 &&
               chunks_manager(&six, zero.pages / 2 - 1) == -1,
           "lanes have no manager");
    node_close(&zero);
    node_close(&four);
    node_close(&six);
}

static void lanes_and_chunks(void)
{
    struct space space, manager;
    uint64_t first, pages, runs = 0, lane, granted = 0, last = 0, i;
    int good = 1, err;

    node_open(&manager, 64 * MIB, 0, 3, 0);
    node_open(&space, 64 * MIB, 2, 3, 0);
    lane = space.pages / 2 / 3;
    tap_ok(page_home(&space, 1) == 0 && page_home(&space, lane) == 1 &&
               page_home(&space, 3 * lane - 1) == 2 &&
               page_home(&space, 3 * lane) == -1 &&
               page_home(&space, space.pages / 2) == -1 &&
               page_home(&space, UINT64_MAX) == -1,
           "homes of lanes are arithmetic");
    while (!(err = pages_take(&space, 1, PAGES_ADDRESSES, &first))) {
        good = good && page_home(&space, first) == 2;
        runs++;
    }
    tap_ok(good && runs == lane && err == DRASYNC_ENOSPACE,
           "a node hands out its lane and no more");
    tap_ok(!ask(&manager, 2, 3, &first, &pages) && pages >= 4 &&
               first >= space.pages / 2 && first % pages == 0,
           "the manager grants a chunk of the upper half");
    tap_ok(home_at(&manager, first) == 2 &&
               home_at(&manager, first + pages - 1) == 2 &&
               home_at(&manager, first + pages) == -1 &&
               home_at(&manager, lane) == 1,
           "and knows its home");
    tap_ok(pages_add_chunk(&space, 8, 8) == DRASYNC_EINVAL &&
               pages_add_chunk(&space, first, pages - 1) == DRASYNC_EINVAL &&
               pages_add_chunk(&space, UINT64_MAX, 8) == DRASYNC_EINVAL &&
               pages_add_chunk(&space, first, UINT64_MAX) == DRASYNC_EINVAL,
           "what is no chunk is refused");
    tap_ok(!pages_add_chunk(&space, first, pages) &&
               pages_add_chunk(&space, first, pages) == DRASYNC_EINVAL &&
               !pages_take(&space, 1, PAGES_FRAMES, &i) && i >= first &&
               i < first + pages,
           "a chunk is added once, and used");
    tap_ok(ask(&manager, 3, 1, &first, &pages) == DRASYNC_EINVAL &&
               ask(&manager, -1, 1, &first, &pages) == DRASYNC_EINVAL &&
               ask(&manager, 1, 0, &first, &pages) == DRASYNC_EINVAL &&
               ask(&manager, 1, UINT64_MAX, &first, &pages) == DRASYNC_ENOSPACE,
           "grants that make no sense are refused");
    good = 1;
    had = 0;
    for (i = 0; !ask(&manager, 1, 1, &first, &pages); i++) {
        good = good && first % pages == 0 && home_at(&manager, first) == 1;
        granted += pages;
        last = pages;
    }
    tap_ok(good && i < 40 && last >= 1 && granted > space.pages / 4,
           "chunks double, so that few grants use the upper half up");
    node_close(&space);
    node_close(&manager);
}

static void extents(void)
{
    struct space space;
    struct extent *a, *b;
    struct extent_copy copy;
    int owner, other;
    char *address;
    uint64_t first, used, local;

    node_open(&space, 64 * MIB, 0, 2, 0);
    used = limit_used_bytes(&space);
    REQUIRE(!extent_new(&space, 3, &owner, 9, &a));
    address = space_address(&space, a->first_page);
    tap_ok(extent_of(&space, address) == a &&
               extent_of(&space, address + 3 * PAGE_BYTES - 1) == a &&
               !extent_of(&space, address + 3 * PAGE_BYTES) &&
               !extent_of(&space, address - 1),
           "the page map leads from each page to its extent");
    tap_ok(!extent_of(&space, NULL) && !extent_of(&space, &local) &&
               !extent_of(&space, (void *)UINTPTR_MAX) &&
               !extent_of(&space, space.base) &&
               !extent_of(&space, space.window),
           "and from any other address to none");
    tap_ok(!extent_find(&space, address + 5, &copy) && copy.owner == &owner &&
               copy.first_page == a->first_page && copy.pages == 3 &&
               copy.incarnation == 9 && copy.extent == a,
           "a copy tells all");
    first = space.pages / 2 + 10;
    tap_ok(!extent_adopt(&space, first, 4, &other, 1, &b) &&
               extent_of(&space, space_address(&space, first + 3)) == b,
           "an extent of another node can be entered");
    memset(space_address(&space, first), 1, 4 * PAGE_BYTES);
    tap_ok(
        extent_adopt(&space, first + 3, 2, &owner, 1, &a) == DRASYNC_EEXIST &&
            extent_adopt(&space, first - 1, 2, &owner, 1, &a) == DRASYNC_EEXIST,
        "but not where there is one");
    tap_ok(extent_adopt(&space, 0, 1, &owner, 1, &a) == DRASYNC_EINVAL &&
               extent_adopt(&space, space.pages - 1, 2, &owner, 1, &a) ==
                   DRASYNC_EINVAL &&
               extent_adopt(&space, 1, UINT64_MAX, &owner, 1, &a) ==
                   DRASYNC_EINVAL &&
               extent_adopt(&space, UINT64_MAX, 1, &owner, 1, &a) ==
                   DRASYNC_EINVAL &&
               extent_adopt(&space, 1, 1, NULL, 1, &a) == DRASYNC_EINVAL,
           "nor outside the space, nor for nobody");
    tap_ok(!extent_forget(&space, b) &&
               !extent_of(&space, space_address(&space, first)),
           "forgetting it takes it out");
    a = extent_of(&space, address);
    tap_ok(!extent_delete(&space, a) && !extent_of(&space, address) &&
               extent_find(&space, address, &copy) == DRASYNC_ENOREGION,
           "deleting our own takes it out");
    tap_ok(!pages_trim(&space) && limit_used_bytes(&space) - used < MIB,
           "the frames are back");
    node_close(&space);
}

/* Of another node's addresses: forgotten, with their frames for the next time. */
static void kept_extents(void)
{
    struct space space;
    struct extent *e;
    uint64_t first, used, before, most = 0;
    int owner;
    char *address;

    node_open(&space, 256 * MIB, 0, 2, 256 * MIB);
    used = before = limit_used_bytes(&space);
    first = space.pages / 2 + 10;
    address = space_address(&space, first);
    REQUIRE(!extent_adopt(&space, first, 4, &owner, 1, &e));
    memset(address, 7, 4 * PAGE_BYTES);
    REQUIRE(!extent_forget(&space, e));
    tap_ok(!extent_adopt(&space, first, 4, &owner, 2, &e) &&
               extent_of(&space, address) == e && e->incarnation == 2 &&
               !e->user[0] && !e->next && !e->frames &&
               address[4 * PAGE_BYTES - 1] == 7,
           "an extent that was forgotten has its frames when it comes again");
    REQUIRE(!extent_forget(&space, e));
    tap_ok(!extent_adopt(&space, first + 2, 4, &owner, 3, &e) &&
               !address[2 * PAGE_BYTES] && !address[5 * PAGE_BYTES] &&
               limit_used_bytes(&space) - used < 5 * PAGE_BYTES + MIB / 2,
           "one that overlaps it takes its place");
    REQUIRE(!extent_forget(&space, e));
    for (int i = 0; i < 7; i++) {
        REQUIRE(!extent_adopt(&space, first + (uint64_t)i * 4096, 4096, &owner,
                              1, &e));
        REQUIRE(!extent_forget(&space, e));
        if (limit_used_bytes(&space) - used > most)
            most = limit_used_bytes(&space) - used;
    }
    tap_ok(most > LIMIT_KEPT_BYTES_MIN / 4 &&
               most < LIMIT_KEPT_BYTES_MIN / 2 + MIB,
           "so much is kept, no more");
    REQUIRE(
        !extent_adopt(&space, first, EXTENT_KEPT_PAGES_MAX + 1, &owner, 1, &e));
    used = limit_used_bytes(&space);
    tap_ok(!extent_forget(&space, e) &&
               used - limit_used_bytes(&space) ==
                   (EXTENT_KEPT_PAGES_MAX + 1) * PAGE_BYTES,
           "nor of a long one");
    tap_ok(!pages_trim(&space) && limit_used_bytes(&space) - before < MIB,
           "what is kept goes when memory is short");
    node_close(&space);
}

static void long_extents(void)
{
    struct space space;
    struct extent *a, *b, *c;
    struct extent_copy copy;
    int owner, other;
    char *address;
    uint64_t first;

    node_open(&space, 64 * MIB, 0, 1, 0);
    REQUIRE(!extent_new(&space, 100, &owner, 1, &a));
    first = a->first_page;
    address = space_address(&space, first);
    REQUIRE(!extent_delete(&space, a));
    tap_ok(!extent_of(&space, address) &&
               extent_find(&space, address, &copy) == DRASYNC_ENOREGION,
           "a long extent that was deleted is not seen");
    tap_ok(!extent_new(&space, 100, &other, 2, &b) && b->first_page == first &&
               extent_of(&space, address + 99 * PAGE_BYTES) == b &&
               !extent_find(&space, address, &copy) && copy.owner == &other &&
               copy.incarnation == 2,
           "who takes the same run finds it entered");
    REQUIRE(!extent_delete(&space, b));
    tap_ok(!extent_new(&space, 90, &owner, 3, &a) && a->first_page == first &&
               extent_of(&space, address + 89 * PAGE_BYTES) == a &&
               !extent_of(&space, address + 90 * PAGE_BYTES),
           "another extent takes its place");
    REQUIRE(!extent_delete(&space, a) && !pages_trim(&space));
    tap_ok(!extent_insert(&space, first + 80, 20, &owner, 4, &b) &&
               extent_of(&space, address + 80 * PAGE_BYTES) == b &&
               !extent_of(&space, address + 79 * PAGE_BYTES),
           "even where the two overlap");
    tap_ok(extent_insert(&space, first + 40, 50, &owner, 5, &c) ==
                   DRASYNC_EEXIST &&
               extent_of(&space, address + 80 * PAGE_BYTES) == b,
           "what lives is not in its way");
    REQUIRE(!extent_remove(&space, b));
    node_close(&space);
}

/* Extents of up to @pages_max pages, a power of two. */
static int churn_pages(const struct space *space, int index, uint32_t pages_max)
{
    struct extent *extent[16] = {0};
    uint32_t random = (uint32_t)index + 1;
    int owner, i, at;

    for (i = 0; i < 3000; i++) {
        random = random * 1664525 + 1013904223;
        at = (int)(random >> 28);
        if (extent[at]) {
            uint32_t *data = space_address(space, extent[at]->first_page);

            if (*data != (uint32_t)index * 16 + (uint32_t)at ||
                extent_of(space, data) != extent[at] ||
                extent_delete(space, extent[at]))
                return 1;
            extent[at] = NULL;
        } else {
            if (extent_new(space, (random >> 16 & (pages_max - 1)) + 1, &owner,
                           1, &extent[at]))
                return 1;
            *(uint32_t *)space_address(space, extent[at]->first_page) =
                (uint32_t)index * 16 + (uint32_t)at;
        }
    }
    for (i = 0; i < 16; i++)
        if (extent[i] && extent_delete(space, extent[i]))
            return 1;
    return 0;
}

static int churn(const struct space *space, int index)
{
    return churn_pages(space, index, 16);
}

static int churn_long(const struct space *space, int index)
{
    return churn_pages(space, index, 128);
}

static void processes(void)
{
    struct space space;
    struct pages_stats stats;
    struct control_stats control;

    node_open(&space, 64 * MIB, 0, 1, 0);
    tap_ok(in_processes(&space, 4, churn),
           "four processes make and delete extents at once");
    pages_get_stats(&space, &stats);
    control_get_stats(&space, &control);
    tap_ok(!stats.taken_pages && !stats.taken_runs && !control.objects,
           "and nothing is lost");
    tap_ok(in_processes(&space, 4, churn_long),
           "and long ones, which stay entered");
    pages_get_stats(&space, &stats);
    tap_ok(!stats.taken_pages && !stats.taken_runs, "are not lost either");
    node_close(&space);
}

int main(void)
{
    runs();
    fresh();
    memory_runs_out();
    lanes_and_chunks();
    districts();
    extents();
    long_extents();
    kept_extents();
    processes();
    return tap_end();
}
