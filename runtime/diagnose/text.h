/*
 * text.h - a report while it is written, and the words for what ranks wait for,
 * hold and do.
 */
#ifndef DRASYNC_RUNTIME_DIAGNOSE_TEXT_H
#define DRASYNC_RUNTIME_DIAGNOSE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/diagnose/facts.h"

/* Where a report grows too long, or there is no memory, its end is missing. */
#define TEXT_BYTES_MAX ((size_t)1 << 20)

struct text {
    char *bytes; /* free() it */
    size_t length, room;
    bool endless; /* a tool's: it has no such limit */
    bool cut;     /* something is missing */
};

void text_add(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Who holds or asks for a region for @mode: a rank, or one of those that are none of
 * the job's (native_rank_new()): "drasync_save of rank 3". */
void text_who(struct text *text, int32_t rank, uint32_t mode);

/* `region 0x110000001000 "tree"`; a @name of "" is none. */
void text_region(struct text *text, uint64_t address, const char *name);

/* "ranks 1-4, 9 (5 of them)": @count of them, in order, each @stride bytes after
 * the one before, from @first on. */
void text_ranks(struct text *text, const int32_t *first, size_t stride,
                size_t count);

/* ", in solve (tree.c:12), called from main (tree.c:40)", as far as known. */
void text_frames(struct text *text, const struct code_place *frames, int count);

/* " since 12 s, taken in solve (tree.c:12)", or what else can be said. */
void text_hold(struct text *text, uint64_t age_us,
               const struct code_place *place);

/* What a rank does: "computes", "is inside MPI_Recv from rank 3" ... */
void text_doing(struct text *text, const struct facts_rank *rank);

/* What a thread waits for, or @several do, without since when: "waits for WRITE of
 * region ..." */
void text_wait(struct text *text, const struct waiting_seen *seen,
               const char *name, bool several);

const char *text_mode(uint32_t mode);

/* Write it to stderr in one piece. */
void text_say(const struct text *text);

#endif /* DRASYNC_RUNTIME_DIAGNOSE_TEXT_H */
