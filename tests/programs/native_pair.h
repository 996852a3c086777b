/*
 * native_pair.h - for test programs: a region with two numbers that are equal
 * whenever nobody has it for WRITE.
 */
#ifndef DRASYNC_TESTS_NATIVE_PAIR_H
#define DRASYNC_TESTS_NATIVE_PAIR_H

#include "native_check.h"

/* In a region: the two are equal whenever nobody writes. */
struct pair {
    volatile uint64_t first;
    uint64_t pad[20];
    volatile uint64_t second;
};

static inline struct pair *pair_of(drasync_region_t r)
{
    void *v;

    OK(drasync_get_root(r, &v));
    return v;
}

/* Rank 0 makes it, with a pair; all know it, nobody holds it. */
static inline drasync_region_t shared_region(drasync_region_t *below)
{
    drasync_region_t r = NULL;
    void *v;

    if (check_rank == 0) {
        OK(drasync_new_region(&r));
        OK(drasync_alloc(r, sizeof(struct pair), &v));
        memset(v, 0, sizeof(struct pair));
        OK(drasync_set_root(r, v));
        if (below)
            OK(drasync_new_subregion(r, below));
        OK(drasync_release(r));
    }
    check_share(&r, 0);
    if (below)
        check_share(below, 0);
    return r;
}

static inline void change(struct pair *p)
{
    CHECK(p->first == p->second);
    p->first++;
    p->second++;
}

static inline void many(drasync_region_t r, struct pair *p, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        OK(drasync_acquire(r, DRASYNC_WRITE));
        change(p);
        OK(drasync_release(r));
    }
}

/* The same, until this rank is told of the death: at any of these calls. */
static inline void many_until_told(drasync_region_t r, struct pair *p,
                                   int rounds)
{
    for (int i = 0; i < rounds; i++) {
        int err = drasync_acquire(r, DRASYNC_WRITE);

        if (!err) {
            change(p);
            err = drasync_release(r);
        }
        CHECK(!err || err == DRASYNC_EPEER);
        if (err)
            return;
    }
}

static inline struct pair *known_pair(drasync_region_t r)
{
    struct pair *p;

    OK(drasync_acquire(r, DRASYNC_READ));
    p = pair_of(r);
    OK(drasync_release(r));
    return p;
}

#endif /* DRASYNC_TESTS_NATIVE_PAIR_H */
