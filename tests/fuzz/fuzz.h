/*
 * fuzz.h - what the targets of tests/fuzz/ share.
 *
 * A target is LLVMFuzzerTestOneInput(): libFuzzer's main() calls it (make
 * fuzz-smoke), or that of replay.c, with each file of the target's corpus (make
 * check).  It leaves nothing behind, so that an input does the same again.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* What must hold whatever the input is. */
#define FUZZ_HOLDS(condition)                                               \
    do {                                                                    \
        if (!(condition)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                        \
        }                                                                   \
    } while (0)

/* The rest of an input; reading past its end gives zeros. */
struct fuzz_input {
    const uint8_t *at;
    size_t left;
};

static inline uint64_t fuzz_number(struct fuzz_input *in, size_t bytes)
{
    uint64_t value = 0;
    size_t now = bytes < in->left ? bytes : in->left;

    memcpy(&value, in->at, now);
    in->at += now;
    in->left -= now;
    return value;
}

/*
 * The next message of an input: a length in two bytes, then as many.  A copy
 * that ends where its memory does, aligned as a transport gives it; the caller
 * frees it.
 */
static inline void *fuzz_message(struct fuzz_input *in, size_t *bytes_out)
{
    size_t bytes = fuzz_number(in, 2);
    void *copy;

    if (bytes > in->left)
        bytes = in->left;
    copy = malloc(bytes ? bytes : 1);
    FUZZ_HOLDS(copy);
    memcpy(copy, in->at, bytes);
    in->at += bytes;
    in->left -= bytes;
    *bytes_out = bytes;
    return copy;
}

#endif
