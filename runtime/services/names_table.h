/*
 * names_table.h - the manager's table of names and of lookups that wait.
 * For names*.c only.
 *
 * Callers hold the table's lock.
 */
#ifndef DRASYNC_RUNTIME_SERVICES_NAMES_TABLE_H
#define DRASYNC_RUNTIME_SERVICES_NAMES_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drasync.h"
#include "memory/lock.h"
#include "memory/space.h"
#include "runtime/services/names.h"

#define NAMES_BUCKETS 4096

struct name_entry {
    uint64_t reserved[2];           /* the allocator's while free */
    struct name_entry *next;        /* by name */
    struct name_entry *region_next; /* by region */
    uint64_t address, incarnation;
    char name[DRASYNC_NAME_MAX + 1];
};

/* Somebody waits for a name: a slot of a node, see names.c. */
struct name_want {
    uint64_t reserved[2];
    struct name_want *next;
    int32_t node;
    uint32_t slot;
    uint64_t ticket;
    char name[DRASYNC_NAME_MAX + 1];
};

struct names_table {
    struct lock lock;
    uint64_t names;
    struct name_entry *by_name[NAMES_BUCKETS];
    struct name_entry *by_region[NAMES_BUCKETS];
    struct name_want *wants[NAMES_BUCKETS];
};

/* DRASYNC_EEXIST, DRASYNC_ELIMIT, DRASYNC_ENOMEM. */
int names_table_add(const struct space *space, struct names_table *table,
                    const char *name, uint64_t address, uint64_t incarnation);

/* NULL: not there. */
const struct name_entry *names_table_find(const struct names_table *table,
                                          const char *name);

/* The first name of the region at @address, without the lock: every pointer is one
 * that @valid says can be read.  NULL: there is none. */
const struct name_entry *
names_table_look(const struct names_table *table, uint64_t address,
                 bool (*valid)(const void *object, size_t bytes));

/* The names of @regions, of each region together.  DRASYNC_ELIMIT: more than
 * @found_max. */
int names_table_of(const struct names_table *table,
                   const struct names_region *regions, size_t count,
                   struct names_found *found, size_t found_max,
                   size_t *found_count_out);

/* All names, as many as table->names; how many. */
size_t names_table_list(const struct names_table *table,
                        struct names_listed *listed);

void names_table_drop(const struct space *space, struct names_table *table,
                      uint64_t address, uint64_t incarnation);

int names_table_want(const struct space *space, struct names_table *table,
                     const struct name_want *want);

/* Take out the next one who waits for @name, or NULL; the caller frees it. */
struct name_want *names_table_wanted(struct names_table *table,
                                     const char *name);

/* Take out one that gave up, or NULL; the caller frees it. */
struct name_want *names_table_unwant(struct names_table *table,
                                     const char *name, int node, uint32_t slot,
                                     uint64_t ticket);

/* The manager's, there (names.c). */
struct names_table *names_table_here(void);

/* A part of names.c's start (names_of.c). */
void names_of_start(void);

#endif /* DRASYNC_RUNTIME_SERVICES_NAMES_TABLE_H */
