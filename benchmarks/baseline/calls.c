/*
 * The Myrmics calls, with file and line.  Each allocation call is one request
 * to the scheduler that owns the region or the object, and its reply.
 */
#include "base.h"
#include "myrmics.h"
#include "runtime/record/record.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Freed objects from this size on give their memory back. */
#define GIVE_BACK_BYTES ((uint64_t)1 << 20)

static double start_sched(const char *file, int line)
{
    bl_enter_call(file, line);
    bl.stats.sched_calls++;
    return bl_now_seconds();
}

static void end_sched(double since)
{
    bl.stats.sched_seconds += bl_now_seconds() - since;
    bl_leave();
}

/* A region's number inside; ends the job on one that cannot be. */
static uint32_t check_region(const char *file, int line, rid_t region)
{
    if (region == 0)
        return BL_ROOT;
    if (region == BL_ROOT || region > bl.pages)
        bl_fail(file, line, "Invalid region ID %u", region);
    return region;
}

static int check_worker(const char *file, int line, int worker)
{
    if (worker < 0 || worker >= bl.workers)
        bl_fail(file, line, "Invalid worker ID %d: there are %d workers",
                worker, bl.workers);
    return worker;
}

static void check_status(const char *file, int line, uint32_t status,
                         rid_t region, const void *ptr, size_t size)
{
    switch ((enum bl_status)status) {
    case BL_OK:
        return;
    case BL_BAD_REGION:
        bl_fail(file, line, "Invalid region ID %u", region);
    case BL_NO_MEMORY:
        bl_fail(file, line, "Out of memory: %zu bytes in region ID %u", size,
                region);
    case BL_MISALIGNED:
        bl_fail(file, line, "Pointer %p is misaligned", ptr);
    case BL_NOT_ALLOCATED:
        bl_fail(file, line, "Pointer %p is not allocated", ptr);
    }
}

/* Note the objects of an answer as this worker's, and list their addresses. */
static void take_runs(const struct bl_answer *answer, void **objects)
{
    const struct bl_run *run = (const struct bl_run *)answer->body;
    uint32_t i, slot;

    for (i = 0; i < answer->reply.count; i++, run++) {
        struct bl_copy *copy = bl_copies_adopt(&bl.copies, &run->slab);
        unsigned char *base =
            bl.base + ((uint64_t)run->slab.page << BL_PAGE_SHIFT);

        for (slot = run->first; slot < run->first + run->count; slot++) {
            bl_copy_gain(copy, slot, run->inc);
            *objects++ = base + slot * run->slab.slot_bytes;
        }
    }
}

static void allocate(const char *file, int line, size_t size, rid_t region,
                     uint32_t count, void **objects)
{
    struct bl_request request = {.op = BL_OP_ALLOC};
    const struct bl_answer *answer;

    request.region.region = check_region(file, line, region);
    request.size = size;
    request.count = count;
    answer = bl_ask(bl_owner_of_page(request.region.region - 1), &request);
    check_status(file, line, answer->reply.status, region, NULL, size);
    take_runs(answer, objects);
}

/* A request about the object at @ptr. */
static const struct bl_answer *ask_object(const char *file, int line,
                                          enum bl_op op, void *ptr, size_t size,
                                          uint32_t region)
{
    uintptr_t at = (uintptr_t)ptr, base = (uintptr_t)bl.base;
    struct bl_request request = {.op = (uint32_t)op};
    const struct bl_answer *answer;

    if (at < base || (at - base) >> BL_PAGE_SHIFT >= bl.pages)
        bl_fail(file, line, "Pointer %p is out of range", ptr);
    request.address = at - base;
    request.size = size;
    request.region.region = region;
    answer =
        bl_ask(bl_owner_of_page(request.address >> BL_PAGE_SHIFT), &request);
    check_status(file, line, answer->reply.status, 0, ptr, size);
    return answer;
}

static void free_object(const char *file, int line, void *ptr)
{
    const struct bl_answer *answer;
    const struct bl_run *run;
    struct bl_copy *copy;

    answer = ask_object(file, line, BL_OP_FREE, ptr, 0, 0);
    run = (const struct bl_run *)answer->body;
    copy = bl_copies_find(&bl.copies, run->slab.page);
    if (!copy || copy->slab.serial != run->slab.serial)
        return;
    bl_copy_lose(copy, run->first);
    if (answer->reply.size >= GIVE_BACK_BYTES)
        madvise(ptr, answer->reply.size & ~(BL_PAGE_BYTES - 1), MADV_DONTNEED);
}

rid_t _sys_ralloc(char *file, int line, rid_t parent, int level_hint)
{
    struct bl_request request = {.op = BL_OP_RALLOC};
    const struct bl_answer *answer;
    double since = start_sched(file, line);
    rid_t region;

    request.region.region = check_region(file, line, parent);
    request.level = level_hint;
    answer = bl_ask(bl_owner_of_page(request.region.region - 1), &request);
    check_status(file, line, answer->reply.status, parent, NULL,
                 (size_t)BL_PAGE_BYTES);
    region = answer->reply.region;
    end_sched(since);
    return region;
}

void _sys_rfree(char *file, int line, rid_t region)
{
    struct bl_request request = {.op = BL_OP_RFREE};
    const struct bl_answer *answer;
    double since = start_sched(file, line);

    if (region == 0)
        bl_fail(file, line, "Invalid region ID 0: the root region stays");
    request.region.region = check_region(file, line, region);
    answer = bl_ask(bl_owner_of_page(region - 1), &request);
    check_status(file, line, answer->reply.status, region, NULL, 0);
    end_sched(since);
}

void *_sys_alloc(char *file, int line, size_t size, rid_t region)
{
    double since = start_sched(file, line);
    void *object = NULL;

    if (size)
        allocate(file, line, size, region, 1, &object);
    else
        check_region(file, line, region);
    end_sched(since);
    return object;
}

void _sys_balloc(char *file, int line, size_t size, rid_t region,
                 int num_objects, void **objects)
{
    double since = start_sched(file, line);

    if (size == 0)
        bl_fail(file, line, "sys_balloc: the size must not be 0");
    if (num_objects <= 1)
        bl_fail(file, line, "sys_balloc: %d objects, and at least 2 are needed",
                num_objects);
    if (!objects)
        bl_fail(file, line, "sys_balloc: the array of objects is NULL");
    allocate(file, line, size, region, (uint32_t)num_objects, objects);
    end_sched(since);
}

void _sys_free(char *file, int line, void *ptr)
{
    double since = start_sched(file, line);

    free_object(file, line, ptr);
    end_sched(since);
}

void *_sys_realloc(char *file, int line, void *old_ptr, size_t new_size,
                   rid_t new_region)
{
    const struct bl_answer *answer;
    double since = start_sched(file, line);
    void *object = NULL;
    uint32_t region = check_region(file, line, new_region);

    if (!old_ptr) {
        if (new_size)
            allocate(file, line, new_size, new_region, 1, &object);
    } else if (new_size == 0) {
        free_object(file, line, old_ptr);
    } else {
        answer =
            ask_object(file, line, BL_OP_RESIZE, old_ptr, new_size, region);
        if (answer->reply.in_place) {
            take_runs(answer, &object);
        } else {
            uint64_t old_size = answer->reply.size;

            allocate(file, line, new_size, new_region, 1, &object);
            memcpy(object, old_ptr, old_size < new_size ? old_size : new_size);
            free_object(file, line, old_ptr);
        }
    }
    end_sched(since);
    return object;
}

void _sys_send(char *file, int line, rid_t region, int worker)
{
    double since;

    bl_enter_call(file, line);
    since = bl_now_seconds();
    bl_exchange_send(file, line, check_region(file, line, region),
                     check_worker(file, line, worker));
    bl.stats.worker_seconds += bl_now_seconds() - since;
    bl_leave();
}

rid_t _sys_recv(char *file, int line, rid_t region, int worker)
{
    double since;

    bl_enter_call(file, line);
    since = bl_now_seconds();
    /* Here 0 is any region, the root too. */
    if (region != 0)
        check_region(file, line, region);
    region =
        bl_exchange_recv(file, line, region, check_worker(file, line, worker));
    bl.stats.worker_seconds += bl_now_seconds() - since;
    bl_leave();
    return region == BL_ROOT ? 0 : region;
}

void _sys_barrier(char *file, int line)
{
    struct bl_wait wait = {0};
    MPI_Request request;
    double since;
    int done = 0;

    bl_enter_call(file, line);
    since = bl_now_seconds();
    RECORD_BEGIN();
    MPI_Ibarrier(bl.workers_comm, &request);
    while (MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done)
        bl_pause_unlocked(&wait);
    RECORD_DONE(0, RECORD_BARRIER, 0, 0, 0);
    bl_outbox_reap(&bl.outbox, 16);
    bl.stats.barrier_seconds += bl_now_seconds() - since;
    bl_leave();
}

void _sys_zerostats(char *file, int line)
{
    (void)file;
    (void)line;
    bl_enter();
    memset(&bl.stats, 0, sizeof bl.stats);
    bl_leave();
}

static void split_seconds(double seconds, unsigned *sec, unsigned *usec)
{
    if (sec)
        *sec = (unsigned)seconds;
    if (usec)
        *usec = (unsigned)((seconds - (double)(unsigned)seconds) * 1e6);
}

void _sys_getstats(char *file, int line, unsigned int *sched_sec,
                   unsigned int *sched_usec, unsigned int *sched_calls,
                   unsigned int *worker_sec, unsigned int *worker_usec,
                   unsigned long *worker_sent, unsigned long *worker_recv,
                   unsigned int *barrier_sec, unsigned int *barrier_usec)
{
    (void)file;
    (void)line;
    bl_enter();
    split_seconds(bl.stats.sched_seconds, sched_sec, sched_usec);
    split_seconds(bl.stats.worker_seconds, worker_sec, worker_usec);
    split_seconds(bl.stats.barrier_seconds, barrier_sec, barrier_usec);
    if (sched_calls)
        *sched_calls = bl.stats.sched_calls;
    if (worker_sent)
        *worker_sent = bl.stats.bytes_sent;
    if (worker_recv)
        *worker_recv = bl.stats.bytes_received;
    bl_leave();
}

int pr_get_worker_id(void)
{
    int id;

    bl_enter();
    id = bl.rank;
    bl_leave();
    return id;
}

int pr_get_num_workers(void)
{
    int workers;

    bl_enter();
    workers = bl.workers;
    bl_leave();
    return workers;
}

int pr_get_num_schedulers(void)
{
    int schedulers;

    bl_enter();
    schedulers = bl.schedulers;
    bl_leave();
    return schedulers;
}
