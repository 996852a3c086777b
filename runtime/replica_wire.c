#include <stdlib.h>
#include <string.h>

#include "memory/pages.h"
#include "runtime/replica_lock.h"
#include "runtime/replica_state.h"

static void send_or_poison(const struct runtime_message *message)
{
    int err = runtime_send(message);

    if (err && err != DRASYNC_EPEER)
        runtime_poison("a message about regions could not be sent: %s",
                       drasync_strerror(err));
}

static void bad_message(int from, const char *what)
{
    runtime_poison("node %d sent %s that cannot be", from, what);
}

/* --- The directory --- */

void replica_wire_directory(uint32_t node, const struct replica_message *m)
{
    struct runtime_message message = {
        .node = (int)node,
        .kind = REPLICA_KIND_DIRECTORY,
        .header = m,
        .header_bytes = sizeof(*m),
    };

    send_or_poison(&message);
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
        runtime_poison("out of memory for regions that other nodes use");
    else if (err && err != DRASYNC_EPEER)
        bad_message(from, "a message about a region");
}

/* --- Versions --- */

static size_t version_bytes(const struct replica_version *v)
{
    return sizeof(*v) + v->parts * sizeof(struct replica_part) +
           v->pieces * sizeof(struct replica_piece);
}

static void *piece_data(const struct replica_piece *piece)
{
    uint64_t in_page = piece->begin_bytes & (PAGE_BYTES - 1);

    return space_window(&runtime.space, piece->offset + in_page,
                        piece->end_bytes - piece->begin_bytes);
}

int replica_wire_version(struct replica_version *version)
{
    struct replica_piece *pieces = replica_version_pieces(version);
    struct transport_piece *list;
    struct runtime_message message = {
        .node = runtime.node_of[version->to],
        .kind = REPLICA_KIND_VERSION,
        .header = version,
        .header_bytes = version_bytes(version),
        .context = (uint64_t)(uintptr_t)version,
    };
    int with_data, err;

    list = malloc((version->pieces + 1) * sizeof(*list));
    if (!list)
        return DRASYNC_ENOMEM;
    for (uint64_t i = 0; i < version->pieces; i++) {
        list[i].ptr = piece_data(&pieces[i]);
        list[i].bytes = pieces[i].end_bytes - pieces[i].begin_bytes;
    }
    message.pieces = list;
    message.pieces_count = version->pieces;
    with_data = version->pieces > 0;
    err = runtime_send(&message);
    free(list);
    /* With data it is gone when it has been sent, which may be by now; without,
     * nobody tells us. */
    if (!err && !with_data)
        replica_version_free(version);
    return err;
}

static int piece_valid(const struct replica_version *version,
                       const struct replica_piece *piece)
{
    return space_run_valid(&runtime.space, piece->first_page, piece->pages) &&
           piece->begin_bytes < piece->end_bytes &&
           piece->end_bytes <= piece->pages << PAGE_SHIFT &&
           piece->part < version->parts && piece->worker >= 0 &&
           piece->worker < runtime.ranks;
}

/* Nothing in a message is believed before this has said yes. */
static int version_valid(struct replica_version *version, size_t bytes,
                         uint64_t bulk_bytes)
{
    struct replica_part *parts = replica_version_parts(version);
    struct replica_piece *pieces;
    uint64_t sum = 0;

    if (!version->parts || version->parts > bytes / sizeof(parts[0]) ||
        version->pieces > bytes / sizeof(pieces[0]) ||
        version_bytes(version) != bytes)
        return 0;
    if (version->from < 0 || version->from >= runtime.ranks ||
        version->to < 0 || version->to >= runtime.ranks ||
        runtime.node_of[version->to] != runtime.node)
        return 0;
    for (uint64_t i = 0; i < version->parts; i++)
        if (parts[i].address % PAGE_BYTES ||
            parts[i].address >= runtime.space.layout.data_bytes)
            return 0;
    pieces = replica_version_pieces(version);
    for (uint64_t i = 0; i < version->pieces; i++) {
        if (!piece_valid(version, &pieces[i]))
            return 0;
        sum += pieces[i].end_bytes - pieces[i].begin_bytes;
    }
    return sum == bulk_bytes && sum == version->bytes;
}

static int version_place(int from, const void *header, size_t header_bytes,
                         uint64_t bulk_bytes, struct transport_sink *sink,
                         uint64_t *context_out)
{
    struct replica_version *version;
    struct replica_piece *pieces;
    void *ptr;
    int err;

    if (header_bytes < sizeof(*version))
        return DRASYNC_EINTERNAL;
    err = control_alloc(&runtime.space, header_bytes, &ptr);
    if (err) {
        runtime_poison("node %d sent a version that cannot be kept: %s", from,
                       drasync_strerror(err));
        return err;
    }
    version = ptr;
    memcpy(version, header, header_bytes);
    version->next = NULL;
    atomic_store(&version->ready, 0);
    if (!version_valid(version, header_bytes, bulk_bytes)) {
        control_free(&runtime.space, version);
        bad_message(from, "a version of a region");
        return DRASYNC_EINTERNAL;
    }
    err = replica_version_frames(version);
    pieces = replica_version_pieces(version);
    for (uint64_t i = 0; i < version->pieces && !err; i++) {
        uint64_t bytes = pieces[i].end_bytes - pieces[i].begin_bytes;

        frames_enter_window(&runtime.space, pieces[i].offset, bytes);
        err = transport_sink_add(sink, piece_data(&pieces[i]), bytes);
    }
    if (!err)
        err = replica_version_post(version);
    if (err) {
        if (!version->pieces)
            runtime_poison("what worker %d sent cannot be kept: %s",
                           version->from, drasync_strerror(err));
        replica_version_free(version);
        return err;
    }
    if (!version->notice)
        replica_attach_early(version);
    *context_out = (uint64_t)(uintptr_t)version;
    return 0;
}

static void version_arrived(int from, const void *header, size_t header_bytes,
                            uint64_t context)
{
    struct replica_version *version =
        (struct replica_version *)(uintptr_t)context;
    struct doorbell *doorbell =
        &replica_shared()->inboxes[runtime.local_of[version->to]].doorbell;

    (void)from;
    (void)header;
    (void)header_bytes;
    atomic_store(&version->ready, 1);
    doorbell_ring(doorbell);
}

static void version_sent(int to, uint64_t context, int result)
{
    struct replica_version *version =
        (struct replica_version *)(uintptr_t)context;

    if (result)
        runtime_poison("worker %d sent %llu bytes that node %d cannot take: "
                       "%s",
                       version->from, (unsigned long long)version->bytes, to,
                       drasync_strerror(result));
    replica_version_free(version);
}

/* --- Objects of other nodes' workers --- */

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
    if (region && extent && region->entry.incarnation == entry->incarnation) {
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
        bad_message(from, "a list of freed objects");
    for (at = 0; at + sizeof(entry) <= header_bytes; at += sizeof(entry)) {
        void *ptr;
        struct replica_heap *heap;

        memcpy(&entry, (const char *)header + at, sizeof(entry));
        entry.file[sizeof(entry.file) - 1] = 0;
        ptr = (void *)(uintptr_t)entry.ptr;
        heap = heap_with(&entry);
        err = heap ? replica_heap_free(heap, ptr) : 0;
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
    struct replica_heap *heap;
    struct heap_context context;
    struct extent_copy copy;
    size_t bytes = 0;
    int leaning, err;

    if (extent_find(&runtime.space, ptr, &copy)) {
        reply->node =
            chunks_home(&runtime.space, chunk_book_of(&runtime.space), page);
        return reply->node < 0 || reply->node == runtime.node ? DRASYNC_EFREED
                                                              : DRASYNC_EAGAIN;
    }
    heap = copy.owner;
    err = replica_heap_take(heap, &leaning);
    if (err)
        return err;
    context = replica_heap_elsewhere(heap);
    if (!atomic_load(&heap->live)) {
        err = DRASYNC_EFREED;
    } else if (heap->node != runtime.node) {
        reply->node = heap->node;
        err = DRASYNC_EAGAIN;
    } else {
        err = heap_usable(&context, &heap->heap, ptr, &bytes);
        if (!err && request->free)
            err = heap_free(&context, &heap->heap, ptr);
    }
    reply->bytes = bytes;
    replica_heap_give(heap, leaning);
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
                        size_t *bytes_out)
{
    struct object_request request = {
        .ptr = (uint64_t)(uintptr_t)ptr,
        .free = (uint64_t)free_it,
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

/* --- Barrier --- */

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

        send_or_poison(&message);
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
        bad_message(from, "a barrier");
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
        bad_message(from, "a barrier's end");
    else
        replica_barrier_release();
}

void replica_wire_barrier(void)
{
    struct runtime_message message = {.node = 0, .kind = REPLICA_KIND_BARRIER};

    if (runtime.node == 0)
        replica_barrier_node_arrived();
    else
        send_or_poison(&message);
}

void replica_wire_open(void)
{
    static const struct runtime_handler directory = {.arrived =
                                                         directory_arrived};
    static const struct runtime_handler version = {
        .place = version_place,
        .arrived = version_arrived,
        .sent = version_sent,
    };
    static const struct runtime_handler frees = {.arrived = frees_arrived};
    static const struct runtime_handler barrier = {.arrived = barrier_arrived};
    static const struct runtime_handler release = {.arrived = release_arrived};

    runtime_handle(REPLICA_KIND_DIRECTORY, &directory);
    runtime_handle(REPLICA_KIND_VERSION, &version);
    runtime_handle(REPLICA_KIND_FREE_OBJECTS, &frees);
    runtime_serve(REPLICA_KIND_OBJECT, serve_objects);
    runtime_handle(REPLICA_KIND_BARRIER, &barrier);
    runtime_handle(REPLICA_KIND_RELEASE, &release);
}
