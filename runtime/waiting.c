/* What this rank waits for and holds, in shared memory: see waiting.h. */
#include "runtime/waiting.h"

#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "memory/space.h"
#include "runtime/backtrace.h"
#include "runtime/process.h"

/* Frames of ours come before those of the program. */
#define DEPTH_MAX 24

_Thread_local struct waiting *waiting_mine
    __attribute__((tls_model("initial-exec")));

_Thread_local const void *waiting_caller
    __attribute__((tls_model("initial-exec")));

_Thread_local _Atomic uint32_t *waiting_inside_mpi
    __attribute__((tls_model("initial-exec")));

static struct waiting_rank unread;

_Atomic(struct waiting_rank *) waiting_self = &unread;

/* --- Waits ---------------------------------------------------------------- */

static struct waiting_slot *take_slot(void)
{
    for (int i = 0; i < WAITING_THREADS; i++) {
        uint32_t unused = 0;

        if (atomic_compare_exchange_strong(&waiting_self->slots[i].taken,
                                           &unused, 1))
            return &waiting_self->slots[i];
    }
    return NULL;
}

void waiting_frames(struct code_place frames[WAITING_FRAMES])
{
    struct code_place found[DEPTH_MAX];
    void *stack[DEPTH_MAX];
    uint64_t pcs[DEPTH_MAX];
    int depth = backtrace_take(stack, DEPTH_MAX), kept = 0;

    /* The call, not what comes after it. */
    for (int i = 0; i < depth; i++)
        pcs[i] = (uint64_t)(uintptr_t)stack[i] - 1;
    places_of((int)getpid(), pcs, depth, found);
    for (int i = 0; i < depth && kept < WAITING_FRAMES; i++)
        if (found[i].object[0] && !place_is_ours(&found[i]))
            frames[kept++] = found[i];
    for (; kept < WAITING_FRAMES; kept++)
        frames[kept] = (struct code_place){.offset = 0};
}

void waiting_show(struct waiting *w, uint64_t since_us)
{
    struct waiting_seen seen = {
        .what = w->what,
        .mode = w->mode,
        .rank = runtime.rank,
        .peer = w->peer,
        .timed = w->timed,
        .as = w->as,
        .address = w->address,
        .version = w->version,
        .since_us = since_us,
    };
    struct waiting_slot *slot = take_slot();
    uint32_t sequence;

    if (!slot)
        return;
    seen.thread = (int32_t)syscall(SYS_gettid);
    seen.number = atomic_fetch_add(&waiting_self->numbers, 1) + 1;
    seen.requests = w->requests;
    for (uint32_t i = 0; i < w->requests && i < WAITING_REQUESTS; i++)
        seen.request[i] = w->request[i];
    if (w->name)
        strncpy(seen.name, w->name, DRASYNC_NAME_MAX);
    waiting_frames(seen.frames);
    /* The fences pair with those of waiting_read(): who sees anything of what is
     * written here sees the odd sequence before, or not the same after. */
    sequence = atomic_load_explicit(&slot->sequence, memory_order_relaxed);
    atomic_store_explicit(&slot->sequence, sequence + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    slot->seen = seen;
    atomic_store_explicit(&slot->sequence, sequence + 2, memory_order_release);
    w->slot = slot;
}

void waiting_hide(struct waiting *w)
{
    struct waiting_slot *slot = w->slot;
    uint32_t sequence =
        atomic_load_explicit(&slot->sequence, memory_order_relaxed);

    atomic_store_explicit(&slot->sequence, sequence + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    slot->seen.what = WAITING_NOTHING;
    atomic_store_explicit(&slot->sequence, sequence + 2, memory_order_release);
    atomic_store(&slot->taken, 0);
    w->slot = NULL;
}

/* ThreadSanitizer sees a race where the sequence tells of one. */
__attribute__((no_sanitize("thread"))) bool
waiting_read(const struct waiting_slot *slot, struct waiting_seen *out)
{
    uint32_t before =
        atomic_load_explicit(&slot->sequence, memory_order_acquire);

    if (before % 2)
        return false;
    *out = slot->seen;
    atomic_thread_fence(memory_order_acquire);
    out->name[DRASYNC_NAME_MAX] = 0;
    for (int i = 0; i < WAITING_FRAMES; i++)
        out->frames[i].object[PLACE_OBJECT_BYTES - 1] = 0;
    return atomic_load_explicit(&slot->sequence, memory_order_relaxed) ==
               before &&
           out->what != WAITING_NOTHING;
}

/* --- Holds ---------------------------------------------------------------- */

static unsigned hold_index(uint64_t address)
{
    return (unsigned)space_page_hash(address, 6);
}

_Static_assert(WAITING_HOLDS == 1 << 6, "hold_index() keeps 6 bits");

/* Of runtime_now_us()'s clock, some milliseconds old, for a tenth of the time. */
static uint64_t about_now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

void waiting_hold_note(uint64_t address)
{
    struct waiting_hold *hold = &waiting_self->holds[hold_index(address)];

    /* Relaxed: several threads of this rank may write one note at once, and a
     * reader may see parts of two; it is a hint for people. */
    atomic_store_explicit(&hold->since_us, about_now_us(),
                          memory_order_relaxed);
    atomic_store_explicit(&hold->pc, (uint64_t)(uintptr_t)waiting_caller,
                          memory_order_relaxed);
    atomic_store_explicit(&hold->address, address, memory_order_release);
}

void waiting_hold_forget(uint64_t address)
{
    struct waiting_hold *hold = &waiting_self->holds[hold_index(address)];

    if (atomic_load_explicit(&hold->address, memory_order_relaxed) == address)
        atomic_store_explicit(&hold->address, 0, memory_order_relaxed);
}

void waiting_several(void)
{
    /* Relaxed: it is true from now on, whoever looks. */
    atomic_store_explicit(&waiting_self->several, 1, memory_order_relaxed);
}

bool waiting_read_hold(const struct waiting_rank *rank, uint64_t address,
                       uint64_t *since_us_out, uint64_t *pc_out)
{
    const struct waiting_hold *hold = &rank->holds[hold_index(address)];

    if (atomic_load_explicit(&hold->address, memory_order_acquire) != address)
        return false;
    *since_us_out = atomic_load_explicit(&hold->since_us, memory_order_relaxed);
    *pc_out = atomic_load_explicit(&hold->pc, memory_order_relaxed);
    return true;
}

/* --- MPI ------------------------------------------------------------------ */

const char *waiting_mpi_name(uint32_t call)
{
    static const char *const names[WAITING_MPI_COUNT] = {
        [WAITING_MPI_NONE] = "",
#define WAITING_MPI_TEXT(name) [WAITING_##name] = #name,
        WAITING_MPI_CALLS(WAITING_MPI_TEXT)
#undef WAITING_MPI_TEXT
    };

    return call < WAITING_MPI_COUNT ? names[call] : "?";
}

struct waiting_mpi *waiting_mpi_self;

static void write_inside(const struct waiting_inside *inside)
{
    struct waiting_mpi *mpi = waiting_mpi_self;
    uint32_t sequence =
        atomic_load_explicit(&mpi->sequence, memory_order_relaxed);

    /* As in waiting_show(); pairs with waiting_mpi_read(). */
    atomic_store_explicit(&mpi->sequence, sequence + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    mpi->inside = *inside;
    atomic_store_explicit(&mpi->sequence, sequence + 2, memory_order_release);
}

void waiting_mpi_enter(const struct waiting_inside *inside)
{
    static uint64_t number;
    struct waiting_inside now = *inside;

    now.number = ++number;
    write_inside(&now);
}

void waiting_mpi_leave(void)
{
    write_inside(&(struct waiting_inside){.call = WAITING_MPI_NONE});
}

/* ThreadSanitizer sees a race where the sequence tells of one. */
__attribute__((no_sanitize("thread"))) bool
waiting_mpi_read(const struct waiting_mpi *mpi, struct waiting_inside *out)
{
    uint32_t before =
        atomic_load_explicit(&mpi->sequence, memory_order_acquire);

    if (before % 2)
        return false;
    *out = mpi->inside;
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&mpi->sequence, memory_order_relaxed) ==
               before &&
           out->call < WAITING_MPI_COUNT && out->needs <= WAITING_NEEDS;
}
