/* Each thread's magazines: made, counted, and given up when it ends or forks:
 * see magazine.h. */
#include "runtime/native/magazine.h"

#include <pthread.h>
#include <sys/mman.h>

#include "runtime/native/recycle.h"
#include "runtime/native/state.h"
#include "runtime/process.h"
#include "runtime/record/record.h"
#include "runtime/thread.h"

_Thread_local struct native_magazines *native_magazines_mine
    __attribute__((tls_model("initial-exec")));

char native_magazine_marks[3];

/* Of nobody: any thread may find that it is not open, whatever it asks for. */
static struct native_magazine never_open = {.region = NATIVE_MAGAZINE_NEVER};

_Thread_local struct native_magazine *native_magazine_last
    __attribute__((tls_model("initial-exec"))) = &never_open;

static _Atomic(struct native_magazines *) all;
static bool possible; /* the kernel has what it takes */

/* What the fast path has allocated, for the rank's counter. */
static void count_allocations(struct native_magazines *magazines)
{
    uint64_t before =
        atomic_load_explicit(&magazines->counted, memory_order_relaxed);
    uint64_t now = 0;

    for (int i = 0; i < NATIVE_MAGAZINES; i++)
        now += atomic_load_explicit(&magazines->magazine[i].uses,
                                    memory_order_relaxed) /
               2;
    /* Another thread may have counted later than this one looked. */
    if (now > before &&
        atomic_compare_exchange_strong(&magazines->counted, &before, now))
        runtime_count(native.self, RUNTIME_COUNT_ALLOCATIONS, now - before);
}

/* And freed. */
static void count_frees(struct native_magazines *magazines)
{
    uint64_t before =
        atomic_load_explicit(&magazines->frees_counted, memory_order_relaxed);
    uint64_t now = 0;

    for (int i = 0; i < NATIVE_MAGAZINES; i++)
        now += atomic_load_explicit(&magazines->magazine[i].freeing,
                                    memory_order_relaxed) /
               2;
    if (now > before &&
        atomic_compare_exchange_strong(&magazines->frees_counted, &before, now))
        runtime_count(native.self, RUNTIME_COUNT_FREES, now - before);
}

void native_magazines_count_in(struct native_magazines *magazines)
{
    count_allocations(magazines);
    count_frees(magazines);
}

void native_magazines_count(void)
{
    for (struct native_magazines *w = atomic_load(&all); w; w = w->next)
        native_magazines_count_in(w);
}

struct native_magazines *native_magazines_all(void)
{
    return atomic_load(&all);
}

/* Those of a thread that has ended, or new ones; NULL: no memory. */
static struct native_magazines *windows_new(void)
{
    struct native_magazines *w;

    for (w = atomic_load(&all); w; w = w->next) {
        uint32_t unused = 0;

        if (atomic_compare_exchange_strong(&w->taken, &unused, 1))
            return w;
    }
    /* Not all of it will be used: pages that are not touched are not there. */
    w = mmap(NULL, sizeof(*w), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (w == MAP_FAILED)
        return NULL;
    heap_parts_open(&w->parts, &runtime.space, PAGE_SHIFT);
    for (int i = 0; i < HEAP_PARTS; i++) {
        w->parts.part[i].magazine = &w->magazine[0];
        w->parts.part[i].key = NATIVE_MAGAZINE_NEVER;
    }
    for (int i = 0; i < NATIVE_MAGAZINES; i++)
        w->magazine[i].heap.free = w->free[i];
    for (int i = 0; i < NATIVE_MAGAZINES; i++)
        atomic_store(&w->slow[i].opens_after, NATIVE_SLOW_MIN);
    atomic_store(&w->taken, 1);
    w->next = atomic_load(&all);
    while (!atomic_compare_exchange_weak(&all, &w->next, w))
        ;
    return w;
}

struct native_magazines *native_magazines_own(void)
{
    struct native_magazines *w = native_magazines_mine;

    /* A record of the run names each allocation. */
    if (w || !possible || record_wanted())
        return w;
    if (thread_watch())
        return NULL;
    w = windows_new();
    if (!w)
        return NULL;
    w->owner = biased_self();
    atomic_store(&w->recycled_max, NATIVE_RECYCLED);
    native_magazines_mine = w;
    return w;
}

/* --- Ending --------------------------------------------------------------- */

static void forget_mine(void)
{
    native_magazines_mine = NULL;
    native_magazine_last = &never_open;
}

/* A thread that was cancelled in the middle of allocating or freeing is in its
 * magazine as far as that says. */
static void come_out(struct native_magazine *magazine)
{
    uint64_t uses = atomic_load_explicit(&magazine->uses, memory_order_relaxed);
    uint64_t frees =
        atomic_load_explicit(&magazine->freeing, memory_order_relaxed);

    if (uses & 1)
        biased_leave(&magazine->uses, uses + 1);
    if (frees & 1)
        biased_leave(&magazine->freeing, frees + 1);
}

void native_magazines_thread_ends(void)
{
    struct native_magazines *w = native_magazines_mine;

    if (!w || !runtime_running())
        return;
    /* Before it takes a lock: whoever has that may be waiting for this. */
    for (uint32_t i = 0; i < NATIVE_MAGAZINES; i++)
        come_out(&w->magazine[i]);
    native_recycle_clear(w);
    for (uint32_t i = 0; i < NATIVE_MAGAZINES; i++)
        native_magazine_end(w, i);
    native_magazines_count_in(w);
    forget_mine();
    atomic_store(&w->taken, 0);
}

/* The child of a fork has no magazines: they are its parent's. */
static void in_child(void)
{
    forget_mine();
}

void native_magazines_start(void)
{
    possible = !native.objects && !biased_open(BIASED_PROCESS) &&
               !pthread_atfork(NULL, NULL, in_child);
}
