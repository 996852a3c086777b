/* Magazines open, are refilled, and are revoked: see magazine.h. */
#include "runtime/native/magazine.h"

#include <pthread.h>
#include <sys/mman.h>

#include "runtime/death.h"
#include "runtime/native/recycle.h"
#include "runtime/native/state.h"
#include "runtime/process.h"
#include "runtime/record/record.h"
#include "runtime/say.h"
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

/* --- The magazines of a thread -------------------------------------------- */

/* What the fast path has allocated, for the rank's counter. */
static void count_allocations(struct native_magazines *magazines)
{
    uint64_t before =
        atomic_load_explicit(&magazines->counted, memory_order_relaxed);
    uint64_t now = 0;

    for (int i = 0; i < NATIVE_MAGAZINES; i++)
        now += atomic_load_explicit(&magazines->magazine[i].turns,
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
    uint64_t now =
        atomic_load_explicit(&magazines->frees, memory_order_relaxed);

    if (now > before &&
        atomic_compare_exchange_strong(&magazines->frees_counted, &before, now))
        runtime_count(native.self, RUNTIME_COUNT_FREES, now - before);
}

static void count(struct native_magazines *magazines)
{
    count_allocations(magazines);
    count_frees(magazines);
}

void native_magazines_count(void)
{
    for (struct native_magazines *w = atomic_load(&all); w; w = w->next)
        count(w);
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
    for (int i = 0; i < NATIVE_MAGAZINES; i++)
        w->magazine[i].heap.free = w->free[i];
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
    w->last = 0;
    w->owner = biased_self();
    atomic_store(&w->recycled_max, NATIVE_RECYCLED);
    native_magazines_mine = w;
    return w;
}

/* --- Ending --------------------------------------------------------------- */

/* Is a magazine with that region open? */
static bool is_open(uint64_t region)
{
    return region && region != NATIVE_MAGAZINE_ENDS &&
           region != NATIVE_MAGAZINE_READY;
}

/* Larger heaps have grown often enough not to care. */
#define USUAL_PAGES_MAX 64

/* A magazine of @heap is closed: remember how much was in use of it. */
static void note_size(struct native_magazines *w, const struct heap *heap)
{
    uint64_t pages = (heap->used_bytes + sizeof(struct native_header) +
                      (heap->used_bytes >> HEAP_MAGAZINE_SHIFT)) /
                         PAGE_BYTES +
                     1;

    if (pages > USUAL_PAGES_MAX)
        pages = USUAL_PAGES_MAX;
    atomic_store_explicit(
        &w->pages_before,
        atomic_load_explicit(&w->pages_last, memory_order_relaxed),
        memory_order_relaxed);
    atomic_store_explicit(&w->pages_last, (uint32_t)pages,
                          memory_order_relaxed);
}

/* The smaller of two: a single large region is no reason to expect more. */
uint64_t native_magazine_usual_pages(void)
{
    struct native_magazines *w = native_magazines_mine;
    uint32_t last, before;

    if (!w)
        return 0;
    last = atomic_load_explicit(&w->pages_last, memory_order_relaxed);
    before = atomic_load_explicit(&w->pages_before, memory_order_relaxed);
    return last < before ? last : before;
}

/* The heap has its own again.  Under the tree's lock; the magazine's thread is
 * not in it. */
static void close_window(struct native_magazines *w, uint32_t i,
                         uint64_t address)
{
    struct native_magazine *magazine = &w->magazine[i];
    struct native_memory *memory = magazine->memory;
    const struct heap_context context = {.space = &runtime.space,
                                         .owner = memory};
    struct extent *e = magazine->extent;
    struct heap *heap = &native_header_of(address)->heap;
    uint64_t used = 0;

    if (heap_magazine_close(&context, heap, &magazine->heap))
        runtime_say("region %p: its heap was overwritten",
                    (void *)(uintptr_t)address);
    note_size(w, heap);
    /* The end of the piece is not in use any more. */
    if (e &&
        !heap_high_water(
            &context, heap,
            atomic_load_explicit(&e->first_page, memory_order_relaxed),
            &used) &&
        used < e->user[EXTENT_USED_BYTES])
        e->user[EXTENT_USED_BYTES] =
            used > magazine->used_bytes ? used : magazine->used_bytes;
    magazine->extent = NULL;
    memory->touched = true;
    count(w);
    atomic_store_explicit(&magazine->region, 0, memory_order_release);
}

/* The magazines of @w in @ending say that they end: wait until their thread is
 * out of them.  DRASYNC_EPEER: that will not be known, and the job is poisoned;
 * the magazines stay as they are. */
static int wait_until_out(struct native_magazines *w, uint32_t ending)
{
    int err;

    if (w == native_magazines_mine)
        return 0;
    err = biased_barrier(BIASED_PROCESS);
    if (err)
        runtime_poison(
            "rank %d cannot take a region back from one of its "
            "threads: the system refuses membarrier(); let a filter "
            "of system calls allow it, or install it before MPI_Init",
            runtime.rank);
    for (uint32_t i = 0; !err && ending >> i; i++)
        if (ending >> i & 1) {
            err = biased_wait(&w->owner, &w->magazine[i].turns, 1, 1,
                              death_check);
            if (!err)
                err = biased_wait(&w->owner, &w->magazine[i].freeing, 1, 1,
                                  death_check);
        }
    if (err == DRASYNC_EPEER)
        runtime_poison("thread %d of rank %d has ended while it allocated",
                       (int)w->owner.thread, runtime.rank);
    return err ? DRASYNC_EPEER : 0;
}

/* Is the region at @address in @top's subtree?  Under the lock of @tree. */
static bool is_below(const struct native_tree *tree, uint64_t address,
                     const struct proto_region *top)
{
    const struct proto_region *r;

    if (address == top->address)
        return true;
    r = native_find_in(tree, address);
    while (r && r != top)
        r = r->parent;
    return r != NULL;
}

int native_magazines_end(const struct native_tree *tree,
                         const struct proto_region *top)
{
    int err;

    for (struct native_magazines *w = atomic_load(&all); w; w = w->next) {
        uint64_t address[NATIVE_MAGAZINES];
        uint32_t ending = 0;

        for (uint32_t i = 0; i < NATIVE_MAGAZINES; i++) {
            address[i] = atomic_load(&w->magazine[i].region);
            if (is_open(address[i]) && is_below(tree, address[i], top)) {
                atomic_store(&w->magazine[i].region, NATIVE_MAGAZINE_ENDS);
                ending |= UINT32_C(1) << i;
            }
        }
        if (!ending)
            continue;
        err = wait_until_out(w, ending);
        if (err)
            return err;
        for (uint32_t i = 0; ending >> i; i++)
            if (ending >> i & 1)
                close_window(w, i, address[i]);
    }
    return 0;
}

/* End magazine @i, if it is open; no lock held. */
static void end_one(struct native_magazines *w, uint32_t i)
{
    uint64_t address = atomic_load(&w->magazine[i].region);
    struct native_tree tree;

    if (!is_open(address) || native_lock(address, &tree))
        return;
    if (atomic_load(&w->magazine[i].region) == address) {
        atomic_store(&w->magazine[i].region, NATIVE_MAGAZINE_ENDS);
        if (!wait_until_out(w, UINT32_C(1) << i))
            close_window(w, i, address);
    }
    native_unlock(&tree);
}

void native_magazines_end_all(void)
{
    for (struct native_magazines *w = atomic_load(&all); w; w = w->next)
        for (uint32_t i = 0; i < NATIVE_MAGAZINES; i++)
            end_one(w, i);
}

static void forget_mine(void)
{
    native_magazines_mine = NULL;
    native_magazine_last = &never_open;
}

/* A thread that was cancelled in the middle of allocating is in its magazine as
 * far as that says. */
static void come_out(struct native_magazine *magazine)
{
    uint64_t turn =
        atomic_load_explicit(&magazine->turns, memory_order_relaxed);

    if (turn & 1)
        biased_leave(&magazine->turns, turn + 1);
    biased_leave(&magazine->freeing, 0);
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
        end_one(w, i);
    count(w);
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

/* --- Allocating ----------------------------------------------------------- */

/* Leave @magazine, which was entered with @turn + 1. */
static inline void *leave_with(struct native_magazine *magazine, uint64_t turn,
                               void *ptr)
{
    biased_leave(&magazine->turns, ptr ? turn + 2 : turn);
    return ptr;
}

void *native_magazine_alloc_inside(struct native_inside inside,
                                   size_t size_bytes)
{
    return leave_with(
        inside.magazine, inside.turn,
        heap_magazine_alloc_any(&inside.magazine->heap, size_bytes));
}

void *native_magazine_alloc_any(drasync_region_t region, size_t size_bytes)
{
    const uint64_t address = (uint64_t)(uintptr_t)region;
    struct native_magazines *mine = native_magazines_mine;
    struct native_magazine *magazine;
    uint64_t turn;

    if (!mine)
        return NULL;
    magazine = &mine->magazine[native_magazine_index(address)];
    turn = atomic_load_explicit(&magazine->turns, memory_order_relaxed);
    if (!biased_enter(&magazine->turns, turn + 1, turn, &magazine->region,
                      &address))
        return NULL;
    native_magazine_last = magazine;
    return leave_with(magazine, turn,
                      heap_magazine_alloc_any(&magazine->heap, size_bytes));
}

static bool open_for(const struct native_magazines *w, uint32_t i,
                     uint64_t address)
{
    /* Relaxed: its own thread opens it. */
    return atomic_load_explicit(&w->magazine[i].region, memory_order_relaxed) ==
           address;
}

bool native_magazine_prepare(uint64_t address)
{
    struct native_magazines *w = native_magazines_own();
    uint32_t i = native_magazine_index(address);

    if (!w || !address || w->last != address || open_for(w, i, address))
        return false;
    end_one(w, i);
    return true;
}

bool native_magazine_clear(struct native_magazines *w, uint32_t i)
{
    end_one(w, i);
    native_recycle_leave(w, &w->magazine[i]);
    return !atomic_load_explicit(&w->magazine[i].region, memory_order_acquire);
}

/* Open magazine @i for the region, under its tree's lock.  False: another
 * thread is still closing it. */
static bool open_window(struct native_magazines *w, uint32_t i,
                        uint64_t address, struct native_memory *memory)
{
    struct native_magazine *magazine = &w->magazine[i];

    native_recycle_leave(w, magazine);
    if (atomic_load_explicit(&magazine->region, memory_order_acquire))
        return false;
    heap_magazine_open(&native_header_of(address)->heap, &magazine->heap,
                       w->free[i]);
    magazine->memory = memory;
    magazine->entry = NULL;
    magazine->address = address;
    magazine->opened = ++w->opened;
    magazine->extent = NULL;
    atomic_store_explicit(&magazine->region, address, memory_order_release);
    return true;
}

/* The extent of a new piece: what was in use of it? */
static void note_piece(struct native_magazine *magazine)
{
    struct extent *e =
        extent_of(&runtime.space,
                  (void *)(uintptr_t)(heap_magazine_end(&magazine->heap) - 1));

    if (e == magazine->extent)
        return;
    magazine->extent = e;
    magazine->used_bytes = e ? e->user[EXTENT_USED_BYTES] : 0;
}

/* Is magazine @i open for the region, or, if @opens, opened now, as this thread
 * uses the region for the second time?  Under its tree's lock. */
static bool is_mine(struct native_magazines *w, uint32_t i, uint64_t address,
                    struct native_memory *memory, bool opens)
{
    if (open_for(w, i, address) ||
        (opens && w->last == address && open_window(w, i, address, memory)))
        return true;
    w->last = address;
    return false;
}

int native_magazine_take(const struct heap_context *context, uint64_t address,
                         struct native_memory *memory, size_t size_bytes,
                         void **ptr_out)
{
    struct native_magazines *w = native_magazines_mine;
    uint32_t i = native_magazine_index(address);
    uint64_t end;
    int err;

    if (!w || !is_mine(w, i, address, memory, true))
        return DRASYNC_EINVAL;
    end = w->magazine[i].heap.end;
    err = heap_magazine_refill(context, &native_header_of(address)->heap,
                               &w->magazine[i].heap, size_bytes, ptr_out);
    if (w->magazine[i].heap.end != end && w->magazine[i].heap.end)
        note_piece(&w->magazine[i]);
    return err;
}

int64_t native_magazine_uncounted(uint64_t address)
{
    struct native_magazines *w = native_magazines_mine;
    uint32_t i = native_magazine_index(address);

    return w && open_for(w, i, address)
               ? heap_magazine_uncounted(&w->magazine[i].heap)
               : 0;
}

/* --- Freeing -------------------------------------------------------------- */

bool native_magazine_free_any(void *ptr)
{
    struct native_magazines *w = native_magazines_mine;

    return w && heap_parts_meet(&w->parts, ptr) && native_magazine_free(ptr);
}

int native_magazine_give(const struct heap_context *context, uint64_t address,
                         struct native_memory *memory, bool opens, void *ptr)
{
    struct native_magazines *w = native_magazines_mine;
    struct heap *heap = &native_header_of(address)->heap;
    uint32_t i = native_magazine_index(address);
    struct native_magazine *magazine;

    if (!w || !is_mine(w, i, address, memory, opens))
        return heap_free(context, heap, ptr);
    magazine = &w->magazine[i];
    return heap_magazine_free(context, heap, &magazine->heap, &w->parts,
                              magazine, magazine->opened, ptr);
}
