/*
 * engine_row.h - an engine of lifetime/ for the rows about objects: one for each
 * scheme, in memory that was touched, with a communicator and a datatype.
 */
#ifndef BENCHMARKS_ENGINE_ROW_H
#define BENCHMARKS_ENGINE_ROW_H

#include "benchmarks/common.h"
#include "lifetime/lifetime.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What the path of a message reads of its communicator and of its datatype. */
struct engine_object {
    uint32_t context, bytes;
};

/* Classes. */
enum { ENGINE_COMM, ENGINE_TYPE };

/* Our scheme, and the rivals in the order of their names. */
static const enum life_scheme engine_schemes[] = {
    LIFE_EPOCHS, LIFE_HYBRID,     LIFE_NAIVE,
    LIFE_MUTEX,  LIFE_SUPPRESSED, LIFE_NOTHING};

static inline void engine_open(struct life *life, enum life_scheme scheme,
                               uint64_t bytes, uint32_t transient_bytes,
                               uint64_t linger_bytes)
{
    const struct life_options options = {.scheme = scheme,
                                         .transient_bytes = transient_bytes,
                                         .linger_bytes = linger_bytes};
    const struct life_env env = {.process = getpid()};
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    int err;

    bench_require(memory != MAP_FAILED, "mmap");
    err = life_open(life, memory, bytes, &options, &env);
    for (uint32_t class = 0; !err && class < 2; class ++)
        err = life_class(life, class, sizeof(struct engine_object), NULL);
    bench_require(!err, "life_open");
}

static inline void engine_close(struct life *life, struct life_thread *me)
{
    uint64_t bytes = life->shared->bytes;

    life_close(me);
    life_thread_end(me);
    munmap(life->shared, bytes);
}

/* The calling thread takes part. */
static inline void engine_join(struct life *life, struct life_thread *me)
{
    bench_require(!life_thread_begin(life, me), "life_thread_begin");
}

static inline __attribute__((always_inline)) struct life_transient *
engine_begin(struct life_thread *me, enum life_scheme scheme)
{
    struct life_transient *t = life_begin(me, scheme);

    if (!t)
        abort();
    return t;
}

static inline life_handle engine_object(struct life_thread *me, uint32_t class,
                                        bool predefined)
{
    enum life_scheme scheme = me->shared->scheme;
    struct engine_object *o;
    life_handle handle;

    bench_require(!(predefined ? life_new_predefined
                               : life_new)(me, scheme, class, &handle),
                  "life_new");
    o = life_data(me, handle);
    o->context = (uint32_t)(handle >> 6);
    o->bytes = 0;
    return handle;
}

#endif
