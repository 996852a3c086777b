/*
 * page_hash.h - the hash of a page, by which versions of a region are told apart.
 *
 * XXH3 with 128 bits, of the library's dispatcher (which takes what the processor
 * has) where there is one, else compiled in.  Only with HAVE_XXHASH.
 */
#ifndef DRASYNC_RUNTIME_NATIVE_PAGE_HASH_H
#define DRASYNC_RUNTIME_NATIVE_PAGE_HASH_H

#include <stdint.h>

#include "config.h"

#ifdef HAVE_XXHASH_DISPATCH
#include <xxh_x86dispatch.h>
#else
#define XXH_INLINE_ALL
#include <xxhash.h>
#endif

/* Of @bytes at @data.  No upper half of a vector register is in use afterwards. */
XXH128_hash_t page_hash(const void *data, uint64_t bytes);

#endif /* DRASYNC_RUNTIME_NATIVE_PAGE_HASH_H */
