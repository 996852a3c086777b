/* What changed in a large region is looked for in pieces and sent: later.h. */
#include <stdlib.h>
#include <string.h>

#include "memory/control.h"
#include "runtime/messages/messages.h"
#include "runtime/native/diff.h"
#include "runtime/native/frames.h"
#include "runtime/native/later.h"
#include "runtime/native/table.h"
#include "runtime/process.h"
#include "runtime/say.h"

struct later_answer {
    struct runtime_chore chore;
    uint64_t address, version, later;
    struct native_frames *frames;
    struct shipment *shipment;
    uint32_t to;
    bool noted;             /* listed from now on */
    struct delta_list list; /* its runs are in the leader's own memory */
    uint64_t used_bytes[];
};

int later_answer_new(const struct proto_effect *ship,
                     struct later_answer **answer_out, uint64_t *later_out)
{
    const struct native_frames *frames = ship->copy->frames;
    const struct frameset *set = frames->set;
    struct later_answer *answer;
    void *v;
    int err = control_alloc_zero(
        &runtime.space,
        sizeof(*answer) + set->runs * sizeof(answer->used_bytes[0]), &v);

    if (err)
        return err;
    answer = v;
    answer->address = ship->region->address;
    answer->version = ship->copy->version;
    answer->frames = ship->copy->frames;
    /* Relaxed: only that no two are the same matters. */
    answer->later = atomic_fetch_add_explicit(&native.shared->laters, 1,
                                              memory_order_relaxed) +
                    1;
    for (uint64_t i = 0; i < set->runs; i++)
        answer->used_bytes[i] = native_used_bytes(frames, i);
    answer->list.base = ship->base_version;
    answer->list.extents = set->runs;
    answer->list.used_bytes = answer->used_bytes;
    *answer_out = answer;
    *later_out = answer->later;
    return 0;
}

void later_answer_begin(struct later_answer *answer, uint32_t to,
                        struct shipment *shipment)
{
    answer->to = to;
    answer->shipment = shipment;
    chore_begin(&answer->chore, CHORE_NATIVE_ANSWER);
}

/* All pages, as those that changed. */
static int list_all(struct later_answer *a)
{
    struct delta_runs *runs = &a->list.runs;

    free(runs->run);
    runs->count = 0;
    runs->run = malloc(a->list.extents * sizeof(*runs->run));
    if (!runs->run)
        return DRASYNC_ENOMEM;
    for (uint64_t i = 0; i < a->list.extents; i++)
        if (a->used_bytes[i])
            runs->run[runs->count++] =
                (struct delta_run){i, 0, space_pages_for(a->used_bytes[i])};
    return 0;
}

static int add_pieces(const struct later_answer *a,
                      struct transport_sink *pieces)
{
    int err = 0;

    for (size_t i = 0; i < a->list.runs.count && !err; i++) {
        const struct delta_run *run = &a->list.runs.run[i];
        uint64_t offset =
            a->frames->set->run[run->extent].offset + (run->page << PAGE_SHIFT);
        uint64_t bytes = delta_run_bytes(run, a->used_bytes[run->extent]);

        err = transport_sink_add(
            pieces, space_window(&runtime.space, offset, bytes), bytes);
    }
    return err;
}

static int send_runs(const struct later_answer *a)
{
    size_t runs_bytes = a->list.runs.count * sizeof(a->list.runs.run[0]);
    size_t bytes = sizeof(struct wire_later) + runs_bytes;
    struct transport_sink pieces = {0};
    struct wire_later *header = malloc(bytes);
    int err = header ? add_pieces(a, &pieces) : DRASYNC_ENOMEM;
    const struct runtime_message m = {
        .node = (int)a->to,
        .kind = RUNTIME_KIND_NATIVE_LATER,
        .header = header,
        .header_bytes = bytes,
        .pieces = pieces.pieces,
        .pieces_count = pieces.count,
        .context = (uint64_t)(uintptr_t)a->shipment,
    };

    if (!err) {
        header->later = a->later;
        header->runs = a->list.runs.count;
        if (runs_bytes)
            memcpy(header + 1, a->list.runs.run, runs_bytes);
        err = runtime_send(&m);
    }
    /* Of a message without data nobody says that it has left. */
    if (!err && !pieces.count)
        native_wire_sent((int)a->to, (uint64_t)(uintptr_t)a->shipment, 0);
    free(header);
    transport_sink_free(&pieces);
    return err;
}

/* Note or list some more.  0: all of it; DRASYNC_EAGAIN; DRASYNC_EPEER. */
static int look(struct later_answer *a)
{
    struct native_tree tree;
    int err = native_lock_for(NATIVE_FOR_READ, a->address, &tree);

    if (err)
        return err;
    /* The record is there as long as the transfer is. */
    struct native_memory *memory = tree.region ? tree.region->memory : NULL;
    if (!memory) {
        err = DRASYNC_EINTERNAL;
    } else if (!a->noted) {
        err = native_delta_note(memory, a->frames, a->version);
        a->noted = !err;
        err = err ? err : DRASYNC_EAGAIN;
    } else {
        err = native_delta_list(memory, a->frames, &a->list);
    }
    native_unlock(&tree);
    return err;
}

static bool answer_piece(struct runtime_chore *chore)
{
    struct later_answer *a = (struct later_answer *)(void *)chore;
    int err = look(a);

    if (err == DRASYNC_EAGAIN)
        return false;
    if (err && err != DRASYNC_EPEER)
        err = list_all(a);
    if (!err)
        err = send_runs(a);
    /* The TRANSFER has been sent and cannot be undone. */
    if (err && err != DRASYNC_EPEER)
        runtime_poison("cannot send what changed in region %p to node %u: %s",
                       (void *)(uintptr_t)a->address, a->to,
                       drasync_strerror(err));
    free(a->list.runs.run);
    control_free(&runtime.space, a);
    return true;
}

/* A reader may come again. */
static void note_copy(struct proto_region *region,
                      const struct proto_copy *copy, uint64_t version,
                      void *spent)
{
    if (region->memory && copy->frames && !native_diff_works(region->memory))
        native_delta_sent(region, copy->frames, version, spent);
}

/* Refused or not, the frames are not read any more. */
void native_wire_sent(int to, uint64_t context, int result)
{
    struct shipment *shipment = (struct shipment *)(uintptr_t)context;
    struct native_tree tree;
    uint64_t spent = 0;

    (void)result;
    if (--shipment->messages > 0)
        return;
    if (!native_lock(shipment->root, &tree)) {
        struct proto_region *root = native_find(shipment->root);

        if (root)
            proto_sent_each(root, (uint32_t)to, shipment->ticket, note_copy,
                            &spent);
        native_wire_left(shipment->root, (uint32_t)to, shipment->ticket);
        native_unlock(&tree);
    }
    control_free(&runtime.space, shipment);
}

void native_later_send_start(void)
{
    chore_handle(CHORE_NATIVE_ANSWER, answer_piece);
}
