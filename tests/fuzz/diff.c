/*
 * diff.c - runs of words that another node says have changed, and the extents of
 * the region: what fits is inside them, and no word is there twice.
 */
#include "runtime/native/diff.h"
#include "tests/fuzz/fuzz.h"

enum { EXTENTS_MAX = 8, RUNS_MAX = 64 };

/* Does each word that @run names lie in one of the extents? */
static void check(const uint32_t *run, uint64_t runs,
                  const struct wire_extent *extent, uint64_t extents,
                  uint64_t words)
{
    uint64_t end = 0, sum = 0, all = 0;

    for (uint64_t i = 0; i < extents; i++)
        all += extent[i].pages * DIFF_PAGE_WORDS;
    for (uint64_t i = 0; i < runs; i++) {
        uint64_t at = diff_at(run[i]), count = diff_words(run[i]), first = 0;
        uint64_t e = 0;

        FUZZ_HOLDS(at >= end && at + count <= all);
        while (first + extent[e].pages * DIFF_PAGE_WORDS <= at)
            first += extent[e++].pages * DIFF_PAGE_WORDS;
        FUZZ_HOLDS(at + count <= first + extent[e].pages * DIFF_PAGE_WORDS);
        end = at + count;
        sum += count;
    }
    FUZZ_HOLDS(sum == words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct fuzz_input in = {data, bytes};
    struct wire_extent extent[EXTENTS_MAX];
    uint32_t run[RUNS_MAX];
    uint64_t extents = fuzz_number(&in, 1) % (EXTENTS_MAX + 1);
    uint64_t runs = fuzz_number(&in, 1) % (RUNS_MAX + 1), words;
    uint32_t at = 0;

    for (uint64_t i = 0; i < extents; i++)
        extent[i] = (struct wire_extent){.pages = fuzz_number(&in, 1)};
    /* Ascending, mostly. */
    for (uint64_t i = 0; i < runs; i++) {
        at += (uint32_t)fuzz_number(&in, 3);
        run[i] = at;
    }
    if (native_diff_fits(run, runs, extent, extents, &words))
        check(run, runs, extent, extents, words);
    return 0;
}
