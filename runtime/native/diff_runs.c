/* What another node says has changed is looked through: see diff.h. */
#include "runtime/native/diff.h"

bool native_diff_fits(const uint32_t *run, uint64_t runs,
                      const struct wire_extent *extent, uint64_t extents,
                      uint64_t *words_out)
{
    uint64_t first = 0, next = 0, words = 0;

    for (uint64_t i = 0; i < runs; i++) {
        uint64_t at = diff_at(run[i]), count = diff_words(run[i]);

        while (extents && at - first >= extent->pages * DIFF_PAGE_WORDS) {
            first += extent++->pages * DIFF_PAGE_WORDS;
            extents--;
        }
        if (!extents || at < next ||
            count > extent->pages * DIFF_PAGE_WORDS - (at - first))
            return false;
        next = at + count;
        words += count;
    }
    *words_out = words;
    return true;
}
