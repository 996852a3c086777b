/*
 * myrmics.h - the Myrmics front: what its files share.
 *
 * The calls of include/myrmics.h do arguments, errors and statistics; what they
 * do stands behind struct myrmics_ops, once with copies
 * (runtime/replica/replica.h) and once with ownership that moves
 * (DRASYNC_MYRMICS=move).  No call returns after an error: it prints a line
 * with the place of the call and ends the job.
 */
#ifndef DRASYNC_FRONTS_MYRMICS_H
#define DRASYNC_FRONTS_MYRMICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/replica/replica.h"

/* As the functions of runtime/replica/replica.h of the same names. */
struct myrmics_ops {
    const char *mode;
    int (*region_new)(uint32_t parent, uint32_t *region_out);
    int (*region_free)(uint32_t region, const struct replica_place *place);
    int (*region_check)(uint32_t region);
    int (*alloc)(uint32_t region, size_t size_bytes, void **ptr_out);
    int (*alloc_many)(uint32_t region, size_t size_bytes, size_t count,
                      void **ptrs_out);
    int (*free)(void *ptr, const struct replica_place *place);
    int (*realloc)(void *ptr, size_t size_bytes, uint32_t region,
                   const struct replica_place *place, void **ptr_out);
    int (*send)(uint32_t region, int worker, const struct replica_place *place,
                uint64_t *bytes_out);
    int (*recv)(uint32_t region, int worker, uint32_t *region_out,
                uint64_t *bytes_out);
};

extern const struct myrmics_ops myrmics_copy;
extern const struct myrmics_ops myrmics_move;

/*
 * Print "Core N: Error: TEXT [FILE:LINE]" and end the job.
 */
void myrmics_fail(const char *file, int line, const char *format, ...)
    __attribute__((noreturn, format(printf, 3, 4)));

/* A call at @place freed @region. */
void myrmics_freed(uint32_t region, const struct replica_place *place);

/* End the job: there is no such region, or it was freed, as far as known. */
void myrmics_no_region(const char *file, int line, uint32_t region)
    __attribute__((noreturn));

/* A clock that only goes forward. */
uint64_t myrmics_now_ns(void);

/* Why an operation refused, if the code does not say it; "" if it does. */
const char *myrmics_refusal(void);

#endif /* DRASYNC_FRONTS_MYRMICS_H */
