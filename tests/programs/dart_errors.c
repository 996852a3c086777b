/*
 * dart_errors: errors that the headers name and no other test provokes, through
 * the interface alone.
 */
#include "dart_check.h"
#include "dash/dart/if/dart_locality.h"

#define INVALID(call) assert((call) == DART_ERR_INVAL)

static dart_gptr_t memory;

/* Pointers to nothing, and to no unit. */
static size_t wrong_pointers(dart_gptr_t *wrong)
{
    for (int i = 0; i < 4; i++)
        wrong[i] = memory;
    wrong[0].teamid = 99;
    wrong[1].segid = 99;
    wrong[2].unitid = units & 0x7fffff;
    wrong[3].unitid = -1;
    return 4;
}

static void transfers(void)
{
    dart_gptr_t wrong[4], past = at_offset(memory, 97);
    size_t count = wrong_pointers(wrong);
    char bytes[100] = "";

    for (size_t i = 0; i < count; i++) {
        INVALID(dart_get(bytes, wrong[i], 4, DART_TYPE_BYTE, DART_TYPE_BYTE));
        INVALID(dart_put(wrong[i], bytes, 4, DART_TYPE_BYTE, DART_TYPE_BYTE));
        INVALID(dart_flush(wrong[i]));
        INVALID(dart_flush_local(wrong[i]));
        INVALID(dart_accumulate_blocking_local(wrong[i], bytes, 1,
                                               DART_TYPE_BYTE, DART_OP_SUM));
    }
    /* These concern all units. */
    for (size_t i = 0; i < 2; i++) {
        INVALID(dart_flush_all(wrong[i]));
        INVALID(dart_flush_local_all(wrong[i]));
    }
    INVALID(dart_get(bytes, past, 4, DART_TYPE_BYTE, DART_TYPE_BYTE));
    INVALID(dart_put(past, bytes, 4, DART_TYPE_BYTE, DART_TYPE_BYTE));
    INVALID(dart_get(NULL, memory, 4, DART_TYPE_BYTE, DART_TYPE_BYTE));
    INVALID(dart_put(memory, NULL, 4, DART_TYPE_BYTE, DART_TYPE_BYTE));
    INVALID(dart_get(bytes, memory, 4, DART_TYPE_BYTE, DART_TYPE_SHORT));
    INVALID(dart_put(memory, bytes, 4, DART_TYPE_SHORT, DART_TYPE_BYTE));
    INVALID(dart_get(bytes, memory, 1, DART_TYPE_LAST, DART_TYPE_LAST));
    INVALID(dart_put(memory, bytes, 1, DART_TYPE_UNDEFINED, DART_TYPE_BYTE));
}

static void registrations(void)
{
    dart_gptr_t gptr = memory;
    char own[16];

    INVALID(dart_team_memregister_aligned(99, 1, DART_TYPE_INT, own, &gptr));
    assert(DART_GPTR_ISNULL(gptr));
    INVALID(dart_team_memregister_aligned(DART_TEAM_ALL, 1, DART_TYPE_LAST, own,
                                          &gptr));
    /* Wrong on one unit, and an error on all. */
    INVALID(dart_team_memregister_aligned(DART_TEAM_ALL, 1, DART_TYPE_INT,
                                          me == 0 ? NULL : own, &gptr));
    INVALID(dart_team_memregister_aligned(DART_TEAM_ALL, 1, DART_TYPE_INT, own,
                                          me == 0 ? NULL : &gptr));
    assert(dart_team_memregister_aligned(DART_TEAM_ALL, SIZE_MAX / 2,
                                         DART_TYPE_LONG, own,
                                         &gptr) == DART_ERR_NOMEM);
    assert(DART_GPTR_ISNULL(gptr));
}

/* More than the buffer has room for. */
static void message_too_long(void)
{
    dart_global_unit_t next = {(me + 1) % units},
                       last = {(me + units - 1) % units};
    int four[4] = {1, 2, 3, 4}, one[4] = {0};
    dart_ret_t ret = dart_sendrecv(four, 4, DART_TYPE_INT, 5, next, one, 1,
                                   DART_TYPE_INT, 5, last);

    assert(ret == DART_ERR_OTHER);
    assert(one[1] == 0);
    if (me % 2 == 0 && me + 1 < units)
        assert(dart_send(four, 4, DART_TYPE_INT, 6, next) == DART_OK);
    else if (me % 2)
        assert(dart_recv(one, 1, DART_TYPE_INT, 6, last) == DART_ERR_OTHER);
    /* The next one is as ever. */
    assert(dart_sendrecv(four, 4, DART_TYPE_INT, 5, next, one, 4, DART_TYPE_INT,
                         5, last) == DART_OK);
    assert(one[3] == 4);
}

static void locality(void)
{
    dart_domain_locality_t *root;
    char **tags = NULL;
    int count = 7;

    assert(dart_domain_team_locality(DART_TEAM_ALL, ".", &root) == DART_OK);
    assert(dart_domain_scope_tags(root, DART_LOCALITY_SCOPE_NETWORK, &count,
                                  &tags) == DART_ERR_NOTFOUND);
    assert(count == 0 && !tags);
}

int main(void)
{
    check_begin();
    assert(dart_team_memalloc_aligned(DART_TEAM_ALL, 100, DART_TYPE_BYTE,
                                      &memory) == DART_OK);
    memory = on_unit(memory, (me + 1) % units);
    transfers();
    registrations();
    message_too_long();
    locality();
    check_end();
    return 0;
}
