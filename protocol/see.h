/*
 * see.h - looking on: who waits for what, for those who have no lock, maybe from
 * a process that cannot write.  protocol.h includes this.
 *
 * What is found may be out of date, or of several moments.
 */
#ifndef DRASYNC_PROTOCOL_SEE_H
#define DRASYNC_PROTOCOL_SEE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proto_region;

/* Objects are type-stable where this says so: true if the bytes can be read as
 * what they were. */
typedef bool proto_valid(const void *object, size_t bytes);

/* Where an acquire waits. */
enum proto_where {
    PROTO_WAITS_HERE,  /* at `at`, whose token is here */
    PROTO_WAITS_AWAY,  /* at `at`, whose token is to come, or answers */
    PROTO_WAITS_NEWER, /* until somebody writes `at` */
    PROTO_WAITS_OTHER, /* for another request of its rank, or to be told where
                          the region is */
};

struct proto_seen {
    enum proto_where where;
    int32_t rank;  /* -1: another node's */
    uint32_t node; /* whose it is */
    uint32_t mode;
    const struct proto_region *at; /* NULL: nothing */
};

/* What @rank waits for that it asked for as @region; false: nothing. */
bool proto_see_asking(const struct proto_region *region, int32_t rank,
                      proto_valid *valid, struct proto_seen *out);

/* The first @max that wait at @region, in order; how many they are. */
size_t proto_see_waiting(const struct proto_region *region, proto_valid *valid,
                         struct proto_seen *out, size_t max);

/* Who has got this far with WRITE of a subtree that @region is in, or, of this
 * node's ranks, with READ, and keeps others out; false: nobody. */
bool proto_see_lock(const struct proto_region *region, proto_valid *valid,
                    struct proto_seen *out);

/* The @i-th, from 0, READ hold of @region: its rank; -1: there is none. */
int32_t proto_see_reader(const struct proto_region *region, uint32_t i,
                         proto_valid *valid);

#endif
