#include "runtime/death.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory/control.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/shared.h"

/* Somebody of the node looks this often. */
#define DEATH_LOOK_US 150000

/* How long a rank may wait after another left without MPI_Finalize. */
#define DEATH_EXITED_US 5000000

/* A rank of this host. */
struct death_peer {
    uint64_t host_key;
    uint64_t start_ticks;
    int32_t pid;
    int32_t rank;
    char host[48];
};

static struct death_peer *peers; /* those on this host, but this rank */
static int peers_count;

uint64_t death_start_ticks(int pid)
{
    char path[32], text[512];
    unsigned long long ticks = 0;
    char state = 0;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t got = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (got <= 0)
        return 0;
    text[got] = 0;
    /* The name, in parentheses, may hold anything; field 3 comes after it. */
    const char *rest = strrchr(text, ')');
    if (!rest || sscanf(rest + 1,
                        " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                        "%*s %*s %*s %*s %*s %*s %llu",
                        &state, &ticks) != 2)
        return 0;
    return state == 'Z' || state == 'X' ? 0 : ticks;
}

int death_start(struct boot *boot, uint64_t host_key, int err)
{
    struct death_peer self = {.host_key = host_key, .rank = runtime.rank};
    struct death_peer *all = calloc((size_t)runtime.ranks, sizeof(*all));

    err = runtime_agree(err || all ? err : DRASYNC_ENOMEM);
    if (err) {
        free(all);
        return err;
    }
    self.pid = getpid();
    self.start_ticks = death_start_ticks(self.pid);
    snprintf(self.host, sizeof(self.host), "%.47s", runtime.host);
    err = boot_allgather(boot, BOOT_ALL, &self, all, sizeof(self));
    if (err) {
        free(all);
        return err;
    }
    struct runtime_rank *slot = runtime_self();
    slot->pid = self.pid;
    slot->start_ticks = self.start_ticks;
    for (int i = 0; i < runtime.ranks; i++) {
        if (all[i].host_key == host_key && i != runtime.rank)
            all[peers_count++] = all[i];
    }
    peers = all;
    return 0;
}

void death_stop(void)
{
    free(peers);
    peers = NULL;
    peers_count = 0;
}

/* A rank that has ended in order, or whose end is its node's business. */
static bool may_be_gone(const struct death_peer *peer)
{
    if (runtime.node_of[peer->rank] != runtime.node)
        return atomic_load(&runtime.shared->stopped) != 0;
    uint32_t state =
        atomic_load(&runtime.shared->ranks[runtime.local_of[peer->rank]].state);
    return state == RUNTIME_RANK_STOPPED || state == RUNTIME_RANK_EXITED;
}

static bool is_dead(const struct death_peer *peer)
{
    return !may_be_gone(peer) &&
           death_start_ticks(peer->pid) != peer->start_ticks &&
           !may_be_gone(peer);
}

int death_look(void)
{
    char text[RUNTIME_POISON_BYTES - 32];
    size_t length = 0;
    int dead = 0;

    /* All of them: those that died of the first one's death come later. */
    for (int i = 0; i < peers_count; i++) {
        const struct death_peer *peer = &peers[i];
        if (!is_dead(peer))
            continue;
        dead++;
        if (length + 128 < sizeof(text))
            length += (size_t)snprintf(text + length, sizeof(text) - length,
                                       "%srank %d (%s, process %d)",
                                       dead > 1 ? ", " : "", peer->rank,
                                       peer->host, (int)peer->pid);
    }
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
