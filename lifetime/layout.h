/*
 * layout.h - what lies where in an engine's memory.  Private to lifetime/: users
 * include lifetime.h, which needs it for what it inlines.
 *
 * Everything is reached by its offset from the beginning, so processes may map
 * the memory at different addresses.  The one pointer in it, a slot's next_free,
 * is read by the thread that wrote it, and by nobody else.
 *
 * Two kinds of blocks are cut from it and never given back: transients of one
 * record, and objects of one class.  So a slot is a slot of its kind for ever
 * (type-stable): a cycle may read one without asking whether it is in use.
 */
#ifndef LIFETIME_LAYOUT_H
#define LIFETIME_LAYOUT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Records, each of one thread at a time; at most 4,096 (LIFE_MARK_RECORD). */
#ifndef LIFE_THREADS
#define LIFE_THREADS 1024
#endif
/* Kinds of objects. */
#define LIFE_CLASSES 16
/* References of a transient: a communicator and a datatype, say. */
#define LIFE_REFS 2
/* Transients of a block (the paper's batch), and objects of one. */
#ifndef LIFE_BLOCK_SLOTS
#define LIFE_BLOCK_SLOTS 128
#endif
#ifndef LIFE_BLOCK_OBJECTS
#define LIFE_BLOCK_OBJECTS 32
#endif

/* tests/step/lifetime.c leaves a rule out, and must find that. */
#ifndef LIFE_RULE
#define LIFE_RULE(rule) true
#endif

#define LIFE_MAGIC UINT64_C(0x3130656d6974656c)

/*
 * A slot for a transient object.  `mark` says how it stands with the counters of
 * the records, for whoever takes over from a thread that died:
 *
 *   bits 0, 1   the epochs' classes in which it is counted as begun and not as
 *               ended; 0: it is free
 *   bit 2       the last change: 0 begun, 1 ended, counted in the class of bit 3
 *   4 to 15     by the thread of this record
 *   16 to 63    which makes its counter that
 */
struct life_transient {
    _Alignas(64) _Atomic uint64_t ref[LIFE_REFS]; /* handles; 0: none */
    _Atomic uint64_t mark;
    struct life_transient *next_free;
    uint32_t owner; /* record whose block it lies in */
    uint32_t user;  /* for the user */
    char data[];    /* the user's: life_options.transient_bytes */
};

#define LIFE_MARK_CLASSES UINT64_C(3)
#define LIFE_MARK_ENDED   UINT64_C(4)
#define LIFE_MARK_CLASS   3
#define LIFE_MARK_RECORD  4 /* 12 bits */
#define LIFE_MARK_SERIAL  16

/*
 * An object's `word`: its count in the low half; above it the record, plus 1,
 * that put it on the list of eligible objects, or 0; LIFE_AGAIN: since then the
 * count was higher; LIFE_SETTLING: the collector has said that it takes it off
 * its lists, and has not yet let go of it; LIFE_DEAD: it is being taken apart;
 * 0: it is free.  (The naive schemes use the count alone.)
 */
struct life_object {
    _Alignas(64) _Atomic uint64_t word;
    uint64_t next; /* on a list of the collector, or of free ones */
    uint64_t seen; /* number of the last look that found a reference */
    uint32_t class;
    _Alignas(64) char data[];
};

#define LIFE_COUNT    UINT64_C(0xffffffff)
#define LIFE_QUEUED   32
#define LIFE_QUEUER   UINT64_C(0xffff)
#define LIFE_AGAIN    (UINT64_C(1) << 62)
#define LIFE_SETTLING (UINT64_C(1) << 61)
#define LIFE_DEAD     (UINT64_C(1) << 63)

struct life_block {
    uint64_t next, bytes;
    uint32_t slots, owner; /* a record or a class */
    _Alignas(64) char slot[];
};

/* What a thread has; it outlives the thread, and another one adopts it.  The
 * first line is written by its thread alone. */
struct life_record {
    /* By class of epochs: transients that this thread began, and ended. */
    _Alignas(64) _Atomic uint64_t begun[2];
    _Atomic uint64_t ended[2];
    _Atomic uint64_t moved;   /* references that it passed on */
    _Atomic uint64_t queuing; /* the object that it makes eligible */

    /* Held by its thread as long as it runs. */
    _Alignas(64) pthread_mutex_t lock;
    _Atomic uint64_t blocks; /* its newest */
    _Atomic int32_t process; /* its last thread's; 0: nobody's */
};

/* A kind of objects; under its lock. */
struct life_class {
    _Alignas(64) pthread_mutex_t lock;
    uint64_t slot_bytes; /* 0: there is no such class */
    uint64_t free;
    uint64_t taking; /* what a thread is about to take or to give */
    _Atomic uint64_t blocks;
    _Atomic uint64_t live;
};

struct life_shared {
    uint64_t magic, bytes;
    uint32_t scheme, poisons;
    uint64_t transient_bytes; /* of a slot */
    uint64_t linger_bytes;

    /* Read by all at each begin, written once a cycle. */
    _Alignas(64) _Atomic uint32_t epoch;
    _Atomic uint32_t records;

    /* Objects that became eligible, newest first, and how many bytes they and
     * those below are. */
    _Alignas(64) _Atomic uint64_t eligible;
    _Atomic uint64_t lingering_bytes;
    _Atomic uint64_t due_bytes; /* a cycle is worth while */

    /* The collector's, under its lock (hybrid: the allocation's). */
    _Alignas(64) pthread_mutex_t collecting;
    uint64_t taking;  /* head that is taken from `eligible` */
    uint64_t young;   /* taken since the epoch last changed */
    uint64_t waiting; /* taken before: until the other class is empty */
    uint64_t settling;
    uint64_t looks;
    _Atomic uint64_t cycles, quick, exact, disturbed, freed;

    /* Under the lock of growth. */
    _Alignas(64) pthread_mutex_t growth;
    uint64_t used;    /* bytes cut off so far */
    uint64_t growing; /* offset of the head that the newest block goes to */

    _Alignas(64) pthread_mutex_t counts; /* the mutex scheme's */

    struct life_class class[LIFE_CLASSES];
    struct life_record record[LIFE_THREADS];
};

#endif
