/*
 * progress_stubs.c - what runtime/messages/progress*.c calls of a node on which
 * nothing else happens.  For tests/unit/progress_help.c too, so without the
 * engine.
 */
#include "drasync.h"
#include "runtime/messages/chores.h"
#include "runtime/messages/dispatch.h"
#include "runtime/say.h"
#include "transport/boot.h"
#include "transport/transport.h"

const struct transport_events dispatch_events;

int boot_min(struct boot *boot, int64_t *value)
{
    (void)boot;
    *value = 0;
    return 0;
}

bool boot_neighbours(const struct boot *boot)
{
    (void)boot;
    return true;
}

const char *boot_failure(void)
{
    return NULL;
}

int dispatch_send(struct transport *t, int node,
                  const struct transport_message *message)
{
    return transport_send(t, node, message);
}

int dispatch_answer(struct transport *t, int rank,
                    const struct transport_message *message)
{
    return transport_send(t, rank, message);
}

uint64_t dispatch_urgent(void)
{
    return 0;
}

void dispatch_counters(const struct transport_counters *counters)
{
    (void)counters;
}

void dispatch_publish(void)
{
}

int shutdown_advance(struct transport *t)
{
    (void)t;
    return 0;
}

int chores_advance(void)
{
    return 0;
}

const char *runtime_poison_text(void)
{
    return "";
}

const char *drasync_strerror(int err)
{
    (void)err;
    return "";
}
