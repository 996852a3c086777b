/* The hash of a page: see page_hash.h. */
#include "config.h"

#ifdef HAVE_XXHASH

#include "runtime/native/page_hash.h"

#ifdef __x86_64__
__attribute__((target("avx"))) static void clear_upper_halves(void)
{
    __builtin_ia32_vzeroupper();
}
#endif

/*
 * xxHash 0.8.1's code for AVX and AVX-512 leaves upper halves of vector registers
 * in use: all SSE code of the thread, which may be the program's own, is slower
 * from then on, up to four times.
 */
XXH128_hash_t page_hash(const void *data, uint64_t bytes)
{
    XXH128_hash_t hash = XXH3_128bits(data, bytes);

#ifdef __x86_64__
    if (__builtin_cpu_supports("avx"))
        clear_upper_halves();
#endif
    return hash;
}

#endif
