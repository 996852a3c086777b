/* Biased locks: one thread comes and goes with a store and a load, others with
 * a barrier.  Threads of a process, then processes. */
#include "memory_common.h"

#include "memory/biased_lock.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define OWNER_ROUNDS 300000
#define OTHER_ROUNDS 2000
#define MINE         UINT64_C(7)
#define INSIDE       UINT64_C(1)

static const uint64_t mine = MINE;

/* What a lock guards, and its mutex, bias and the owner's word. */
struct guarded {
    pthread_mutex_t mutex;
    enum biased_scope scope;
    struct biased_owner owner;
    _Alignas(64) _Atomic uint64_t inside; /* odd: it is; else twice the times */
    _Alignas(64) _Atomic uint64_t bias;
    _Alignas(64) volatile uint64_t first, second;
    _Atomic uint32_t ready, wrong, fast;
};

static void guarded_init(struct guarded *g, enum biased_scope scope)
{
    pthread_mutexattr_t shared;

    memset(g, 0, sizeof(*g));
    g->scope = scope;
    REQUIRE(!pthread_mutexattr_init(&shared) &&
            !pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED) &&
            !pthread_mutex_init(&g->mutex, &shared));
}

/* Two writes that somebody else would come between. */
static void change(struct guarded *g)
{
    uint64_t now = g->first;

    if (now != g->second)
        atomic_store(&g->wrong, 1);
    g->first = now + 1;
    g->second = now + 1;
}

static void own(struct guarded *g)
{
    uint64_t turn = 0;

    g->owner = biased_self();
    atomic_store(&g->ready, 1);
    for (int i = 0; i < OWNER_ROUNDS; i++) {
        if (biased_enter(&g->inside, turn + 1, turn, &g->bias, &mine)) {
            change(g);
            turn += 2;
            biased_leave(&g->inside, turn);
        } else {
            pthread_mutex_lock(&g->mutex);
            change(g);
            atomic_store_explicit(&g->bias, MINE, memory_order_relaxed);
            pthread_mutex_unlock(&g->mutex);
        }
    }
    atomic_store(&g->fast, turn > 0);
    atomic_store(&g->ready, 2);
}

static int take_back(struct guarded *g)
{
    int err;

    atomic_store(&g->bias, 0);
    err = biased_barrier(g->scope);
    return err ? err : biased_wait(&g->owner, &g->inside, INSIDE, INSIDE, NULL);
}

/* Until the owner is done, and often enough. */
static uint64_t disturb(struct guarded *g)
{
    uint64_t rounds = 0;

    while (!atomic_load(&g->ready))
        sched_yield();
    while (rounds < OTHER_ROUNDS && atomic_load(&g->ready) != 2) {
        pthread_mutex_lock(&g->mutex);
        if (take_back(g))
            atomic_store(&g->wrong, 1);
        change(g);
        pthread_mutex_unlock(&g->mutex);
        rounds++;
    }
    return rounds;
}

static void *own_thread(void *g)
{
    own(g);
    return NULL;
}

static int is_whole(const struct guarded *g, uint64_t disturbed)
{
    return !atomic_load(&g->wrong) && g->first == g->second &&
           g->first == OWNER_ROUNDS + disturbed;
}

static void threads(void)
{
    static struct guarded g;
    pthread_t owner;
    uint64_t rounds;

    guarded_init(&g, BIASED_PROCESS);
    REQUIRE(!pthread_create(&owner, NULL, own_thread, &g));
    rounds = disturb(&g);
    REQUIRE(!pthread_join(owner, NULL));
    tap_ok(is_whole(&g, rounds) && atomic_load(&g.fast),
           "owner and others exclude each other, in one process");
}

static void processes(void)
{
    struct guarded *g = mmap(NULL, sizeof(*g), PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t rounds;
    pid_t owner;

    REQUIRE(g != MAP_FAILED);
    guarded_init(g, BIASED_NODE);
    owner = fork();
    REQUIRE(owner >= 0);
    if (!owner) {
        int err = biased_open(BIASED_NODE);

        own(g);
        _exit(err ? 1 : 0);
    }
    rounds = disturb(g);
    REQUIRE(waitpid(owner, NULL, 0) == owner);
    tap_ok(is_whole(g, rounds) && atomic_load(&g->fast),
           "owner and others exclude each other, in two processes");

    /* One that dies inside. */
    guarded_init(g, BIASED_NODE);
    atomic_store(&g->bias, MINE);
    owner = fork();
    REQUIRE(owner >= 0);
    if (!owner) {
        g->owner = biased_self();
        _exit(!biased_enter(&g->inside, INSIDE, 0, &g->bias, &mine));
    }
    REQUIRE(waitpid(owner, NULL, 0) == owner);
    tap_ok(take_back(g) == DRASYNC_EPEER,
           "an owner whose process ended inside is not waited for");
    REQUIRE(!munmap(g, sizeof(*g)));
}

static void words(void)
{
    _Atomic uint64_t inside = 4, bias = MINE;

    tap_ok(biased_enter(&inside, 5, 4, &bias, &mine) && inside == 5,
           "an owner that has the bias is in");
    biased_leave(&inside, 6);
    tap_ok(inside == 6, "and leaves with the word it says");
    bias = 0;
    tap_ok(!biased_enter(&inside, 7, 6, &bias, &mine) && inside == 6,
           "one that has it no more is not, and its word is as it was");
}

/* Ends without the C library, which would run what a thread has for its end. */
static void *end_inside(void *arg)
{
    struct guarded *g = arg;

    g->owner = biased_self();
    REQUIRE(biased_enter(&g->inside, INSIDE, 0, &g->bias, &mine));
    syscall(SYS_exit, 0);
    return NULL;
}

static void thread_gone(void)
{
    static struct guarded g;
    pthread_t owner;

    guarded_init(&g, BIASED_PROCESS);
    atomic_store(&g.bias, MINE);
    REQUIRE(!pthread_create(&owner, NULL, end_inside, &g));
    while (!atomic_load(&g.inside))
        sched_yield();
    tap_ok(take_back(&g) == DRASYNC_EPEER,
           "an owner whose thread ended inside is not waited for");
}

static int looks;

static int look(uint64_t since_us)
{
    (void)since_us;
    return ++looks < 3 ? 0 : DRASYNC_EDELETED;
}

static void looked_at(void)
{
    const struct biased_owner self = biased_self();
    _Atomic uint64_t inside = INSIDE;

    tap_ok(biased_wait(&self, &inside, INSIDE, INSIDE, look) ==
                   DRASYNC_EDELETED &&
               looks == 3,
           "a waiter ends when it is told that there is no point");
}

/* The filter lets everything but membarrier through. */
static int without_membarrier(const struct space *space, int index)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = {.len = sizeof(code) / sizeof(code[0]),
                                      .filter = code};

    (void)space;
    (void)index;
    if (biased_open(BIASED_PROCESS) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
        return 1;
    return biased_barrier(BIASED_PROCESS) == DRASYNC_EINTERNAL &&
                   biased_open(BIASED_NODE) == DRASYNC_EINTERNAL
               ? 0
               : 1;
}

int main(void)
{
    words();
    looked_at();
    if (biased_open(BIASED_PROCESS) || biased_open(BIASED_NODE)) {
        tap_skip("owner and others", "this kernel has no membarrier");
        return tap_end();
    }
    threads();
    processes();
    thread_gone();
    tap_ok(in_processes(NULL, 1, without_membarrier),
           "a barrier that the system refuses is an error");
    return tap_end();
}
