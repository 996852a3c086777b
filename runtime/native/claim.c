/*
 * Claiming addresses: see claim.h, and "Addresses change hands" in pages.h.
 *
 * What this node hands out itself is taken without a message.  For the rest
 * every node is asked, batch by batch, to claim what it has; only when all have
 * done so for all batches are they told that the addresses have moved.  So a
 * claim that fails leaves everything as it was.
 */
#include "runtime/native/claim.h"

#include <stdlib.h>
#include <string.h>

#include "memory/control.h"
#include "runtime/messages/messages.h"
#include "runtime/native/frames.h"
#include "runtime/native/state.h"
#include "runtime/process.h"
#include "runtime/say.h"

/* Runs of one message: half a millisecond at the node that serves it. */
#define BATCH 512

enum claim_what { CLAIM, UNCLAIM, MOVE };

struct claim_request {
    uint32_t what;
    uint32_t count;
    uint64_t pages; /* UNCLAIM: as CLAIM answered */
    struct pages_run runs[];
};

struct claim_answer {
    uint64_t pages, refused;
    uint64_t stamp; /* no region of that node has a later incarnation */
};

/* What another node has claimed here, a batch, and has neither moved nor given
 * back; of the progress thread.  What it says of other addresses is not done:
 * there may be regions. */
struct native_claimed {
    uint64_t reserved[2];
    struct native_claimed *next;
    uint64_t pages;
    int node;
    uint32_t count;
    struct pages_run runs[];
};

struct claim {
    struct pages_run *runs; /* of others, by themselves */
    uint64_t count;
    uint64_t *pages; /* [batches][nodes]: what each has claimed */
    uint64_t asked;  /* of pages[] */
    uint64_t stamp, refused;
};

/* --- At each node --------------------------------------------------------- */

static int claim_here(const struct claim_request *r,
                      struct claim_answer *answer)
{
    int err = pages_claim(&runtime.space, r->runs, r->count, &answer->pages,
                          &answer->refused);

    if (err != DRASYNC_EBUSY || !native.shared->quarantine)
        return err;
    native_quarantine_clear(native.shared->quarantine);
    return pages_claim(&runtime.space, r->runs, r->count, &answer->pages,
                       &answer->refused);
}

static size_t runs_bytes(uint32_t count)
{
    return count * sizeof(struct pages_run);
}

/* In order of the claims, as nodes end them. */
static int claimed_add(int node, const struct claim_request *r,
                       struct native_claimed **made_out)
{
    struct native_claimed **last = &native.shared->claimed, *made;
    void *v;
    int err = control_alloc_zero(&runtime.space,
                                 sizeof(*made) + runs_bytes(r->count), &v);

    if (err)
        return err;
    made = v;
    made->node = node;
    made->count = r->count;
    memcpy(made->runs, r->runs, runs_bytes(r->count));
    while (*last)
        last = &(*last)->next;
    *last = made;
    *made_out = made;
    return 0;
}

static void claimed_end(struct native_claimed *claimed)
{
    struct native_claimed **p = &native.shared->claimed;

    while (*p != claimed)
        p = &(*p)->next;
    *p = claimed->next;
    control_free(&runtime.space, claimed);
}

/* NULL: node @node has not claimed what @r is about. */
static struct native_claimed *claimed_find(int node,
                                           const struct claim_request *r)
{
    struct native_claimed *c = native.shared->claimed;

    while (c && (c->node != node || c->count != r->count ||
                 (r->what == UNCLAIM && c->pages != r->pages) ||
                 memcmp(c->runs, r->runs, runs_bytes(r->count))))
        c = c->next;
    return c;
}

static int serve(int node, const struct claim_request *r,
                 struct claim_answer *answer)
{
    switch (r->what) {
    case CLAIM:
        answer->stamp = atomic_load(&native.shared->stamp);
        return claim_here(r, answer);
    case UNCLAIM:
        pages_unclaim(&runtime.space, r->runs, r->count, r->pages);
        return 0;
    case MOVE:
        return pages_move(&runtime.space, r->runs, r->count, node);
    default:
        return DRASYNC_EINTERNAL;
    }
}

static int claim_other(int node, const struct claim_request *r,
                       struct claim_answer *answer)
{
    struct native_claimed *claimed;
    int err = claimed_add(node, r, &claimed);

    if (err)
        return err;
    err = serve(node, r, answer);
    claimed->pages = answer->pages;
    if (err)
        claimed_end(claimed);
    return err;
}

/* The same for node @node, another one. */
static int serve_other(int node, const struct claim_request *r,
                       struct claim_answer *answer)
{
    struct native_claimed *claimed;
    int err;

    if (r->what == CLAIM)
        return claim_other(node, r, answer);
    claimed = claimed_find(node, r);
    if (!claimed) {
        runtime_broken("node %d disposes of addresses that it has not claimed",
                       node);
        return DRASYNC_EINVAL;
    }
    err = serve(node, r, answer);
    if (err != DRASYNC_EINTERNAL)
        claimed_end(claimed);
    return err;
}

/* One at a time, as all that other nodes ask for. */
static void served(const struct runtime_caller *caller, const void *request,
                   size_t bytes)
{
    /* For its alignment; not from malloc(), as a MOVE must not fail. */
    static _Alignas(struct claim_request) unsigned char
        room[sizeof(struct claim_request) + BATCH * sizeof(struct pages_run)];
    struct claim_request *copy = (void *)room;
    struct claim_answer answer = {0};
    int err = DRASYNC_EINTERNAL;

    if (bytes >= sizeof(*copy) && bytes <= sizeof(room)) {
        memcpy(copy, request, bytes);
        if (bytes == sizeof(*copy) + runs_bytes(copy->count))
            err = serve_other(caller->node, copy, &answer);
    }
    runtime_reply(caller, err, &answer, sizeof(answer));
}

/* --- At the node that claims ---------------------------------------------- */

static int ask(int node, const struct claim_request *r,
               struct claim_answer *answer)
{
    size_t got = 0;
    int err;

    memset(answer, 0, sizeof(*answer));
    if (node == runtime.node)
        return serve(node, r, answer);
    err = runtime_call(node, RUNTIME_KIND_CLAIM, r,
                       sizeof(*r) + runs_bytes(r->count), answer,
                       sizeof(*answer), &got);
    return !err && got != sizeof(*answer) ? DRASYNC_EINTERNAL : err;
}

static uint64_t batches(const struct claim *c)
{
    return (c->count + BATCH - 1) / BATCH;
}

static void request_fill(const struct claim *c, uint64_t batch,
                         enum claim_what what, struct claim_request *r)
{
    uint64_t first = batch * BATCH, left = c->count - first;

    r->what = what;
    r->count = (uint32_t)(left < BATCH ? left : BATCH);
    r->pages = 0;
    memcpy(r->runs, c->runs + first, r->count * sizeof(r->runs[0]));
}

/* All nodes claim batch @batch. */
static int claim_batch(struct claim *c, uint64_t batch, struct claim_request *r)
{
    uint64_t wanted = 0, got = 0;
    struct claim_answer answer;
    int err = 0;

    request_fill(c, batch, CLAIM, r);
    for (uint32_t i = 0; i < r->count; i++)
        wanted += pages_run_whole(&r->runs[i]);
    for (int node = 0; node < runtime.nodes && !err; node++) {
        err = ask(node, r, &answer);
        if (err) {
            c->refused = answer.refused;
            break;
        }
        c->pages[c->asked++] = answer.pages;
        got += answer.pages;
        if (answer.stamp > c->stamp)
            c->stamp = answer.stamp;
    }
    if (!err && got != wanted) {
        c->refused = r->runs[0].first;
        err = DRASYNC_EBUSY;
    }
    return err;
}

static void unclaim_all(struct claim *c, struct claim_request *r)
{
    struct claim_answer answer;

    for (uint64_t i = 0; i < c->asked; i++) {
        request_fill(c, i / (uint64_t)runtime.nodes, UNCLAIM, r);
        r->pages = c->pages[i];
        ask((int)(i % (uint64_t)runtime.nodes), r, &answer);
    }
}

/* Regions that are made here are later than those that were there. */
static void stamp_at_least(uint64_t stamp)
{
    uint64_t now = atomic_load(&native.shared->stamp);

    while (now < stamp &&
           !atomic_compare_exchange_weak(&native.shared->stamp, &now, stamp))
        ;
}

/* Other nodes first: they must not look for these addresses elsewhere once
 * there are regions. */
static int move_all(struct claim *c, struct claim_request *r)
{
    struct claim_answer answer;
    int err = 0;

    for (uint64_t b = 0; b < batches(c) && !err; b++) {
        request_fill(c, b, MOVE, r);
        for (int n = 1; n <= runtime.nodes && !err; n++)
            err = ask((runtime.node + n) % runtime.nodes, r, &answer);
    }
    return err;
}

static int claim_others(struct claim *c)
{
    struct claim_request *r = malloc(sizeof(*r) + BATCH * sizeof(r->runs[0]));
    int err = r ? 0 : DRASYNC_ENOMEM;

    for (uint64_t b = 0; b < batches(c) && !err; b++)
        err = claim_batch(c, b, r);
    if (!err) {
        stamp_at_least(c->stamp);
        err = move_all(c, r);
    } else if (r) {
        unclaim_all(c, r);
    }
    free(r);
    return err;
}

/* Runs that this node hands out, which are taken at once; the others go into
 * @c.  *done_out: how many of @runs were looked at. */
static int take_own(const struct pages_run *runs, uint64_t count,
                    struct claim *c, uint64_t *done_out)
{
    int err = 0;
    uint64_t i;

    for (i = 0; i < count && !err; i++) {
        if (!pages_run_here(&runtime.space, &runs[i])) {
            c->runs[c->count++] = runs[i];
            continue;
        }
        err = pages_take_at(&runtime.space, &runs[i]);
        if (err) {
            c->refused = runs[i].first;
            break;
        }
    }
    *done_out = i;
    return err;
}

/* Those of the first @count runs that are not among the others'. */
static void give_own(const struct pages_run *runs, uint64_t count,
                     const struct claim *c)
{
    for (uint64_t i = 0, other = 0; i < count; i++) {
        if (other < c->count && c->runs[other].first == runs[i].first)
            other++;
        else
            native_claim_give(&runs[i], 1);
    }
}

int native_claim(const struct pages_run *runs, uint64_t count,
                 uint64_t *refused_out)
{
    uint64_t most = (count / BATCH + 1) * (uint64_t)runtime.nodes, done = 0;
    struct claim claim = {
        .runs = malloc((count + 1) * sizeof(*runs)),
        .pages = malloc(most * sizeof(uint64_t)),
    };
    int err = DRASYNC_ENOMEM;

    *refused_out = 0;
    if (claim.runs && claim.pages) {
        err = take_own(runs, count, &claim, &done);
        if (!err && claim.count)
            err = claim_others(&claim);
        if (err)
            give_own(runs, done, &claim);
    }
    *refused_out = claim.refused;
    free(claim.runs);
    free(claim.pages);
    return err == DRASYNC_EBUSY || err == DRASYNC_EINVAL ? DRASYNC_ETAKEN : err;
}

void native_claim_give(const struct pages_run *runs, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        pages_give(&runtime.space, runs[i].first, runs[i].pages,
                   PAGES_ADDRESSES);
}

void native_claim_start(void)
{
    runtime_serve(RUNTIME_KIND_CLAIM, served);
}
