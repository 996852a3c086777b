/*
 * plain.c - who read and wrote what, to find data races and uses of what was
 * given back; and what is to be undone after the run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

#define CELLS_MAX  65536 /* a power of two */
#define UNDO_MAX   65536
#define UNDO_BYTES ((size_t)4 << 20)

/* The last uses of @size bytes at @key. */
struct cell {
    uintptr_t key;
    uint32_t next; /* another one of the same eight bytes, + 1 */
    uint16_t size;
    bool freed, noted; /* noted: what was there before the run */
    int8_t writer;     /* by a plain write; -1: nobody */
    uint32_t write, read[STEP_THREADS], atomic_read[STEP_THREADS],
        atomic_write[STEP_THREADS]; /* clocks */
    uintptr_t write_pc, pc[STEP_THREADS];
};

static struct cell cells[CELLS_MAX];
static uint32_t cells_count;
static struct {
    uint64_t run;
    uint32_t first; /* cell + 1 */
    uintptr_t granule;
} table[CELLS_MAX];

static struct {
    uintptr_t address;
    size_t size, old; /* where in undo_bytes */
} undo[UNDO_MAX];
static char undo_bytes[UNDO_BYTES];
static size_t undo_count, undo_used;

/* The program's static data; what is between is ours or the library's. */
extern char data_start[] __asm__("__data_start");
extern char data_end[] __asm__("_end");

void plain_reset(void)
{
    cells_count = 0;
    undo_count = undo_used = 0;
}

static uint32_t *slot_of(uintptr_t granule)
{
    uint64_t h = (granule * UINT64_C(0x9e3779b97f4a7c15)) >> 48;

    for (;; h = (h + 1) % CELLS_MAX) {
        if (table[h].run != run.number) {
            table[h].run = run.number;
            table[h].granule = granule;
            table[h].first = 0;
        }
        if (table[h].granule == granule)
            return &table[h].first;
    }
}

/* Before the first write: what is there. */
static void note_undo(uintptr_t address, size_t size)
{
    if (address < (uintptr_t)data_start || address >= (uintptr_t)data_end)
        return;
    if (undo_count == UNDO_MAX || size > UNDO_BYTES - undo_used) {
        step_fail("the scenario writes too much static data");
        return;
    }
    undo[undo_count].address = address;
    undo[undo_count].size = size;
    undo[undo_count++].old = undo_used;
    memcpy(undo_bytes + undo_used, (const void *)address, size);
    undo_used += size;
}

void plain_undo(void)
{
    while (undo_count) {
        undo_count--;
        memcpy((void *)undo[undo_count].address,
               undo_bytes + undo[undo_count].old, undo[undo_count].size);
    }
}

static struct cell *cell_of(uint32_t *first, uintptr_t key, size_t size)
{
    struct cell *c;

    for (uint32_t i = *first; i; i = c->next) {
        c = &cells[i - 1];
        if (c->key == key && c->size == size)
            return c;
    }
    if (cells_count == CELLS_MAX / 2) {
        step_fail("the scenario uses too much memory");
        cells_count = 0;
    }
    c = &cells[cells_count++];
    *c = (struct cell){
        .key = key, .size = (uint16_t)size, .writer = -1, .next = *first};
    *first = cells_count;
    return c;
}

static void race(const struct cell *c, int other, uintptr_t other_pc,
                 const char *what)
{
    run.other_pc = other_pc;
    if (c->freed)
        step_fail("the memory was given back by thread %d", other);
    step_fail("data race: nothing orders this after %s by thread %d", what,
              other);
}

/* The running thread uses what @c is about: is all ordered that must be? */
static void check(const struct cell *c, bool writes, bool atomic, uintptr_t pc)
{
    const struct view *now = memory_now(run.self);

    run.here_pc = pc;
    if (c->writer >= 0 && (c->writer != run.self || c->freed) &&
        (c->freed || c->write > now->clock[c->writer]))
        race(c, c->writer, c->write_pc, "the write");
    for (int i = 0; i < STEP_THREADS; i++) {
        if (i == run.self)
            continue;
        if (!atomic && c->atomic_write[i] > now->clock[i])
            race(c, i, c->pc[i], "the atomic write");
        if (writes && c->read[i] > now->clock[i])
            race(c, i, c->pc[i], "the read");
        if (writes && !atomic && c->atomic_read[i] > now->clock[i])
            race(c, i, c->pc[i], "the atomic read");
    }
}

static void note(struct cell *c, enum plain_how how, bool atomic, uintptr_t pc)
{
    uint32_t clock = memory_now(run.self)->clock[run.self];

    c->pc[run.self] = pc;
    if (how == PLAIN_READ) {
        (atomic ? c->atomic_read : c->read)[run.self] = clock;
        return;
    }
    if (atomic) {
        c->atomic_write[run.self] = clock;
        return;
    }
    c->writer = (int8_t)run.self;
    c->write = clock;
    c->write_pc = pc;
    c->freed = how == PLAIN_FREE;
}

/* Within eight aligned bytes. */
static void access_one(uintptr_t address, size_t size, enum plain_how how,
                       bool atomic, uintptr_t pc)
{
    uintptr_t key = private_key(address);
    uint32_t *first = slot_of(key / 8);
    struct cell *mine = cell_of(first, key, size);

    if (how == PLAIN_WRITE && !mine->noted) {
        note_undo(address, size);
        mine->noted = true;
    }
    for (uint32_t i = *first; i; i = cells[i - 1].next)
        if (cells[i - 1].key < key + size &&
            key < cells[i - 1].key + cells[i - 1].size)
            check(&cells[i - 1], how != PLAIN_READ, atomic, pc);
    note(mine, how, atomic, pc);
}

void plain_access(uintptr_t address, size_t bytes, enum plain_how how,
                  bool atomic, uintptr_t pc)
{
    if (!run.on || run_is_stack(address) || private_is_local(address))
        return;
    if (run.self < 0) {
        if (how == PLAIN_WRITE)
            note_undo(address, bytes);
        return;
    }
    while (bytes) {
        size_t size = 8 - address % 8;

        if (size > bytes)
            size = bytes;
        access_one(address, size, how, atomic, pc);
        address += size;
        bytes -= size;
    }
}

void plain_forget(uintptr_t address, size_t bytes)
{
    uintptr_t key = private_key(address);

    for (uintptr_t g = key / 8; g <= (key + bytes - 1) / 8; g++)
        for (uint32_t i = *slot_of(g); i; i = cells[i - 1].next) {
            struct cell *c = &cells[i - 1];

            if (c->key - key >= bytes)
                continue;
            c->writer = -1;
            c->freed = false;
            memset(c->read, 0, sizeof(c->read));
            memset(c->atomic_read, 0, sizeof(c->atomic_read));
            memset(c->atomic_write, 0, sizeof(c->atomic_write));
        }
}

void step_free(void *ptr, size_t bytes)
{
    plain_access((uintptr_t)ptr, bytes, PLAIN_FREE, false,
                 (uintptr_t)__builtin_return_address(0));
}

void step_fresh(void *ptr, size_t bytes)
{
    plain_forget((uintptr_t)ptr, bytes);
    memory_forget((uintptr_t)ptr, bytes);
}
