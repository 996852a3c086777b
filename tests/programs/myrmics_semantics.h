/*
 * myrmics_semantics.h - shared by the scenarios that show what a
 * message-passing region program may count on.
 *
 * Each scenario is run by all workers.  They pass small control data to each
 * other with MPI_Send and MPI_Recv, as such programs do.
 */
#ifndef TESTS_MYRMICS_SEMANTICS_H
#define TESTS_MYRMICS_SEMANTICS_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "myrmics.h"

extern int me;      /* this worker */
extern int workers; /* how many there are */
extern int steps;   /* how many a scenario takes that takes many */

/* The partner of worker 0 in scenarios for two: worker 1, or 0 when alone. */
#define PARTNER (workers > 1 ? 1 : 0)

/* End the job, with the line, unless @condition. */
#define CHECK(condition)                                  \
    do {                                                  \
        if (!(condition))                                 \
            check_failed(__FILE__, __LINE__, #condition); \
    } while (0)

void check_failed(const char *file, int line, const char *text)
    __attribute__((noreturn));

/* Control data between workers; nothing happens when both are the same. */
void tell(int worker, const void *bytes, size_t size);
void hear(int worker, void *bytes, size_t size);

/* Worker @from's @bytes become everybody's. */
void share(int from, void *bytes, size_t size);

/* The subtree of @region from one worker to another, unless they are one. */
void transfer(rid_t region, int from, int to);

/* Fill, and check, memory with what depends on @seed. */
void fill(void *memory, size_t size, uint64_t seed);
int filled(const void *memory, size_t size, uint64_t seed);

/* May objects lie here? */
int is_aligned(const void *ptr);

/*
 * Are the objects of all workers, @count (up to 64) from each, of @size bytes,
 * apart?  Called by all.
 */
void check_apart(void **mine, int count, size_t size);

struct scenario {
    const char *name;
    void (*run)(void);
};

/* Lists that end with a NULL name. */
extern const struct scenario data_scenarios[];
extern const struct scenario memory_scenarios[];
extern const struct scenario error_scenarios[];

#endif /* TESTS_MYRMICS_SEMANTICS_H */
