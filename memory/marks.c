/* Bytes closed and opened for AddressSanitizer and valgrind: see marks.h. */
#include "memory/marks.h"

#include "config.h"

/* The program's, if it has them: its runtime need not be ours. */
void __asan_poison_memory_region(const volatile void *at, size_t bytes)
    __attribute__((weak));
void __asan_unpoison_memory_region(const volatile void *at, size_t bytes)
    __attribute__((weak));

#if HAVE_VALGRIND
#include <valgrind/memcheck.h>
#else
#define RUNNING_ON_VALGRIND                   0
#define VALGRIND_MAKE_MEM_NOACCESS(at, bytes) (void)0
#define VALGRIND_MAKE_MEM_DEFINED(at, bytes)  (void)0
#define VALGRIND_GET_VBITS(at, bits, bytes)   0
#endif

bool marks_wanted(void)
{
    return __asan_poison_memory_region || RUNNING_ON_VALGRIND;
}

bool marks_memcheck(void)
{
    char byte = 0, bits = 0;

    (void)byte, (void)bits;
    /* 0 under valgrind's other tools, which do not know the question. */
    return VALGRIND_GET_VBITS(&byte, &bits, 1) != 0;
}

void marks_close(void *at, size_t bytes)
{
    if (__asan_poison_memory_region)
        __asan_poison_memory_region(at, bytes);
    VALGRIND_MAKE_MEM_NOACCESS(at, bytes);
}

void marks_open(void *at, size_t bytes)
{
    if (__asan_unpoison_memory_region)
        __asan_unpoison_memory_region(at, bytes);
    VALGRIND_MAKE_MEM_DEFINED(at, bytes);
}
