/* The sys_* calls: arguments, counters and records; the work is in ops. */
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "drasync.h"
#include "fronts/myrmics.h"
#include "include/myrmics.h"
#include "runtime/native/native.h"
#include "runtime/record/record.h"

/* --- Statistics ----------------------------------------------------------- */

/*
 * Time in allocation is taken of one call in so many and multiplied: looking at
 * the clock takes as long as allocating.
 */
#define SAMPLE       128
#define SAMPLE_QUICK (REPLICA_CACHE_CALLS + 1)

/* What sys_alloc() and sys_free() call: at first these, until sched_begin()
 * puts replica_cache_alloc() and replica_cache_free() into `quick`.  The stores
 * there (release) pair with the loads in _sys_alloc() and _sys_free()
 * (acquire): the functions that replica_cache_allow() was told of are seen. */
static replica_alloc_fn alloc;
static replica_free_fn give;

static struct {
    _Atomic(replica_alloc_fn *) alloc;
    _Atomic(replica_free_fn *) free;
} quick = {alloc, give};

/* No other data depends on these: additions are relaxed, and for the loads and
 * stores of sys_getstats() and sys_zerostats() relaxed would do. */
static struct {
    _Atomic uint64_t sched_ns, worker_ns, barrier_ns;
    _Atomic uint64_t sent_bytes, received_bytes;
    /* The first thread alone adds to `first_calls`, with a load and a store: an
     * atomic addition waits until all earlier stores of the program are done,
     * which takes longer than an allocation. */
    _Atomic uint64_t first_calls, other_calls;
    _Atomic uint64_t zeroed_calls; /* what both were at sys_zerostats() */
} stats;

/* 0: this thread is not known; 1: it is the first; 2: it is not. */
static __thread int thread_kind __attribute__((tls_model("initial-exec")));

static void add(_Atomic uint64_t *counter, uint64_t by)
{
    atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

/* How many calls were counted before this one, in the counter that this thread
 * uses.  The exchange chooses the first thread, and orders nothing else. */
static uint64_t count_call(void)
{
    static _Atomic int first_taken;
    uint64_t calls;

    if (__builtin_expect(thread_kind != 1, 0)) {
        if (!thread_kind)
            thread_kind = atomic_exchange(&first_taken, 1) ? 2 : 1;
        if (thread_kind != 1)
            return atomic_fetch_add_explicit(&stats.other_calls, 1,
                                             memory_order_relaxed);
    }
    calls = atomic_load_explicit(&stats.first_calls, memory_order_relaxed);
    atomic_store_explicit(&stats.first_calls, calls + 1, memory_order_relaxed);
    return calls;
}

static uint64_t calls_ever(void)
{
    return atomic_load(&stats.first_calls) + atomic_load(&stats.other_calls) +
           replica_cache_calls();
}

static void add_since(_Atomic uint64_t *counter, uint64_t since_ns)
{
    add(counter, myrmics_now_ns() - since_ns);
}

/* A call to the allocator that is timed stands for @calls; 0: it is not
 * timed. */
struct timed {
    uint64_t since_ns, calls;
};

/*
 * Where a call to the allocator begins.  Of the calls of replica_cache_alloc()
 * and replica_cache_free() only one in SAMPLE_QUICK comes here, and stands for
 * them.
 */
static struct timed sched_begin(const struct replica_job *job)
{
    struct timed timed = {0};

    if (count_call() % SAMPLE == 0)
        timed.calls = SAMPLE;
    if (!job->move && !record_wanted()) {
        if (replica_cache_allow(alloc, give))
            timed.calls = SAMPLE_QUICK;
        atomic_store_explicit(&quick.alloc, replica_cache_alloc,
                              memory_order_release);
        atomic_store_explicit(&quick.free, replica_cache_free,
                              memory_order_release);
    }
    if (timed.calls)
        timed.since_ns = myrmics_now_ns();
    return timed;
}

static void sched_end(struct timed timed)
{
    if (timed.calls)
        add(&stats.sched_ns, (myrmics_now_ns() - timed.since_ns) * timed.calls);
}

/* --- Errors --------------------------------------------------------------- */

/* At the head of every call; starts the library if nobody has. */
static const struct replica_job *enter(const char *file, int line)
{
    const struct replica_job *job;
    int err = replica_enter(&job);

    if (err == DRASYNC_EPEER)
        myrmics_fail(file, line, "The job is ending: %s", replica_trouble());
    if (err)
        myrmics_fail(file, line, "%s", drasync_strerror(err));
    return job;
}

static const struct myrmics_ops *ops_of(const struct replica_job *job)
{
    return job->move ? &myrmics_move : &myrmics_copy;
}

static void no_memory(const char *file, int line, int err, rid_t region,
                      size_t size) __attribute__((noreturn));

static void no_memory(const char *file, int line, int err, rid_t region,
                      size_t size)
{
    char text[NATIVE_EXPLAIN_BYTES];
    const char *why;

    native_explain(err, NULL, DRASYNC_NONE, text, sizeof(text));
    /* It begins with what this line says already. */
    why = strstr(text, ": ");
    myrmics_fail(file, line, "Out of memory: %zu bytes in region ID %u: %s",
                 size, region, why ? why + 2 : text);
}

/* What went wrong with @region, or with the object at @ptr. */
static void check(const char *file, int line, int err, rid_t region,
                  const void *ptr, size_t size)
{
    if (__builtin_expect(!err, 1))
        return;
    switch (err) {
    case DRASYNC_ENOREGION:
    case DRASYNC_EDELETED:
        myrmics_no_region(file, line, region);
    case DRASYNC_ENOMEM:
    case DRASYNC_ENOSPACE:
        no_memory(file, line, err, region, size);
    case DRASYNC_ELIMIT:
        myrmics_fail(file, line,
                     "Out of memory: region ID %u has too many parts, or this "
                     "process too many mappings (vm.max_map_count)",
                     region);
    case DRASYNC_ENOOBJECT:
        myrmics_fail(file, line, "Pointer %p is out of range", ptr);
    case DRASYNC_EALIGN:
        myrmics_fail(file, line, "Pointer %p is misaligned", ptr);
    case DRASYNC_EFREED:
        myrmics_fail(file, line, "Pointer %p is not allocated", ptr);
    case DRASYNC_EPEER:
        myrmics_fail(file, line, "The job is ending: %s", replica_trouble());
    case DRASYNC_EMODE:
        myrmics_fail(file, line, "%s", myrmics_refusal());
    case DRASYNC_EINTERNAL:
        /* As runtime/native/object.c says of its heaps. */
        myrmics_fail(file, line,
                     "The heap of a region was overwritten, most likely by a "
                     "write outside of an object; DRASYNC_CHECK=objects finds "
                     "most such writes.  If it finds none: %s",
                     drasync_strerror(err));
    default:
        myrmics_fail(file, line, "%s", drasync_strerror(err));
    }
}

static void check_region(const char *file, int line,
                         const struct replica_job *job, rid_t region)
{
    if (region == 1 || region > job->pages)
        myrmics_fail(file, line, "Invalid region ID %u", region);
}

static void check_worker(const char *file, int line,
                         const struct replica_job *job, int worker)
{
    if (worker < 0 || worker >= job->ranks)
        myrmics_fail(file, line, "Invalid worker ID %d: there are %d workers",
                     worker, job->ranks);
}

/* DRASYNC_RECORD: what an allocation call did. */
static inline void recorded(rid_t region, uint64_t count, uint64_t bytes,
                            uint64_t frees)
{
    if (record_wanted())
        drasync_record_alloc(region, count, bytes, frees);
}

/* --- Regions and objects -------------------------------------------------- */

rid_t _sys_ralloc(char *file, int line, rid_t parent, int level_hint)
{
    const struct replica_job *job;
    struct timed since;
    uint32_t region = 0;

    (void)level_hint;
    job = enter(file, line);
    since = sched_begin(job);
    check_region(file, line, job, parent);
    RECORD_BEGIN();
    check(file, line, ops_of(job)->region_new(parent, &region), parent, NULL,
          (size_t)4096);
    RECORD_DONE(0, RECORD_NEW, region, parent, 0);
    sched_end(since);
    return region;
}

void _sys_rfree(char *file, int line, rid_t region)
{
    struct replica_place place = {file, line};
    const struct replica_job *job;
    struct timed since;

    job = enter(file, line);
    since = sched_begin(job);
    if (region == 0)
        myrmics_fail(file, line, "Invalid region ID 0: the root region stays");
    check_region(file, line, job, region);
    RECORD_BEGIN();
    check(file, line, ops_of(job)->region_free(region, &place), region, NULL,
          0);
    RECORD_DONE(0, RECORD_DELETE, region, 0, 0);
    sched_end(since);
}

static void *alloc(const char *file, int line, size_t size, rid_t region)
{
    const struct replica_job *job;
    void *object = NULL;
    struct timed since;
    int err;

    job = enter(file, line);
    since = sched_begin(job);
    check_region(file, line, job, region);
    if (size)
        err = ops_of(job)->alloc(region, size, &object);
    else
        err = ops_of(job)->region_check(region);
    check(file, line, err, region, NULL, size);
    recorded(region, 1, size, 0);
    sched_end(since);
    return object;
}

void *_sys_alloc(char *file, int line, size_t size, rid_t region)
{
    return atomic_load_explicit(&quick.alloc,
                                memory_order_acquire)(file, line, size, region);
}

void _sys_balloc(char *file, int line, size_t size, rid_t region,
                 int num_objects, void **objects)
{
    const struct replica_job *job;
    struct timed since;

    job = enter(file, line);
    since = sched_begin(job);
    if (size == 0)
        myrmics_fail(file, line, "sys_balloc: the size must not be 0");
    if (num_objects <= 1)
        myrmics_fail(file, line,
                     "sys_balloc: %d objects, and at least 2 are needed",
                     num_objects);
    if (!objects)
        myrmics_fail(file, line, "sys_balloc: the array of objects is NULL");
    check_region(file, line, job, region);
    check(file, line,
          ops_of(job)->alloc_many(region, size, (size_t)num_objects, objects),
          region, NULL, size);
    /* One request, however many objects. */
    recorded(region, 1, size * (size_t)num_objects, 0);
    sched_end(since);
}

static void free_object(const char *file, int line,
                        const struct replica_job *job, void *ptr)
{
    struct replica_place place = {file, line};

    check(file, line, ops_of(job)->free(ptr, &place), 0, ptr, 0);
}

static void give(const char *file, int line, void *ptr)
{
    const struct replica_job *job;
    struct timed since;

    job = enter(file, line);
    since = sched_begin(job);
    free_object(file, line, job, ptr);
    recorded(0, 0, 0, 1);
    sched_end(since);
}

void _sys_free(char *file, int line, void *ptr)
{
    atomic_load_explicit(&quick.free, memory_order_acquire)(file, line, ptr);
}

void *_sys_realloc(char *file, int line, void *old_ptr, size_t new_size,
                   rid_t new_region)
{
    const struct replica_job *job;
    struct replica_place place = {file, line};
    void *object = NULL;
    struct timed since;

    job = enter(file, line);
    since = sched_begin(job);
    check_region(file, line, job, new_region);
    if (!old_ptr && !new_size)
        check(file, line, ops_of(job)->region_check(new_region), new_region,
              NULL, 0);
    else if (!old_ptr)
        check(file, line, ops_of(job)->alloc(new_region, new_size, &object),
              new_region, NULL, new_size);
    else if (!new_size)
        free_object(file, line, job, old_ptr);
    else
        check(file, line,
              ops_of(job)->realloc(old_ptr, new_size, new_region, &place,
                                   &object),
              new_region, old_ptr, new_size);
    recorded(new_region, 1, new_size, 0);
    sched_end(since);
    return object;
}

/* --- Data ----------------------------------------------------------------- */

void _sys_send(char *file, int line, rid_t region, int worker)
{
    const struct replica_job *job;
    struct replica_place place = {file, line};
    uint64_t bytes = 0, since;
    int err;

    job = enter(file, line);
    since = myrmics_now_ns();
    check_region(file, line, job, region);
    check_worker(file, line, job, worker);
    RECORD_BEGIN();
    err = ops_of(job)->send(region, worker, &place, &bytes);
    check(file, line, err, region, NULL, (size_t)bytes);
    RECORD_DONE(0, RECORD_SEND, region, worker, bytes);
    add(&stats.sent_bytes, bytes);
    add_since(&stats.worker_ns, since);
}

rid_t _sys_recv(char *file, int line, rid_t region, int worker)
{
    const struct replica_job *job;
    uint64_t bytes = 0, since;
    uint32_t got = 0;
    int err;

    job = enter(file, line);
    since = myrmics_now_ns();
    check_region(file, line, job, region);
    check_worker(file, line, job, worker);
    RECORD_BEGIN();
    err = ops_of(job)->recv(region, worker, &got, &bytes);
    if (err == DRASYNC_EAGAIN)
        myrmics_fail(file, line, "Worker %d sent region ID %u, not %u", worker,
                     got, region);
    check(file, line, err, got, NULL, (size_t)bytes);
    RECORD_DONE(0, RECORD_RECV, got, worker, bytes);
    add(&stats.received_bytes, bytes);
    add_since(&stats.worker_ns, since);
    return got;
}

void _sys_barrier(char *file, int line)
{
    uint64_t since;

    enter(file, line);
    since = myrmics_now_ns();
    RECORD_BEGIN();
    check(file, line, replica_barrier(), 0, NULL, 0);
    RECORD_DONE(0, RECORD_BARRIER, 0, 0, 0);
    add_since(&stats.barrier_ns, since);
}

/* --- Statistics, and who is who ------------------------------------------- */

void _sys_zerostats(char *file, int line)
{
    enter(file, line);
    atomic_store(&stats.sched_ns, 0);
    atomic_store(&stats.zeroed_calls, calls_ever());
    atomic_store(&stats.worker_ns, 0);
    atomic_store(&stats.barrier_ns, 0);
    atomic_store(&stats.sent_bytes, 0);
    atomic_store(&stats.received_bytes, 0);
}

static void split(uint64_t ns, unsigned int *sec, unsigned int *usec)
{
    if (sec)
        *sec = (unsigned int)(ns / 1000000000u);
    if (usec)
        *usec = (unsigned int)(ns / 1000u % 1000000u);
}

void _sys_getstats(char *file, int line, unsigned int *sched_sec,
                   unsigned int *sched_usec, unsigned int *sched_calls,
                   unsigned int *worker_sec, unsigned int *worker_usec,
                   unsigned long *worker_sent, unsigned long *worker_recv,
                   unsigned int *barrier_sec, unsigned int *barrier_usec)
{
    enter(file, line);
    split(atomic_load(&stats.sched_ns), sched_sec, sched_usec);
    split(atomic_load(&stats.worker_ns), worker_sec, worker_usec);
    split(atomic_load(&stats.barrier_ns), barrier_sec, barrier_usec);
    if (sched_calls)
        *sched_calls =
            (unsigned int)(calls_ever() - atomic_load(&stats.zeroed_calls));
    if (worker_sent)
        *worker_sent = atomic_load(&stats.sent_bytes);
    if (worker_recv)
        *worker_recv = atomic_load(&stats.received_bytes);
}

int pr_get_worker_id(void)
{
    return enter("pr_get_worker_id", 0)->rank;
}

int pr_get_num_workers(void)
{
    return enter("pr_get_num_workers", 0)->ranks;
}

int pr_get_num_schedulers(void)
{
    enter("pr_get_num_schedulers", 0);
    return 0;
}
