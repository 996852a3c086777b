/* Notes of which thread took which hold: a hash table by region, in a few parts
 * with a lock each. */
#include "runtime/native/taken.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "memory/grow.h"
#include "memory/space.h"
#include "runtime/thread.h"

#define PARTS       16
#define BUCKETS_MIN 64

/* @count holds that one thread took one after the other. */
struct run {
    uint64_t thread;
    uint32_t count;
    enum drasync_mode mode;
};

/* The notes of a region, the oldest first. */
struct taken {
    struct taken *next;
    uint64_t address, incarnation;
    struct run *run;
    size_t runs, room;
};

static struct part {
    pthread_mutex_t mutex;
    struct taken **bucket;
    size_t buckets;
    _Atomic size_t
        count; /* who has noted something sees it without the mutex */
    struct taken *unused;
} __attribute__((aligned(64))) parts[PARTS] = {
    [0 ... PARTS - 1] = {.mutex = PTHREAD_MUTEX_INITIALIZER},
};

static _Atomic uint64_t threads;

/* This thread's number, never another's; 0: it has none yet. */
static _Thread_local uint64_t me __attribute__((tls_model("initial-exec")));
/* How many of its notes there may be: others may have ended some. */
static _Thread_local uint64_t noted __attribute__((tls_model("initial-exec")));

static struct part *part_of(uint64_t address)
{
    return &parts[space_page_hash(address, 4)];
}

_Static_assert(PARTS == 1 << 4, "part_of() keeps 4 bits");

/* Relaxed: a thread sees its own notes, and of those of others it needs to know
 * only when the program has ordered it behind them. */
static bool is_empty(const struct part *part)
{
    return !atomic_load_explicit(&part->count, memory_order_relaxed);
}

static void count(struct part *part, size_t more)
{
    atomic_fetch_add_explicit(&part->count, more, memory_order_relaxed);
}

static struct taken **bucket_of(const struct part *part, uint64_t address)
{
    /* The upper bits have chosen the part. */
    return &part->bucket[space_page_hash(address, 32) & (part->buckets - 1)];
}

/* Where the notes of @address hang, or would; NULL: the table has no room. */
static struct taken **find(const struct part *part, uint64_t address)
{
    struct taken **at;

    if (!part->buckets)
        return NULL;
    at = bucket_of(part, address);
    while (*at && (*at)->address != address)
        at = &(*at)->next;
    return at;
}

static void drop(struct part *part, struct taken **at)
{
    struct taken *taken = *at;

    *at = taken->next;
    count(part, (size_t)-1);
    taken->runs = 0;
    taken->next = part->unused;
    part->unused = taken;
}

static int grow(struct part *part)
{
    size_t buckets = part->buckets ? part->buckets * 2 : BUCKETS_MIN;
    struct part larger = {.bucket = calloc(buckets, sizeof(struct taken *)),
                          .buckets = buckets};

    if (!larger.bucket)
        return DRASYNC_ENOMEM;
    for (size_t i = 0; i < part->buckets; i++)
        for (struct taken *t = part->bucket[i], *next; t; t = next) {
            struct taken **at = bucket_of(&larger, t->address);

            next = t->next;
            t->next = *at;
            *at = t;
        }
    free(part->bucket);
    part->bucket = larger.bucket;
    part->buckets = buckets;
    return 0;
}

/* The notes of the region, made if need be; NULL: no memory. */
static struct taken *enter(struct part *part, uint64_t address,
                           uint64_t incarnation)
{
    struct taken **at, *taken;

    if (part->count >= part->buckets && grow(part) && !part->buckets)
        return NULL;
    at = find(part, address);
    taken = *at;
    if (!taken) {
        taken = part->unused;
        if (taken)
            part->unused = taken->next;
        else
            taken = calloc(1, sizeof(*taken));
        if (!taken)
            return NULL;
        taken->next = NULL;
        taken->address = address;
        *at = taken;
        count(part, 1);
    } else if (taken->incarnation != incarnation) {
        taken->runs = 0;
    }
    taken->incarnation = incarnation;
    return taken;
}

bool native_taken_by_several(void)
{
    if (!me)
        me = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) + 1;
    return atomic_load_explicit(&threads, memory_order_relaxed) > 1;
}

bool native_taken_any(void)
{
    return me;
}

int native_taken_add(uint64_t address, uint64_t incarnation,
                     enum drasync_mode mode)
{
    struct part *part = part_of(address);
    struct taken *taken;
    struct run *last, *room;
    int err = 0;

    native_taken_by_several(); /* this thread has a number now */
    pthread_mutex_lock(&part->mutex);
    taken = enter(part, address, incarnation);
    last = taken && taken->runs ? &taken->run[taken->runs - 1] : NULL;
    if (last && last->thread == me && last->mode == mode) {
        last->count++;
    } else {
        room = taken ? room_for_one(taken->run, taken->runs, &taken->room,
                                    sizeof(*room))
                     : NULL;
        if (room) {
            taken->run = room;
            room[taken->runs++] = (struct run){me, 1, mode};
        } else {
            err = DRASYNC_ENOMEM;
        }
    }
    pthread_mutex_unlock(&part->mutex);
    /* If the thread's end cannot be watched, its notes stay. */
    if (!err && !noted++)
        thread_watch();
    return err;
}

static void run_less(struct taken *taken, size_t i)
{
    struct run *run = &taken->run[i];

    if (--run->count)
        return;
    taken->runs--;
    memmove(run, run + 1, (taken->runs - i) * sizeof(*run));
}

/* What this thread took last: where it is among the runs, or -1. */
static ptrdiff_t mine(const struct taken *taken)
{
    ptrdiff_t i = (ptrdiff_t)taken->runs - 1;

    while (i >= 0 && taken->run[i].thread != me)
        i--;
    return i;
}

/* Its mode, or 0; it ends. */
static int end_mine(struct taken *taken)
{
    ptrdiff_t i = mine(taken);
    int mode;

    if (i < 0)
        return 0;
    mode = (int)taken->run[i].mode;
    run_less(taken, (size_t)i);
    noted--;
    return mode;
}

/* The mode of a hold that nobody took, of the rank's @writes and @reads; or 0. */
static int nobodys(const struct taken *taken, uint32_t writes, uint32_t reads)
{
    uint64_t all = 0, for_write = 0;

    for (size_t i = 0; taken && i < taken->runs; i++) {
        all += taken->run[i].count;
        if (taken->run[i].mode == DRASYNC_WRITE)
            for_write += taken->run[i].count;
    }
    if ((uint64_t)writes + reads <= all)
        return 0;
    return writes > for_write ? DRASYNC_WRITE : DRASYNC_READ;
}

enum drasync_mode native_taken_end(uint64_t address, uint64_t incarnation,
                                   uint32_t writes, uint32_t reads,
                                   bool *other_out)
{
    struct part *part = part_of(address);
    struct taken **at, *taken;
    int mode = 0;

    *other_out = false;
    if (is_empty(part))
        return writes ? DRASYNC_WRITE : DRASYNC_READ;
    pthread_mutex_lock(&part->mutex);
    at = find(part, address);
    taken = at ? *at : NULL;
    if (taken && taken->incarnation != incarnation) {
        drop(part, at);
        taken = NULL;
    }
    if (taken && me)
        mode = end_mine(taken);
    if (!mode)
        mode = nobodys(taken, writes, reads);
    if (!mode) {
        mode = (int)taken->run[taken->runs - 1].mode;
        run_less(taken, taken->runs - 1);
        *other_out = true;
    }
    if (taken && !taken->runs)
        drop(part, at);
    pthread_mutex_unlock(&part->mutex);
    return (enum drasync_mode)mode;
}

enum drasync_mode native_taken_next(uint64_t address, uint64_t incarnation,
                                    uint32_t writes, uint32_t reads)
{
    struct part *part = part_of(address);
    const struct taken *taken;
    struct taken **at;
    ptrdiff_t i = -1;
    int mode = 0;

    pthread_mutex_lock(&part->mutex);
    at = find(part, address);
    taken = at && *at && (*at)->incarnation == incarnation ? *at : NULL;
    if (taken && me)
        i = mine(taken);
    if (i < 0)
        mode = nobodys(taken, writes, reads);
    if (!mode)
        mode = (int)taken->run[i < 0 ? (ptrdiff_t)taken->runs - 1 : i].mode;
    pthread_mutex_unlock(&part->mutex);
    return (enum drasync_mode)mode;
}

enum native_taken_by native_taken_by(uint64_t address, uint64_t incarnation,
                                     uint32_t writes, uint32_t reads)
{
    struct part *part = part_of(address);
    enum native_taken_by by = NATIVE_TAKEN_BY_OTHERS;
    const struct taken *taken;
    struct taken **at;

    if (!writes && !reads)
        return NATIVE_TAKEN_BY_OTHERS;
    /* Relaxed: another thread that takes something does so later. */
    if (me && atomic_load_explicit(&threads, memory_order_relaxed) == 1)
        return NATIVE_TAKEN_BY_ME;
    pthread_mutex_lock(&part->mutex);
    at = find(part, address);
    taken = at && *at && (*at)->incarnation == incarnation ? *at : NULL;
    if (taken && me && mine(taken) >= 0)
        by = NATIVE_TAKEN_BY_ME;
    else if (nobodys(taken, writes, reads))
        by = NATIVE_TAKEN_BY_NOBODY;
    pthread_mutex_unlock(&part->mutex);
    return by;
}

void native_taken_forget(uint64_t address, uint64_t incarnation)
{
    struct part *part = part_of(address);
    struct taken **at;

    if (is_empty(part))
        return;
    pthread_mutex_lock(&part->mutex);
    at = find(part, address);
    if (at && *at && (*at)->incarnation == incarnation)
        drop(part, at);
    pthread_mutex_unlock(&part->mutex);
}

/* This thread's notes in @taken go. */
static void disown(struct taken *taken)
{
    size_t kept = 0;

    for (size_t i = 0; i < taken->runs; i++)
        if (taken->run[i].thread != me)
            taken->run[kept++] = taken->run[i];
    taken->runs = kept;
}

void native_taken_thread_ends(void)
{
    for (int p = 0; noted && p < PARTS; p++) {
        struct part *part = &parts[p];

        pthread_mutex_lock(&part->mutex);
        for (size_t i = 0; i < part->buckets; i++) {
            struct taken **at = &part->bucket[i];

            while (*at) {
                disown(*at);
                if ((*at)->runs)
                    at = &(*at)->next;
                else
                    drop(part, at);
            }
        }
        pthread_mutex_unlock(&part->mutex);
    }
    noted = 0;
}
