/*
 * The progress thread of a node, which keeps its leader's engine going: its
 * loop, and how it starts and ends.
 */
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "memory/limit.h"
#include "runtime/death.h"
#include "runtime/messages/dispatch.h"
#include "runtime/messages/messages.h"
#include "runtime/messages/outbox.h"
#include "runtime/messages/progress.h"
#include "runtime/messages/progress_idle.h"
#include "runtime/messages/progress_state.h"
#include "runtime/messages/progress_turns.h"
#include "runtime/process.h"
#include "runtime/refused.h"
#include "runtime/say.h"
#include "runtime/shared.h"
#include "runtime/thread.h"
#include "transport/sockets.h"

/* How long a poisoned job may take to end by itself. */
#define PROGRESS_POISONED_US 5000000

/* As many nodes tell each other directly. */
#define POISON_NODES_ALL 16

/* How long a process that exits without MPI_Finalize serves on. */
#define PROGRESS_ABANDON_US 1000000

/* And how long it waits for that. */
#define ABANDON_S_MAX 3

static pthread_t thread;
static uint64_t poison_told_us; /* 0: the other nodes do not know */

/* Does a thread of this node wait for what other nodes send?  A hint for how
 * long to sleep: relaxed would do. */
static bool waited(void)
{
    return atomic_load(&runtime.shared->outbox.remote_waits) > 0 ||
           atomic_load(&runtime.shared->quiesced) == runtime.shared->locals ||
           !transport_still(progress.transport);
}

/*
 * Each node tells others once, of its own poison or of another node's.  Where
 * there are many, those whose numbers are a power of two further on: who is told
 * goes on, so all know after as many steps as the number of nodes has bits, also
 * if some of them are dead; and nobody opens connections to all of them.
 */
static int poison_next(int nodes, int told)
{
    return nodes <= POISON_NODES_ALL ? told + 1 : told * 2;
}

/* Tell other nodes, once; end the job if it does not end by itself.  This
 * also ends ranks that wait inside MPI for the one that died. */
static void poisoned(uint64_t now)
{
    /* A lock whose holder died sets the flag before anybody knows which rank
     * that was.  Acquire pairs with poison_node() of say.c: the text is
     * whole. */
    if (atomic_load(&runtime.shared->poison_state) != 2)
        return;
    if (!poison_told_us) {
        const char *text = runtime_poison_text();
        struct transport_message message = {.kind = RUNTIME_KIND_POISON,
                                            .header = text,
                                            .header_bytes = strlen(text)};
        poison_told_us = now;
        for (int next = 1; next < runtime.nodes;
             next = poison_next(runtime.nodes, next))
            dispatch_send(progress.transport,
                          (runtime.node + next) % runtime.nodes, &message);
    } else if (now - poison_told_us > PROGRESS_POISONED_US) {
        runtime_die("the job does not end by itself after: %s",
                    runtime_poison_text());
    }
}

/* Acquire of `abandoned` pairs with the store in progress_join(), whose thread
 * had seen the poison: this one sees that too, and tells the other nodes first.
 * Where a rank exits alone, or the start fails, there need not be one. */
static bool may_end(uint64_t now, uint64_t *abandoned_us)
{
    if (shutdown_over() && outbox_empty() && transport_idle(progress.transport))
        return true;
    if (!atomic_load(&progress.abandoned) ||
        (atomic_load(runtime_poisoned) && !poison_told_us))
        return false;
    if (!*abandoned_us)
        *abandoned_us = now;
    return (outbox_empty() && transport_idle(progress.transport)) ||
           now - *abandoned_us > PROGRESS_ABANDON_US;
}

static void *progress_main(void *unused)
{
    uint64_t now = runtime_now_us(), looked = now, mine = now, left = 0;
    bool over = false;

    (void)unused;
    thread_is_ours();
    limit_reserve_enter();
    prctl(PR_SET_NAME, "drasync");
    prctl(PR_SET_TIMERSLACK, 1000UL);
    progress_short_slice();
    idle_note(now);
    while (!over) {
        turns_take_kept();
        uint64_t urgent = dispatch_urgent();
        int moved = progress_turn(progress_late_due(runtime_now_us()));
        now = runtime_now_us();
        if (moved) {
            idle_note(now);
            mine = now;
        }
        idle_turned(now, moved > 0, urgent, dispatch_urgent());
        bool again = progress.again;
        if (now - looked > PROGRESS_LOOK_US) {
            death_check(now);
            looked = now;
        }
        if (atomic_load_explicit(runtime_poisoned, memory_order_relaxed))
            poisoned(now);
        over = may_end(now, &left);
        uint64_t active = idle_noted();
        bool idle = !moved && !over, by = idle && waited();
        bool moves = idle && !transport_still(progress.transport);
        uint64_t due = progress_late_us();
        turns_give();
        if (idle)
            idle_pause(now, active, mine, by, moves, again ? now : due);
    }
    dispatch_publish();
    if (shutdown_over()) {
        /* Release pairs with wait_for_all() of stop.c. */
        atomic_store(&runtime.shared->stopped, 1);
        doorbell_ring(&runtime.shared->stop_doorbell);
    }
    return NULL;
}

/* Collective over the leaders. */
static int listen_to_sockets(struct boot *boot)
{
    int64_t all = 0;
    uint64_t before = sockets_moved();
    int err = boot_min(boot, &all); /* connects each of them */

    /* Each has sent something: over sockets, or those there are are not MPI's. */
    if (!boot_neighbours(boot) && sockets_moved() != before)
        idle_listen();
    all = progress_on_sockets();
    if (!err)
        err = boot_min(boot, &all);
    /* Relaxed would do: other ranks go on only after start_page_conclude(). */
    atomic_store(&runtime.shared->on_sockets, all == 1);
    return err;
}

/* No thread uses the transport any more. */
static void close_all(void)
{
    /* When the job is poisoned this process ends next, and MPI may wait for
     * ever for what a host that is gone was sending.  A hint: relaxed would
     * do. */
    if (!atomic_load(runtime_poisoned))
        transport_close(progress.transport);
    progress.transport = NULL;
    idle_close();
}

int progress_start(struct boot *boot)
{
    if (runtime.nodes == 1 || !runtime.leader)
        return 0;
    int err = progress_transport(boot, false);
    int met = listen_to_sockets(boot);
    if (!err)
        err = met;
    if (!err)
        err = idle_open();
    if (err)
        goto close;
    progress.thread = true;
    dispatch_counters(&progress.transport->counters);
    err = thread_create(&thread, progress_main, NULL);
    if (err) {
        err = refused_by_system("no progress thread", err);
        goto close;
    }
    turns_open();
    return 0;

close:
    close_all();
    return err;
}

void progress_join(void)
{
    if (!turns_opened())
        return;
    if (atomic_load(runtime_poisoned))
        atomic_store(&progress.abandoned, true);
    turns_close();
    if (progress.thread)
        pthread_join(thread, NULL);
    close_all();
}

/* Wait for the progress thread, but not for ever: it may be in a function of
 * the program that it runs for another node. */
static void await_end(void)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += ABANDON_S_MAX;
    pthread_timedjoin_np(thread, NULL, &until);
}

void progress_abandon(void)
{
    if (!turns_opened() || !progress.thread)
        return;
    atomic_store(&progress.abandoned, true);
    progress_leave();
    outbox_wake();
    await_end();
}

void progress_undo(void)
{
    if (!turns_opened())
        return;
    atomic_store(&progress.abandoned, true);
    progress_leave();
    outbox_wake();
    /* No function of the program runs yet. */
    if (progress.thread)
        pthread_join(thread, NULL);
    close_all();
}
