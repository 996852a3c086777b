/*
 * dart_nomem_alone: calls that each unit makes for itself, without memory, one
 * request after another; through the interface alone.
 */
#include "dart_nomem.h"
#include "dash/dart/if/dart_locality.h"

/* What fails is what is tested, not what comes before it. */
#define WITH_MEMORY(statement)     \
    do {                           \
        long left_ = failing_left; \
        failing_left = 0;          \
        statement;                 \
        failing_left = left_;      \
    } while (0)

/* --- Groups ----------------------------------------------------------------------- */

static dart_group_t all, made, parts[2];
static size_t parts_count;

static void undo_group(void)
{
    assert(dart_group_destroy(&made) == DART_OK && !made);
}

static dart_ret_t of_group(dart_ret_t ret)
{
    assert(!made == (ret != DART_OK));
    return ret;
}

static dart_ret_t run_group_create(void)
{
    return of_group(dart_group_create(&made));
}

static dart_ret_t run_group_clone(void)
{
    return of_group(dart_group_clone(all, &made));
}

static dart_ret_t run_group_union(void)
{
    return of_group(dart_group_union(all, all, &made));
}

static dart_ret_t run_group_intersect(void)
{
    return of_group(dart_group_intersect(all, all, &made));
}

static dart_ret_t run_team_get_group(void)
{
    return of_group(dart_team_get_group(DART_TEAM_ALL, &made));
}

static dart_ret_t run_addmember(void)
{
    dart_ret_t ret;
    size_t size;

    WITH_MEMORY(assert(dart_group_create(&made) == DART_OK));
    ret = dart_group_addmember(made, DART_GLOBAL_UNIT_ID(0));
    assert(dart_group_size(made, &size) == DART_OK && size == !ret);
    if (ret)
        undo_group();
    return ret;
}

static void undo_parts(void)
{
    for (int i = 0; i < 2; i++)
        assert(dart_group_destroy(&parts[i]) == DART_OK);
}

static dart_ret_t run_split(void)
{
    dart_ret_t ret = dart_group_split(all, 2, &parts_count, parts);

    assert(!ret || parts_count == 0);
    return ret;
}

static dart_ret_t run_locality_split(void)
{
    dart_domain_locality_t *root;
    dart_ret_t ret;

    parts[0] = parts[1] = NULL;
    WITH_MEMORY(assert(dart_domain_team_locality(DART_TEAM_ALL, ".", &root) ==
                       DART_OK));
    ret = dart_group_locality_split(all, root, DART_LOCALITY_SCOPE_NODE, 2,
                                    &parts_count, parts);
    assert(!ret || parts_count == 0);
    return ret;
}

static void undo_locality_split(void)
{
    for (size_t i = 0; i < parts_count; i++)
        assert(dart_group_destroy(&parts[i]) == DART_OK);
}

/* --- Types and operations ------------------------------------------------------------ */

static dart_datatype_t type;
static dart_operation_t operation;

static void undo_type(void)
{
    assert(dart_type_destroy(&type) == DART_OK);
}

static dart_ret_t of_type(dart_ret_t ret)
{
    assert((type == DART_TYPE_UNDEFINED) == (ret != DART_OK));
    return ret;
}

/* Types use again what was one: so there are more each time. */
#define TYPES 300

static dart_datatype_t types[TYPES];
static int types_count;

static void undo_types(void)
{
    while (types_count)
        assert(dart_type_destroy(&types[--types_count]) == DART_OK);
}

static dart_ret_t run_custom(void)
{
    dart_ret_t ret = DART_OK;

    while (types_count < TYPES && !ret) {
        ret = dart_type_create_custom(24, &types[types_count]);
        types_count += !ret;
    }
    if (ret)
        undo_types();
    return ret;
}

static dart_ret_t run_strided(void)
{
    return of_type(dart_type_create_strided(DART_TYPE_INT, 4, 2, &type));
}

static dart_ret_t run_indexed(void)
{
    const size_t lengths[] = {1, 2, 3}, offsets[] = {0, 4, 9};

    return of_type(
        dart_type_create_indexed(DART_TYPE_INT, 3, lengths, offsets, &type));
}

static void nothing(const void *in, void *inout, size_t count, void *data)
{
    (void)in;
    (void)inout;
    (void)count;
    (void)data;
}

static dart_ret_t run_op(void)
{
    dart_ret_t ret =
        dart_op_create(nothing, NULL, true, DART_TYPE_INT, false, &operation);

    assert((operation == DART_OP_UNDEFINED) == (ret != DART_OK));
    return ret;
}

static void undo_op(void)
{
    assert(dart_op_destroy(&operation) == DART_OK);
}

/* --- Memory -------------------------------------------------------------------------- */

static dart_gptr_t memory;

static void undo_memory(void)
{
    assert(dart_memfree(memory) == DART_OK);
}

static dart_ret_t of_memory(dart_ret_t ret)
{
    assert(DART_GPTR_ISNULL(memory) == (ret != DART_OK));
    return ret;
}

static dart_ret_t run_memalloc(void)
{
    return of_memory(dart_memalloc(100, DART_TYPE_INT, &memory));
}

/* More than is kept for later. */
static dart_ret_t run_memalloc_large(void)
{
    return of_memory(dart_memalloc(24 << 20, DART_TYPE_BYTE, &memory));
}

/* --- Locality ------------------------------------------------------------------------ */

static dart_domain_locality_t *root, *domain;

static void drop_locality(void)
{
    assert(dart_team_locality_finalize(DART_TEAM_ALL) == DART_OK);
}

static dart_ret_t run_unit_locality(void)
{
    dart_unit_locality_t *unit;
    dart_ret_t ret;

    WITH_MEMORY(drop_locality());
    ret = dart_unit_locality(DART_TEAM_ALL, DART_TEAM_UNIT_ID(me), &unit);
    assert(!unit == (ret != DART_OK));
    return ret;
}

static dart_ret_t run_team_locality(void)
{
    dart_ret_t ret;

    WITH_MEMORY(drop_locality());
    ret = dart_domain_team_locality(DART_TEAM_ALL, ".", &root);
    assert(!root == (ret != DART_OK));
    return ret;
}

static dart_ret_t of_domain(dart_ret_t ret)
{
    assert(!domain == (ret != DART_OK));
    return ret;
}

static void undo_domain(void)
{
    assert(dart_domain_destroy(domain) == DART_OK);
}

static dart_ret_t run_domain_create(void)
{
    return of_domain(dart_domain_create(&domain));
}

static dart_ret_t run_domain_clone(void)
{
    return of_domain(dart_domain_clone(root, &domain));
}

static dart_ret_t run_domain_assign(void)
{
    dart_ret_t ret;

    WITH_MEMORY(assert(dart_domain_create(&domain) == DART_OK));
    ret = dart_domain_assign(domain, root);
    assert((domain->num_units == units) == (ret == DART_OK));
    if (ret)
        undo_domain();
    return ret;
}

static dart_ret_t run_scope_domains(void)
{
    dart_domain_locality_t **found;
    int count;
    dart_ret_t ret = dart_domain_scope_domains(root, DART_LOCALITY_SCOPE_NODE,
                                               &count, &found);

    assert(!found == (ret != DART_OK) && !count == (ret != DART_OK));
    free(found);
    return ret;
}

static dart_ret_t run_scope_tags(void)
{
    char **tags;
    int count;
    dart_ret_t ret =
        dart_domain_scope_tags(root, DART_LOCALITY_SCOPE_CORE, &count, &tags);

    assert(!tags == (ret != DART_OK) && !count == (ret != DART_OK));
    for (int i = 0; i < count; i++)
        free(tags[i]);
    free(tags);
    return ret;
}

/* A change of a copy that did not come about has changed nothing. */
static dart_ret_t of_copy(dart_ret_t ret)
{
    if (ret) {
        assert(domain->num_units == units);
        undo_domain();
    }
    return ret;
}

static void make_copy(void)
{
    assert(dart_domain_clone(root, &domain) == DART_OK);
}

static const char *tag_of(dart_locality_scope_t scope)
{
    static char tag[DART_LOCALITY_DOMAIN_TAG_MAX_SIZE];
    dart_domain_locality_t **found;
    int count;

    assert(dart_domain_scope_domains(domain, scope, &count, &found) == DART_OK);
    strcpy(tag, found[0]->domain_tag);
    free(found);
    return tag;
}

static dart_ret_t run_exclude(void)
{
    const char *tag;

    WITH_MEMORY(make_copy(); tag = tag_of(DART_LOCALITY_SCOPE_CORE));
    return of_copy(dart_domain_exclude(domain, 1, &tag));
}

static dart_ret_t run_select(void)
{
    const char *tag;

    WITH_MEMORY(make_copy(); tag = tag_of(DART_LOCALITY_SCOPE_CORE));
    return of_copy(dart_domain_select(domain, 1, &tag));
}

static dart_ret_t run_domain_group(void)
{
    char group[DART_LOCALITY_DOMAIN_TAG_MAX_SIZE];
    const char *tag;

    WITH_MEMORY(make_copy(); tag = tag_of(DART_LOCALITY_SCOPE_CORE));
    return of_copy(dart_domain_group(domain, 1, &tag, group));
}

static dart_ret_t run_add_subdomain(void)
{
    dart_domain_locality_t *below;
    dart_ret_t ret;

    WITH_MEMORY(make_copy(); assert(dart_domain_create(&below) == DART_OK));
    ret = dart_domain_add_subdomain(domain, below, -1);
    if (ret)
        assert(dart_domain_destroy(below) == DART_OK);
    return of_copy(ret);
}

/* A core goes up to the root. */
static dart_ret_t run_move_subdomain(void)
{
    dart_domain_locality_t **found;
    int count;

    WITH_MEMORY(make_copy(); assert(
                    dart_domain_scope_domains(domain, DART_LOCALITY_SCOPE_CORE,
                                              &count, &found) == DART_OK);
                assert(count > 0));
    dart_domain_locality_t *core = found[0];
    free(found);
    assert(core->parent != domain);
    return of_copy(dart_domain_move_subdomain(core, domain, -1));
}

static dart_ret_t run_split_scope(void)
{
    static dart_domain_locality_t half[2];
    dart_domain_locality_t *empty;
    dart_ret_t ret =
        dart_domain_split_scope(root, DART_LOCALITY_SCOPE_NODE, 2, half);

    if (ret)
        return ret;
    WITH_MEMORY(assert(dart_domain_create(&empty) == DART_OK);
                for (int i = 0; i < 2; i++)
                    assert(dart_domain_assign(&half[i], empty) == DART_OK);
                assert(dart_domain_destroy(empty) == DART_OK));
    return ret;
}

/* --- All ------------------------------------------------------------------------------ */

static const struct call calls[] = {
    {"dart_group_create", run_group_create, undo_group},
    {"dart_group_clone", run_group_clone, undo_group},
    {"dart_group_union", run_group_union, undo_group},
    {"dart_group_intersect", run_group_intersect, undo_group},
    {"dart_group_addmember", run_addmember, undo_group},
    {"dart_group_split", run_split, undo_parts},
    {"dart_group_locality_split", run_locality_split, undo_locality_split},
    {"dart_team_get_group", run_team_get_group, undo_group},
    {"dart_type_create_custom", run_custom, undo_types},
    {"dart_type_create_strided", run_strided, undo_type},
    {"dart_type_create_indexed", run_indexed, undo_type},
    {"dart_op_create", run_op, undo_op},
    {"dart_memalloc", run_memalloc, undo_memory},
    {"dart_memalloc, large", run_memalloc_large, undo_memory},
    {"dart_unit_locality", run_unit_locality, NULL},
    {"dart_domain_team_locality", run_team_locality, NULL},
    {"dart_domain_create", run_domain_create, undo_domain},
    {"dart_domain_clone", run_domain_clone, undo_domain},
    {"dart_domain_assign", run_domain_assign, undo_domain},
    {"dart_domain_scope_domains", run_scope_domains, NULL},
    {"dart_domain_scope_tags", run_scope_tags, NULL},
    {"dart_domain_exclude", run_exclude, undo_domain},
    {"dart_domain_select", run_select, undo_domain},
    {"dart_domain_group", run_domain_group, undo_domain},
    {"dart_domain_add_subdomain", run_add_subdomain, undo_domain},
    {"dart_domain_move_subdomain", run_move_subdomain, undo_domain},
    {"dart_domain_split_scope", run_split_scope, NULL},
};

static void all_calls(void)
{
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        alone(&calls[i]);
}

int main(void)
{
    failing_begin();
    check_begin();
    assert(dart_team_get_group(DART_TEAM_ALL, &all) == DART_OK);
    twice(all_calls);
    assert(dart_group_destroy(&all) == DART_OK);
    check_end();
    return 0;
}
