/* Ranks that die, and the poison that ends the job then: see death.h. */
#include "runtime/death.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory/control.h"
#include "runtime/alive.h"
#include "runtime/peer.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/shared.h"
#include "runtime/start_facts.h"
#include "runtime/start_room.h"
#include "runtime/survive.h"

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

/* How long a rank may take to end that died with a lock; and between looks. */
#define DEATH_TOLD_MS 3000
#define DEATH_NAP_MS  2

/* For what survive_wanted() adds to a line. */
#define DEATH_WHY_BYTES 160

/* A rank of this machine. */
struct death_peer {
    struct process process;
    int32_t rank;
    char host[sizeof(((struct start_facts *)0)->host)];
};

static struct death_peer *peers; /* those on this host, but this rank */
static int peers_count;

/* Held while looking at them. */
static pthread_mutex_t look_mutex = PTHREAD_MUTEX_INITIALIZER;

/* A rank that has ended in order, or whose end is its node's business. */
static bool may_be_gone(const struct death_peer *peer)
{
    if (runtime.node_of[peer->rank] != runtime.node)
        return atomic_load(&runtime.shared->stopped) != 0;
    uint32_t state =
        atomic_load(&runtime.shared->ranks[runtime.local_of[peer->rank]].state);
    return state == RUNTIME_RANK_STOPPED || state == RUNTIME_RANK_EXITED ||
           state == RUNTIME_RANK_BURIED;
}

static bool is_dead(struct death_peer *peer)
{
    return !may_be_gone(peer) && process_ended(&peer->process) &&
           !may_be_gone(peer);
}

static bool has_state(const struct death_peer *peer, uint32_t state)
{
    return runtime.node_of[peer->rank] == runtime.node &&
           atomic_load(
               &runtime.shared->ranks[runtime.local_of[peer->rank]].state) ==
               state;
}

/* The same, or it begins to end. */
static bool is_dying(struct death_peer *peer)
{
    struct runtime_rank *rank;

    if (runtime.node_of[peer->rank] != runtime.node || may_be_gone(peer))
        return is_dead(peer);
    rank = &runtime.shared->ranks[runtime.local_of[peer->rank]];
    if (alive_fell(&rank->alive) && !process_dumps_core(&peer->process))
        return !may_be_gone(peer);
    return is_dead(peer);
}

/* The same, or it was buried, perhaps too soon: it had a lock. */
static bool has_died(struct death_peer *peer)
{
    return has_state(peer, RUNTIME_RANK_BURIED) || is_dying(peer);
}

/* To be buried: also one that left without MPI_Finalize. */
static bool is_gone(struct death_peer *peer)
{
    return is_dead(peer) || (has_state(peer, RUNTIME_RANK_EXITED) &&
                             process_ended(&peer->process));
}

static bool has_ended(struct death_peer *peer)
{
    return process_ended(&peer->process);
}

/* List all dead ranks in @text: the one that died first is among them, as those
 * that died of its death come later. */
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

void death_at_start(void)
{
    static uint64_t looked_us, since_us;
    char text[RUNTIME_POISON_BYTES];
    uint64_t now = runtime_now_us();

    if (now - looked_us < DEATH_LOOK_US)
        return;
    looked_us = now;
    if (gone_at_start(&since_us, text, sizeof(text)))
        runtime_die("%s died during the start", text);
}

void death_start(const struct start_facts *facts)
{
    uint64_t machine_key = facts[runtime.rank].machine_key;
    int count = 0;

    for (int i = 0; i < runtime.ranks; i++)
        count += facts[i].machine_key == machine_key;
    if (count <= 1)
        return;
    peers = start_room_new((size_t)count * sizeof(*peers));
    for (int i = 0; i < runtime.ranks; i++) {
        if (facts[i].machine_key != machine_key || i == runtime.rank)
            continue;
        struct death_peer *peer = &peers[peers_count++];
        peer->process.pid = facts[i].pid;
        peer->process.start_ticks = facts[i].start_ticks;
        peer->rank = i;
        memcpy(peer->host, facts[i].host, sizeof(peer->host));
        process_hold(&peer->process);
    }
}

void death_stop(void)
{
    for (int i = 0; i < peers_count; i++)
        process_drop(&peers[i].process);
    start_room_free(peers);
    peers = NULL;
    peers_count = 0;
}

int death_look(void)
{
    char text[RUNTIME_POISON_BYTES - DEATH_WHY_BYTES];
    bool poisoned = atomic_load(runtime_poisoned);
    const char *why;

    pthread_mutex_lock(&look_mutex);
    int dead = list_dead(poisoned ? has_died : is_dying, text, sizeof(text));
    pthread_mutex_unlock(&look_mutex);
    /* death_bury() does what is to be done. */
    if (!dead || survive_wanted(&why))
        return 0;
    runtime_poison("%s died%s", text, why);
    return DRASYNC_EPEER;
}

/* One that is to be buried, named in @text; -1: none is. */
static int next_gone(char *text, size_t text_bytes)
{
    int rank = -1;

    pthread_mutex_lock(&look_mutex);
    for (int i = 0; i < peers_count && rank < 0; i++) {
        struct death_peer *peer = &peers[i];

        if (!is_gone(peer))
            continue;
        rank = peer->rank;
        snprintf(text, text_bytes, "rank %d (%s, process %d)", peer->rank,
                 peer->host, (int)peer->process.pid);
    }
    pthread_mutex_unlock(&look_mutex);
    return rank;
}

bool death_bury(void)
{
    char text[RUNTIME_POISON_BYTES];
    const char *why;
    int rank;

    while (survive_wanted(&why) && (rank = next_gone(text, sizeof(text))) >= 0)
        survive_bury(rank, text);
    return survive_wanted(&why);
}

int death_next(struct process *out)
{
    const struct death_peer *next = NULL;

    pthread_mutex_lock(&look_mutex);
    /* The peers are in order of their ranks: the next one of this node, or the
     * first. */
    for (int i = 0; i < peers_count; i++)
        if (runtime.node_of[peers[i].rank] == runtime.node &&
            !has_state(&peers[i], RUNTIME_RANK_BURIED) &&
            !has_state(&peers[i], RUNTIME_RANK_STOPPED) &&
            !(has_state(&peers[i], RUNTIME_RANK_EXITED) &&
              process_ended(&peers[i].process)) &&
            (!next ||
             (next->rank < runtime.rank && peers[i].rank > runtime.rank)))
            next = &peers[i];
    if (next)
        *out = next->process;
    pthread_mutex_unlock(&look_mutex);
    return next ? runtime.local_of[next->rank] : -1;
}

/* Waiting for a rank that has left would be for ever. */
static int look_for_exited(uint64_t since_us, uint64_t now)
{
    const char *why;

    if (now - since_us < DEATH_EXITED_US || survive_wanted(&why))
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

void death_told(void)
{
    if (!runtime.shared)
        return;
    for (int i = 0; i < DEATH_TOLD_MS / DEATH_NAP_MS; i++) {
        /* Poisoned by somebody, or just now.  That a line was said is not enough:
         * the dead rank may have said one itself (runtime_told()). */
        if (atomic_load(&runtime.shared->poison_state) || death_look())
            break;
        runtime_await_said(DEATH_NAP_MS);
    }
    if (!atomic_load(&runtime.shared->poison_state))
        runtime_poison("a rank died while it changed shared state");
    runtime_await_said(DEATH_TOLD_MS);
}

int death_check(uint64_t since_us)
{
    struct runtime_shared *shared = runtime.shared;
    uint64_t now = runtime_now_us();

    if (!shared)
        return 0;
    if (atomic_load(runtime_poisoned)) {
        death_told();
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
