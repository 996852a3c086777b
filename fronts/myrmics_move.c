/* The sys_* calls of DRASYNC_MYRMICS=move: native regions that change hands. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "fronts/myrmics_move.h"
#include "runtime/check/check.h"
#include "runtime/diagnose/holder.h"
#include "runtime/native/native.h"

/*
 * The Myrmics calls with ownership that moves (DRASYNC_MYRMICS=move): who makes
 * a region holds it for WRITE; sys_send() releases it and its subregions, and
 * sys_recv() acquires them.  Nothing is copied on a node.
 */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Ends the job, so there is one: of the first thread that is refused.  Any thread
 * reads it after it was in refuse() itself. */
static pthread_mutex_t refusal_mutex = PTHREAD_MUTEX_INITIALIZER;
static char refusal[400];
#define OWNER_BYTES 256 /* of its text */

/* Region 0: each worker's own. */
static struct move_region *private_region;

static const struct replica_job *job(void)
{
    const struct replica_job *job;

    replica_enter(&job);
    return job;
}

void move_lock(void)
{
    pthread_mutex_lock(&mutex);
}

void move_unlock(void)
{
    pthread_mutex_unlock(&mutex);
}

const char *myrmics_refusal(void)
{
    return refusal;
}

static int refuse(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

static int refuse(const char *format, ...)
{
    va_list args;

    pthread_mutex_lock(&refusal_mutex);
    if (!refusal[0]) {
        int head = snprintf(refusal, sizeof(refusal), "DRASYNC_MYRMICS=move: ");

        va_start(args, format);
        vsnprintf(refusal + head, sizeof(refusal) - (size_t)head, format, args);
        va_end(args);
    }
    pthread_mutex_unlock(&refusal_mutex);
    return DRASYNC_EMODE;
}

drasync_region_t move_handle(uint32_t rid)
{
    return (drasync_region_t)(void *)(job()->base +
                                      ((uint64_t)(rid - 1) << 12));
}

void move_numbered(drasync_region_t handle, uint32_t rid)
{
    if (job()->check)
        check_numbered(handle, rid);
}

static uint32_t rid_of(drasync_region_t handle)
{
    return (uint32_t)(((uint64_t)((char *)handle - job()->base) >> 12) + 1);
}

/* Write whose @rid is, which is there with @incarnation and not here. */
static void add_owner(char *text, size_t bytes, uint32_t rid,
                      uint64_t incarnation)
{
    const struct move_region *region = move_find(rid);
    int worker = holder_of(move_handle(rid));

    if (region && region->sent_file && region->incarnation == incarnation &&
        (worker < 0 || worker == region->sent_to))
        snprintf(text, bytes, "worker %d, to which it was sent at %s:%d",
                 region->sent_to, region->sent_file, region->sent_line);
    else if (worker >= 0)
        snprintf(text, bytes, "worker %d", worker);
    else
        snprintf(text, bytes,
                 "another worker, which has not received it yet, or is in "
                 "MPI_Finalize");
}

/* Somebody else's region, or none at all. */
static int not_here(uint32_t rid)
{
    char owner[OWNER_BYTES];
    uint64_t incarnation;
    int err = native_ask_incarnation(move_handle(rid), &incarnation);

    if (err)
        return err;
    add_owner(owner, sizeof(owner), rid, incarnation);
    return refuse("region ID %u belongs to %s: it has to be sent here by "
                  "sys_send() and received by sys_recv() first",
                  rid, owner);
}

/* The record of @handle, which this worker has just made. */
static int enter_new(drasync_region_t handle, struct move_region **region_out)
{
    uint64_t incarnation;
    int err = native_incarnation(handle, &incarnation);
    struct move_region *region = NULL;

    if (!err) {
        region = move_enter(rid_of(handle), incarnation, handle);
        err = region ? 0 : DRASYNC_ENOMEM;
    }
    if (err) {
        drasync_delete(handle);
        return err;
    }
    region->here = 1;
    move_numbered(handle, region->rid);
    *region_out = region;
    return 0;
}

/* A region that this worker owns; 0 is the private one, made at need. */
static int find_owned(uint32_t rid, struct move_region **region_out)
{
    struct move_region *region = rid ? move_find(rid) : private_region;
    drasync_region_t handle;
    int err;

    if (rid && (!region || !region->here))
        return not_here(rid);
    if (!region) {
        err = drasync_new_region(&handle);
        if (!err)
            err = enter_new(handle, &region);
        if (err)
            return err;
        private_region = region;
        move_numbered(handle, 0);
    }
    *region_out = region;
    return 0;
}

int move_region_of(const void *ptr, struct move_region **region_out)
{
    uint64_t at = (uint64_t)((const char *)ptr - job()->base);
    drasync_region_t handle = move_handle((uint32_t)(at >> 12) + 1);
    struct move_region *region;

    if (at >> 12 >= job()->pages)
        return DRASYNC_ENOOBJECT;
    if ((uintptr_t)ptr % REPLICA_ALIGN_BYTES)
        return DRASYNC_EALIGN;
    /* A region that this node has not met may begin with its page. */
    drasync_region_of(ptr, &handle);
    region = move_find(rid_of(handle));
    if (!region || !region->here) {
        int err = not_here(rid_of(handle));

        return err == DRASYNC_EMODE ? err : DRASYNC_EFREED;
    }
    *region_out = region;
    return 0;
}

/* --- Regions and objects --- */

static int move_new(uint32_t parent, uint32_t *region_out)
{
    struct move_region *above = NULL, *region;
    drasync_region_t handle;
    int err = parent ? find_owned(parent, &above) : 0;

    if (!err)
        err = drasync_new_region(&handle);
    if (!err)
        err = enter_new(handle, &region);
    if (err)
        return err;
    if (above)
        move_put_under(region, above);
    *region_out = region->rid;
    return 0;
}

int move_is_there(uint32_t rid, uint64_t incarnation, int *out)
{
    uint64_t now = 0;
    int err = native_ask_incarnation(move_handle(rid), &now);

    *out = !err && now == incarnation;
    return err == DRASYNC_ENOREGION ? 0 : err;
}

/* All that is below @top must be here; records of what was freed by others, with
 * all that was below it, go. */
static int gather(struct move_region *top)
{
    struct move_region *at, *next;
    int there, err;

    for (at = top; at; at = next) {
        next = move_next(top, at);
        if (at->here)
            continue;
        err = move_is_there(at->rid, at->incarnation, &there);
        if (err)
            return err;
        if (there) {
            char owner[OWNER_BYTES];

            add_owner(owner, sizeof(owner), at->rid, at->incarnation);
            return refuse("region ID %u, below region ID %u, belongs to %s: "
                          "it has to come back first",
                          at->rid, top->rid, owner);
        }
        next = move_next_beside(top, at);
        move_forget(at);
    }
    return 0;
}

static int move_free_region(uint32_t rid, const struct replica_place *place)
{
    struct move_region *top, *at, *last;
    int err = find_owned(rid, &top);

    if (!err)
        err = gather(top);
    /* Children before parents. */
    while (!err) {
        for (last = top; last->first_child;)
            last = last->first_child;
        err = drasync_delete(last->handle);
        if (err)
            break;
        at = last;
        myrmics_freed(at->rid, place);
        move_forget(at);
        if (last == top)
            break;
    }
    return err;
}

static int move_check(uint32_t rid)
{
    struct move_region *region;

    return find_owned(rid, &region);
}

static int move_alloc_many(uint32_t rid, size_t size_bytes, size_t count,
                           void **ptrs_out)
{
    struct move_region *region;
    size_t done = 0;
    int err = find_owned(rid, &region);

    while (!err && done < count) {
        err = drasync_alloc(region->handle, size_bytes, &ptrs_out[done]);
        if (!err)
            done++;
    }
    while (err && done > 0)
        drasync_free(ptrs_out[--done]);
    return err;
}

static int move_alloc(uint32_t rid, size_t size_bytes, void **ptr_out)
{
    return move_alloc_many(rid, size_bytes, 1, ptr_out);
}

static int move_free(void *ptr, const struct replica_place *place)
{
    struct move_region *region;
    int err = move_region_of(ptr, &region);

    (void)place;
    return err ? err : drasync_free(ptr);
}

static int move_realloc(void *ptr, size_t size_bytes, uint32_t rid,
                        const struct replica_place *place, void **ptr_out)
{
    struct move_region *old, *region;
    int err = find_owned(rid, &region);

    (void)place;
    if (!err)
        err = move_region_of(ptr, &old);
    return err ? err
               : drasync_realloc(ptr, size_bytes, region->handle, ptr_out);
}

/* --- Handing over --- */

static int move_send(uint32_t rid, int worker,
                     const struct replica_place *place, uint64_t *bytes_out)
{
    struct replica_part *notes;
    struct move_region *top, *at;
    size_t count;
    int err;

    if (rid == 0)
        return refuse("region ID 0 is each worker's own and cannot be sent");
    err = find_owned(rid, &top);
    if (!err)
        err = move_list_make(top, &notes, &count, bytes_out);
    if (err)
        return err;
    for (at = top; at && !err; at = move_next(top, at)) {
        if (!at->here)
            continue;
        at->here = 0;
        at->sent_file = place->file;
        at->sent_line = place->line;
        at->sent_to = worker;
        if (job()->check)
            check_sent(at->handle, at->rid, worker, place->file, place->line);
        err = drasync_release(at->handle);
    }
    if (!err)
        err = replica_notify(worker, notes, count);
    free(notes);
    return err;
}

static int move_recv(uint32_t rid, int worker, uint32_t *region_out,
                     uint64_t *bytes_out)
{
    struct replica_part *notes;
    size_t count;
    int err = replica_notified(rid, worker, region_out, &notes, &count);

    if (err)
        return err;
    move_lock();
    err = move_list_take(notes, count, bytes_out);
    move_unlock();
    free(notes);
    return err;
}

/* --- One thread at a time --- */

#define LOCKED(name, params, call)  \
    static int locked_##name params \
    {                               \
        int err;                    \
                                    \
        move_lock();                \
        err = call;                 \
        move_unlock();              \
        return err;                 \
    }

LOCKED(new, (uint32_t parent, uint32_t *region_out),
       move_new(parent, region_out))
LOCKED(free_region, (uint32_t rid, const struct replica_place *place),
       move_free_region(rid, place))
LOCKED(check, (uint32_t rid), move_check(rid))
LOCKED(alloc, (uint32_t rid, size_t size_bytes, void **ptr_out),
       move_alloc(rid, size_bytes, ptr_out))
LOCKED(alloc_many,
       (uint32_t rid, size_t size_bytes, size_t count, void **ptrs_out),
       move_alloc_many(rid, size_bytes, count, ptrs_out))
LOCKED(free, (void *ptr, const struct replica_place *place),
       move_free(ptr, place))
LOCKED(realloc,
       (void *ptr, size_t size_bytes, uint32_t rid,
        const struct replica_place *place, void **ptr_out),
       move_realloc(ptr, size_bytes, rid, place, ptr_out))
LOCKED(send,
       (uint32_t rid, int worker, const struct replica_place *place,
        uint64_t *bytes_out),
       move_send(rid, worker, place, bytes_out))

const struct myrmics_ops myrmics_move = {
    .mode = "move",
    .region_new = locked_new,
    .region_free = locked_free_region,
    .region_check = locked_check,
    .alloc = locked_alloc,
    .alloc_many = locked_alloc_many,
    .free = locked_free,
    .realloc = locked_realloc,
    .send = locked_send,
    .recv = move_recv,
};
