/*
 * no_memory.h - lines about memory that is not there: how much regions have, of
 * what, which variable says so, and what to do.
 */
#ifndef DRASYNC_RUNTIME_NO_MEMORY_H
#define DRASYNC_RUNTIME_NO_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#define RUNTIME_SIZE_TEXT 32

/* @bytes in the largest unit that leaves two digits or more; returns @text. */
const char *runtime_size_text(uint64_t bytes, char text[RUNTIME_SIZE_TEXT]);

/* "this node's regions have 60 MiB of 64 MiB, which is ...: raise that, ..." */
void runtime_memory_text(char *text, size_t bytes);

/*
 * runtime_poison(), where there is no memory "to do this and that": the job ends,
 * since whoever waits for that would wait for ever.
 */
void runtime_no_memory(const char *to_do, ...)
    __attribute__((format(printf, 1, 2)));

#endif /* DRASYNC_RUNTIME_NO_MEMORY_H */
