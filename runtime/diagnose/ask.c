/* Facts of any node, by calls that are answered: see ask.h. */
#include "runtime/diagnose/ask.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/diagnose/asked.h"
#include "runtime/diagnose/ps.h"
#include "runtime/messages/messages.h"
#include "runtime/process.h"
#include "runtime/services/names.h"
#include "runtime/shared.h"

/* A region whose token moves on is not followed for longer. */
#define HOPS_MAX 8

/* Reports of a job. */
#define CLAIMS_MAX 10

enum {
    ASK_WAITS = 1,
    ASK_RANK,
    ASK_REGION,
    ASK_NAME,
    ASK_CLAIM,
    ASK_VIEW,
    ASK_MPI,
    ASK_DOING,
};

/* Of the holds and of the regions of a node, so many are listed. */
#define VIEW_LINES 20

struct request {
    uint32_t what;
    int32_t rank;
    uint64_t
        address;  /* or the first wait or rank, the pause or the number, a rank
                     and a tag, 1 + the number of a request */
    uint32_t why; /* enum ask_why */
    uint32_t places; /* or threads: also what takes reading files */
};

/* The largest answer. */
union answer {
    struct facts_wait waits[ASK_WAITS_MAX];
    struct facts_doing doing[ASK_DOING_MAX];
    struct facts_rank rank;
    struct facts_region region;
    struct facts_mpi mpi;
    char name[DRASYNC_NAME_MAX + 1];
    char view[ASK_VIEW_BYTES];
    uint32_t yes;
};

/* Has @pause_us passed since *@last_us?  To one of those who ask at a time. */
static bool has_passed(_Atomic uint64_t *last_us, uint64_t pause_us)
{
    uint64_t now = runtime_now_us(), last = atomic_load(last_us);

    return (!last || now - last >= pause_us) &&
           atomic_compare_exchange_strong(last_us, &last, now);
}

/*
 * Those who find one deadlock come here at nearly the same time, so its number
 * stays long enough, though another may take its place.  The exchange gives it to
 * one of them; the order of what else is read or written does not matter.
 */
static bool claims(struct facts_shared *s, uint64_t number)
{
    return atomic_exchange_explicit(&s->claimed[number % FACTS_CLAIMED], number,
                                    memory_order_relaxed) != number;
}

/* Of node 0; @pause_us: of ASK_WHY_FAIL, the number. */
static uint32_t grant(uint64_t pause_us, enum ask_why why)
{
    struct facts_shared *s =
        atomic_load(&runtime.shared->anchors[RUNTIME_ANCHOR_DIAGNOSE]);

    if (why == ASK_WHY_END)
        return atomic_exchange(&s->ends, 1) == 0;
    if (why == ASK_WHY_FAIL)
        return claims(s, pause_us);
    if (why == ASK_WHY_USER)
        return has_passed(&s->asked_us, pause_us);
    if (atomic_load(&s->ends) || atomic_load(&s->granted) >= CLAIMS_MAX ||
        !has_passed(&s->granted_us, pause_us))
        return 0;
    atomic_fetch_add(&s->granted, 1);
    return 1;
}

static size_t view_here(char out[ASK_VIEW_BYTES])
{
    struct text text = {.bytes = NULL};
    size_t bytes;

    ps_add_node(&text, VIEW_LINES);
    bytes = text.length < ASK_VIEW_BYTES ? text.length : ASK_VIEW_BYTES - 1;
    if (bytes)
        memcpy(out, text.bytes, bytes);
    out[bytes] = 0;
    free(text.bytes);
    return bytes + 1;
}

/* This node's answer to @q; its size. */
static size_t answer_here(const struct request *q, union answer *out)
{
    switch (q->what) {
    case ASK_WAITS:
        return facts_waits(q->address, out->waits, ASK_WAITS_MAX) *
               sizeof(out->waits[0]);
    case ASK_DOING:
        return facts_of_ranks(q->address, q->places != 0, out->doing,
                              ASK_DOING_MAX) *
               sizeof(out->doing[0]);
    case ASK_RANK:
        if (q->address)
            facts_of_request(q->rank, (uint32_t)q->address - 1, &out->rank);
        else
            facts_of_rank(q->rank, &out->rank);
        return sizeof(out->rank);
    case ASK_REGION:
        facts_of_region(q->address, q->rank, q->places != 0, &out->region);
        return sizeof(out->region);
    case ASK_NAME:
        return names_look(q->address, out->name) ? sizeof(out->name) : 0;
    case ASK_CLAIM:
        out->yes = grant(q->address, (enum ask_why)q->why);
        return sizeof(out->yes);
    case ASK_VIEW:
        return view_here(out->view);
    case ASK_MPI:
        facts_of_mpi(q->rank, (int32_t)(q->address >> 32), (int32_t)q->address,
                     q->places != 0, &out->mpi);
        return sizeof(out->mpi);
    default:
        return 0;
    }
}

void ask_answer_view(const struct runtime_caller *caller)
{
    char *view = malloc(ASK_VIEW_BYTES);

    runtime_reply(caller, view ? 0 : DRASYNC_ENOMEM, view,
                  view ? view_here(view) : 0);
    free(view);
}

/* On the progress thread: lines of places are read on another one. */
static void serve(const struct runtime_caller *caller, const void *request,
                  size_t request_bytes)
{
    union answer *answer = malloc(sizeof(*answer));
    struct request q;
    size_t bytes = 0;

    if (answer && request_bytes == sizeof(q)) {
        memcpy(&q, request, sizeof(q));
        if (q.what == ASK_VIEW && asked_later(caller)) {
            free(answer);
            return;
        }
        bytes = answer_here(&q, answer);
    }
    runtime_reply(caller, answer ? 0 : DRASYNC_ENOMEM, answer, bytes);
    free(answer);
}

void ask_start(void)
{
    runtime_serve(RUNTIME_KIND_DIAGNOSE, serve);
}

/* Until when nodes that did not answer, of the first so many, are not asked. */
#define SILENT_MAX 65536
#define SILENT_US  60000000
static _Atomic uint64_t silent[SILENT_MAX];

/* Relaxed: nothing depends on it. */
static bool is_silent(int node)
{
    return node < SILENT_MAX &&
           atomic_load_explicit(&silent[node], memory_order_relaxed) >
               runtime_now_us();
}

static int ask(int node, const struct request *q, union answer *out,
               size_t *bytes_out)
{
    int err;

    *bytes_out = 0;
    if (node < 0 || node >= runtime.nodes)
        return DRASYNC_EINVAL;
    if (node == runtime.node) {
        *bytes_out = answer_here(q, out);
        return 0;
    }
    if (is_silent(node))
        return DRASYNC_EAGAIN;
    err = runtime_call_timed(node, RUNTIME_KIND_DIAGNOSE, q, sizeof(*q), out,
                             sizeof(*out), bytes_out, ASK_TIMEOUT_US);
    if (err == DRASYNC_EAGAIN && node < SILENT_MAX)
        atomic_store_explicit(&silent[node], runtime_now_us() + SILENT_US,
                              memory_order_relaxed);
    return err;
}

/* An answer of @bytes at @out. */
static int ask_for(int node, const struct request *q, void *out, size_t bytes)
{
    union answer *answer = malloc(sizeof(*answer));
    size_t got = 0;
    int err = answer ? ask(node, q, answer, &got) : DRASYNC_ENOMEM;

    if (!err && got != bytes)
        err = DRASYNC_EAGAIN;
    if (!err)
        memcpy(out, answer, bytes);
    free(answer);
    return err;
}

/* An answer of some, each of @each bytes, at @out. */
static int ask_list(int node, const struct request *q, void *out, size_t each,
                    size_t *count_out)
{
    union answer *answer = malloc(sizeof(*answer));
    size_t bytes = 0;
    int err = answer ? ask(node, q, answer, &bytes) : DRASYNC_ENOMEM;

    *count_out = err ? 0 : bytes / each;
    if (*count_out)
        memcpy(out, answer, *count_out * each);
    free(answer);
    return err;
}

int ask_waits(int node, size_t first, struct facts_wait *out, size_t *count_out)
{
    struct request q = {.what = ASK_WAITS, .address = first};

    return ask_list(node, &q, out, sizeof(*out), count_out);
}

int ask_doing(int node, size_t first, bool threads, struct facts_doing *out,
              size_t *count_out)
{
    struct request q = {.what = ASK_DOING, .address = first, .places = threads};

    return ask_list(node, &q, out, sizeof(*out), count_out);
}

static int ask_rank_about(int32_t rank, uint64_t about, struct facts_rank *out)
{
    struct request q = {.what = ASK_RANK, .rank = rank, .address = about};

    if (rank < 0 || rank >= runtime.ranks)
        return DRASYNC_EINVAL;
    return ask_for(runtime.node_of[rank], &q, out, sizeof(*out));
}

int ask_rank(int32_t rank, struct facts_rank *out)
{
    return ask_rank_about(rank, 0, out);
}

int ask_request(int32_t rank, uint32_t index, struct facts_rank *out)
{
    return ask_rank_about(rank, (uint64_t)index + 1, out);
}

int ask_mpi(int32_t rank, int32_t to, int32_t tag, bool places,
            struct facts_mpi *out)
{
    struct request q = {
        .what = ASK_MPI,
        .rank = rank,
        .address = (uint64_t)(uint32_t)to << 32 | (uint32_t)tag,
        .places = places,
    };

    if (rank < 0 || rank >= runtime.ranks)
        return DRASYNC_EINVAL;
    return ask_for(runtime.node_of[rank], &q, out, sizeof(*out));
}

int ask_region(int node, uint64_t at, int32_t rank, bool places,
               struct facts_region *out)
{
    struct request q = {
        .what = ASK_REGION, .rank = rank, .address = at, .places = places};

    return ask_for(node, &q, out, sizeof(*out));
}

/* Where to ask after a node that had @hint. */
static int next_node(uint32_t hint, uint64_t at)
{
    return hint == NATIVE_LOOK_ANY ? native_look_home(at) : (int)hint;
}

int ask_about_wait(const struct facts_wait *wait, bool places,
                   struct facts_region *out)
{
    int from = runtime.node_of[wait->seen.rank], node = from, err;
    uint64_t at = wait->asked.at;

    if (!wait->asked.here)
        node = next_node(wait->asked.hint, at);
    for (int hops = 0; hops < HOPS_MAX; hops++) {
        err = ask_region(node, at, node == from ? wait->seen.rank : -1, places,
                         out);
        if (err || out->status != FACTS_AWAY)
            return err;
        node = next_node(out->hint, at);
    }
    return DRASYNC_EAGAIN;
}

bool ask_name(uint64_t address, char name[DRASYNC_NAME_MAX + 1])
{
    struct request q = {.what = ASK_NAME, .address = address};

    if (ask_for(0, &q, name, DRASYNC_NAME_MAX + 1))
        return false;
    name[DRASYNC_NAME_MAX] = 0;
    return true;
}

int ask_view(int node, char text[ASK_VIEW_BYTES])
{
    struct request q = {.what = ASK_VIEW};
    union answer *answer = malloc(sizeof(*answer));
    size_t bytes = 0;
    int err = answer ? ask(node, &q, answer, &bytes) : DRASYNC_ENOMEM;

    if (!err && (!bytes || bytes > ASK_VIEW_BYTES))
        err = DRASYNC_EAGAIN;
    if (!err) {
        memcpy(text, answer->view, bytes);
        text[bytes - 1] = 0;
    }
    free(answer);
    return err;
}

bool ask_claim(uint64_t pause_us, enum ask_why why)
{
    struct request q = {.what = ASK_CLAIM, .address = pause_us, .why = why};
    uint32_t yes = 0;

    return ask_for(0, &q, &yes, sizeof(yes)) || yes;
}

bool ask_claim_deadlock(uint64_t number)
{
    return ask_claim(number, ASK_WHY_FAIL);
}
