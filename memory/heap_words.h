/*
 * heap_words.h - the words of a heap's objects, looked at in pieces, so that
 * whoever has a lock for that may give it back in between.
 *
 * Only objects with notes (heap_checked.h): of others nobody knows how long they
 * are, and behind their ends lies what was there before.
 *
 * Callers guarantee what heap.h asks for during a call.  Between two calls the
 * heap may change: what comes or goes meanwhile may be looked at or not.
 */
#ifndef MEMORY_HEAP_WORDS_H
#define MEMORY_HEAP_WORDS_H

#include "memory/heap_checked.h"

/* A look at @count words, of which heap_words_fn gets no more at once. */
#define HEAP_WORDS_AT_ONCE 512

/* What a slot costs, in words. */
#define HEAP_WORDS_SLOT 8

struct heap_object {
    uint64_t address, bytes;
    struct heap_who made;
};

/* Of @object the @count words at byte @at.  What it cost more than a look at each,
 * in words. */
typedef uint64_t heap_words_fn(void *arg, const struct heap_object *object,
                               uint64_t at, uint64_t count);

/* How far the look has come; at first all 0. */
struct heap_words {
    struct heap_extent extent;
    uint64_t offset; /* of a slot in it; 0: it is done */
    uint64_t at;     /* the byte of that slot's object */
};

/*
 * Go on, until that has cost some *left words, which it is taken from.  True:
 * there is more; false: that was all, or the rest cannot be read.
 */
bool heap_words_look(const struct heap_checked *checked,
                     struct heap_words *words, int64_t *left,
                     heap_words_fn *look, void *arg);

#endif
