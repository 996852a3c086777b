/* The manager's table of names: see names_table.h. */
#include "runtime/services/names_table.h"

#include <string.h>

#include "memory/control.h"

static uint64_t name_hash(const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return (hash ^ hash >> 32) % NAMES_BUCKETS;
}

static uint64_t region_hash(uint64_t address)
{
    return space_page_hash(address, 12);
}

_Static_assert(NAMES_BUCKETS == 1 << 12, "region_hash() keeps 12 bits");

const struct name_entry *names_table_find(const struct names_table *table,
                                          const char *name)
{
    const struct name_entry *e = table->by_name[name_hash(name)];

    while (e && strcmp(e->name, name))
        e = e->next;
    return e;
}

int names_table_add(const struct space *space, struct names_table *table,
                    const char *name, uint64_t address, uint64_t incarnation)
{
    struct name_entry *e, **by_name, **by_region;
    void *v;
    int err;

    if (names_table_find(table, name))
        return DRASYNC_EEXIST;
    if (table->names == NAMES_MAX)
        return DRASYNC_ELIMIT;
    err = control_alloc_zero(space, sizeof(*e), &v);
    if (err)
        return err;
    e = v;
    e->address = address;
    e->incarnation = incarnation;
    strncpy(e->name, name, DRASYNC_NAME_MAX);
    by_name = &table->by_name[name_hash(name)];
    by_region = &table->by_region[region_hash(address)];
    e->next = *by_name;
    *by_name = e;
    e->region_next = *by_region;
    *by_region = e;
    table->names++;
    return 0;
}

/* Longer chains change while they are walked. */
#define LOOK_STEPS_MAX 65536

__attribute__((no_sanitize("thread"))) const struct name_entry *
names_table_look(const struct names_table *table, uint64_t address,
                 bool (*valid)(const void *object, size_t bytes))
{
    const struct name_entry *e = *(struct name_entry *const volatile *)&table
                                      ->by_region[region_hash(address)];

    for (int i = 0; e && valid(e, sizeof(*e)) && i < LOOK_STEPS_MAX; i++) {
        if (e->address == address)
            return e;
        e = *(struct name_entry *const volatile *)&e->region_next;
    }
    return NULL;
}

int names_table_of(const struct names_table *table,
                   const struct names_region *regions, size_t count,
                   struct names_found *found, size_t found_max,
                   size_t *found_count_out)
{
    const struct name_entry *e;
    size_t n = 0;

    for (size_t i = 0; i < count; i++)
        for (e = table->by_region[region_hash(regions[i].address)]; e;
             e = e->region_next) {
            if (e->address != regions[i].address ||
                e->incarnation != regions[i].incarnation)
                continue;
            if (n == found_max)
                return DRASYNC_ELIMIT;
            found[n].region = (uint32_t)i;
            memcpy(found[n++].name, e->name, sizeof(e->name));
        }
    *found_count_out = n;
    return 0;
}

size_t names_table_list(const struct names_table *table,
                        struct names_listed *listed)
{
    size_t n = 0;

    for (int b = 0; b < NAMES_BUCKETS; b++)
        for (const struct name_entry *e = table->by_name[b]; e; e = e->next) {
            listed[n].region.address = e->address;
            listed[n].region.incarnation = e->incarnation;
            memcpy(listed[n++].name, e->name, sizeof(e->name));
        }
    return n;
}

static void unlink_name(struct names_table *table,
                        const struct name_entry *entry)
{
    struct name_entry **p = &table->by_name[name_hash(entry->name)];

    while (*p != entry)
        p = &(*p)->next;
    *p = entry->next;
}

void names_table_drop(const struct space *space, struct names_table *table,
                      uint64_t address, uint64_t incarnation)
{
    struct name_entry **p = &table->by_region[region_hash(address)];

    while (*p) {
        struct name_entry *e = *p;

        if (e->address != address || e->incarnation != incarnation) {
            p = &e->region_next;
            continue;
        }
        *p = e->region_next;
        unlink_name(table, e);
        table->names--;
        control_free(space, e);
    }
}

int names_table_want(const struct space *space, struct names_table *table,
                     const struct name_want *want)
{
    struct name_want **p = &table->wants[name_hash(want->name)];
    struct name_want *w;
    void *v;
    int err = control_alloc(space, sizeof(*w), &v);

    if (err)
        return err;
    w = v;
    *w = *want;
    w->next = *p;
    *p = w;
    return 0;
}

struct name_want *names_table_wanted(struct names_table *table,
                                     const char *name)
{
    struct name_want **p = &table->wants[name_hash(name)];
    struct name_want *w;

    while (*p && strcmp((*p)->name, name))
        p = &(*p)->next;
    w = *p;
    if (w)
        *p = w->next;
    return w;
}

struct name_want *names_table_unwant(struct names_table *table,
                                     const char *name, int node, uint32_t slot,
                                     uint64_t ticket)
{
    struct name_want **p = &table->wants[name_hash(name)];
    struct name_want *w;

    while (*p && !((*p)->node == node && (*p)->slot == slot &&
                   (*p)->ticket == ticket))
        p = &(*p)->next;
    w = *p;
    if (w)
        *p = w->next;
    return w;
}
