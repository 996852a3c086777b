/*
 * A scheduler: it owns a part of the addresses and all regions whose numbers
 * lie there, and serves one request after another.  Schedulers form a tree (the
 * parent of i is (i - 1) / BL_FANOUT); a new region goes down it from its
 * parent's scheduler, to the level that the hint asks for, in turn to each
 * branch.
 */
#include "base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct scheduler {
    struct bl_heap heap;
    int index;
    int level; /* above the lowest schedulers below this one */
    unsigned turn;
    int byes;
};

/* A request whose worker waits for no reply. */
#define NOBODY UINT32_MAX

static int first_below(int index)
{
    return index * BL_FANOUT + 1;
}

static int level_of(int index)
{
    int level = 0;

    for (index = first_below(index); index < bl.schedulers;
         index = first_below(index))
        level++;
    return level;
}

static int owner_of(struct bl_name name)
{
    return bl_owner_of_page(name.region - 1) - bl.workers;
}

static void reply(uint32_t worker, struct bl_reply *header,
                  const struct bl_buffer *body)
{
    unsigned char message[BL_INLINE_BYTES];
    size_t bytes = body ? body->used : 0;
    uint64_t sent, piece;

    if (worker == NOBODY)
        return;
    header->more_bytes = 0;
    if (sizeof *header + bytes > sizeof message) {
        header->more_bytes = bytes;
        bytes = 0;
    }
    memcpy(message, header, sizeof *header);
    if (bytes)
        memcpy(message + sizeof *header, body->bytes, bytes);
    MPI_Send(message, (int)(sizeof *header + bytes), MPI_BYTE, (int)worker,
             BL_TAG_REPLY, bl.comm);
    for (sent = 0; sent < header->more_bytes; sent += piece) {
        piece = header->more_bytes - sent;
        if (piece > BL_PIECE_BYTES)
            piece = BL_PIECE_BYTES;
        MPI_Send(body->bytes + sent, (int)piece, MPI_BYTE, (int)worker,
                 BL_TAG_MORE, bl.comm);
    }
}

static void reply_status(uint32_t worker, enum bl_status status,
                         uint32_t region)
{
    struct bl_reply header = {(uint32_t)status, region, 0, 0, 0, 0};

    reply(worker, &header, NULL);
}

/* To another scheduler; never waits. */
static void forward(int index, const struct bl_request *request,
                    const struct bl_name *names)
{
    size_t list = names ? request->count * sizeof *names : 0;
    unsigned char *bytes = bl_outbox_buffer(&bl.outbox, sizeof *request + list);

    memcpy(bytes, request, sizeof *request);
    if (list)
        memcpy(bytes + sizeof *request, names, list);
    bl_outbox_send(&bl.outbox, bytes, sizeof *request + list,
                   sizeof *request + list, bl.workers + index, BL_TAG_REQUEST);
}

static void serve_alloc(struct scheduler *self,
                        const struct bl_request *request)
{
    static struct bl_buffer runs;
    struct bl_reply header = {0, request->region.region, 0, 0, 0, 0};
    struct bl_region *region;

    region = bl_heap_find(&self->heap, request->region.region, 0);
    if (!region) {
        reply_status(request->worker, BL_BAD_REGION, 0);
        return;
    }
    runs.used = 0;
    header.status = bl_heap_alloc(&self->heap, region, request->size,
                                  request->count, &runs, &header.count);
    reply(request->worker, &header, header.status == BL_OK ? &runs : NULL);
}

static void serve_object(struct scheduler *self,
                         const struct bl_request *request)
{
    static struct bl_buffer runs;
    struct bl_reply header = {0, 0, 0, 0, 0, 0};
    struct bl_slab *slab = NULL;
    struct bl_run *run;
    uint32_t slot = 0;

    runs.used = 0;
    header.status = bl_heap_lookup(&self->heap, request->address, &slab, &slot);
    if (header.status == BL_OK) {
        header.size = slab->name.slot_bytes;
        header.region = slab->region->name.region;
        header.count = 1;
        run = bl_buffer_add(&runs, sizeof *run);
        *run = (struct bl_run){slab->name, slot, 1,
                               slab->incs ? slab->incs[slot] : 0, 0};
        if (request->op == BL_OP_FREE)
            bl_heap_free(&self->heap, slab, slot);
        else
            header.in_place = header.region == request->region.region &&
                              request->size <= header.size &&
                              request->size > header.size / 2;
    }
    reply(request->worker, &header, &runs);
}

/* Region request->region has a new child, request->other. */
static void serve_link(struct scheduler *self, const struct bl_request *request)
{
    struct bl_request drop = {.op = BL_OP_DROP, .worker = NOBODY};
    struct bl_region *parent;

    parent = bl_heap_find(&self->heap, request->region.region,
                          request->region.serial);
    if (parent) {
        bl_region_add_child(parent, request->other);
        reply_status(request->worker, BL_OK, request->other.region);
        return;
    }
    /* Freed while the child was being made elsewhere. */
    drop.region = request->other;
    forward(owner_of(request->other), &drop, NULL);
    reply_status(request->worker, BL_BAD_REGION, 0);
}

static void serve_create(struct scheduler *self, struct bl_request *request)
{
    int below = bl.schedulers - first_below(self->index);
    struct bl_region *region;

    if (below > BL_FANOUT)
        below = BL_FANOUT;
    if (below > 0 && request->level < self->level) {
        request->op = BL_OP_CREATE;
        forward(first_below(self->index) +
                    (int)(self->turn++ % (unsigned)below),
                request, NULL);
        return;
    }
    region = bl_heap_new(&self->heap, request->region);
    if (!region) {
        reply_status(request->worker, BL_NO_MEMORY, 0);
        return;
    }
    request->op = BL_OP_LINK;
    request->other = region->name;
    if (owner_of(request->region) == self->index)
        serve_link(self, request);
    else
        forward(owner_of(request->region), request, NULL);
}

static void serve_ralloc(struct scheduler *self, struct bl_request *request)
{
    struct bl_region *parent;

    parent = bl_heap_find(&self->heap, request->region.region, 0);
    if (!parent) {
        reply_status(request->worker, BL_BAD_REGION, 0);
        return;
    }
    request->region = parent->name;
    serve_create(self, request);
}

/*
 * Free request->region and the @names that follow, with all below them; parts
 * that others own go on to the owner of the first of them.  request->level is 1
 * while the region itself is still to be found.
 */
static void serve_drop(struct scheduler *self, struct bl_request *request,
                       const struct bl_name *names)
{
    struct bl_buffer todo = {0}, remote = {0};
    struct bl_region *region;
    struct bl_name name;

    if (request->count)
        memcpy(bl_buffer_add(&todo, request->count * sizeof name), names,
               request->count * sizeof name);
    *(struct bl_name *)bl_buffer_add(&todo, sizeof name) = request->region;
    while (todo.used) {
        todo.used -= sizeof name;
        memcpy(&name, todo.bytes + todo.used, sizeof name);
        if (owner_of(name) != self->index) {
            *(struct bl_name *)bl_buffer_add(&remote, sizeof name) = name;
            continue;
        }
        region = bl_heap_find(&self->heap, name.region, name.serial);
        if (!region && request->level == 1) {
            reply_status(request->worker, BL_BAD_REGION, 0);
            request->worker = NOBODY;
        }
        request->level = 0;
        if (!region)
            continue;
        if (region->children_count)
            memcpy(bl_buffer_add(&todo, region->children_count * sizeof name),
                   region->children, region->children_count * sizeof name);
        bl_heap_delete(&self->heap, region);
    }
    if (remote.used) {
        remote.used -= sizeof name;
        memcpy(&request->region, remote.bytes + remote.used, sizeof name);
        request->op = BL_OP_DROP;
        request->count = (uint32_t)(remote.used / sizeof name);
        forward(owner_of(request->region), request,
                (const struct bl_name *)remote.bytes);
    } else {
        reply_status(request->worker, BL_OK, 0);
    }
    free(todo.bytes);
    free(remote.bytes);
}

/* Take the region out of the tree first: its number may be used again as soon
 * as it is free. */
static void serve_unlink(struct scheduler *self, struct bl_request *request)
{
    struct bl_region *parent;

    parent =
        bl_heap_find(&self->heap, request->other.region, request->other.serial);
    if (parent)
        bl_region_remove_child(parent, request->region);
    request->op = BL_OP_DROP;
    request->level = 1;
    request->count = 0;
    if (owner_of(request->region) == self->index)
        serve_drop(self, request, NULL);
    else
        forward(owner_of(request->region), request, NULL);
}

static void serve_rfree(struct scheduler *self, struct bl_request *request)
{
    struct bl_region *region;

    region = bl_heap_find(&self->heap, request->region.region, 0);
    if (!region) {
        reply_status(request->worker, BL_BAD_REGION, 0);
        return;
    }
    request->op = BL_OP_UNLINK;
    request->region = region->name;
    request->other = region->parent;
    if (owner_of(request->other) == self->index)
        serve_unlink(self, request);
    else
        forward(owner_of(request->other), request, NULL);
}

static void serve_query(struct scheduler *self,
                        const struct bl_request *request)
{
    static struct bl_buffer slabs, todo, remote;
    struct bl_reply header = {BL_OK, request->region.region, 0, 0, 0, 0};
    struct bl_name name = request->region;
    struct bl_region *region;
    uint32_t i;

    region = bl_heap_find(&self->heap, name.region, name.serial);
    if (!region) {
        reply_status(request->worker,
                     request->op == BL_OP_QUERY ? BL_BAD_REGION : BL_OK, 0);
        return;
    }
    slabs.used = remote.used = todo.used = 0;
    for (;;) {
        if (region)
            bl_region_describe(region, &slabs, &header.count);
        for (i = 0; region && i < region->children_count; i++) {
            struct bl_buffer *list = &todo;

            if (owner_of(region->children[i]) != self->index)
                list = &remote;
            *(struct bl_name *)bl_buffer_add(list, sizeof name) =
                region->children[i];
        }
        if (!todo.used)
            break;
        todo.used -= sizeof name;
        memcpy(&name, todo.bytes + todo.used, sizeof name);
        region = bl_heap_find(&self->heap, name.region, name.serial);
    }
    if (remote.used)
        memcpy(bl_buffer_add(&slabs, remote.used), remote.bytes, remote.used);
    reply(request->worker, &header, &slabs);
}

static void serve(struct scheduler *self, struct bl_request *request,
                  const struct bl_name *names)
{
    switch ((enum bl_op)request->op) {
    case BL_OP_ALLOC:
        serve_alloc(self, request);
        break;
    case BL_OP_FREE:
    case BL_OP_RESIZE:
        serve_object(self, request);
        break;
    case BL_OP_RALLOC:
        serve_ralloc(self, request);
        break;
    case BL_OP_CREATE:
        serve_create(self, request);
        break;
    case BL_OP_LINK:
        serve_link(self, request);
        break;
    case BL_OP_RFREE:
        serve_rfree(self, request);
        break;
    case BL_OP_UNLINK:
        serve_unlink(self, request);
        break;
    case BL_OP_DROP:
        serve_drop(self, request, names);
        break;
    case BL_OP_QUERY:
    case BL_OP_PART:
        serve_query(self, request);
        break;
    case BL_OP_BYE:
        self->byes++;
        break;
    }
}

void bl_scheduler_serve(void)
{
    struct scheduler self = {.index = bl.rank - bl.workers};
    struct bl_buffer message = {0};
    struct bl_wait wait = {0};
    MPI_Message handle;
    MPI_Status status;
    uint32_t first, count;
    int there, bytes;
    uint64_t since_ns;

    bl_pages_of(self.index, &first, &count);
    self.level = level_of(self.index);
    if (bl_heap_open(&self.heap, first, count)) {
        fprintf(stderr, "libmyrmics: no memory for the page table\n");
        bl_stop();
    }
    if (self.index == 0)
        bl_heap_new_root(&self.heap);
    while (self.byes < bl.workers) {
        since_ns = bl_record_clock();
        MPI_Improbe(MPI_ANY_SOURCE, BL_TAG_REQUEST, bl.comm, &there, &handle,
                    &status);
        if (!there) {
            bl_outbox_reap(&bl.outbox, 4);
            bl_pause(&wait);
            continue;
        }
        wait.polls = 0;
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        message.used = 0;
        bl_buffer_add(&message, (size_t)bytes);
        MPI_Mrecv(message.bytes, bytes, MPI_BYTE, &handle, MPI_STATUS_IGNORE);
        serve(&self, (struct bl_request *)message.bytes,
              (const struct bl_name *)(message.bytes +
                                       sizeof(struct bl_request)));
        bl_record_served(((struct bl_request *)message.bytes)->op, since_ns);
    }
    free(message.bytes);
    bl_heap_close(&self.heap);
}
