/*
 * dart_communication.h - moving data: a team's collective operations, one-sided
 * transfers, atomic operations, messages.
 *
 * Counts are elements; of a strided or indexed type, elements of its base type.
 * A count of 0 is no error anywhere, and buffers may be NULL then.  Counts may
 * exceed 32 bits.
 */
#ifndef DART__COMMUNICATION_H_
#define DART__COMMUNICATION_H_

#include <dash/dart/if/dart_globmem.h>
#include <dash/dart/if/dart_types.h>
#include <dash/dart/if/dart_util.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Collective operations ----------------------------------------------- */

/*
 * As MPI's of the same names; one thread a team.  A unit may be through before
 * others have begun, but for dart_barrier().  Each returns:
 *   DART_ERR_INVAL  no such team here; no such type, or not in one piece; no
 *                   such unit; an operation that the type does not have; NULL
 *   DART_ERR_OTHER  MPI failed
 *
 * All units pass the same counts, type, operation and root.  Units do not ask
 * each other whether they do: a wrong argument on all is an error on all, but
 * one on some is an error there alone, and leaves the others waiting for them;
 * and where counts or types differ, the result is undefined.  (Calls that make or
 * end something, in dart_team_group.h, dart_globmem.h and dart_synchronization.h,
 * tell all units, but for a team that one of them is not in.)
 */

dart_ret_t dart_barrier(dart_team_t team) DART_NOTHROW;

/* @buf of @root goes to all units. */
dart_ret_t dart_bcast(void *buf, size_t nelem, dart_datatype_t dtype,
                      dart_team_unit_t root, dart_team_t team) DART_NOTHROW;

/* @nelem elements for each unit, in @sendbuf of @root (NULL elsewhere).  The
 * root's @recvbuf NULL, or equal to @sendbuf: its part stays where it is. */
dart_ret_t dart_scatter(const void *sendbuf, void *recvbuf, size_t nelem,
                        dart_datatype_t dtype, dart_team_unit_t root,
                        dart_team_t team) DART_NOTHROW;

/* @nelem elements of each unit, to @recvbuf of @root (NULL elsewhere).  The
 * root's @sendbuf NULL, or equal to @recvbuf: its part is in its place already. */
dart_ret_t dart_gather(const void *sendbuf, void *recvbuf, size_t nelem,
                       dart_datatype_t dtype, dart_team_unit_t root,
                       dart_team_t team) DART_NOTHROW;

/* The same to all units.  @sendbuf NULL, or equal to @recvbuf: the unit's part
 * is in its place already. */
dart_ret_t dart_allgather(const void *sendbuf, void *recvbuf, size_t nelem,
                          dart_datatype_t dtype, dart_team_t team) DART_NOTHROW;

/* With a count for each unit, and where its part begins in @recvbuf, in
 * elements.  @sendbuf as above.  DART_ERR_NOMEM, on all units: only with an MPI
 * older than 4.0, if some unit has no memory. */
dart_ret_t dart_allgatherv(const void *sendbuf, size_t nsendelem,
                           dart_datatype_t dtype, void *recvbuf,
                           const size_t *nrecvelem, const size_t *recvdispls,
                           dart_team_t teamid) DART_NOTHROW;

/* Element by element; @sendbuf NULL, or equal to @recvbuf: the unit's values
 * are in @recvbuf. */
dart_ret_t dart_allreduce(const void *sendbuf, void *recvbuf, size_t nelem,
                          dart_datatype_t dtype, dart_operation_t op,
                          dart_team_t team) DART_NOTHROW;

/* @nelem elements from each unit to each other.  @sendbuf NULL, or equal to
 * @recvbuf: they are in @recvbuf, and what comes takes their places; units may
 * differ in that.  DART_ERR_NOMEM, on all units: one of those has no memory for a
 * copy of more than 16 KiB. */
dart_ret_t dart_alltoall(const void *sendbuf, void *recvbuf, size_t nelem,
                         dart_datatype_t dtype, dart_team_t team) DART_NOTHROW;

/* As dart_allreduce(), to @recvbuf of @root (NULL elsewhere, but if @sendbuf is
 * NULL). */
dart_ret_t dart_reduce(const void *sendbuf, void *recvbuf, size_t nelem,
                       dart_datatype_t dtype, dart_operation_t op,
                       dart_team_unit_t root, dart_team_t team) DART_NOTHROW;

/* --- Atomic operations --------------------------------------------------- */

/*
 * Each element by itself is atomic towards all operations of this group from
 * whatever unit, node and thread; loads, stores, puts and gets are outside. 
 * They return when the operation is done, and no unit has to take part.
 *   DART_ERR_INVAL  no such team, unit or segment; beyond the segment's end;
 *                   not a basic type; an operation that the type does not have
 *                   (MINMAX and the program's own never); NULL
 */

/* Element i becomes (element op values[i]). */
dart_ret_t dart_accumulate(dart_gptr_t gptr, const void *values, size_t nelem,
                           dart_datatype_t dtype,
                           dart_operation_t op) DART_NOTHROW;

/* The same; @values can be used again for sure. */
dart_ret_t dart_accumulate_blocking_local(dart_gptr_t gptr, const void *values,
                                          size_t nelem, dart_datatype_t dtype,
                                          dart_operation_t op) DART_NOTHROW;

/* One element; *result is what it was before.  DART_OP_NO_OP reads it
 * (@value may be NULL), DART_OP_REPLACE writes it. */
dart_ret_t dart_fetch_and_op(dart_gptr_t gptr, const void *value, void *result,
                             dart_datatype_t dtype,
                             dart_operation_t op) DART_NOTHROW;

/* If the element equals *compare it becomes *value; *result is what it was
 * before.  Integers only. */
dart_ret_t dart_compare_and_swap(dart_gptr_t gptr, const void *value,
                                 const void *compare, void *result,
                                 dart_datatype_t dtype) DART_NOTHROW;

/* --- One-sided transfers -------------------------------------------------- */

/*
 * @src_type is how the elements lie where they come from, @dst_type where they
 * go to.  Both have the same base type; of a strided or indexed one @nelem is a
 * multiple of what one of it holds.
 *
 * A transfer is complete locally when the buffer of this unit can be used, and
 * remotely when the other unit's memory has the data.  On a node both are so
 * when the call returns, whichever call it is.  Transfers that overlap in
 * memory have no order among each other until they are complete.
 *
 * No transfer waits for the other unit.  Each call returns:
 *   DART_ERR_INVAL  no such team, unit or segment; beyond the segment's end; no
 *                   such type, types that do not fit each other or the count;
 *                   NULL
 */

/* Begin one; the buffer belongs to it until one of the flushes below. */
dart_ret_t dart_get(void *dest, dart_gptr_t gptr, size_t nelem,
                    dart_datatype_t src_type,
                    dart_datatype_t dst_type) DART_NOTHROW;
dart_ret_t dart_put(dart_gptr_t gptr, const void *src, size_t nelem,
                    dart_datatype_t src_type,
                    dart_datatype_t dst_type) DART_NOTHROW;

/*
 * Complete what this unit began in @gptr's segment: with @gptr's unit, or with
 * all; locally and remotely, or locally only.  Whether by dart_get() and
 * dart_put() or with a handle.
 *   DART_ERR_INVAL  no such team, unit or segment
 */
dart_ret_t dart_flush(dart_gptr_t gptr) DART_NOTHROW;
dart_ret_t dart_flush_all(dart_gptr_t gptr) DART_NOTHROW;
dart_ret_t dart_flush_local(dart_gptr_t gptr) DART_NOTHROW;
dart_ret_t dart_flush_local_all(dart_gptr_t gptr) DART_NOTHROW;

/* --- Transfers with handles ----------------------------------------------- */

/* A transfer under way; the caller's until it is found complete, which makes
 * the handle DART_HANDLE_NULL, or until dart_handle_free().  Handles that are
 * DART_HANDLE_NULL are complete. */
typedef struct dart_handle_struct *dart_handle_t;

#define DART_HANDLE_NULL (dart_handle_t) NULL

/* Begin one.  *handle may come out as DART_HANDLE_NULL: it is complete then; on
 * error it is so too, and the buffer is not used any more; what a put has written
 * by then, of one with a strided or indexed type or of more than 1 GiB, stays.
 * Also returns DART_ERR_NOMEM. */
dart_ret_t dart_get_handle(void *dest, dart_gptr_t gptr, size_t nelem,
                           dart_datatype_t src_type, dart_datatype_t dst_type,
                           dart_handle_t *handle) DART_NOTHROW;
dart_ret_t dart_put_handle(dart_gptr_t gptr, const void *src, size_t nelem,
                           dart_datatype_t src_type, dart_datatype_t dst_type,
                           dart_handle_t *handle) DART_NOTHROW;

/*
 * Wait until one, or @n, are complete: locally and remotely, or locally only.
 *   DART_ERR_INVAL  @handles is NULL, and @n is not 0
 *   DART_ERR_NOMEM  none for a message to the other node
 * On error the handles are as they were.
 */
dart_ret_t dart_wait(dart_handle_t *handle) DART_NOTHROW;
dart_ret_t dart_waitall(dart_handle_t handles[], size_t n) DART_NOTHROW;
dart_ret_t dart_wait_local(dart_handle_t *handle) DART_NOTHROW;
dart_ret_t dart_waitall_local(dart_handle_t handles[], size_t n) DART_NOTHROW;

/*
 * Are they complete?  The result is 1 if all are, and the handles then are
 * DART_HANDLE_NULL; else 0, and they are as they were.  dart_test() and
 * dart_testall() mean remotely too, and may wait for the other node's memory,
 * though never for the other unit.  So may all four for a get with a strided
 * or indexed type, and for more than 1 GiB.
 *   DART_ERR_INVAL  as above, or the last argument is NULL
 */
dart_ret_t dart_test_local(dart_handle_t *handle, int32_t *result) DART_NOTHROW;
dart_ret_t dart_test(dart_handle_t *handleptr, int32_t *is_finished);
dart_ret_t dart_testall_local(dart_handle_t handles[], size_t n,
                              int32_t *result) DART_NOTHROW;
dart_ret_t dart_testall(dart_handle_t handles[], size_t n,
                        int32_t *is_finished);

/* Give the handle up; the transfer goes on, and a flush completes it. */
dart_ret_t dart_handle_free(dart_handle_t *handle) DART_NOTHROW;

/* --- Transfers that are complete ------------------------------------------ */

/* Return when the transfer is complete, locally and remotely. */
dart_ret_t dart_get_blocking(void *dest, dart_gptr_t gptr, size_t nelem,
                             dart_datatype_t src_type,
                             dart_datatype_t dst_type) DART_NOTHROW;
dart_ret_t dart_put_blocking(dart_gptr_t gptr, const void *src, size_t nelem,
                             dart_datatype_t src_type,
                             dart_datatype_t dst_type) DART_NOTHROW;

/* --- Messages ------------------------------------------------------------- */

/*
 * As MPI's, over all units: sending may wait for the receiver, messages of one
 * tag from one unit come in order.  Tags are those MPI has (0 to 32767 at
 * least).
 *   DART_ERR_INVAL  no such unit, type or tag; NULL
 *   DART_ERR_OTHER  also: the message was longer than the buffer, whose contents
 *                   are undefined then
 */
dart_ret_t dart_send(const void *sendbuf, size_t nelem, dart_datatype_t dtype,
                     int tag, dart_global_unit_t unit) DART_NOTHROW;
dart_ret_t dart_recv(void *recvbuf, size_t nelem, dart_datatype_t dtype,
                     int tag, dart_global_unit_t unit) DART_NOTHROW;

/* Both at once: neither waits for the other. */
dart_ret_t dart_sendrecv(const void *sendbuf, size_t send_nelem,
                         dart_datatype_t send_dtype, int send_tag,
                         dart_global_unit_t dest, void *recvbuf,
                         size_t recv_nelem, dart_datatype_t recv_dtype,
                         int recv_tag, dart_global_unit_t src) DART_NOTHROW;

#ifdef __cplusplus
}
#endif

#endif /* DART__COMMUNICATION_H_ */
