/*
 * mark.h - what a program in the guest tells the plugin that counts accesses.
 *
 * A plugin of QEMU 7.2 sees addresses, no values: so each byte of a message is
 * an access to an address of its own in one page range that nothing else uses.
 * One thread at a time.
 */
#ifndef UPM_GUEST_MARK_H
#define UPM_GUEST_MARK_H

#include <stdint.h>
#include <sys/mman.h>

#define MARK_BASE       0x310000000000ull
#define MARK_ROWS       16 /* the bytes of a window: its start, its length */
#define MARK_ROW_BYTES  256
#define MARK_COMMAND    (MARK_BASE + MARK_ROWS * MARK_ROW_BYTES)
#define MARK_BASE_BYTES (2 * MARK_ROWS * MARK_ROW_BYTES)

enum mark_command {
    MARK_WINDOW,    /* the rows: count accesses to this window too */
    MARK_ITERATION, /* an iteration ends */
    MARK_END,       /* a run ends: its windows too */
};

static inline void mark_touch(uint64_t address)
{
    (void)*(const volatile char *)(uintptr_t)address;
}

/* 0, or -1 where the addresses are taken. */
static inline int mark_open(void)
{
    void *at = (void *)(uintptr_t)MARK_BASE;

    return mmap(at, MARK_BASE_BYTES, PROT_READ,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == at
               ? 0
               : -1;
}

static inline void mark_window(const void *start, uint64_t bytes)
{
    uint64_t words[2] = {(uint64_t)(uintptr_t)start, bytes};

    for (unsigned i = 0; i < MARK_ROWS; i++) {
        mark_touch(MARK_BASE + i * MARK_ROW_BYTES +
                   ((words[i / 8] >> (8 * (i % 8))) & 0xff));
    }
    mark_touch(MARK_COMMAND + MARK_WINDOW);
}

static inline void mark_iteration(void)
{
    mark_touch(MARK_COMMAND + MARK_ITERATION);
}

static inline void mark_end(void)
{
    mark_touch(MARK_COMMAND + MARK_END);
}

#endif /* UPM_GUEST_MARK_H */
