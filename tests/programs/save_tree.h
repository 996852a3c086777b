/*
 * save_tree.h - a tree of regions with lists in them, for programs that save and
 * load it.
 */
#ifndef DRASYNC_TESTS_SAVE_TREE_H
#define DRASYNC_TESTS_SAVE_TREE_H

#include <unistd.h>

#include "native_check.h"

#define LISTS_MAX 64
#define ITEMS     300
#define LARGE     ((size_t)600 << 10)
#define WAIT_US   ((uint64_t)20000000)

struct item {
    struct item *next;
    uint64_t value;
};

/* The root object of the top region. */
struct top {
    uint64_t lists;
    drasync_region_t region[LISTS_MAX];
    struct item *list[LISTS_MAX];
    unsigned char *large;
    struct top *self;
};

static inline uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0x100000001b3);
}

static inline uint64_t hash_list(const struct item *item)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; item; item = item->next)
        hash = mix(hash, item->value);
    return hash;
}

/* Of a tree that this rank holds. */
static inline uint64_t hash_tree(drasync_region_t top)
{
    uint64_t hash = 0;
    struct top *t;
    void *root;

    OK(drasync_get_root(top, &root));
    t = root;
    CHECK(t->self == t);
    for (uint64_t i = 0; i < t->lists; i++)
        hash = mix(hash, hash_list(t->list[i]));
    for (size_t i = 0; i < LARGE; i++)
        hash = mix(hash, t->large[i]);
    return hash;
}

static inline void *object(drasync_region_t region, size_t bytes)
{
    void *ptr;

    OK(drasync_alloc(region, bytes, &ptr));
    return ptr;
}

/* A list whose items lie between others that are freed. */
static inline void list_add(drasync_region_t above, struct top *t,
                            uint64_t seed)
{
    uint64_t at = t->lists++;
    void *gone[ITEMS];

    CHECK(at < LISTS_MAX);
    OK(drasync_new_subregion(above, &t->region[at]));
    t->list[at] = NULL;
    for (uint64_t i = 0; i < ITEMS; i++) {
        struct item *item =
            object(t->region[at], sizeof(*item) + (i * seed) % 700);

        gone[i] = object(t->region[at], 16 + i);
        item->value = seed * 1000003 + i * i;
        item->next = t->list[at];
        t->list[at] = item;
    }
    for (uint64_t i = 0; i < ITEMS; i += 2)
        OK(drasync_free(gone[i]));
}

static inline drasync_region_t make_top(const char *name)
{
    drasync_region_t top;
    struct top *t;

    OK(drasync_new_region(&top));
    t = object(top, sizeof(*t));
    memset(t, 0, sizeof(*t));
    t->self = t;
    t->large = object(top, LARGE);
    for (size_t i = 0; i < LARGE; i++)
        t->large[i] = (unsigned char)(i * i >> 7);
    OK(drasync_set_root(top, t));
    OK(drasync_publish(name, top));
    return top;
}

static inline struct top *top_of(drasync_region_t top)
{
    void *root;

    OK(drasync_get_root(top, &root));
    return root;
}

static inline uint64_t hash_held(drasync_region_t top)
{
    uint64_t hash;

    OK(drasync_acquire(top, DRASYNC_READ));
    hash = hash_tree(top);
    OK(drasync_release(top));
    return hash;
}

/* Deleting may go on in the background: until it is over. */
static inline drasync_region_t load_again(const char *path)
{
    drasync_region_t region = NULL;
    int err;

    while ((err = drasync_load(path, &region)) == DRASYNC_ETAKEN)
        usleep(20000);
    CODE(err, DRASYNC_OK);
    return region;
}

#endif /* DRASYNC_TESTS_SAVE_TREE_H */
