/*
 * Who has a region, and where it took it: a rank asks another one of its node
 * by a box in control memory, or another node by a call.
 */
#include <pthread.h>
#include <string.h>

#include "memory/control.h"
#include "runtime/check/state.h"
#include "runtime/messages/messages.h"
#include "runtime/process.h"
#include "runtime/shared.h"

/* How long the answer of a rank of the node is waited for. */
#define ANSWER_US 2000000
#define LOOK_US   2000

/* Questions of other nodes at a time; more are told nothing. */
#define CALLERS_MAX 16

/* What another node asks for. */
struct asked {
    uint64_t address; /* who has this; 0: */
    int32_t rank;     /* for a stack of this rank */
    uint32_t stack;
};

struct question {
    struct runtime_caller caller;
    struct asked asked;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct question questions[CALLERS_MAX];
static int questions_count;

/* --- In the node ---------------------------------------------------------- */

int check_boxes_new(void)
{
    void *made;
    int err = control_alloc_zero(
        &runtime.space, (size_t)runtime.locals * sizeof(struct check_box),
        &made);

    if (!err)
        atomic_store(&runtime.shared->anchors[RUNTIME_ANCHOR_CHECK], made);
    return err;
}

struct check_box *check_box_of(int local)
{
    struct check_box *boxes =
        atomic_load(&runtime.shared->anchors[RUNTIME_ANCHOR_CHECK]);

    return boxes + local;
}

/* The box's text is @text, cut if it must be. */
static size_t cut(char out[CHECK_ANSWER_BYTES], const struct check_text *text)
{
    size_t bytes =
        text->used < CHECK_ANSWER_BYTES ? text->used : CHECK_ANSWER_BYTES - 1;

    memcpy(out, text->bytes, bytes);
    out[bytes] = 0;
    return bytes + 1;
}

static void serve_box(void)
{
    static struct check_text text;
    struct check_box *box = check_box_of(runtime.local);
    uint32_t is = atomic_load(&box->state);

    /* Pairs with ask()'s stores: so the region is there. */
    if (is == CHECK_BOX_LEFT)
        atomic_store(&box->state, CHECK_BOX_FREE);
    if (is != CHECK_BOX_ASKED)
        return;
    text.used = 0;
    if (box->stack)
        check_lines_add(&text, check_stack_of(box->stack), false);
    else
        check_add_taken(&text, box->region);
    cut(box->text, &text);
    /* Pairs with ask()'s load: so is the text.  Else nobody waits for it. */
    if (!atomic_compare_exchange_strong(&box->state, &is, CHECK_BOX_ANSWERED))
        atomic_store(&box->state, CHECK_BOX_FREE);
}

/* False: it has not come to that in time. */
static bool wait_for(struct check_box *box, uint32_t from, uint32_t to)
{
    static _Atomic uint32_t never;
    uint64_t end = runtime_now_us() + ANSWER_US;
    uint32_t is = from;

    while (!atomic_compare_exchange_strong(&box->state, &is, to)) {
        if (runtime_now_us() > end)
            return false;
        wait_futex(&never, 0, runtime_now_us() + LOOK_US);
        is = from;
    }
    return true;
}

static bool ask(int rank, uint64_t region, uint32_t stack,
                char text[CHECK_ANSWER_BYTES])
{
    struct check_box *box = check_box_of(runtime.local_of[rank]);
    uint32_t asked = CHECK_BOX_ASKED;

    if (!wait_for(box, CHECK_BOX_FREE, CHECK_BOX_WRITING))
        return false;
    box->region = region;
    box->stack = stack;
    atomic_store(&box->state, CHECK_BOX_ASKED);
    doorbell_ring(&box->question);
    /* Who comes second, the answer or the end of the wait, frees the box. */
    if (!wait_for(box, CHECK_BOX_ANSWERED, CHECK_BOX_WRITING) &&
        atomic_compare_exchange_strong(&box->state, &asked, CHECK_BOX_LEFT))
        return false;
    memcpy(text, box->text, CHECK_ANSWER_BYTES);
    text[CHECK_ANSWER_BYTES - 1] = 0;
    atomic_store(&box->state, CHECK_BOX_FREE);
    return true;
}

bool check_ask(int rank, uint64_t region, char text[CHECK_ANSWER_BYTES])
{
    return ask(rank, region, 0, text);
}

bool check_ask_stack(int rank, uint32_t stack, char text[CHECK_ANSWER_BYTES])
{
    return stack && ask(rank, 0, stack, text);
}

/* --- Between nodes -------------------------------------------------------- */

/* On the progress thread, which may not wait. */
static void asked(const struct runtime_caller *caller, const void *request,
                  size_t request_bytes)
{
    struct question q = {.caller = *caller};
    bool room;

    if (request_bytes != sizeof(q.asked)) {
        runtime_reply(caller, DRASYNC_EINVAL, NULL, 0);
        return;
    }
    memcpy(&q.asked, request, sizeof(q.asked));
    pthread_mutex_lock(&mutex);
    room = questions_count < CALLERS_MAX;
    if (room)
        questions[questions_count++] = q;
    pthread_mutex_unlock(&mutex);
    if (room)
        doorbell_ring(&check_box_of(runtime.local)->question);
    else
        runtime_reply(caller, DRASYNC_EAGAIN, NULL, 0);
}

static bool next_question(struct question *out)
{
    bool any;

    pthread_mutex_lock(&mutex);
    any = questions_count > 0;
    if (any)
        *out = questions[--questions_count];
    pthread_mutex_unlock(&mutex);
    return any;
}

void check_serve(void)
{
    static struct check_text text;
    static char answer[CHECK_ANSWER_BYTES];
    struct question q;

    serve_box();
    while (next_question(&q)) {
        text.used = 0;
        if (q.asked.address)
            check_add_node(&text, q.asked.address, -1);
        else
            check_add_stack(
                &text, (struct heap_who){q.asked.rank, q.asked.stack}, false);
        runtime_reply(&q.caller, 0, answer, cut(answer, &text));
    }
}

void check_ask_open(void)
{
    runtime_serve(RUNTIME_KIND_CHECK, asked);
}

bool check_ask_node(int node, uint64_t address, char text[CHECK_ANSWER_BYTES])
{
    const struct asked what = {.address = address};
    size_t bytes = 0;

    /* A touch inside MPI may have MPI's lock, without which none comes. */
    if (runtime_call_timed(node, RUNTIME_KIND_CHECK, &what, sizeof(what), text,
                           CHECK_ANSWER_BYTES, &bytes, 2 * ANSWER_US) ||
        !bytes)
        return false;
    text[bytes < CHECK_ANSWER_BYTES ? bytes : CHECK_ANSWER_BYTES - 1] = 0;
    return true;
}

bool check_ask_stack_there(int rank, uint32_t stack,
                           char text[CHECK_ANSWER_BYTES])
{
    const struct asked what = {.rank = rank, .stack = stack};
    size_t bytes = 0;

    if (runtime_call_timed(runtime.node_of[rank], RUNTIME_KIND_CHECK, &what,
                           sizeof(what), text, CHECK_ANSWER_BYTES, &bytes,
                           2 * ANSWER_US) ||
        !bytes)
        return false;
    text[bytes < CHECK_ANSWER_BYTES ? bytes : CHECK_ANSWER_BYTES - 1] = 0;
    return true;
}
