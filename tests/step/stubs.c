/*
 * stubs.c - what code under test calls where nobody dies and nothing is short.
 * Without the engine: unit tests of the same code link it too.
 */
#include "memory/limit.h"
#include "runtime/death.h"
#include "runtime/thread.h"
#include "runtime/waiting.h"
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

uint64_t sockets_moved(void)
{
    return 0;
}

/* Nobody looks what is waited for. */
void (*waiting_counter)(struct waiting *w, bool begins);
_Thread_local _Atomic uint32_t *waiting_inside_mpi
    __attribute__((tls_model("initial-exec")));
_Thread_local struct waiting *waiting_mine
    __attribute__((tls_model("initial-exec")));

void waiting_hide(struct waiting *w)
{
    (void)w;
}

void waiting_hold_note(uint64_t address)
{
    (void)address;
}

void waiting_hold_forget(uint64_t address)
{
    (void)address;
}

void waiting_several(void)
{
}

void thread_is_ours(void)
{
}
