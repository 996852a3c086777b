/* Answering transfers in shapes: see far_runs.h.  Handlers. */
#include <string.h>

#include "memory/passed.h"
#include "runtime/messages/messages.h"
#include "runtime/messages/progress.h"
#include "runtime/no_memory.h"
#include "runtime/process.h"
#include "runtime/rma/far_runs.h"
#include "runtime/say.h"

uint64_t far_run_span(const struct far_run *run)
{
    uint64_t span;

    if (!run->bytes || !run->count ||
        __builtin_mul_overflow(run->stride, run->count - 1, &span) ||
        __builtin_add_overflow(span, run->bytes, &span))
        return 0;
    return span;
}

/* A message, whose header is not aligned for us. */
struct list {
    struct far_runs_head head;
    const char *runs, *data;
    size_t data_bytes;
};

/* False: it is cut short, and the job is over. */
static bool read_list(int from, const void *header, size_t bytes,
                      struct list *list)
{
    size_t left = bytes - sizeof(list->head), runs_bytes;

    if (bytes >= sizeof(list->head)) {
        memcpy(&list->head, header, sizeof(list->head));
        if (list->head.runs <= left / sizeof(struct far_run)) {
            runs_bytes = list->head.runs * sizeof(struct far_run);
            list->runs = (const char *)header + sizeof(list->head);
            list->data = list->runs + runs_bytes;
            list->data_bytes = left - runs_bytes;
            return true;
        }
    }
    runtime_broken("rank %d sent a transfer that is cut short", from);
    return false;
}

static struct far_run run_at(const struct list *list, uint64_t i)
{
    struct far_run run;

    memcpy(&run, list->runs + i * sizeof(run), sizeof(run));
    return run;
}

static char *address_of(const struct far_run *run)
{
    uint64_t span = far_run_span(run);

    return span ? space_window(&runtime.space, run->place, span) : NULL;
}

/* Are all runs in memory that this node has, and of as many bytes as it says,
 * and not too many? */
static bool list_valid(const struct list *list)
{
    uint64_t bytes = 0;

    if (list->head.bytes > FAR_RUNS_DATA_BYTES)
        return false;
    for (uint64_t i = 0; i < list->head.runs; i++) {
        struct far_run run = run_at(list, i);

        if (!address_of(&run))
            return false;
        bytes += (uint64_t)run.bytes * run.count;
        if (bytes > list->head.bytes)
            return false;
    }
    return bytes == list->head.bytes;
}

static void put_arrived(int from, const void *header, size_t header_bytes,
                        uint64_t context)
{
    const char *data;
    struct list list;
    int err = 0;

    (void)context;
    if (!read_list(from, header, header_bytes, &list))
        return;
    if (list.head.bytes != list.data_bytes || !list_valid(&list))
        err = DRASYNC_EINVAL;
    data = list.data;
    passed_unseen_begin();
    for (uint64_t i = 0; i < list.head.runs && !err; i++) {
        struct far_run run = run_at(&list, i);

        data += far_run_unpack(&run, address_of(&run), data);
    }
    passed_unseen_end();
    far_answer_put(from, list.head.ticket, err);
}

static void get_arrived(int from, const void *header, size_t header_bytes,
                        uint64_t context)
{
    static char answer[sizeof(struct far_answer) + FAR_RUNS_DATA_BYTES];
    struct far_answer a = {0};
    struct transport_message m = {
        .kind = FAR_DATA,
        .header = answer,
        .header_bytes = sizeof(a),
    };
    struct list list;

    (void)context;
    if (!read_list(from, header, header_bytes, &list))
        return;
    a.ticket = list.head.ticket;
    if (list.data_bytes || !list_valid(&list))
        a.err = DRASYNC_EINVAL;
    memcpy(answer, &a, sizeof(a));
    passed_unseen_begin();
    for (uint64_t i = 0; i < list.head.runs && !a.err; i++) {
        struct far_run run = run_at(&list, i);

        m.header_bytes +=
            far_run_pack(&run, address_of(&run), answer + m.header_bytes);
    }
    passed_unseen_end();
    if (progress_answer(from, &m))
        runtime_no_memory("answer rank %d", from);
}

void far_runs_serve_start(void)
{
    static const struct runtime_handler put = {
        .by_rank = true,
        .arrived = put_arrived,
    };
    static const struct runtime_handler get = {
        .by_rank = true,
        .arrived = get_arrived,
    };

    runtime_handle(FAR_PUT_RUNS, &put);
    runtime_handle(FAR_GET_RUNS, &get);
}
