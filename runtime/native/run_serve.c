/*
 * The executing node of runs: takes the region of each unit, calls its
 * functions, and answers.  A unit whose region another node has is forwarded; one
 * that has to wait is kept as a job, so that nobody waits for it but its caller.
 *
 * A unit of a caller of this node that would have to wait goes back to that: its
 * rank may hold the region, or be about to, and wait for the unit.  The caller's
 * thread runs it, or it is tried again when it has waited for a millisecond.
 *
 * Packets are served with the turns of the leader's engine.  A thread of the
 * leader that ends a READ hold serves what waited for that, and a unit whose
 * region must be copied first, for readers, gets a thread of its own.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/messages/messages.h"
#include "runtime/native/run.h"
#include "runtime/native/state.h"
#include "runtime/no_memory.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/thread.h"

_Static_assert(RUN_ANSWERS_BYTES_MAX <= RUNTIME_HEADER_BYTES_MAX, "a message");

/* A unit that waits. */
struct job {
    struct job *next;
    struct run_hold hold;
    bool later; /* for the leader's READ hold; else for a grant, */
    bool fresh; /* or only for those before it, or a caller's lock */
    struct run_packet_head head;
    _Alignas(8) struct run_unit unit; /* with its groups behind it */
};

/* Units that wait for the leader are tried again after so long, too: the region
 * may have gone. */
#define LATER_US 1000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct job *jobs, **jobs_end = &jobs; /* under the mutex */
/* Of them, and of those that a thread has taken; and of those that are `later`.
 * Added to before a job can be seen. */
static _Atomic uint32_t jobs_count, later_count;

static void job_put(struct job *job)
{
    job->next = NULL;
    if (job->later)
        atomic_fetch_add(&later_count, 1);
    pthread_mutex_lock(&mutex);
    *jobs_end = job;
    jobs_end = &job->next;
    pthread_mutex_unlock(&mutex);
}

static struct job *jobs_take(void)
{
    struct job *all;

    pthread_mutex_lock(&mutex);
    all = jobs;
    jobs = NULL;
    jobs_end = &jobs;
    pthread_mutex_unlock(&mutex);
    return all;
}

/* --- Calling -------------------------------------------------------------- */

/* Calls whose results are wanted.  The caller may know as plain what is a batch
 * function here, which has no answer. */
static void call_asking(const struct drasync_function *f,
                        drasync_region_t region, const struct run_group *group,
                        const char *args, struct run_answers *answers)
{
    size_t padded = RUN_PADDED(group->answer_bytes);
    bool can = f && (!f->batch || !group->answer_bytes);
    struct run_answer_one *one;

    for (uint32_t i = 0; i < group->count; i++) {
        one = run_answers_add(answers, sizeof(*one) + padded);
        if (!one)
            return;
        one->bytes = group->answer_bytes;
        one->result =
            can ? run_function_call(f, region, group->arg_bytes ? args : NULL,
                                    group->arg_bytes, padded ? one + 1 : NULL,
                                    group->answer_bytes)
                : run_function_unknown();
        args += RUN_PADDED(group->arg_bytes);
    }
}

static void call_group(const struct run_unit *unit,
                       const struct run_group *group, const char *args,
                       struct run_answers *answers, size_t record)
{
    const struct drasync_function *f = run_function_find(group->function);
    drasync_region_t region = (drasync_region_t)(uintptr_t)unit->address;
    struct run_answer *r;
    int result;

    if (group->asks) {
        call_asking(f, region, group, args, answers);
        return;
    }
    result =
        f ? run_function_calls(f, region, args, group->arg_bytes, group->count)
          : run_function_unknown();
    r = (void *)(answers->bytes + record);
    if (!r->error)
        r->error = result;
}

/* With the region held, or @err why not. */
static void call_unit(const struct run_hold *hold, const struct run_unit *unit,
                      int err, struct run_answers *answers)
{
    const char *at = (const char *)(unit + 1), *end = at + unit->bytes, *args;
    const struct run_group *group;
    size_t record = answers->used;
    struct run_answer *r = run_answers_add(answers, sizeof(*r));

    if (!r)
        return;
    r->index = unit->index;
    r->failed = err;
    if (!err) {
        run_hold_act(hold);
        while (!answers->failed && at < end) {
            group = run_group_next(&at, end, &args);
            if (!group) {
                runtime_broken("a run that cannot be has come");
                break;
            }
            call_group(unit, group, args, answers, record);
        }
        run_hold_act(NULL);
    }
    r = (void *)(answers->bytes + record);
    r->bytes = (uint32_t)(answers->used - record - sizeof(*r));
    ((struct run_answer_head *)(void *)answers->bytes)->units++;
}

static void answers_begin(struct run_answers *answers,
                          const struct run_packet_head *head)
{
    struct run_answer_head *a;

    *answers = (struct run_answers){0};
    a = run_answers_add(answers, sizeof(*a));
    if (!a)
        return;
    a->slot = head->slot;
    a->ticket = head->ticket;
}

static void answers_send(struct run_answers *answers, int node)
{
    const struct run_answer_head *a = (const void *)answers->bytes;
    struct runtime_message message = {
        .node = node,
        .kind = RUNTIME_KIND_RUN_ANSWER,
        .header = answers->bytes,
        .header_bytes = answers->used,
    };

    if (answers->failed)
        runtime_no_memory("answer runs, or the answers are more than %zu MiB",
                          RUN_ANSWERS_BYTES_MAX >> 20);
    else if (a->units && node == runtime.node)
        run_answered(node, answers->bytes, answers->used);
    else if (a->units && runtime_send(&message) == DRASYNC_ENOMEM)
        runtime_no_memory("answer a run");
    run_answers_free(answers);
}

/* --- Units ---------------------------------------------------------------- */

static void forward(const struct run_packet_head *head,
                    const struct run_unit *unit, int node)
{
    size_t bytes = sizeof(*head) + sizeof(*unit) + unit->bytes;
    struct run_packet_head *out = malloc(bytes);
    struct runtime_message message = {
        .node = node,
        .kind = RUNTIME_KIND_RUN,
        .header = out,
        .header_bytes = bytes,
    };

    if (out) {
        *out = *head;
        out->hops++;
        out->units = 1;
        memcpy(out + 1, unit, sizeof(*unit) + unit->bytes);
    }
    if (!out || runtime_send(&message) == DRASYNC_ENOMEM)
        runtime_no_memory("forward a run");
    free(out);
}

static void *split_main(void *arg)
{
    struct job *job = arg;
    struct run_answers answers;
    int err = run_hold_split(&job->hold);

    answers_begin(&answers, &job->head);
    call_unit(&job->hold, &job->unit, err, &answers);
    if (!err)
        run_hold_give(&job->hold);
    answers_send(&answers, job->head.node);
    free(job);
    atomic_fetch_sub(&jobs_count, 1);
    return NULL;
}

static void *split_thread(void *arg)
{
    thread_is_ours();
    return split_main(arg);
}

/* To copy takes as long as the region is large: not here. */
static void split_begin(struct job *job)
{
    pthread_t thread;

    if (thread_create(&thread, split_thread, job))
        split_main(job);
    else
        pthread_detach(thread);
}

/* run_hold_take() or run_hold_look() gave @err; true: the unit waits. */
static bool unit_go_on(struct run_hold *hold,
                       const struct run_packet_head *head,
                       const struct run_unit *unit, int err,
                       struct run_answers *answers)
{
    if (err == RUN_HOLD_WAIT || err == RUN_HOLD_LATER || err == RUN_HOLD_SPLIT)
        return true;
    if (err == RUN_HOLD_CALLER)
        return !run_returned(head, unit);
    if (err == RUN_HOLD_AWAY) {
        forward(head, unit, hold->node);
        return false;
    }
    call_unit(hold, unit, err, answers);
    if (!err)
        run_hold_give(hold);
    return false;
}

static void job_wait(struct job *job, int err)
{
    job->later = err == RUN_HOLD_LATER;
    job->fresh = err == RUN_HOLD_CALLER;
    if (err == RUN_HOLD_SPLIT)
        split_begin(job);
    else
        job_put(job);
}

static struct job *job_new(const struct run_packet_head *head,
                           const struct run_unit *unit)
{
    struct job *job = malloc(sizeof(*job) + unit->bytes);

    if (!job) {
        runtime_no_memory("keep a run that waits");
        return NULL;
    }
    *job = (struct job){.head = *head, .unit = *unit};
    job->hold.address = unit->address;
    memcpy(&job->unit + 1, unit + 1, unit->bytes);
    atomic_fetch_add(&jobs_count, 1);
    return job;
}

void run_serve_put(const struct run_packet_head *head, const char *at,
                   const char *end)
{
    const struct run_unit *unit;
    struct job *job;

    while ((unit = run_unit_next(&at, end)) && (job = job_new(head, unit))) {
        job->fresh = true;
        job_put(job);
    }
    runtime_nudge();
}

static void unit_serve(const struct run_packet_head *head,
                       const struct run_unit *unit, struct run_answers *answers)
{
    struct run_hold hold = {.address = unit->address};
    int err = run_hold_take(&hold, head->hops >= DRASYNC_RUN_HOPS_MAX,
                            run_caller_rank(head));
    struct job *job;

    if (!unit_go_on(&hold, head, unit, err, answers))
        return;
    job = job_new(head, unit);
    if (!job)
        return;
    job->hold = hold;
    job_wait(job, err);
}

static void serve(int from, const struct run_packet_head *head, const char *at,
                  const char *end)
{
    const struct run_unit *unit;
    struct run_answers answers;

    answers_begin(&answers, head);
    for (uint32_t i = 0; i < head->units && !answers.failed; i++) {
        unit = run_unit_next(&at, end);
        if (!unit ||
            !native_address_valid((drasync_region_t)(uintptr_t)unit->address)) {
            runtime_broken("node %d sent a run that cannot be", from);
            break;
        }
        unit_serve(head, unit, &answers);
    }
    answers_send(&answers, head->node);
}

/* --- Jobs ----------------------------------------------------------------- */

/* Try @job, which is in no list; what it comes to. */
static void job_try(struct job *job)
{
    struct run_answers answers;
    int err;

    if (job->later || job->fresh) {
        job->fresh = false;
        job->hold = (struct run_hold){.address = job->unit.address};
        err = run_hold_take(&job->hold, job->head.hops >= DRASYNC_RUN_HOPS_MAX,
                            run_caller_rank(&job->head));
    } else {
        err = run_hold_look(&job->hold);
    }
    answers_begin(&answers, &job->head);
    if (unit_go_on(&job->hold, &job->head, &job->unit, err, &answers)) {
        run_answers_free(&answers);
        job_wait(job, err);
        return;
    }
    answers_send(&answers, job->head.node);
    free(job);
    atomic_fetch_sub(&jobs_count, 1);
}

static void jobs_try(bool later)
{
    struct job *next;

    for (struct job *job = jobs_take(); job; job = next) {
        bool ready =
            job->fresh ||
            (job->later ? later : waiter_done(&job->hold.wait->waiter));

        next = job->next;
        if (job->later)
            atomic_fetch_sub(&later_count, 1);
        if (ready)
            job_try(job);
        else
            job_put(job);
    }
}

bool run_serve_turn(void)
{
    static uint64_t looked_us; /* with the turns */
    uint64_t now;
    bool later;

    if (!atomic_load_explicit(&jobs_count, memory_order_relaxed))
        return false;
    now = runtime_now_us();
    later = now - looked_us > LATER_US;
    if (later)
        looked_us = now;
    jobs_try(later);
    return atomic_load_explicit(&jobs_count, memory_order_relaxed);
}

/* A job that another thread is just about to put is not seen, but tried again
 * after LATER_US. */
void run_serve_released(void)
{
    if (runtime.leader && !native_running.server &&
        atomic_load_explicit(&later_count, memory_order_relaxed))
        jobs_try(true);
}

bool run_serve_idle(void)
{
    return atomic_load(&jobs_count) == 0;
}

static void packet_arrived(int from, const void *header, size_t bytes,
                           uint64_t context)
{
    const struct run_packet_head *head = header;

    (void)context;
    if (bytes < sizeof(*head) || head->node < 0 ||
        head->node >= runtime.nodes) {
        runtime_broken("node %d sent a run that cannot be", from);
        return;
    }
    serve(from, head, (const char *)(head + 1), (const char *)header + bytes);
}

void run_serve_start(void)
{
    static const struct runtime_handler handler = {.arrived = packet_arrived};

    runtime_handle(RUNTIME_KIND_RUN, &handler);
}
