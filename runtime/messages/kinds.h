/*
 * kinds.h - the numbers of the kinds of messages, one range for each owner, so
 * that two parts never take the same one.
 */
#ifndef DRASYNC_RUNTIME_MESSAGES_KINDS_H
#define DRASYNC_RUNTIME_MESSAGES_KINDS_H

enum runtime_kind {
    /* The runtime's own. */
    RUNTIME_KIND_REPLY = 1,
    RUNTIME_KIND_POISON = 2,
    RUNTIME_KIND_DONE = 3,
    RUNTIME_KIND_STOP = 4,
    RUNTIME_KIND_COUNT = 5,

    /* Native regions (protocol/): 32 + the protocol's own number. */
    RUNTIME_KIND_NATIVE = 32,
    RUNTIME_KIND_NATIVE_LATER = 63, /* data of a TRANSFER: native/later.h */

    /* Replicated regions (Myrmics programs). */
    RUNTIME_KIND_REPLICA = 64,

    /* Names and other small services. */
    RUNTIME_KIND_NAMES = 96,

    /* Addresses that saved regions are to have. */
    RUNTIME_KIND_CLAIM = 105,

    /* To its home: a native region is about to have a name. */
    RUNTIME_KIND_NAMING = 106,

    /* One-sided access. */
    RUNTIME_KIND_RMA = 112,

    /* Locks in which ranks of all nodes queue. */
    RUNTIME_KIND_QUEUE_LOCK = 116,

    /* Transfers of one-sided access. */
    RUNTIME_KIND_RMA_FAR = 124,

    /* Functions that are run where a region is. */
    RUNTIME_KIND_RUN = 140,
    RUNTIME_KIND_RUN_ANSWER = 141,

    /* What ranks wait for. */
    RUNTIME_KIND_DIAGNOSE = 142,

    /* Checked mode: who has a region. */
    RUNTIME_KIND_CHECK = 143,

    /* References to managed regions. */
    RUNTIME_KIND_MANAGED = 144,

    /* Of tests, which are modules of their own. */
    RUNTIME_KIND_TEST = 150,

    RUNTIME_KINDS_MAX = 152,
};

#endif /* DRASYNC_RUNTIME_MESSAGES_KINDS_H */
