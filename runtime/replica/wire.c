/* Messages about regions and objects, and the barrier between nodes. */
#include <stdlib.h>
#include <string.h>

#include "memory/pages.h"
#include "runtime/messages/messages.h"
#include "runtime/no_memory.h"
#include "runtime/process.h"
#include "runtime/replica/directory.h"
#include "runtime/replica/objects.h"
#include "runtime/replica/state.h"
#include "runtime/replica/wire.h"
#include "runtime/say.h"

void replica_wire_send(const struct runtime_message *message)
{
    int err = runtime_send(message);

    if (err && err != DRASYNC_EPEER)
        runtime_poison("a message about regions could not be sent: %s",
                       drasync_strerror(err));
}

void replica_wire_bad(int from, const char *what)
{
    runtime_broken("node %d sent %s that cannot be", from, what);
}

/* --- The directory -------------------------------------------------------- */

void replica_wire_directory(uint32_t node, const struct replica_message *m)
{
    struct runtime_message message = {
        .node = (int)node,
        .kind = REPLICA_KIND_DIRECTORY,
        .header = m,
        .header_bytes = sizeof(*m),
    };

    replica_wire_send(&message);
}

static void directory_arrived(int from, const void *header, size_t header_bytes,
                              uint64_t context)
{
    struct replica_message m;
    int err = DRASYNC_EINTERNAL;

    (void)context;
    if (header_bytes == sizeof(m)) {
        memcpy(&m, header, sizeof(m));
        err = replica_dir_message(from, &m);
    }
    if (err == DRASYNC_ENOMEM)
        runtime_no_memory("keep regions that other nodes use");
    else if (err && err != DRASYNC_EPEER)
        replica_wire_bad(from, "a message about a region");
}

/* --- Objects of other nodes' workers -------------------------------------- */

int replica_wire_frees(int node, const struct replica_wire_free *frees,
                       size_t count)
{
    struct runtime_message message = {
        .node = node,
        .kind = REPLICA_KIND_FREE_OBJECTS,
        .header = frees,
        .header_bytes = count * sizeof(*frees),
    };

    return runtime_send(&message);
}

/* The heap of this node that has the object, NULL if the region is gone. */
static struct replica_heap *heap_with(const struct replica_wire_free *entry)
{
    struct replica_heap *heap = NULL;
    struct replica_region *region;
    struct extent *extent;

    if (replica_lock())
        return NULL;
    region = replica_find(entry->region);
    extent = extent_of(&runtime.space, (void *)(uintptr_t)entry->ptr);
    if (region && extent && extent->incarnation == REPLICA_EXTENT &&
        region->entry.incarnation == entry->incarnation) {
        heap = extent->owner;
        if (heap->region != region || heap->node != runtime.node)
            heap = NULL;
    }
    replica_unlock();
    return heap;
}

static void frees_arrived(int from, const void *header, size_t header_bytes,
                          uint64_t context)
{
    struct replica_wire_free entry;
    size_t at;
    int err;

    (void)context;
    if (header_bytes % sizeof(entry))
        replica_wire_bad(from, "a list of freed objects");
    for (at = 0; at + sizeof(entry) <= header_bytes; at += sizeof(entry)) {
        void *ptr;
        struct replica_heap *heap;

        memcpy(&entry, (const char *)header + at, sizeof(entry));
        entry.file[sizeof(entry.file) - 1] = 0;
        ptr = (void *)(uintptr_t)entry.ptr;
        heap = heap_with(&entry);
        err = heap
                  ? replica_heap_free(
                        heap, ptr, (struct heap_who){entry.worker, entry.stack})
                  : 0;
        /* It waited for company while its region was freed, on one of the
         * other nodes: that took the object with it. */
        if (err == DRASYNC_EDELETED)
            continue;
        if (err == DRASYNC_EFREED || err == DRASYNC_EALIGN ||
            err == DRASYNC_ENOOBJECT)
            runtime_die("Core %d: Error: Pointer %p is not allocated [%s:%d]",
                        entry.worker, ptr, entry.file, entry.line);
        else if (err && err != DRASYNC_EPEER)
            runtime_poison("freeing %p for worker %d: %s", ptr, entry.worker,
                           drasync_strerror(err));
    }
}

/* A question about an object, and its answer. */
struct object_request {
    uint64_t ptr;
    uint64_t free; /* 1: free it */
    struct heap_who who;
};

struct object_reply {
    uint64_t bytes;
    int64_t node; /* with DRASYNC_EAGAIN: ask there */
};

static int serve_object(const struct object_request *request,
                        struct object_reply *reply)
{
    void *ptr = (void *)(uintptr_t)request->ptr;
    uint64_t page = space_page(&runtime.space, ptr);
    struct replica_found *found = NULL;
    struct replica_heap *heap;
    struct heap_context context;
    struct extent_copy copy;
    size_t bytes = 0;
    int err;

    if (extent_find(&runtime.space, ptr, &copy)) {
        reply->node =
            chunks_home(&runtime.space, chunk_book_of(&runtime.space), page);
        return reply->node < 0 || reply->node == runtime.node ? DRASYNC_EFREED
                                                              : DRASYNC_EAGAIN;
    }
    if (copy.incarnation != REPLICA_EXTENT)
        return DRASYNC_ENOOBJECT;
    heap = copy.owner;
    err = lock_take(&heap->lock);
    if (err)
        return err;
    context = replica_heap_elsewhere(heap);
    if (!atomic_load(&heap->live)) {
        err = DRASYNC_EFREED;
    } else if (heap->node != runtime.node) {
        reply->node = heap->node;
        err = DRASYNC_EAGAIN;
    } else {
        err = replica_objects_usable(heap, &context, ptr, &bytes);
        if (request->free)
            err =
                replica_objects_free(heap, &context, ptr, request->who, &found);
    }
    reply->bytes = bytes;
    lock_give(&heap->lock);
    replica_objects_tell(found, false);
    return err;
}

static void serve_objects(const struct runtime_caller *caller,
                          const void *request, size_t request_bytes)
{
    struct object_reply reply = {0};
    struct object_request what;
    int err = DRASYNC_EINVAL;

    if (request_bytes == sizeof(what)) {
        memcpy(&what, request, sizeof(what));
        err = serve_object(&what, &reply);
    }
    runtime_reply(caller, err, &reply, sizeof(reply));
}

int replica_wire_object(int node, const void *ptr, int free_it,
                        struct heap_who who, size_t *bytes_out)
{
    struct object_request request = {
        .ptr = (uint64_t)(uintptr_t)ptr,
        .free = (uint64_t)free_it,
        .who = who,
    };
    struct object_reply reply;
    int err = DRASYNC_EAGAIN;

    /* The manager may know better; who it names must know. */
    for (int asked = 0; err == DRASYNC_EAGAIN && asked < 3; asked++) {
        size_t got = 0;

        if (node < 0 || node >= runtime.nodes || node == runtime.node)
            return DRASYNC_EFREED;
        err = runtime_call(node, REPLICA_KIND_OBJECT, &request, sizeof(request),
                           &reply, sizeof(reply), &got);
        if (err == DRASYNC_EAGAIN && got == sizeof(reply))
            node = (int)reply.node;
    }
    if (!err)
        *bytes_out = reply.bytes;
    return err == DRASYNC_EAGAIN ? DRASYNC_EFREED : err;
}

/* --- Barrier -------------------------------------------------------------- */

void replica_barrier_release(void)
{
    struct replica_barrier *barrier = &replica_shared()->barrier;

    atomic_fetch_add(&barrier->generation, 1);
    doorbell_ring(&barrier->doorbell);
}

/* On node 0: all workers of one more node are there. */
void replica_barrier_node_arrived(void)
{
    struct replica_barrier *barrier = &replica_shared()->barrier;

    if (atomic_fetch_add(&barrier->nodes_arrived, 1) + 1 <
        (uint32_t)runtime.nodes)
        return;
    atomic_store(&barrier->nodes_arrived, 0);
    for (int node = 1; node < runtime.nodes; node++) {
        struct runtime_message message = {
            .node = node,
            .kind = REPLICA_KIND_RELEASE,
        };

        replica_wire_send(&message);
    }
    replica_barrier_release();
}

static void barrier_arrived(int from, const void *header, size_t header_bytes,
                            uint64_t context)
{
    (void)header;
    (void)header_bytes;
    (void)context;
    if (runtime.node != 0)
        replica_wire_bad(from, "a barrier");
    else
        replica_barrier_node_arrived();
}

static void release_arrived(int from, const void *header, size_t header_bytes,
                            uint64_t context)
{
    (void)header;
    (void)header_bytes;
    (void)context;
    if (from != 0)
        replica_wire_bad(from, "a barrier's end");
    else
        replica_barrier_release();
}

void replica_wire_barrier(void)
{
    struct runtime_message message = {.node = 0, .kind = REPLICA_KIND_BARRIER};

    if (runtime.node == 0)
        replica_barrier_node_arrived();
    else
        replica_wire_send(&message);
}

void replica_wire_open(void)
{
    static const struct runtime_handler directory = {.arrived =
                                                         directory_arrived};
    static const struct runtime_handler frees = {.arrived = frees_arrived};
    static const struct runtime_handler barrier = {.arrived = barrier_arrived};
    static const struct runtime_handler release = {.arrived = release_arrived};

    runtime_handle(REPLICA_KIND_DIRECTORY, &directory);
    runtime_handle(REPLICA_KIND_FREE_OBJECTS, &frees);
    runtime_serve(REPLICA_KIND_OBJECT, serve_objects);
    runtime_handle(REPLICA_KIND_BARRIER, &barrier);
    runtime_handle(REPLICA_KIND_RELEASE, &release);
    replica_wire_versions_open();
}
