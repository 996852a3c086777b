/*
 * private.c - data of which each process, or each thread, has its own: what is in
 * its place belongs to the running thread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

#define PRIVATE_MAX  16
#define LOCALS_BYTES 1024

/* Data of which each process has a copy. */
struct private
{
    char *at;
    size_t bytes;
    char *start; /* as it was before the run */
    char *copy[STEP_THREADS];
};

/* Thread locals of instrumented code lie in a section of their own (instead.h);
 * there may be none. */
extern char locals_start[] __asm__("__start_step_locals") __attribute__((weak));
extern char locals_stop[] __asm__("__stop_step_locals") __attribute__((weak));

static struct private privates[PRIVATE_MAX];
static int privates_count, process_in = -1;
static char locals_first[LOCALS_BYTES], locals[STEP_THREADS][LOCALS_BYTES];

static size_t locals_bytes(void)
{
    return (size_t)(locals_stop - locals_start);
}

void step_private(void *ptr, size_t bytes)
{
    struct private *p = &privates[privates_count++];

    if (privates_count > PRIVATE_MAX)
        abort();
    p->at = ptr;
    p->bytes = bytes;
    p->start = malloc(bytes);
    for (int i = 0; i < STEP_THREADS; i++)
        p->copy[i] = malloc(bytes);
}

void private_process(int process)
{
    if (process == process_in)
        return;
    for (int i = 0; i < privates_count; i++) {
        struct private *p = &privates[i];

        if (process_in >= 0)
            memcpy(p->copy[process_in], p->at, p->bytes);
        if (process >= 0)
            memcpy(p->at, p->copy[process], p->bytes);
    }
    process_in = process;
}

void private_thread(int before, int next)
{
    if (before >= 0)
        memcpy(locals[before], locals_start, locals_bytes());
    if (next >= 0)
        memcpy(locals_start, locals[next], locals_bytes());
    private_process(next < 0 ? -1 : run.scenario->process[next]);
}

void private_begin(void)
{
    static bool known;

    if (!known) {
        if (locals_bytes() > LOCALS_BYTES)
            abort();
        memcpy(locals_first, locals_start, locals_bytes());
        known = true;
    }
    process_in = -1;
    for (int i = 0; i < privates_count; i++)
        memcpy(privates[i].start, privates[i].at, privates[i].bytes);
    for (int i = 0; i < STEP_THREADS; i++)
        memcpy(locals[i], locals_first, locals_bytes());
}

void private_copies(void)
{
    for (int i = 0; i < privates_count; i++)
        for (int n = 0; n < STEP_THREADS; n++)
            memcpy(privates[i].copy[n], privates[i].at, privates[i].bytes);
}

void private_end(void)
{
    process_in = -1;
    for (int i = 0; i < privates_count; i++)
        memcpy(privates[i].at, privates[i].start, privates[i].bytes);
    memcpy(locals_start, locals_first, locals_bytes());
}

uintptr_t private_key(uintptr_t address)
{
    for (int i = 0; i < privates_count; i++)
        if (address - (uintptr_t)privates[i].at < privates[i].bytes)
            return address + ((uintptr_t)(process_in + 1) << 56);
    return address;
}

bool private_is_local(uintptr_t address)
{
    return address - (uintptr_t)locals_start < locals_bytes() ||
           address == (uintptr_t)&errno;
}

void *private_view(void *at, int process)
{
    for (int i = 0; i < privates_count && process != process_in; i++) {
        size_t offset = (size_t)((char *)at - privates[i].at);

        if (offset < privates[i].bytes)
            return privates[i].copy[process] + offset;
    }
    return at;
}
