/* Gifts that have not been taken: the inbox of each rank of the node. */
#include "memory/control.h"
#include "runtime/messages/messages.h"
#include "runtime/native/give.h"
#include "runtime/native/look.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/waiting.h"

/* No other lock is taken under it but memory's. */
#define LOCK_RANK_GIVE_INBOX 310

/* A thread polls this long for a gift before it sleeps: about what the giver
 * takes to make the next region.  To sleep and be woken would cost both
 * more. */
#define TAKE_SPIN_US 50

/* A thread that waits for a gift. */
struct taker {
    uint64_t reserved_by_control[2];
    struct waiter waiter;
    struct taker *next;
    struct gift *gift; /* what it got */
    int32_t from, tag;
};

struct inbox {
    struct lock lock;
    bool closed;
    /* Its rank has died.  Relaxed would do: give_bury() stores it before it
     * takes the lock of each inbox, has_died() reads it under one. */
    _Atomic bool died;
    uint32_t count; /* of gifts that are there or are about to be */
    struct gift *first, *last;
    /* Of the first gift: the rank that gave it, + 1, above its tag; 0: there is
     * none.  Relaxed: reports read it without the lock, and nothing else with
     * it. */
    _Atomic uint64_t left;
    struct taker *takers; /* the one that waits longest first */
} __attribute__((aligned(64)));

static struct inbox *inboxes; /* [locals] */

int give_shared_new(void **shared_out)
{
    struct inbox *made;
    size_t bytes = (size_t)runtime.locals * sizeof(*made);
    void *v;
    int err = control_alloc_zero(&runtime.space, bytes + sizeof(*made), &v);

    if (err)
        return err;
    made = (struct inbox *)(((uintptr_t)v + 63) & ~(uintptr_t)63);
    for (int i = 0; i < runtime.locals && !err; i++)
        err = lock_init(&made[i].lock, LOCK_RANK_GIVE_INBOX,
                        control_poison_flag(&runtime.space));
    *shared_out = made;
    return err;
}

void give_start(void)
{
    /* Acquire pairs with native_start_leader() of module.c. */
    inboxes = atomic_load(&runtime.shared->anchors[RUNTIME_ANCHOR_GIVE]);
}

static bool matches(const struct gift *gift, int32_t from, int32_t tag)
{
    return (from == DRASYNC_ANY || from == gift->from) &&
           (tag == DRASYNC_ANY || tag == gift->tag);
}

static void inbox_give(struct inbox *inbox)
{
    const struct gift *first = inbox->first;

    atomic_store_explicit(
        &inbox->left,
        first ? (uint64_t)(first->from + 1) << 32 | (uint32_t)first->tag : 0,
        memory_order_relaxed);
    lock_give(&inbox->lock);
}

bool native_gift_left(int local, int32_t *from_out, int32_t *tag_out)
{
    uint64_t left =
        atomic_load_explicit(&inboxes[local].left, memory_order_relaxed);

    *from_out = (int32_t)(left >> 32) - 1;
    *tag_out = (int32_t)(uint32_t)left;
    return left;
}

int give_reserve(int local)
{
    struct inbox *inbox = &inboxes[local];
    int err = lock_take(&inbox->lock);

    if (err)
        return err;
    if (inbox->closed)
        err = DRASYNC_ENOTREADY;
    else if (inbox->count >= GIVE_GIFTS_MAX)
        err = DRASYNC_ELIMIT;
    else
        inbox->count++;
    lock_give(&inbox->lock);
    return err;
}

void give_unreserve(int local)
{
    struct inbox *inbox = &inboxes[local];

    if (lock_take(&inbox->lock))
        return; /* the job ends */
    inbox->count--;
    lock_give(&inbox->lock);
}

/* Hand @gift to the first taker that waits for one like it.  False: there is
 * none. */
static bool hand(struct inbox *inbox, struct gift *gift)
{
    for (struct taker **at = &inbox->takers; *at; at = &(*at)->next) {
        struct taker *taker = *at;

        if (!matches(gift, taker->from, taker->tag))
            continue;
        *at = taker->next;
        taker->gift = gift;
        inbox->count--;
        waiter_wake(&taker->waiter, 0);
        return true;
    }
    return false;
}

/* Hand @gift to a taker that waits for it; else it is the last in the inbox. */
static void post(struct inbox *inbox, struct gift *gift)
{
    if (hand(inbox, gift))
        return;
    if (inbox->last)
        inbox->last->next = gift;
    else
        inbox->first = gift;
    inbox->last = gift;
}

int give_post(int local, struct gift *gift)
{
    struct inbox *inbox = &inboxes[local];
    int err = lock_take(&inbox->lock);

    if (err)
        return err;
    if (inbox->closed) {
        inbox->count--;
        err = DRASYNC_ENOTREADY;
    } else {
        post(inbox, gift);
    }
    inbox_give(inbox);
    return err;
}

static struct gift *find(struct inbox *inbox, int32_t from, int32_t tag)
{
    struct gift *before = NULL, *gift = inbox->first;

    while (gift && !matches(gift, from, tag)) {
        before = gift;
        gift = gift->next;
    }
    if (!gift)
        return NULL;
    if (before)
        before->next = gift->next;
    else
        inbox->first = gift->next;
    if (inbox->last == gift)
        inbox->last = before;
    gift->next = NULL;
    inbox->count--;
    return gift;
}

/* Hand the gifts in the inbox, in order, to takers that began to wait while
 * some gifts were out of it. */
static void hand_all(struct inbox *inbox)
{
    struct gift *before = NULL, *next;

    for (struct gift *gift = inbox->first; gift && inbox->takers; gift = next) {
        next = gift->next;
        gift->next = NULL;
        if (!hand(inbox, gift)) {
            gift->next = next;
            before = gift;
            continue;
        }
        if (before)
            before->next = next;
        else
            inbox->first = next;
        if (inbox->last == gift)
            inbox->last = before;
    }
}

void give_put_back(struct gift *gifts)
{
    struct inbox *inbox = &inboxes[runtime.local];
    struct gift *next;

    if (!gifts || lock_take(&inbox->lock))
        return; /* the job ends */
    for (struct gift *gift = gifts; gift; gift = next) {
        next = gift->next;
        gift->next = inbox->first;
        inbox->first = gift;
        if (!inbox->last)
            inbox->last = gift;
        inbox->count++;
    }
    hand_all(inbox);
    inbox_give(inbox);
}

static void taker_link(struct inbox *inbox, struct taker *taker)
{
    struct taker **at = &inbox->takers;

    while (*at)
        at = &(*at)->next;
    *at = taker;
}

/* @taker waits no more; a gift that it got meanwhile is in `gift`. */
static void taker_unlink(struct inbox *inbox, struct taker *taker)
{
    for (struct taker **at = &inbox->takers; *at; at = &(*at)->next) {
        if (*at != taker)
            continue;
        *at = taker->next;
        return;
    }
}

/* Unless somebody else needs the core, or this thread has to poll for its
 * node. */
static void look_for_a_while(const struct taker *taker, uint64_t deadline_us)
{
    uint64_t until = runtime_now_us() + TAKE_SPIN_US;

    if (runtime.crowded || (runtime.leader && runtime.nodes > 1))
        return;
    if (until > deadline_us)
        until = deadline_us;
    while (!waiter_done(&taker->waiter) && runtime_now_us() < until)
        continue;
}

static bool has_died(int32_t rank)
{
    return rank != DRASYNC_ANY && runtime.node_of[rank] == runtime.node &&
           atomic_load(&inboxes[runtime.local_of[rank]].died);
}

int give_take_out(int32_t from, int32_t tag, uint64_t deadline_us,
                  struct gift **out)
{
    struct inbox *inbox = &inboxes[runtime.local];
    struct taker *taker = NULL;
    int result = 0, err;
    void *v;

    if (deadline_us) {
        err = control_alloc_zero(&runtime.space, sizeof(*taker), &v);
        if (err)
            return err;
        taker = v;
        taker->from = from;
        taker->tag = tag;
    }
    err = lock_take(&inbox->lock);
    if (err)
        return err; /* the job ends, and the taker with it */
    *out = find(inbox, from, tag);
    if (!*out && has_died(from))
        err = DRASYNC_EPEER;
    else if (!*out && taker)
        taker_link(inbox, taker);
    inbox_give(inbox);
    if (!*out && taker && !err) {
        struct waiting w = {
            .what = WAITING_GIFT,
            .mode = (uint32_t)tag,
            .peer = from == DRASYNC_ANY ? WAITING_NOBODY : from,
            .timed = deadline_us != WAIT_FOREVER,
        };

        waiting_begin(&w);
        look_for_a_while(taker, deadline_us);
        err = runtime_wait_remote(&taker->waiter, deadline_us, &result);
        waiting_end(&w);
        if (err == DRASYNC_EPEER)
            return err; /* somebody may still wake it */
        if (err) {
            err = lock_take(&inbox->lock);
            if (err)
                return err;
            taker_unlink(inbox, taker);
            lock_give(&inbox->lock);
        }
        *out = taker->gift;
        err = result;
    }
    if (taker)
        control_free(&runtime.space, taker);
    return *out ? 0 : err ? err : DRASYNC_EAGAIN;
}

/* DRASYNC_CHECK=leaks: name what was given to this rank and not taken. */
static void tell_left(const struct gift *first)
{
    int count = 0;

    for (const struct gift *gift = first; gift; gift = gift->next)
        count++;
    if (count && runtime.options.check & OPTIONS_CHECK_LEAKS)
        runtime_say("DRASYNC_CHECK: %d region%s given to this rank %s not "
                    "taken, the first %p by rank %d with tag %d",
                    count, count > 1 ? "s" : "", count > 1 ? "were" : "was",
                    (void *)(uintptr_t)first->address, (int)first->from,
                    (int)first->tag);
}

/* @rank has died: its gifts are in the inboxes already, so end the waits for
 * more of them. */
static void tell_takers(struct inbox *inbox, int rank)
{
    struct taker **at = &inbox->takers;

    if (lock_take(&inbox->lock))
        return; /* it died with the lock, and the job ends */
    while (*at) {
        struct taker *taker = *at;

        if (taker->from != rank) {
            at = &taker->next;
            continue;
        }
        *at = taker->next;
        waiter_wake(&taker->waiter, DRASYNC_EPEER);
    }
    lock_give(&inbox->lock);
}

void give_bury(int rank)
{
    struct inbox *inbox = &inboxes[runtime.local_of[rank]];
    struct gift *gift, *next;

    /* A taker that locks its inbox after tell_takers() sees this; one that did
     * so before is in the list there, and is told. */
    atomic_store(&inbox->died, true);
    if (lock_take(&inbox->lock))
        return;
    inbox->closed = true;
    inbox->takers = NULL;
    gift = inbox->first;
    inbox->first = inbox->last = NULL;
    inbox_give(inbox);
    for (; gift; gift = next) {
        next = gift->next;
        gift_free(gift);
    }
    for (int i = 0; i < runtime.locals; i++)
        tell_takers(&inboxes[i], rank);
}

/* Gifts that come from now on are refused. */
void give_end(void)
{
    struct inbox *inbox = &inboxes[runtime.local];
    struct gift *gift, *next;

    if (lock_take(&inbox->lock))
        return;
    inbox->closed = true;
    gift = inbox->first;
    inbox->first = inbox->last = NULL;
    inbox_give(inbox);
    tell_left(gift);
    for (; gift; gift = next) {
        next = gift->next;
        gift_free(gift);
    }
}
