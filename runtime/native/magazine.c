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

_Thread_local struct native_windows *native_windows_mine
    __attribute__((tls_model("initial-exec")));

char native_window_marks[2];

/* Of nobody: any thread may find that it is not open, also for NULL. */
static struct native_window never_open = {.region = UINT64_MAX};

_Thread_local struct native_window *native_window_last
    __attribute__((tls_model("initial-exec"))) = &never_open;

static _Atomic(struct native_windows *) all;
static bool possible; /* the kernel has what it takes */

/* --- The windows of a thread ---------------------------------------------- */

/* What the fast path has allocated, for the rank's counter. */
static void count_allocations(struct native_windows *windows)
{
    uint64_t before =
        atomic_load_explicit(&windows->counted, memory_order_relaxed);
    uint64_t now = 0;

    for (int i = 0; i < NATIVE_WINDOWS; i++)
        now += atomic_load_explicit(&windows->window[i].turns,
                                    memory_order_relaxed) /
               2;
    /* Another thread may have counted later than this one looked. */
    if (now > before &&
        atomic_compare_exchange_strong(&windows->counted, &before, now))
        runtime_count(native.self, RUNTIME_COUNT_ALLOCATIONS, now - before);
}

/* And freed. */
static void count_frees(struct native_windows *windows)
{
    uint64_t before =
        atomic_load_explicit(&windows->frees_counted, memory_order_relaxed);
    uint64_t now = atomic_load_explicit(&windows->frees, memory_order_relaxed);

    if (now > before &&
        atomic_compare_exchange_strong(&windows->frees_counted, &before, now))
        runtime_count(native.self, RUNTIME_COUNT_FREES, now - before);
}

static void count(struct native_windows *windows)
{
    count_allocations(windows);
    count_frees(windows);
}

void native_windows_count(void)
{
    for (struct native_windows *w = atomic_load(&all); w; w = w->next)
        count(w);
}

struct native_windows *native_windows_all(void)
{
    return atomic_load(&all);
}

/* Those of a thread that has ended, or new ones; NULL: no memory. */
static struct native_windows *windows_new(void)
{
    struct native_windows *w;

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
    for (int i = 0; i < NATIVE_WINDOWS; i++)
        w->window[i].heap.free = w->free[i];
    atomic_store(&w->taken, 1);
    w->next = atomic_load(&all);
    while (!atomic_compare_exchange_weak(&all, &w->next, w))
        ;
    return w;
}

struct native_windows *native_windows_own(void)
{
    struct native_windows *w = native_windows_mine;

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
    atomic_store(&w->stock_max, NATIVE_STOCK);
    native_windows_mine = w;
    return w;
}

/* --- Ending --------------------------------------------------------------- */

/* Is a window with that region open? */
static bool is_open(uint64_t region)
{
    return region && region != NATIVE_WINDOW_ENDS &&
           region != NATIVE_WINDOW_READY;
}

/* The heap has its own again.  Under the tree's lock; the window's thread is
 * not in it. */
static void close_window(struct native_windows *w, uint32_t i, uint64_t address)
{
    struct native_window *window = &w->window[i];
    struct native_memory *memory = window->memory;
    const struct heap_context context = {.space = &runtime.space,
                                         .owner = memory};
    struct extent *e = window->extent;
    struct heap *heap = &native_header_of(address)->heap;
    uint64_t used = 0;

    if (heap_window_close(&context, heap, &window->heap))
        runtime_say("region %p: its heap was overwritten",
                    (void *)(uintptr_t)address);
    /* The end of the piece is not in use any more. */
    if (e &&
        !heap_high_water(
            &context, heap,
            atomic_load_explicit(&e->first_page, memory_order_relaxed),
            &used) &&
        used < e->user[EXTENT_USED_BYTES])
        e->user[EXTENT_USED_BYTES] =
            used > window->used_bytes ? used : window->used_bytes;
    window->extent = NULL;
    memory->touched = true;
    count(w);
    atomic_store_explicit(&window->region, 0, memory_order_release);
}

/* The windows of @w in @ending say that they end: wait until their thread is
 * out of them.  DRASYNC_EPEER: that will not be known, and the job is poisoned;
 * the windows stay as they are. */
static int wait_until_out(struct native_windows *w, uint32_t ending)
{
    int err;

    if (w == native_windows_mine)
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
            err =
                biased_wait(&w->owner, &w->window[i].turns, 1, 1, death_check);
            if (!err)
                err = biased_wait(&w->owner, &w->window[i].freeing, 1, 1,
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

int native_windows_end(const struct native_tree *tree,
                       const struct proto_region *top)
{
    int err;

    for (struct native_windows *w = atomic_load(&all); w; w = w->next) {
        uint64_t address[NATIVE_WINDOWS];
        uint32_t ending = 0;

        for (uint32_t i = 0; i < NATIVE_WINDOWS; i++) {
            address[i] = atomic_load(&w->window[i].region);
            if (is_open(address[i]) && is_below(tree, address[i], top)) {
                atomic_store(&w->window[i].region, NATIVE_WINDOW_ENDS);
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

/* End window @i, if it is open; no lock held. */
static void end_one(struct native_windows *w, uint32_t i)
{
    uint64_t address = atomic_load(&w->window[i].region);
    struct native_tree tree;

    if (!is_open(address) || native_lock(address, &tree))
        return;
    if (atomic_load(&w->window[i].region) == address) {
        atomic_store(&w->window[i].region, NATIVE_WINDOW_ENDS);
        if (!wait_until_out(w, UINT32_C(1) << i))
            close_window(w, i, address);
    }
    native_unlock(&tree);
}

void native_windows_end_all(void)
{
    for (struct native_windows *w = atomic_load(&all); w; w = w->next)
        for (uint32_t i = 0; i < NATIVE_WINDOWS; i++)
            end_one(w, i);
}

static void forget_mine(void)
{
    native_windows_mine = NULL;
    native_window_last = &never_open;
}

/* A thread that was cancelled in the middle of allocating is in its window as
 * far as that says. */
static void come_out(struct native_window *window)
{
    uint64_t turn = atomic_load_explicit(&window->turns, memory_order_relaxed);

    if (turn & 1)
        biased_leave(&window->turns, turn + 1);
    biased_leave(&window->freeing, 0);
}

void native_windows_thread_ends(void)
{
    struct native_windows *w = native_windows_mine;

    if (!w || !runtime_running())
        return;
    /* Before it takes a lock: whoever has that may be waiting for this. */
    for (uint32_t i = 0; i < NATIVE_WINDOWS; i++)
        come_out(&w->window[i]);
    native_stock_clear(w);
    for (uint32_t i = 0; i < NATIVE_WINDOWS; i++)
        end_one(w, i);
    count(w);
    forget_mine();
    atomic_store(&w->taken, 0);
}

/* The child of a fork has no windows: they are its parent's. */
static void in_child(void)
{
    forget_mine();
}

void native_windows_start(void)
{
    possible =
        !biased_open(BIASED_PROCESS) && !pthread_atfork(NULL, NULL, in_child);
}

/* --- Allocating ----------------------------------------------------------- */

/* Leave @window, which was entered with @turn + 1. */
static inline void *leave_with(struct native_window *window, uint64_t turn,
                               void *ptr)
{
    biased_leave(&window->turns, ptr ? turn + 2 : turn);
    return ptr;
}

void *native_window_alloc_inside(struct native_inside inside, size_t size_bytes)
{
    return leave_with(inside.window, inside.turn,
                      heap_window_alloc_any(&inside.window->heap, size_bytes));
}

void *native_window_alloc_any(drasync_region_t region, size_t size_bytes)
{
    const uint64_t address = (uint64_t)(uintptr_t)region;
    struct native_windows *mine = native_windows_mine;
    struct native_window *window;
    uint64_t turn;

    if (!mine)
        return NULL;
    window = &mine->window[native_window_index(address)];
    turn = atomic_load_explicit(&window->turns, memory_order_relaxed);
    if (!biased_enter(&window->turns, turn + 1, turn, &window->region,
                      &address))
        return NULL;
    native_window_last = window;
    return leave_with(window, turn,
                      heap_window_alloc_any(&window->heap, size_bytes));
}

void native_window_prepare(uint64_t address)
{
    struct native_windows *w = native_windows_own();
    uint32_t i = native_window_index(address);

    if (w && address && w->last == address &&
        atomic_load_explicit(&w->window[i].region, memory_order_relaxed) !=
            address)
        end_one(w, i);
}

bool native_window_clear(struct native_windows *w, uint32_t i)
{
    end_one(w, i);
    native_stock_leave(w, &w->window[i]);
    return !atomic_load_explicit(&w->window[i].region, memory_order_acquire);
}

/* Open window @i for the region, under its tree's lock.  False: another thread
 * is still closing it. */
static bool open_window(struct native_windows *w, uint32_t i, uint64_t address,
                        struct native_memory *memory)
{
    struct native_window *window = &w->window[i];

    native_stock_leave(w, window);
    if (atomic_load_explicit(&window->region, memory_order_acquire))
        return false;
    heap_window_open(&native_header_of(address)->heap, &window->heap,
                     w->free[i]);
    window->memory = memory;
    window->entry = NULL;
    window->address = address;
    window->opened = ++w->opened;
    window->extent = NULL;
    atomic_store_explicit(&window->region, address, memory_order_release);
    return true;
}

/* The extent of a new piece: what was in use of it? */
static void note_piece(struct native_window *window)
{
    struct extent *e =
        extent_of(&runtime.space,
                  (void *)(uintptr_t)(heap_window_end(&window->heap) - 1));

    if (e == window->extent)
        return;
    window->extent = e;
    window->used_bytes = e ? e->user[EXTENT_USED_BYTES] : 0;
}

/* Is this thread's window number @i open for the region, or could it be opened
 * now, as it is used by this thread for the second time? Under its tree's lock.
 */
static bool is_mine(struct native_windows *w, uint32_t i, uint64_t address,
                    struct native_memory *memory)
{
    if (atomic_load_explicit(&w->window[i].region, memory_order_relaxed) ==
            address ||
        (w->last == address && open_window(w, i, address, memory)))
        return true;
    w->last = address;
    return false;
}

int native_window_take(const struct heap_context *context, uint64_t address,
                       struct native_memory *memory, size_t size_bytes,
                       void **ptr_out)
{
    struct native_windows *w = native_windows_mine;
    uint32_t i = native_window_index(address);
    uint64_t end;
    int err;

    if (!w || !is_mine(w, i, address, memory))
        return DRASYNC_EINVAL;
    end = w->window[i].heap.end;
    err = heap_window_refill(context, &native_header_of(address)->heap,
                             &w->window[i].heap, size_bytes, ptr_out);
    if (w->window[i].heap.end != end && w->window[i].heap.end)
        note_piece(&w->window[i]);
    return err;
}

int64_t native_window_uncounted(uint64_t address)
{
    struct native_windows *w = native_windows_mine;
    uint32_t i = native_window_index(address);

    return w && atomic_load_explicit(&w->window[i].region,
                                     memory_order_relaxed) == address
               ? heap_window_uncounted(&w->window[i].heap)
               : 0;
}

/* --- Freeing -------------------------------------------------------------- */

bool native_window_free_any(void *ptr)
{
    struct native_windows *w = native_windows_mine;

    return w && heap_parts_meet(&w->parts, ptr) && native_window_free(ptr);
}

int native_window_give(const struct heap_context *context, uint64_t address,
                       struct native_memory *memory, void *ptr)
{
    struct native_windows *w = native_windows_mine;
    struct heap *heap = &native_header_of(address)->heap;
    uint32_t i = native_window_index(address);
    struct native_window *window;

    if (!w || !is_mine(w, i, address, memory))
        return heap_free(context, heap, ptr);
    window = &w->window[i];
    return heap_window_free(context, heap, &window->heap, &w->parts, window,
                            window->opened, ptr);
}
