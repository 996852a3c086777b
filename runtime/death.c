/* Ranks that die, and the poison that ends the job then: see death.h. */
#include "runtime/death.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "memory/control.h"
#include "runtime/peer.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/shared.h"
#include "runtime/start.h"
#include "runtime/wait.h"

/* Somebody of the node looks this often. */
#define DEATH_LOOK_US 150000

/* How long a rank may wait after another left without MPI_Finalize. */
#define DEATH_EXITED_US 5000000

/* How long a process must have been gone during the start.  A rank that leaves
 * after a start that all of them give up may be quicker than another is in
 * hearing of that. */
#define DEATH_START_US 2000000

/* How much later others say it than the lowest rank that lives. */
#define DEATH_SAY_US 1000000

/* A rank of this host. */
struct death_peer {
    uint64_t host_key;
    struct process process;
    int32_t rank;
    char host[48];
};

static struct death_peer *peers; /* those on this host, but this rank */
static int peers_count;

/* Held while looking at them. */
static pthread_mutex_t look_mutex = PTHREAD_MUTEX_INITIALIZER;

/* The thread that watches during the start. */
static pthread_t watch;
static bool watching;
static _Atomic uint32_t watch_over;

/* A rank that has ended in order, or whose end is its node's business. */
static bool may_be_gone(const struct death_peer *peer)
{
    if (runtime.node_of[peer->rank] != runtime.node)
        return atomic_load(&runtime.shared->stopped) != 0;
    uint32_t state =
        atomic_load(&runtime.shared->ranks[runtime.local_of[peer->rank]].state);
    return state == RUNTIME_RANK_STOPPED || state == RUNTIME_RANK_EXITED;
}

static bool is_dead(struct death_peer *peer)
{
    return !may_be_gone(peer) && process_ended(&peer->process) &&
           !may_be_gone(peer);
}

static bool has_ended(struct death_peer *peer)
{
    return process_ended(&peer->process);
}

/* Who is @dead, as a list in @text.  All of them: those that died of the first
 * one's death come later. */
static int list_dead(bool (*dead)(struct death_peer *peer), char *text,
                     size_t text_bytes)
{
    size_t length = 0;
    int count = 0;

    for (int i = 0; i < peers_count; i++) {
        struct death_peer *peer = &peers[i];
        if (!dead(peer))
            continue;
        count++;
        if (length + 128 < text_bytes)
            length += (size_t)snprintf(text + length, text_bytes - length,
                                       "%srank %d (%s, process %d)",
                                       count > 1 ? ", " : "", peer->rank,
                                       peer->host, (int)peer->process.pid);
    }
    return count;
}

/* During the start: is a rank of this host gone, for long enough to be sure? */
static bool gone_at_start(uint64_t *since_us, char *text, size_t text_bytes)
{
    uint64_t now = runtime_now_us(), patience = DEATH_START_US;
    int dead;

    pthread_mutex_lock(&look_mutex);
    dead = list_dead(has_ended, text, text_bytes);
    for (int i = 0; i < peers_count && dead; i++) {
        if (peers[i].rank < runtime.rank && !has_ended(&peers[i]))
            patience = DEATH_START_US + DEATH_SAY_US;
    }
    pthread_mutex_unlock(&look_mutex);
    if (!dead || !*since_us)
        *since_us = dead ? now : 0;
    return dead && now - *since_us >= patience;
}

static void *watch_main(void *unused)
{
    char text[RUNTIME_POISON_BYTES];
    uint64_t since_us = 0;

    (void)unused;
    prctl(PR_SET_NAME, "drasync");
    /* Set by death_started(), which waits until this thread has ended. */
    while (!atomic_load(&watch_over)) {
        wait_futex(&watch_over, 0, runtime_now_us() + DEATH_LOOK_US);
        if (gone_at_start(&since_us, text, sizeof(text)) &&
            !atomic_load(&watch_over))
            runtime_die("%s died during the start", text);
    }
    return NULL;
}

/* A start without this thread is as good, but for the dead. */
static void watch_start(void)
{
    sigset_t all, before;

    atomic_store(&watch_over, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    watching = !pthread_create(&watch, NULL, watch_main, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void death_started(void)
{
    if (!watching)
        return;
    watching = false;
    atomic_store(&watch_over, 1);
    wait_futex_wake(&watch_over, 1);
    pthread_join(watch, NULL);
}

int death_start(struct boot *boot, uint64_t host_key)
{
    struct death_peer self = {.host_key = host_key,
                              .rank = runtime.rank,
                              .process = {.pid = getpid(), .fd = -1}};
    struct death_peer *all = calloc((size_t)runtime.ranks, sizeof(*all));
    int err = runtime_agree(all ? 0 : DRASYNC_ENOMEM);

    if (err) {
        free(all);
        return err;
    }
    self.process.start_ticks = process_start_ticks(self.process.pid);
    snprintf(self.host, sizeof(self.host), "%.47s", runtime.host);
    err = boot_allgather(boot, BOOT_ALL, &self, all, sizeof(self));
    if (err) {
        free(all);
        return err;
    }
    for (int i = 0; i < runtime.ranks; i++) {
        if (all[i].host_key != host_key || i == runtime.rank)
            continue;
        all[peers_count] = all[i];
        process_hold(&all[peers_count++].process);
    }
    peers = all;
    if (peers_count)
        watch_start();
    return 0;
}

void death_stop(void)
{
    for (int i = 0; i < peers_count; i++)
        process_drop(&peers[i].process);
    free(peers);
    peers = NULL;
    peers_count = 0;
}

int death_look(void)
{
    char text[RUNTIME_POISON_BYTES - 32];

    pthread_mutex_lock(&look_mutex);
    int dead = list_dead(is_dead, text, sizeof(text));
    pthread_mutex_unlock(&look_mutex);
    if (dead)
        runtime_poison("%s died", text);
    return dead ? DRASYNC_EPEER : 0;
}

/* Waiting for a rank that has left would be for ever. */
static int look_for_exited(uint64_t since_us, uint64_t now)
{
    if (now - since_us < DEATH_EXITED_US)
        return 0;
    for (uint32_t i = 0; i < runtime.shared->locals; i++) {
        struct runtime_rank *peer = &runtime.shared->ranks[i];
        if (atomic_load(&peer->state) != RUNTIME_RANK_EXITED)
            continue;
        runtime_poison("rank %d left without MPI_Finalize while others waited",
                       (int)peer->rank);
        return DRASYNC_EPEER;
    }
    return 0;
}

int death_check(uint64_t since_us)
{
    struct runtime_shared *shared = runtime.shared;
    uint64_t now = runtime_now_us();

    if (!shared)
        return 0;
    if (atomic_load(runtime_poisoned)) {
        /* Set by a lock whose holder died: find out who that was. */
        if (!atomic_load(&shared->poison_state) && !death_look())
            runtime_poison("a rank died while it changed shared state");
        return DRASYNC_EPEER;
    }
    uint64_t last = atomic_load(&shared->last_look_us);
    if (now - last >= DEATH_LOOK_US &&
        atomic_compare_exchange_strong(&shared->last_look_us, &last, now) &&
        death_look())
        return DRASYNC_EPEER;
    return look_for_exited(since_us, now);
}

int death_refused(int err)
{
    int dead = death_check(runtime_now_us());

    return dead ? dead : err;
}
