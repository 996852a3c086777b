/*
 * stubs_engine.c - what code under test calls that the engine does: memory is
 * its memory, and what would be refused or said fails the run.
 */
#include "step.h"

#include "drasync.h"
#include "memory/control.h"
#include "runtime/no_memory.h"
#include "runtime/refused.h"
#include "runtime/say.h"

int control_alloc(const struct space *space, size_t bytes, void **out)
{
    (void)space;
    *out = step_alloc(bytes);
    return 0;
}

void control_free(const struct space *space, void *ptr)
{
    (void)space;
    step_free(ptr, sizeof(uint64_t));
}

int refused_by_system(const char *what, int error)
{
    step_fail("%s (error %d)", what, error);
    return DRASYNC_ELIMIT;
}

void runtime_poison(const char *format, ...)
{
    step_fail("the job is poisoned: %s", format);
}

void runtime_no_memory(const char *to_do, ...)
{
    step_fail("there is no memory to %s", to_do);
}

void runtime_say(const char *format, ...)
{
    step_fail("the runtime says: %s", format);
}
