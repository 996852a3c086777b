/* dart_group: groups, through the interface alone. */
#undef NDEBUG
#include <assert.h>
#include <stdio.h>

#include "dash/dart/if/dart.h"

static size_t units;

static dart_group_t group_of(const int *members, size_t count)
{
    dart_group_t g;

    assert(dart_group_create(&g) == DART_OK && g);
    for (size_t i = 0; i < count; i++)
        assert(dart_group_addmember(g, DART_GLOBAL_UNIT_ID(members[i])) ==
               DART_OK);
    return g;
}

/* @g is @count units from @first on, @step apart; frees it. */
static void expect(dart_group_t g, size_t count, int first, int step)
{
    dart_global_unit_t members[64];
    size_t size = 99;

    assert(dart_group_size(g, &size) == DART_OK && size == count);
    assert(dart_group_getmembers(g, members) == DART_OK);
    for (size_t i = 0; i < count; i++)
        assert(members[i].id == first + (int)i * step);
    assert(dart_group_destroy(&g) == DART_OK && g == DART_GROUP_NULL);
    assert(dart_group_destroy(&g) == DART_OK);
}

static void members(void)
{
    int32_t is = 7;
    dart_group_t g = group_of(NULL, 0);

    /* Downwards, and each twice. */
    for (int i = (int)units - 1; i >= 0; i--) {
        assert(dart_group_ismember(g, DART_GLOBAL_UNIT_ID(i), &is) == DART_OK &&
               is == 0);
        assert(dart_group_addmember(g, DART_GLOBAL_UNIT_ID(i)) == DART_OK);
        assert(dart_group_addmember(g, DART_GLOBAL_UNIT_ID(i)) == DART_OK);
        assert(dart_group_ismember(g, DART_GLOBAL_UNIT_ID(i), &is) == DART_OK &&
               is == 1);
    }
    assert(dart_group_ismember(g, DART_GLOBAL_UNIT_ID(-1), &is) == DART_OK &&
           is == 0);
    assert(dart_group_delmember(g, DART_GLOBAL_UNIT_ID(0)) == DART_OK);
    assert(dart_group_delmember(g, DART_GLOBAL_UNIT_ID(0)) == DART_OK);
    expect(g, units - 1, 1, 1);
}

static void sets(void)
{
    dart_group_t low = group_of((int[]){0}, 1), all, both, none, copy;

    assert(dart_team_get_group(DART_TEAM_ALL, &all) == DART_OK);
    assert(dart_group_union(low, all, &both) == DART_OK);
    expect(both, units, 0, 1);
    assert(dart_group_intersect(all, low, &both) == DART_OK);
    expect(both, 1, 0, 1);
    none = group_of(NULL, 0);
    assert(dart_group_union(none, none, &both) == DART_OK);
    expect(both, 0, 0, 1);
    assert(dart_group_intersect(none, all, &both) == DART_OK);
    expect(both, 0, 0, 1);
    assert(dart_group_union(all, none, &both) == DART_OK);
    assert(dart_group_clone(both, &copy) == DART_OK);
    assert(dart_group_delmember(both, DART_GLOBAL_UNIT_ID(0)) == DART_OK);
    expect(copy, units, 0, 1);
    expect(both, units - 1, 1, 1);
    expect(none, 0, 0, 1);
    expect(low, 1, 0, 1);
    expect(all, units, 0, 1);
}

static void split(void)
{
    dart_group_t all, parts[8];
    size_t made = 99;

    assert(dart_team_get_group(DART_TEAM_ALL, &all) == DART_OK);
    for (size_t n = 1; n <= 8; n++) {
        int first = 0;

        assert(dart_group_split(all, n, &made, parts) == DART_OK);
        assert(made == (units < n ? units : n));
        for (size_t i = 0; i < n; i++) {
            size_t size;
            assert(dart_group_size(parts[i], &size) == DART_OK);
            assert(size >= units / n && size <= (units + n - 1) / n);
            assert((size > 0) == (i < made));
            expect(parts[i], size, first, 1);
            first += (int)size;
        }
        assert(first == (int)units);
    }
    assert(dart_group_split(all, 0, &made, parts) == DART_ERR_INVAL);
    assert(dart_group_split(NULL, 2, &made, parts) == DART_ERR_INVAL);
    assert(dart_group_split(all, 2, NULL, parts) == DART_ERR_INVAL);
    assert(dart_group_split(all, 2, &made, NULL) == DART_ERR_INVAL);
    expect(all, units, 0, 1);
}

static void wrong(void)
{
    dart_global_unit_t none = {-1}, beyond = {(int)units}, ids[1];
    dart_group_t g = group_of(NULL, 0), out = g;
    int32_t is;
    size_t size;

    assert(dart_group_create(NULL) == DART_ERR_INVAL);
    assert(dart_group_destroy(NULL) == DART_ERR_INVAL);
    assert(dart_group_clone(NULL, &out) == DART_ERR_INVAL);
    assert(dart_group_clone(g, NULL) == DART_ERR_INVAL);
    assert(dart_group_union(g, NULL, &out) == DART_ERR_INVAL);
    assert(dart_group_union(NULL, g, &out) == DART_ERR_INVAL);
    assert(dart_group_union(g, g, NULL) == DART_ERR_INVAL);
    assert(dart_group_intersect(g, NULL, &out) == DART_ERR_INVAL);
    assert(dart_group_addmember(g, none) == DART_ERR_INVAL);
    assert(dart_group_addmember(g, beyond) == DART_ERR_INVAL);
    assert(dart_group_addmember(NULL, beyond) == DART_ERR_INVAL);
    assert(dart_group_delmember(g, beyond) == DART_ERR_INVAL);
    assert(dart_group_delmember(NULL, none) == DART_ERR_INVAL);
    assert(dart_group_ismember(NULL, none, &is) == DART_ERR_INVAL);
    assert(dart_group_ismember(g, none, NULL) == DART_ERR_INVAL);
    assert(dart_group_size(NULL, &size) == DART_ERR_INVAL);
    assert(dart_group_size(g, NULL) == DART_ERR_INVAL);
    assert(dart_group_getmembers(NULL, ids) == DART_ERR_INVAL);
    assert(dart_group_getmembers(g, NULL) == DART_ERR_INVAL);
    assert(dart_team_get_group(DART_TEAM_ALL, NULL) == DART_ERR_INVAL);
    out = g;
    assert(dart_team_get_group(77, &out) == DART_ERR_INVAL && !out);
    expect(g, 0, 0, 1);
}

int main(void)
{
    dart_config_t *config;
    dart_global_unit_t me;
    dart_group_t left;

    dart_config(&config);
    config->log_enabled = 0;
    assert(dart_group_create(&left) == DART_ERR_NOTINIT);
    assert(dart_init(NULL, NULL) == DART_OK);
    assert(dart_size(&units) == DART_OK && dart_myid(&me) == DART_OK);
    members();
    sets();
    split();
    wrong();
    left = group_of(NULL, 0);
    assert(dart_exit() == DART_OK);
    assert(dart_group_addmember(left, me) == DART_ERR_NOTINIT);
    assert(dart_group_destroy(&left) == DART_OK);
    if (me.id == 0)
        printf("ok\n");
    return 0;
}
