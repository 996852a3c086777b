/*
 * pages.h - large objects of which one word in each page is written or read.
 */
#ifndef BENCHMARKS_PAGES_H
#define BENCHMARKS_PAGES_H

#include <stddef.h>
#include <stdint.h>

#define PAGE_STEP (4096 / sizeof(uint64_t))

/* Change a word in each @every-th page of @bytes. */
static inline void pages_change(uint64_t *word, size_t bytes, size_t every)
{
    for (size_t i = 0; i < bytes / sizeof(*word); i += PAGE_STEP * every)
        word[i]++;
}

/* The sum of a word of each page. */
static inline uint64_t pages_read(const uint64_t *word, size_t bytes)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < bytes / sizeof(*word); i += PAGE_STEP)
        sum += word[i];
    return sum;
}

#endif
