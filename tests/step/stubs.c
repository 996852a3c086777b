/*
 * stubs.c - what code under test calls where nobody dies and nothing is short.
 * Without the engine: unit tests of the same code link it too.
 */
#include "memory/limit.h"
#include "runtime/death.h"
#include "transport/sockets.h"

void limit_reserve_enter(void)
{
}

void limit_reserve_leave(void)
{
}

int death_check(uint64_t since_us)
{
    (void)since_us;
    return 0;
}

int death_refused(int err)
{
    return err;
}

int sockets_find_sets(int *sets_out, int sets_max)
{
    (void)sets_out;
    (void)sets_max;
    return 0;
}
