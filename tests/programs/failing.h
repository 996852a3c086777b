/*
 * failing.h - memory that ends when a test wants it to, and what of it is left.
 *
 * The program's malloc and its kin stand before the C library's, and see who
 * calls.  Of what our libraries ask for, on the thread that says so or on all, the
 * n-th request fails; what they have and did not give back is counted.  A request is
 * also one for pages of the node's memory (fallocate), which a full machine
 * refuses.  For one file of a program.
 */
#ifndef TESTS_FAILING_H
#define TESTS_FAILING_H

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* They are called before a sanitizer is ready. */
#define FAILING_PLAIN __attribute__((no_sanitize("address", "thread")))

/* The code of our libraries; empty until failing_begin(). */
#define FAILING_LIBRARIES_MAX 4
static struct {
    uintptr_t from, to;
} failing_code[FAILING_LIBRARIES_MAX];
static int failing_libraries;

/* Requests until one fails; 0: none does. */
static _Thread_local long failing_left;
static _Thread_local bool failing_reached;
/* The same of all threads together. */
static _Atomic long failing_left_all;
static _Atomic bool failing_reached_all;

/* Addresses of what our libraries have, by open addressing. */
#define FAILING_SLOTS (1 << 20)
#define FAILING_GONE  ((uintptr_t)1)
static _Atomic uintptr_t failing_blocks[FAILING_SLOTS];
static _Atomic long failing_live;

static int failing_add_library(struct dl_phdr_info *info, size_t size,
                               void *arg)
{
    (void)size;
    (void)arg;
    if (!strstr(info->dlpi_name, "libdart-mpi") &&
        !strstr(info->dlpi_name, "libdrasync"))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];

        if (part->p_type == PT_LOAD && part->p_flags & PF_X &&
            failing_libraries < FAILING_LIBRARIES_MAX) {
            uintptr_t from = info->dlpi_addr + part->p_vaddr;

            failing_code[failing_libraries].from = from;
            failing_code[failing_libraries++].to = from + part->p_memsz;
        }
    }
    return 0;
}

/* From here on it is known who calls. */
static inline void failing_begin(void)
{
    dl_iterate_phdr(failing_add_library, NULL);
}

/* This thread's n-th request from now on fails; 0: none. */
static inline void failing_arm(long n)
{
    failing_left = n;
    failing_reached = false;
}

/* Did it? */
static inline bool failing_disarm(void)
{
    bool reached = failing_reached;

    failing_left = 0;
    failing_reached = false;
    return reached;
}

/* As the two, for the n-th of all threads. */
static inline void failing_arm_all(long n)
{
    atomic_store(&failing_reached_all, false);
    atomic_store(&failing_left_all, n);
}

static inline bool failing_disarm_all(void)
{
    atomic_store(&failing_left_all, 0);
    return atomic_exchange(&failing_reached_all, false);
}

FAILING_PLAIN static inline bool failing_ours(const void *caller)
{
    uintptr_t at = (uintptr_t)caller;

    for (int i = 0; i < failing_libraries; i++) {
        if (at >= failing_code[i].from && at < failing_code[i].to)
            return true;
    }
    return false;
}

FAILING_PLAIN static inline bool failing_now(const void *caller)
{
    if (!(failing_left || atomic_load(&failing_left_all)) ||
        !failing_ours(caller))
        return false;
    if (failing_left && !--failing_left)
        failing_reached = true;
    else if (atomic_load(&failing_left_all) > 0 &&
             atomic_fetch_sub(&failing_left_all, 1) == 1)
        atomic_store(&failing_reached_all, true);
    else
        return false;
    errno = ENOMEM;
    return true;
}

FAILING_PLAIN static inline size_t failing_slot(uintptr_t block)
{
    return (block >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 44;
}

FAILING_PLAIN static inline void failing_note(void *block)
{
    for (size_t i = failing_slot((uintptr_t)block);; i++) {
        _Atomic uintptr_t *slot = &failing_blocks[i % FAILING_SLOTS];
        uintptr_t none = atomic_load(slot);

        if (none <= FAILING_GONE &&
            atomic_compare_exchange_strong(slot, &none, (uintptr_t)block))
            break;
    }
    atomic_fetch_add(&failing_live, 1);
}

FAILING_PLAIN static inline void *failing_taken(void *block, const void *caller)
{
    if (block && failing_ours(caller))
        failing_note(block);
    return block;
}

/* Was it one of ours? */
FAILING_PLAIN static inline bool failing_given(void *block)
{
    if (!block || !failing_libraries)
        return false;
    for (size_t i = failing_slot((uintptr_t)block);; i++) {
        _Atomic uintptr_t *slot = &failing_blocks[i % FAILING_SLOTS];
        uintptr_t at = atomic_load(slot);

        if (!at)
            return false;
        if (at == (uintptr_t)block) {
            atomic_store(slot, FAILING_GONE);
            atomic_fetch_sub(&failing_live, 1);
            return true;
        }
    }
}

/*
 * What is behind us: a sanitizer's, or the C library's.  By name, as dlsym may ask
 * for memory itself.
 */
void *__interceptor_malloc(size_t bytes) __attribute__((weak));
void *__interceptor_calloc(size_t count, size_t bytes) __attribute__((weak));
void *__interceptor_realloc(void *old, size_t bytes) __attribute__((weak));
void *__interceptor_aligned_alloc(size_t alignment, size_t bytes)
    __attribute__((weak));
void __interceptor_free(void *block) __attribute__((weak));
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *block);

#define FAILING_REAL(name, other, ...)                        \
    (__interceptor_##name ? __interceptor_##name(__VA_ARGS__) \
                          : __libc_##other(__VA_ARGS__))

FAILING_PLAIN void *malloc(size_t bytes)
{
    const void *caller = __builtin_return_address(0);

    return failing_now(caller)
               ? NULL
               : failing_taken(FAILING_REAL(malloc, malloc, bytes), caller);
}

FAILING_PLAIN void *calloc(size_t count, size_t bytes)
{
    const void *caller = __builtin_return_address(0);

    return failing_now(caller)
               ? NULL
               : failing_taken(FAILING_REAL(calloc, calloc, count, bytes),
                               caller);
}

FAILING_PLAIN void *aligned_alloc(size_t alignment, size_t bytes)
{
    const void *caller = __builtin_return_address(0);

    return failing_now(caller)
               ? NULL
               : failing_taken(
                     FAILING_REAL(aligned_alloc, memalign, alignment, bytes),
                     caller);
}

FAILING_PLAIN void *realloc(void *old, size_t bytes)
{
    const void *caller = __builtin_return_address(0);
    void *block;
    bool was;

    if (failing_now(caller))
        return NULL;
    was = failing_given(old);
    block = FAILING_REAL(realloc, realloc, old, bytes);
    if (!block && was)
        failing_note(old);
    return failing_taken(block, caller);
}

FAILING_PLAIN void free(void *block)
{
    failing_given(block);
    FAILING_REAL(free, free, block);
}

int fallocate(int fd, int mode, off_t offset, off_t bytes)
{
    const void *caller = __builtin_return_address(0);

    if (!(mode & FALLOC_FL_PUNCH_HOLE) && failing_now(caller)) {
        errno = ENOSPC;
        return -1;
    }
    return (int)syscall(SYS_fallocate, fd, mode, offset, bytes);
}

#endif /* TESTS_FAILING_H */
