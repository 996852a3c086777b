/*
 * dart_globmem.h - global pointers, and memory that they point to.
 *
 * There are four kinds of such memory:
 *   local        dart_memalloc(): a unit for itself, all units may use it
 *   a team's     dart_team_memalloc_aligned(): a part of the same size on each
 *                unit, so that anybody can compute a pointer to anything
 *   pools        dart_allocator_new(): a team's, cut up by each unit for itself
 *   registered   dart_team_memregister(): memory that the program has already
 *
 * All but the last come from regions of DRASync: drasync_region_of() of their
 * addresses gives the region, which the unit holds for WRITE.  Memory of a
 * region that a unit holds for WRITE can be registered like any other.
 *
 * Sizes are in elements of the named type, which must be in one piece (basic or
 * custom); 64 bits throughout.
 *
 * Collective calls that make something: what one unit finds wrong or has no
 * memory for is an error on all.  A team that a unit is not in, and what it
 * cannot find to take back, is an error there alone: others wait for it.
 */
#ifndef DART_GLOBMEM_H_INCLUDED
#define DART_GLOBMEM_H_INCLUDED

#include <dash/dart/if/dart_team_group.h>
#include <dash/dart/if/dart_types.h>
#include <dash/dart/if/dart_util.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Global pointers ----------------------------------------------------- */

/*
 * 16 bytes, sent and stored like any data.  The program may compute with
 * addr_or_offs.offset, in bytes, and change unitid: in a team's segment offset
 * 0 is the beginning of the unit's part.
 */
typedef struct {
    dart_unit_t unitid : 24; /* in the team */
    unsigned int flags : 8;  /* the low bits of the segment's */
    int16_t segid;           /* > 0 allocated, < 0 registered, 0 local */
    int16_t teamid;
    union {
        uint64_t offset;
        void *addr;
    } addr_or_offs;
} dart_gptr_t;

/* Points to nothing. */
#ifdef __cplusplus
#define DART_GPTR_NULL (dart_gptr_t{-1, 0, 0, DART_TEAM_NULL, {0}})
#else
#define DART_GPTR_NULL                                                  \
    (dart_gptr_t)                                                       \
    {                                                                   \
        .unitid = -1, .flags = 0, .segid = 0, .teamid = DART_TEAM_NULL, \
        .addr_or_offs.offset = 0                                        \
    }
#endif

#define DART_GPTR_ISNULL(gptr_)                                                \
    (gptr_.unitid < 0 && gptr_.segid == 0 && gptr_.teamid == DART_TEAM_NULL && \
     gptr_.addr_or_offs.addr == 0)

/* Whatever their flags. */
#define DART_GPTR_EQUAL(gptr1_, gptr2_)                                    \
    ((gptr1_.unitid == gptr2_.unitid) && (gptr1_.segid == gptr2_.segid) && \
     (gptr1_.teamid == gptr2_.teamid) &&                                   \
     (gptr1_.addr_or_offs.offset == gptr2_.addr_or_offs.offset))

/* The segid of dart_memalloc()'s pointers. */
#define DART_SEGMENT_LOCAL ((int16_t)0)

/*
 * The address of this unit's own memory; *addr is NULL if the pointer is to
 * another unit's.  The offset is not looked at: a pointer past the end has an
 * address too.
 *   DART_ERR_INVAL  no such team, unit or segment, or @addr is NULL
 */
dart_ret_t dart_gptr_getaddr(const dart_gptr_t gptr, void **addr) DART_NOTHROW;

/*
 * Let @gptr, which is this unit's in some segment, point to @addr in that
 * segment.
 *   DART_ERR_INVAL  no such team, unit or segment; another unit's; @addr is
 *                   outside this unit's part (its end is not); @gptr is NULL
 */
dart_ret_t dart_gptr_setaddr(dart_gptr_t *gptr, void *addr) DART_NOTHROW;

/* Move the pointer by @offs bytes. */
DART_INLINE DART_NOTHROW dart_ret_t dart_gptr_incaddr(dart_gptr_t *gptr,
                                                      int64_t offs)
{
    gptr->addr_or_offs.offset += (uint64_t)offs;
    return DART_OK;
}

/* The same place in another unit's part. */
DART_INLINE DART_NOTHROW dart_ret_t dart_gptr_setunit(dart_gptr_t *gptr,
                                                      dart_team_unit_t unit)
{
    gptr->unitid = unit.id < 0 ? -1 : unit.id & 0x7fffff;
    return DART_OK;
}

/*
 * 16 bits that the program keeps with a segment, in this process only.  Setting
 * them puts the low 8 into gptr->flags too.
 *   DART_ERR_INVAL  no such team or segment, or NULL; local memory has no flags
 */
dart_ret_t dart_gptr_getflags(dart_gptr_t gptr, uint16_t *flags) DART_NOTHROW;
dart_ret_t dart_gptr_setflags(dart_gptr_t *gptr, uint16_t flags) DART_NOTHROW;

/* --- Pools --------------------------------------------------------------- */

typedef struct dart_allocator_struct *dart_allocator_t;

/*
 * A pool of @pool_size bytes, rounded up to a power of two, on each unit of the
 * team.  Collective; one thread a team.  *new_allocator is the caller's until
 * dart_allocator_destroy().  Blocks are powers of two (the buddy system).  It
 * ends with the team too, and then only dart_allocator_destroy() may be called.
 *   DART_ERR_INVAL  no such team, or @new_allocator is NULL
 *   DART_ERR_NOMEM
 * On error *new_allocator is NULL.
 */
dart_ret_t dart_allocator_new(size_t pool_size, dart_team_t team,
                              dart_allocator_t *new_allocator);

/*
 * Take a block of this unit's pool.
 *   DART_ERR_INVAL  no pool, or its team has ended; no such type; @gptr is NULL
 *   DART_ERR_NOMEM  no block of that size is free
 * On error *gptr is DART_GPTR_NULL.
 */
dart_ret_t dart_allocator_alloc(size_t nelem, dart_datatype_t dtype,
                                dart_gptr_t *gptr, dart_allocator_t allocator);

/*
 * Give it back, on the unit that took it; *gptr becomes DART_GPTR_NULL.
 *   DART_ERR_INVAL  no pool, or its team has ended; NULL; not a block that this
 *                   unit has
 */
dart_ret_t dart_allocator_free(dart_gptr_t *gptr, dart_allocator_t allocator);

/*
 * End the pool, and what is left in it; *allocator becomes NULL.  Collective;
 * one thread a team.  If the team has ended, this unit gives back what it still
 * has of it, and waits for nobody.
 *   DART_ERR_INVAL  @allocator, or what it points to, is NULL
 *   DART_ERR_NOMEM  as dart_team_memfree(); *allocator is as it was
 */
dart_ret_t dart_allocator_destroy(dart_allocator_t *allocator);

/* --- A unit's own memory ------------------------------------------------- */

/*
 * Allocate on this unit; aligned to 16 bytes, not cleared.  The pointer is in
 * DART_TEAM_ALL and means the same on all units.  With @nelem 0 it can be freed
 * all the same, and is nobody else's.
 *   DART_ERR_INVAL  no such type, or @gptr is NULL
 *   DART_ERR_NOMEM
 * On error *gptr is DART_GPTR_NULL.
 */
dart_ret_t dart_memalloc(size_t nelem, dart_datatype_t dtype,
                         dart_gptr_t *gptr) DART_NOTHROW;

/*
 * Free it, on the unit that allocated it.
 *   DART_ERR_INVAL  not a pointer of dart_memalloc(), another unit's, or freed
 */
dart_ret_t dart_memfree(dart_gptr_t gptr) DART_NOTHROW;

/* --- Memory of a team ---------------------------------------------------- */

/*
 * Allocate @nelem elements on each unit; aligned to 64 bytes, not cleared.
 * Collective; one thread a team.  *gptr is the beginning of unit 0's part, the
 * same on all units.  @nelem may be 0.
 *   DART_ERR_INVAL  no such team, no such type, or @gptr is NULL
 *   DART_ERR_NOMEM  also: 32,767 segments of the team are there
 * On error *gptr is DART_GPTR_NULL.
 */
dart_ret_t dart_team_memalloc_aligned(dart_team_t teamid, size_t nelem,
                                      dart_datatype_t dtype,
                                      dart_gptr_t *gptr) DART_NOTHROW;

/*
 * Free it on all units.  Collective; one thread a team.  What units have put
 * there is complete before anybody's part is gone.  DART_GPTR_NULL is ignored.
 *   DART_ERR_INVAL  not such an allocation, or freed
 *   DART_ERR_NOMEM  on all units, with nothing freed: one has none for a message
 *                   that completes what it has put
 */
dart_ret_t dart_team_memfree(dart_gptr_t gptr) DART_NOTHROW;

/*
 * Let the team's units use @nelem elements at @addr of each unit; the second
 * form allows another @nelem on each.  Collective; one thread a team.  The
 * memory stays the caller's, and must stay until dart_team_memderegister().  It
 * may be any the process can write; units without elements may pass NULL.
 * *gptr is the beginning of unit 0's.
 *
 * Memory that is not a region's is another process's business: on the node it
 * is copied by a system call, and atomic operations go through a thread of its
 * process.  Memory of a region, or of another allocation here, is as fast as a
 * team's.
 *   DART_ERR_INVAL  no such team, no such type, NULL; partly in a region, or in
 *                   one that the unit does not hold for WRITE
 *   DART_ERR_NOMEM
 * On error *gptr is DART_GPTR_NULL.
 */
dart_ret_t dart_team_memregister_aligned(dart_team_t teamid, size_t nelem,
                                         dart_datatype_t dtype, void *addr,
                                         dart_gptr_t *gptr) DART_NOTHROW;
dart_ret_t dart_team_memregister(dart_team_t teamid, size_t nlelem,
                                 dart_datatype_t dtype, void *addr,
                                 dart_gptr_t *gptr) DART_NOTHROW;

/*
 * Take it back; the memory stays.  One thread a team.  It concerns this unit's
 * part: the others may not use that any more, and are not waited for, so that
 * each unit may do it when it likes.  A registration made meanwhile has another
 * number on all units.  DART_GPTR_NULL is ignored.
 *   DART_ERR_INVAL  not a registration, or taken back
 *   DART_ERR_NOMEM  none for a message that completes what this unit has put;
 *                   nothing has changed
 */
dart_ret_t dart_team_memderegister(dart_gptr_t gptr) DART_NOTHROW;

#ifdef __cplusplus
}
#endif

#endif /* DART_GLOBMEM_H_INCLUDED */
