/*
 * lifetime_common.h - what the tests of lifetime/ share: an engine in
 * memory of its own, objects whose end is counted.
 */
#ifndef TESTS_LIFETIME_COMMON_H
#define TESTS_LIFETIME_COMMON_H

#include "lifetime/lifetime.h"

#include "drasync.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tap.h"

/* A communicator, and a datatype, which may be derived from another. */
enum { COMM, TYPE };

struct thing {
    life_handle base; /* 0: none; a counted reference */
    char *text;       /* of malloc() */
};

#define ENGINE_BYTES ((uint64_t)64 << 20)

static _Atomic int things_ended;

static void thing_end(struct life_thread *me, uint32_t class, void *data,
                      void *arg)
{
    struct thing *t = data;

    (void)class;
    (void)arg;
    atomic_fetch_add(&things_ended, 1);
    free(t->text);
    if (t->base)
        REQUIRE(!life_unref(me, me->shared->scheme, t->base));
    memset(t, 0xdd, sizeof(*t));
}

__attribute__((unused)) static void
engine_open(struct life *life, enum life_scheme scheme, uint64_t linger_bytes)
{
    const struct life_options options = {.scheme = scheme,
                                         .linger_bytes = linger_bytes};
    const struct life_env env = {.process = getpid()};
    void *memory = mmap(NULL, ENGINE_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    REQUIRE(memory != MAP_FAILED);
    REQUIRE(!life_open(life, memory, ENGINE_BYTES, &options, &env));
    REQUIRE(!life_class(life, COMM, sizeof(struct thing), thing_end));
    REQUIRE(!life_class(life, TYPE, sizeof(struct thing), thing_end));
    atomic_store(&things_ended, 0);
}

__attribute__((unused)) static void engine_close(struct life *life)
{
    struct life_thread me;

    REQUIRE(!life_thread_begin(life, &me));
    life_close(&me);
    life_thread_end(&me);
    munmap(life->shared, ENGINE_BYTES);
}

/* One with a text of its own, derived from @base, which it has a counted
 * reference to. */
__attribute__((unused)) static life_handle
thing_new(struct life_thread *me, uint32_t class, life_handle base)
{
    enum life_scheme scheme = me->shared->scheme;
    life_handle handle;
    struct thing *t;

    REQUIRE(!life_new(me, scheme, class, &handle));
    t = life_data(me, handle);
    *t = (struct thing){.base = base, .text = strdup("thing")};
    if (base)
        life_ref(me, scheme, base);
    return handle;
}

/* A request, with references to both. */
__attribute__((unused)) static struct life_transient *
request_start(struct life_thread *me, life_handle comm, life_handle type)
{
    enum life_scheme scheme = me->shared->scheme;
    struct life_transient *t = life_begin(me, scheme);

    REQUIRE(t);
    life_refer(me, scheme, t, 0, comm);
    life_refer(me, scheme, t, 1, type);
    return t;
}

__attribute__((unused)) static uint64_t live(const struct life *life)
{
    struct life_stats stats;

    life_stats(life, &stats);
    return stats.live;
}

__attribute__((unused)) static uint64_t outstanding(const struct life *life)
{
    struct life_stats stats;

    life_stats(life, &stats);
    return stats.outstanding;
}

#endif
