/*
 * native_random.h - what the random region program shares with its oracle: the
 * log of what each hold saw.
 */
#ifndef DRASYNC_TESTS_NATIVE_RANDOM_H
#define DRASYNC_TESTS_NATIVE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* One region under one hold.  Times in nanoseconds, of the host's clock. */
struct seen {
    uint64_t tree;  /* unique for each tree ever made */
    uint32_t index; /* which region of the tree */
    uint32_t write; /* 1: this hold made @version */
    uint64_t version;
    uint64_t asked, granted, released, returned;
    int32_t rank;
    int32_t unused;
};

/*
 * Check the logs of all ranks together:
 *   - the versions of a region are 1, 2, 3 ... without a gap, each made once;
 *   - the holds that made them do not overlap, and come in that order;
 *   - a reader sees no version before its writer gave it back, and none older
 *     than one that was given back before the reader asked.
 * Sorts @log.  Returns 0, or 1 after a line on stderr.
 */
int oracle_check(struct seen *log, size_t count);

#endif /* DRASYNC_TESTS_NATIVE_RANDOM_H */
