/* Messages between workers and schedulers, and how both wait for them. */
#include "base.h"
#include "runtime/record/record.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Polls before the processor is yielded, and before sleeping starts. */
#define SPIN_POLLS          2000
#define YIELD_POLLS_CROWDED 200
#define YIELD_POLLS         100000
/* Which buffers of messages are kept for the next. */
#define SPARE_BYTES_MIN ((uint64_t)1 << 17)
#define SPARE_BYTES_MAX ((uint64_t)1 << 29)

#define SLEEP_NS 20000L

void bl_pause(struct bl_wait *wait)
{
    const struct timespec nap = {0, SLEEP_NS};
    unsigned polls = ++wait->polls;

    if (!bl.crowded && polls < SPIN_POLLS)
        return;
    if (polls < (bl.crowded ? YIELD_POLLS_CROWDED : YIELD_POLLS))
        sched_yield();
    else
        nanosleep(&nap, NULL);
}

double bl_now_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

unsigned char *bl_outbox_buffer(struct bl_outbox *outbox, uint64_t size)
{
    unsigned char *bytes = outbox->spare;

    if (!bytes || outbox->spare_bytes < size)
        return bl_malloc(size);
    outbox->spare = NULL;
    return bytes;
}

/* New memory for a large message costs as much as to copy it. */
static void buffer_back(struct bl_outbox *outbox,
                        const struct bl_parcel *parcel)
{
    if (parcel->size < SPARE_BYTES_MIN || parcel->size > SPARE_BYTES_MAX ||
        (outbox->spare && outbox->spare_bytes >= parcel->size)) {
        free(parcel->bytes);
        return;
    }
    free(outbox->spare);
    outbox->spare = parcel->bytes;
    outbox->spare_bytes = parcel->size;
}

static void send_piece(struct bl_outbox *outbox, struct bl_parcel *parcel,
                       uint64_t from, uint64_t bytes, int rank, enum bl_tag tag)
{
    if (outbox->count == outbox->room) {
        size_t room = outbox->room * 2 + 64;
        struct bl_sending *more = bl_malloc(room * sizeof *more);

        if (outbox->count)
            memcpy(more, outbox->sendings, outbox->count * sizeof *more);
        free(outbox->sendings);
        outbox->sendings = more;
        outbox->room = room;
    }
    outbox->sendings[outbox->count].parcel = parcel;
    MPI_Isend(parcel->bytes + from, (int)bytes, MPI_BYTE, rank, (int)tag,
              bl.comm, &outbox->sendings[outbox->count].request);
    outbox->count++;
    parcel->pieces++;
}

void bl_outbox_send(struct bl_outbox *outbox, unsigned char *bytes,
                    uint64_t first, uint64_t size, int rank, enum bl_tag tag)
{
    struct bl_parcel *parcel = bl_malloc(sizeof *parcel);
    uint64_t sent = 0, piece = first;

    parcel->bytes = bytes;
    parcel->size = size;
    parcel->pieces = 0;
    do {
        if (piece > BL_PIECE_BYTES)
            piece = BL_PIECE_BYTES;
        send_piece(outbox, parcel, sent, piece, rank, tag);
        sent += piece;
        piece = size - sent;
    } while (sent < size);
    bl_outbox_reap(outbox, 4);
}

void bl_outbox_reap(struct bl_outbox *outbox, size_t count)
{
    struct bl_sending *sending;
    int done;

    if (count > outbox->count)
        count = outbox->count;
    for (; count > 0; count--) {
        if (outbox->next >= outbox->count)
            outbox->next = 0;
        sending = &outbox->sendings[outbox->next];
        MPI_Test(&sending->request, &done, MPI_STATUS_IGNORE);
        if (!done) {
            outbox->next++;
            continue;
        }
        if (--sending->parcel->pieces == 0) {
            buffer_back(outbox, sending->parcel);
            free(sending->parcel);
        }
        *sending = outbox->sendings[--outbox->count];
    }
}

void bl_pages_of(int index, uint32_t *first_out, uint32_t *count_out)
{
    uint32_t each = bl.pages / (uint32_t)bl.schedulers;

    *first_out = each * (uint32_t)index;
    *count_out = index == bl.schedulers - 1 ? bl.pages - *first_out : each;
}

int bl_owner_of_page(uint64_t page)
{
    uint64_t index = page / (bl.pages / (uint32_t)bl.schedulers);

    if (index >= (uint64_t)bl.schedulers)
        index = (uint64_t)bl.schedulers - 1;
    return bl.workers + (int)index;
}

const struct bl_answer *bl_ask(int scheduler_rank, struct bl_request *request)
{
    static unsigned char first[BL_INLINE_BYTES];
    static struct bl_buffer more;
    static struct bl_answer answer;
    struct bl_wait wait = {0};
    MPI_Request receive;
    MPI_Status status;
    int done = 0, bytes;

    RECORD_BEGIN();
    request->worker = (uint32_t)bl.rank;
    MPI_Irecv(first, sizeof first, MPI_BYTE, MPI_ANY_SOURCE, BL_TAG_REPLY,
              bl.comm, &receive);
    MPI_Send(request, sizeof *request, MPI_BYTE, scheduler_rank, BL_TAG_REQUEST,
             bl.comm);
    for (;;) {
        MPI_Test(&receive, &done, &status);
        if (done)
            break;
        bl_pause(&wait);
    }
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    memcpy(&answer.reply, first, sizeof answer.reply);
    answer.body = first + sizeof answer.reply;
    answer.body_bytes = (size_t)bytes - sizeof answer.reply;
    if (answer.reply.more_bytes) {
        uint64_t got = 0, piece;

        more.used = 0;
        bl_buffer_add(&more, answer.reply.more_bytes);
        while (got < answer.reply.more_bytes) {
            piece = answer.reply.more_bytes - got;
            if (piece > BL_PIECE_BYTES)
                piece = BL_PIECE_BYTES;
            MPI_Recv(more.bytes + got, (int)piece, MPI_BYTE, status.MPI_SOURCE,
                     BL_TAG_MORE, bl.comm, MPI_STATUS_IGNORE);
            got += piece;
        }
        answer.body = more.bytes;
        answer.body_bytes = more.used;
    }
    RECORD_DONE(0, RECORD_ASK, scheduler_rank - bl.workers, answer.body_bytes,
                request->op == BL_OP_QUERY || request->op == BL_OP_PART);
    bl_outbox_reap(&bl.outbox, 4);
    return &answer;
}
