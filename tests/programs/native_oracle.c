/* The oracle of the random region program; see native_random.h. */
#include "native_random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* By region; writers before readers; by version; by the time asked. */
static int compare(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;

    if (x->tree != y->tree)
        return x->tree < y->tree ? -1 : 1;
    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    if (x->write != y->write)
        return x->write ? -1 : 1;
    if (x->version != y->version)
        return x->version < y->version ? -1 : 1;
    return x->asked < y->asked ? -1 : x->asked > y->asked;
}

static int complain(const struct seen *s, const char *what)
{
    fprintf(stderr,
            "oracle: tree %" PRIu64 " region %u version %" PRIu64
            " rank %d (%s): %s\n",
            s->tree, s->index, s->version, s->rank, s->write ? "WRITE" : "READ",
            what);
    return 1;
}

static int check_writers(const struct seen *w, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (w[i].version != i + 1)
            return complain(&w[i], "a version is missing or made twice");
        if (i > 0 && w[i].granted < w[i - 1].released)
            return complain(&w[i], "overlaps the WRITE hold before it");
    }
    return 0;
}

static int check_reader(const struct seen *r, const struct seen *w,
                        size_t writers)
{
    if (r->version == 0 || r->version > writers)
        return complain(r, "nobody made this version");
    if (w[r->version - 1].released > r->granted)
        return complain(r, "seen before its writer gave it back");
    if (r->version < writers && w[r->version].returned < r->asked)
        return complain(r, "stale: a newer one was given back before");
    return 0;
}

int oracle_check(struct seen *log, size_t count)
{
    size_t first = 0;

    qsort(log, count, sizeof(*log), compare);
    while (first < count) {
        const struct seen *s = log + first;
        size_t writers = 0, all = 0;

        while (first + all < count && s[all].tree == s->tree &&
               s[all].index == s->index) {
            writers += s[all].write;
            all++;
        }
        if (check_writers(s, writers))
            return 1;
        for (size_t i = writers; i < all; i++)
            if (check_reader(&s[i], s, writers))
                return 1;
        first += all;
    }
    return 0;
}
