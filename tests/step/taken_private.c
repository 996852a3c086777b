/* taken_private.c - runtime/native/taken.c, whose notes are each process's own. */
#include "native_world.h"

#include "runtime/native/taken.c"

void world_private_taken(void)
{
    step_private(parts, sizeof(parts));
    step_private(&threads, sizeof(threads));
}
