/*
 * A unit's own memory: dart_memalloc and dart_memfree over the heap region.
 *
 * Memory that was freed keeps what it holds for a while.  DASH frees what it
 * shares (dash::Shared) on the unit that allocated it without waiting for the
 * others, who may still be reading it, and DASH's own library lets them.  So the
 * last objects that were freed wait in a ring, as many and as much as here:
 */
#include <inttypes.h>
#include <pthread.h>

#include "drasync.h"
#include "fronts/dart/heap.h"
#include "fronts/dart/types.h"

#define LATE_OBJECTS_MAX 256
#define LATE_BYTES_MAX   ((size_t)16 << 20)

/* Before each object. */
struct head {
    uint64_t magic; /* 0: freed */
    uint64_t bytes; /* with the head */
};

static pthread_mutex_t late_lock = PTHREAD_MUTEX_INITIALIZER;
static struct head *late[LATE_OBJECTS_MAX];
static unsigned late_first, late_count;
static size_t late_bytes;
static uint64_t heaps; /* that there were: memory of a former one is none */

static uint64_t magic_of(uint64_t place)
{
    return (place + 1) * UINT64_C(0x9e3779b97f4a7c15) +
           ((uint64_t)front_job->rank << 32) + heaps;
}

/* --- Objects that were freed; under late_lock --------------------------------- */

/* The one that has waited longest goes. */
static void late_drop(void)
{
    struct head *head = late[late_first];

    late_first = (late_first + 1) % LATE_OBJECTS_MAX;
    late_count--;
    late_bytes -= head->bytes;
    heap_give(head);
}

static void late_add(struct head *head)
{
    while (late_count == LATE_OBJECTS_MAX ||
           (late_count && late_bytes + head->bytes > LATE_BYTES_MAX))
        late_drop();
    late[(late_first + late_count) % LATE_OBJECTS_MAX] = head;
    late_count++;
    late_bytes += head->bytes;
    if (late_bytes > LATE_BYTES_MAX)
        late_drop();
}

/* Was there any? */
static bool late_drop_all(void)
{
    bool some;

    pthread_mutex_lock(&late_lock);
    some = late_count > 0;
    while (late_count)
        late_drop();
    pthread_mutex_unlock(&late_lock);
    return some;
}

void memory_forget(void)
{
    late_first = late_count = 0;
    late_bytes = 0;
    heaps++;
}

/* --- Calls ---------------------------------------------------------------------- */

static dart_ret_t take(size_t nelem, size_t elem_bytes, uint64_t *place_out)
{
    struct head *head;
    uint64_t place;
    size_t bytes;
    void *object;
    dart_ret_t ret;

    if (__builtin_mul_overflow(nelem, elem_bytes, &bytes) ||
        __builtin_add_overflow(bytes, sizeof(*head), &bytes))
        return DART_ERR_NOMEM;
    do
        ret = heap_take(bytes, &object, &place);
    while (ret == DART_ERR_NOMEM && late_drop_all());
    if (ret)
        return ret;
    head = object;
    *place_out = place + sizeof(*head);
    *head = (struct head){.magic = magic_of(*place_out), .bytes = bytes};
    return DART_OK;
}

dart_ret_t dart_memalloc(size_t nelem, dart_datatype_t dtype, dart_gptr_t *gptr)
{
    const struct type *type = type_of(dtype);
    uint64_t place;
    dart_ret_t ret;

    if (!gptr)
        return front_fail(DART_ERR_INVAL, "dart_memalloc: NULL");
    *gptr = DART_GPTR_NULL;
    if (!front_up)
        return front_fail(DART_ERR_NOTINIT, "dart_memalloc: not initialized");
    if (!type_in_one_piece(type))
        return front_fail(DART_ERR_INVAL,
                          "dart_memalloc: the type is not contiguous");
    ret = take(nelem, type->bytes, &place);
    if (ret)
        return front_fail(ret, "dart_memalloc: no memory for %zu elements",
                          nelem);
    gptr->unitid = front_job->rank & 0x7fffff;
    gptr->segid = DART_SEGMENT_LOCAL;
    gptr->teamid = DART_TEAM_ALL;
    gptr->addr_or_offs.offset = place;
    return DART_OK;
}

/* Whether there was an allocation at @place, until now. */
static bool give(uint64_t place)
{
    struct head *head;
    bool was;

    head = (void *)heap_at(place - sizeof(*head), sizeof(*head));
    if (!head || place % _Alignof(struct head))
        return false;
    pthread_mutex_lock(&late_lock);
    was = head->magic == magic_of(place);
    if (was) {
        head->magic = 0;
        late_add(head);
    }
    pthread_mutex_unlock(&late_lock);
    return was;
}

dart_ret_t dart_memfree(dart_gptr_t gptr)
{
    uint64_t place = gptr.addr_or_offs.offset;

    if (!front_up)
        return front_fail(DART_ERR_NOTINIT, "dart_memfree: not initialized");
    if (gptr.segid != DART_SEGMENT_LOCAL || gptr.teamid != DART_TEAM_ALL)
        return front_fail(DART_ERR_INVAL,
                          "dart_memfree: not a pointer of dart_memalloc");
    if (gptr.unitid != front_job->rank)
        return front_fail(DART_ERR_INVAL,
                          "dart_memfree: the memory is unit %d's",
                          (int)gptr.unitid);
    if (!give(place))
        return front_fail(DART_ERR_INVAL,
                          "dart_memfree: no allocation at %#" PRIx64
                          ", or it was freed",
                          place);
    return DART_OK;
}
