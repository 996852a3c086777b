/*
 * chores.h - work that is too long for one step: any rank of a node begins a
 * chore, the progress thread does it in pieces, one after each of its turns, so
 * that messages wait for one piece at most.
 *
 * A chore is an object of control memory that begins with a struct
 * runtime_chore.  A piece takes half a millisecond at most; it takes the locks
 * that it needs and gives them back.  Several chores take turns.  A node is not
 * quiescent while it has one.
 */
#ifndef DRASYNC_RUNTIME_MESSAGES_CHORES_H
#define DRASYNC_RUNTIME_MESSAGES_CHORES_H

#include <stdbool.h>
#include <stdint.h>

/* So much is hashed or copied in a piece: 0.1 ms from the caches, 0.4 ms where
 * each page is a fault. */
#define CHORE_PIECE_BYTES ((uint64_t)1 << 20)
#define CHORE_PIECE_PAGES (CHORE_PIECE_BYTES >> 12)

enum chore_kind {
    CHORE_NATIVE_NOTE,   /* runtime/native/delta.h */
    CHORE_NATIVE_ANSWER, /* runtime/native/later.h */
    CHORE_NATIVE_FILL,
    CHORE_KINDS,
};

struct runtime_chore {
    uint64_t reserved_by_control[2];
    struct runtime_chore *next;
    enum chore_kind kind;
};

/* A piece of @chore, on the progress thread.  True: that was the last one, and
 * @chore is freed. */
typedef bool chore_piece(struct runtime_chore *chore);

/* Register, in a module's `start`. */
void chore_handle(enum chore_kind kind, chore_piece *piece);

/* Any thread of any rank of the node, under any lock. */
void chore_begin(struct runtime_chore *chore, enum chore_kind kind);

/* On the progress thread: a piece of one.  1 if there was one, else 0. */
int chores_advance(void);

#endif /* DRASYNC_RUNTIME_MESSAGES_CHORES_H */
