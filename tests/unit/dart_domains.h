/*
 * dart_domains.h - trees for the tests of locality domains, and what holds for
 * every tree.
 */
#ifndef DRASYNC_TESTS_UNIT_DART_DOMAINS_H
#define DRASYNC_TESTS_UNIT_DART_DOMAINS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fronts/dart/domain.h"
#include "fronts/dart/front.h"
#include "fronts/dart/locality.h"
#include "tap.h"

typedef dart_domain_locality_t domain_t;

#define CHECK(condition)                                             \
    do {                                                             \
        if (!(condition)) {                                          \
            printf("# %s:%d: %s\n", __func__, __LINE__, #condition); \
            return false;                                            \
        }                                                            \
    } while (0)

/* --- Memory that ends, for the objects that are linked here ------------------- */

static long allocations_left = -1; /* -1: no end */

static bool out_of_memory(void)
{
    if (allocations_left < 0)
        return false;
    return allocations_left == 0 || allocations_left-- == 0;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);

void *__wrap_malloc(size_t bytes)
{
    return out_of_memory() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return out_of_memory() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    return out_of_memory() ? NULL : __real_realloc(old, bytes);
}

/* --- What the files under test need of the rest of the front ------------------- */

static const domain_t *owned;

bool locality_owns(const domain_t *domain)
{
    return domain == owned;
}

dart_ret_t front_fail(dart_ret_t error, const char *format, ...)
{
    (void)format;
    return error;
}

/* --- Trees -------------------------------------------------------------------- */

static void add_scope(dart_hwinfo_t *hw, dart_locality_scope_t scope, int index)
{
    hw->scopes[hw->num_scopes++] = (dart_locality_scope_pos_t){scope, index};
}

/* On one of @hosts hosts, on one of 16 cores, eight of each NUMA domain, whose
 * caches are of two and of four; every third host tells of cores only. */
static void fake(dart_hwinfo_t *hw, int host, int core)
{
    memset(hw, 0xff, sizeof(*hw));
    memset(hw->host, 0, sizeof(hw->host));
    snprintf(hw->host, sizeof(hw->host), "host%d", host);
    hw->num_cores = 16;
    hw->core_id = hw->cpu_id = core;
    hw->num_scopes = 0;
    if (host % 3 == 2)
        return;
    add_scope(hw, DART_LOCALITY_SCOPE_CORE, core);
    add_scope(hw, DART_LOCALITY_SCOPE_CACHE, core / 2);
    add_scope(hw, DART_LOCALITY_SCOPE_CACHE, core / 4);
    add_scope(hw, DART_LOCALITY_SCOPE_NUMA, core / 8);
}

struct job {
    int units;
    dart_hwinfo_t *all;
    int *hosts;
    dart_unit_t *ids;
    dart_unit_locality_t *unit;
};

static domain_t *job_tree(struct job *job)
{
    struct locality_input input = {5, job->units, job->ids, job->all,
                                   job->hosts};

    if (!locality_hosts(job->all, job->units, job->hosts))
        return NULL;
    return locality_tree(&input, job->unit);
}

static struct job job_new(int units)
{
    struct job job = {
        .units = units,
        .all = calloc((size_t)units, sizeof(dart_hwinfo_t)),
        .hosts = calloc((size_t)units, sizeof(int)),
        .ids = calloc((size_t)units, sizeof(dart_unit_t)),
        .unit = calloc((size_t)units, sizeof(dart_unit_locality_t)),
    };

    if (!job.all || !job.hosts || !job.ids || !job.unit)
        abort();
    for (int i = 0; i < units; i++)
        job.ids[i] = i;
    return job;
}

static void job_free(struct job *job)
{
    free(job->all);
    free(job->hosts);
    free(job->ids);
    free(job->unit);
}

static bool has(const domain_t *domain, dart_unit_t id)
{
    dart_global_unit_t key = {id};

    return domain->num_units > 0 &&
           bsearch(&key, domain->unit_ids, (size_t)domain->num_units,
                   sizeof(key), domain_unit_order);
}

/* Have domains units of their own besides those of their children? */
static bool own_units;

/* What holds for every domain of a tree. */
static bool is_sound(const domain_t *root, const domain_t *domain)
{
    char start[DART_LOCALITY_DOMAIN_TAG_MAX_SIZE + 1];
    int units = 0;

    CHECK(domain_find(root, domain->domain_tag) == domain);
    CHECK((domain->children != NULL) == (domain->num_domains > 0));
    CHECK((domain->unit_ids != NULL) == (domain->num_units > 0));
    CHECK(domain->num_units >= 0 && domain->num_domains >= 0);
    for (int i = 1; i < domain->num_units; i++)
        CHECK(domain->unit_ids[i - 1].id < domain->unit_ids[i].id);
    for (int i = 0; i < domain->num_aliases; i++)
        CHECK(domain_root(domain->aliases[i]) == root);
    snprintf(start, sizeof(start), "%s.",
             strcmp(domain->domain_tag, ".") ? domain->domain_tag : "");
    for (int i = 0; i < domain->num_domains; i++) {
        const domain_t *child = domain->children[i];

        CHECK(child->parent == domain && child->relative_index == i);
        CHECK(child->level == domain->level + 1);
        CHECK(child->team == domain->team);
        CHECK(strncmp(child->domain_tag, start, strlen(start)) == 0);
        CHECK(!strchr(child->domain_tag + strlen(start), '.'));
        for (int j = 0; j < child->num_units; j++)
            CHECK(has(domain, child->unit_ids[j].id));
        units += child->num_units;
        CHECK(is_sound(root, child));
    }
    CHECK(domain->num_domains == 0 || units == domain->num_units ||
          (own_units && units < domain->num_units));
    return true;
}

static bool equal(const domain_t *a, const domain_t *b)
{
    CHECK(strcmp(a->domain_tag, b->domain_tag) == 0);
    CHECK(strcmp(a->host, b->host) == 0);
    CHECK(a->scope == b->scope && a->level == b->level && a->team == b->team);
    CHECK(a->global_index == b->global_index);
    CHECK(a->relative_index == b->relative_index);
    CHECK(a->num_nodes == b->num_nodes && a->node_id == b->node_id);
    CHECK(a->num_cores == b->num_cores);
    CHECK(a->is_symmetric == b->is_symmetric);
    CHECK(a->shared_mem_bytes == b->shared_mem_bytes);
    CHECK(a->num_aliases == b->num_aliases);
    for (int i = 0; i < a->num_aliases; i++)
        CHECK(a->aliases[i] != b->aliases[i] &&
              strcmp(a->aliases[i]->domain_tag, b->aliases[i]->domain_tag) ==
                  0);
    CHECK(a->num_units == b->num_units);
    for (int i = 0; i < a->num_units; i++)
        CHECK(a->unit_ids[i].id == b->unit_ids[i].id);
    CHECK(a->num_domains == b->num_domains);
    for (int i = 0; i < a->num_domains; i++)
        CHECK(a->children[i] != b->children[i] &&
              equal(a->children[i], b->children[i]));
    return true;
}

#endif /* DRASYNC_TESTS_UNIT_DART_DOMAINS_H */
