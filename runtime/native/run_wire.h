/*
 * run_wire.h - packets of runs, and their answers, between nodes.
 *
 *   packet  head, then units: all of one thread's runs on a region
 *   unit    head, then groups
 *   group   head, then `count` arguments, each padded to 8 bytes
 *   answer  head, then one record for each unit that is done; behind it, for
 *           each run that asks, in order: its result, padded answer
 *
 * Nothing in a packet is trusted: run_unit_next() and run_group_next() give
 * what lies inside whole, or nothing.
 */
#ifndef DRASYNC_RUNTIME_NATIVE_RUN_WIRE_H
#define DRASYNC_RUNTIME_NATIVE_RUN_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct run_packet_head {
    int32_t node;  /* who wants the answer, */
    uint32_t slot; /* in which flight */
    uint64_t ticket;
    uint32_t hops;
    uint32_t units;
};

struct run_unit {
    uint64_t address;
    uint32_t index; /* in the flight */
    uint32_t bytes; /* of its groups */
};

struct run_group {
    uint64_t function;
    uint32_t count;
    uint32_t arg_bytes, answer_bytes;
    uint16_t mode;
    uint16_t asks; /* each result is wanted, not only the first error */
};

struct run_answer_head {
    uint32_t slot;
    uint32_t units;
    uint64_t ticket;
};

struct run_answer {
    uint32_t index;
    int32_t error;  /* of the runs that do not ask: the first one */
    uint32_t bytes; /* behind it */
    int32_t failed; /* no function was called, and that is why; or 0 */
};

struct run_answer_one {
    int32_t result;
    uint32_t bytes; /* not padded */
};

#define RUN_PADDED(bytes) (((bytes) + 7) & ~(size_t)7)

/* The unit at *@at of @bytes that end at @end, moving *@at behind it; NULL:
 * there is none, or it is not whole. */
const struct run_unit *run_unit_next(const char **at, const char *end);

/* The same for groups; *args_out are its arguments. */
const struct run_group *run_group_next(const char **at, const char *end,
                                       const char **args_out);

/* Answers of a packet that are collected: grows, zero at first, up to what one
 * message may be. */
#define RUN_ANSWERS_BYTES_MAX ((size_t)64 << 20)

struct run_answers {
    char *bytes;
    size_t used, room;
    bool failed; /* no memory, or too many */
};

void *run_answers_add(struct run_answers *answers, size_t bytes);
void run_answers_free(struct run_answers *answers);

#endif /* DRASYNC_RUNTIME_NATIVE_RUN_WIRE_H */
