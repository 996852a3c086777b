/* ranks.c - what simulated ranks do: one command after the other, and what
 * must come out of each. */
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

/* --- What a rank holds ---------------------------------------------------- */

struct sim_held *held_of(struct sim_rank *rank, const struct oracle *region)
{
    for (uint32_t i = 0; i < rank->held_count; i++)
        if (rank->held[i].region == region)
            return &rank->held[i];
    return NULL;
}

struct sim_held *held_add(struct sim_rank *rank, struct oracle *region)
{
    struct sim_held *held = held_of(rank, region);
    if (held)
        return held;
    if (rank->held_count == rank->held_room) {
        uint32_t room = rank->held_room ? rank->held_room * 2 : 8;
        rank->held = realloc(rank->held, room * sizeof(*held));
        memset(rank->held + rank->held_room, 0,
               (room - rank->held_room) * sizeof(*held));
        rank->held_room = room;
    }
    held = &rank->held[rank->held_count++];
    struct sim_seen *seen = held->seen;
    uint32_t room = held->seen_room;
    memset(held, 0, sizeof(*held));
    held->seen = seen;
    held->seen_room = room;
    held->region = region;
    return held;
}

void held_remove(struct sim_rank *rank, struct sim_held *held)
{
    struct sim_held last = rank->held[--rank->held_count], gone = *held;
    *held = last;
    rank->held[rank->held_count] = gone;
}

bool held_write_own(struct sim_rank *rank, const struct oracle *region)
{
    for (; region; region = region->parent) {
        struct sim_held *held = held_of(rank, region);
        if (held && held->writes)
            return true;
    }
    return false;
}

bool held_write(struct sim_rank *rank, const struct oracle *region)
{
    for (uint32_t t = 0; t < rank->threads; t++)
        if (held_write_own(&rank->first[t], region))
            return true;
    return false;
}

bool held_beside(struct sim_rank *rank, const struct oracle *region)
{
    for (uint32_t t = 0; t < rank->threads; t++)
        if (&rank->first[t] != rank && held_of(&rank->first[t], region))
            return true;
    return false;
}

bool held_above(struct sim_rank *rank, const struct oracle *region)
{
    for (; region; region = region->parent)
        if (held_of(rank, region) || held_beside(rank, region))
            return true;
    return false;
}

static bool held_below_own(struct sim_rank *rank, const struct oracle *region)
{
    for (uint32_t i = 0; i < rank->held_count; i++)
        if (rank->held[i].region != region &&
            oracle_below(rank->held[i].region, region))
            return true;
    return false;
}

bool held_below(struct sim_rank *rank, const struct oracle *region)
{
    for (uint32_t t = 0; t < rank->threads; t++)
        if (held_below_own(&rank->first[t], region))
            return true;
    return false;
}

/* May the rank wait for @region without risking a deadlock with others that
 * keep to the order? */
static bool after_what_it_has(const struct sim_rank *rank,
                              const struct oracle *region)
{
    for (uint32_t i = 0; i < rank->held_count; i++)
        if (!oracle_below(region, rank->held[i].region) &&
            !oracle_before(rank->held[i].region, region))
            return false;
    return true;
}

/* Where another thread of the rank waits for what is above, @rank waits for that
 * too; and what is above is what its node knows of the address, which may be older
 * than what the handle means. */
bool in_order(struct sim_rank *rank, const struct oracle *region)
{
    for (uint32_t t = 0; t < rank->threads; t++) {
        const struct sim_rank *other = &rank->first[t];
        if (other != rank && other->blocked &&
            !after_what_it_has(rank, other->target))
            return false;
    }
    return after_what_it_has(rank, region);
}

/* --- Results -------------------------------------------------------------- */

void rank_tell(struct sim *sim, struct sim_rank *rank, int error)
{
    if (!sim->show)
        return;
    if (!sim->script->scenario)
        fprintf(sim->show, "%llu ", (unsigned long long)sim->now);
    fprintf(sim->show, "= %u.%u ", rank->node,
            rank->id % sim->script->ranks_per_node);
    sim_print_command(sim->script, &rank->doing, sim->show);
    fprintf(sim->show, ": %s\n", sim_errname(error));
}

void rank_split(struct sim *sim, struct sim_rank *rank,
                struct proto_region *top)
{
    for (struct proto_region *r = top; r; r = proto_next(top, r)) {
        struct proto_copy *copy = proto_newest(r);
        if (!r->owned || r->dead || !copy || (!copy->pins && !copy->sends))
            continue;
        struct sim_frames *old = copy->frames;
        struct sim_frames *frames = frames_new(sim, old->tag);
        struct proto_effects *out = effects_take(sim);
        sim->reserved = true;
        if (proto_split(&sim->node[rank->node].proto, rank->local, r, frames,
                        out))
            sim_found(sim, "rank %u may not split what it holds", rank->id);
        effects_run(sim, rank->node, out, NULL);
        effects_give(sim, out);
    }
}

void rank_acquired(struct sim *sim, struct sim_rank *rank,
                   struct proto_region *region, struct proto_hold *hold,
                   bool split_needed)
{
    /* An address that was used again names the new region. */
    struct oracle *o = oracle_of(sim, region);
    rank->target = o;
    sim->grants++;
    newer_granted(sim, rank, o, region, hold);
    if (held_below(rank, o) && !held_above(rank, o))
        sim_found(sim, "rank %u acquired #%llu while holding a part of it",
                  rank->id, (unsigned long long)o->number);
    if (rank->doing.mode == DRASYNC_WRITE && !held_write(rank, o) &&
        held_above(rank, o) && o->birth < rank->started && hold)
        sim_found(sim, "rank %u upgraded its hold", rank->id);
    struct sim_held *held = held_add(rank, o);
    held->order = held->order << 1 | (rank->doing.mode == DRASYNC_WRITE);
    if (rank->doing.mode == DRASYNC_WRITE) {
        held->writes++;
        if (split_needed)
            rank_split(sim, rank, region);
        check_write_grant(sim, rank, o);
    } else {
        held->reads++;
        held->hold = hold;
        if (held->reads == 1) {
            held->seen_count = 0;
            /* Another thread's hold may be older than this thread's wish. */
            if (hold->count == 1)
                check_read_grant(sim, rank, o, held);
        }
    }
}

/* The region that has @address now; NULL if there is none. */
static struct oracle *alive_at(struct sim *sim, uint64_t address)
{
    for (struct oracle *x = sim->regions; x; x = x->next)
        if (x->address == address && x->death == UINT64_MAX)
            return x;
    return NULL;
}

/* The region that @o's handle means now: perhaps a new one. */
struct oracle *oracle_handle(struct sim *sim, struct oracle *o)
{
    struct oracle *now = o ? alive_at(sim, o->address) : NULL;
    return now ? now : o;
}

static void deleted(struct sim *sim, struct sim_rank *rank, struct oracle *top)
{
    check_delete(sim, rank, top);
    for (struct oracle *o = sim->regions; o; o = o->next) {
        if (o->death != UINT64_MAX || !oracle_below(o, top))
            continue;
        o->death = sim->step;
        for (uint32_t t = 0; t < rank->threads; t++) {
            struct sim_held *held = held_of(&rank->first[t], o);
            if (held)
                held_remove(&rank->first[t], held);
        }
    }
}

/* Had another region this address?  While a node still waits for an answer
 * about that one, to a question that came when it was deleted, it may take the
 * new one for it, and say EDELETED. */
static bool used_before(struct sim *sim, const struct oracle *o)
{
    for (struct oracle *x = sim->regions; x; x = x->next)
        if (x != o && x->address == o->address)
            return true;
    return false;
}

/* Can it be that another rank holds, or asks for, what @rank deletes? */
static bool may_be_busy(const struct sim *sim, const struct sim_rank *rank)
{
    uint64_t late = 2 * sim->script->delay_max;
    if (sim->script->slow_node)
        late *= 20; /* what it said is still under way so long */
    if (sim->loose || sim->script->memory_fault || sim->script->data_fault)
        return true;
    for (uint32_t i = 0; i < sim->ranks_count; i++) {
        const struct sim_rank *other = &sim->rank[i];
        if (other != rank && (other->blocked || other->held_count ||
                              other->moved + late >= rank->began))
            return true;
    }
    return false;
}

static bool error_about(const struct oracle *o, const struct oracle *other,
                        int error)
{
    return error == DRASYNC_EORDER ? oracle_below(other, o)
                                   : oracle_below(o, other);
}

/* Does another thread of @rank ask for what @error, of @o, is about?  It may be
 * granted in this step. */
static bool comes_in_the_way(struct sim *sim, const struct sim_rank *rank,
                             const struct oracle *o, int error)
{
    for (uint32_t t = 0; t < rank->threads; t++) {
        const struct sim_rank *other = &rank->first[t];
        if (other != rank && other->blocked &&
            (error_about(o, other->target, error) ||
             error_about(o, oracle_handle(sim, other->target), error)))
            return true;
    }
    return false;
}

/* Has @rank a hold that @error, of @o, is about? */
static bool is_in_the_way(struct sim *sim, struct sim_rank *rank,
                          const struct oracle *o, int error)
{
    if (comes_in_the_way(sim, rank, o, error))
        return true;
    if (error == DRASYNC_EORDER)
        return held_below(rank, o);
    return held_above(rank, o) &&
           (error == DRASYNC_ENESTED || !held_write(rank, o));
}

/* An acquire or delete of rank->target failed: was that right? */
void rank_check_error(struct sim *sim, struct sim_rank *rank, int error)
{
    const struct oracle *o = rank->target;
    /* What has the address by now may be what the rank asks for. */
    const struct oracle *now = oracle_handle(sim, rank->target);
    bool memory = sim->script->memory_fault || sim->script->data_fault;
    bool wrong = false;
    if (error == DRASYNC_ENOREGION || error == DRASYNC_EDELETED)
        wrong = o->death == UINT64_MAX && !o->deleting &&
                (error == DRASYNC_ENOREGION || !used_before(sim, o));
    else if (error == DRASYNC_ENOMEM)
        wrong = !memory;
    else if (error == DRASYNC_EORDER || error == DRASYNC_EUPGRADE)
        wrong = !is_in_the_way(sim, rank, o, error) &&
                !is_in_the_way(sim, rank, now, error);
    else if (error == DRASYNC_EAGAIN)
        wrong =
            rank->doing.verb == SIM_ACQUIRE || rank->doing.verb == SIM_NEWER;
    else if (error == DRASYNC_EINVAL) /* a version of an older region */
        wrong = !rank->newer ||
                (rank->newer_of == o && o->death == UINT64_MAX && !o->deleting);
    else if (error == DRASYNC_ENESTED)
        wrong = !rank->newer || (!is_in_the_way(sim, rank, o, error) &&
                                 !is_in_the_way(sim, rank, now, error));
    else if (error == DRASYNC_EBUSY)
        wrong = rank->doing.verb != SIM_DELETE || !may_be_busy(sim, rank);
    else
        wrong = true;
    if (wrong)
        sim_found(sim, "rank %u: %s of #%llu failed with %s", rank->id,
                  rank->doing.verb == SIM_DELETE ? "delete" : "acquire",
                  (unsigned long long)o->number, sim_errname(error));
}

void rank_ended(struct sim *sim, struct sim_rank *rank,
                const struct proto_effect *e)
{
    if (!rank->blocked) {
        sim_found(sim, "rank %u was woken without waiting", rank->id);
        return;
    }
    rank->blocked = false;
    rank->moved = sim->now;
    rank->op = NULL;
    rank->serial++;
    int error = e->kind == PROTO_FAILED ? e->error : 0;
    rank->gave_up |= error != 0;
    switch (rank->doing.verb) {
    case SIM_DELETE:
        if (error)
            rank_check_error(sim, rank, error);
        else
            deleted(sim, rank, alive_at(sim, e->address));
        for (struct oracle *x = sim->regions; x; x = x->next)
            if (oracle_below(x, rank->target))
                x->deleting = false;
        break;
    default:
        if (error)
            rank_check_error(sim, rank, error);
        else
            rank_acquired(sim, rank, e->region, e->hold, e->split);
        break;
    }
    rank->newer = 0;
    rank_tell(sim, rank, error);
    event_rank(sim, rank);
}

void rank_timeout(struct sim *sim, struct sim_rank *rank, uint32_t serial)
{
    if (!rank->blocked || rank->serial != serial || !rank->op)
        return;
    struct proto_op *op = rank->op;
    rank->blocked = false;
    rank->gave_up = true;
    rank->moved = sim->now;
    sim->loose = true;
    rank->op = NULL;
    rank->newer = 0;
    rank->serial++;
    struct proto_effects *out = effects_take(sim);
    proto_detach(&sim->node[rank->node].proto, op, out);
    effects_run(sim, rank->node, out, NULL);
    effects_give(sim, out);
    rank_tell(sim, rank, DRASYNC_EAGAIN);
    event_rank(sim, rank);
}

/* The thread ends, its rank goes on: it gives back what it took. */
static void thread_finish(struct sim *sim, struct sim_rank *rank)
{
    while (rank->held_count && !sim->finding[0]) {
        struct sim_held *held = &rank->held[rank->held_count - 1];
        struct proto_region *r =
            world_find(sim, rank->node, held->region->address);
        rank->doing = (struct sim_command){
            .rank = rank->id, .verb = SIM_RELEASE, .slot = held->region->slot};
        if (!r || rank_release(sim, rank, r, held))
            sim_found(sim, "rank %u cannot end its hold of #%llu", rank->id,
                      (unsigned long long)held->region->number);
    }
}

/* The rank has nothing more to do: its holds end, and perhaps its node. */
static void rank_finish(struct sim *sim, struct sim_rank *rank)
{
    struct sim_node *node = &sim->node[rank->node];
    uint64_t cursor = 0;
    struct proto_region *root;
    if (rank->done)
        return;
    rank->done = true;
    if (rank->held_count)
        rank->moved = sim->now;
    sim->step++;
    if (!rank_over(rank)) {
        thread_finish(sim, rank);
        return;
    }
    while ((root = world_next_root(sim, rank->node, &cursor)) != NULL) {
        struct proto_effects *out = effects_take(sim);
        proto_end_rank(&node->proto, rank->local, root, out);
        for (uint32_t t = 0; t < rank->threads; t++)
            rank->first[t].held_count = 0;
        effects_run(sim, rank->node, out, NULL);
        effects_give(sim, out);
    }
    for (uint32_t t = 0; t < rank->threads; t++)
        rank->first[t].held_count = 0;
}

void rank_next(struct sim *sim, struct sim_rank *rank)
{
    if (rank->blocked || rank->done)
        return;
    if (rank->at == rank->todo_count) {
        rank_finish(sim, rank);
        return;
    }
    rank->doing = sim->script->command[rank->todo[rank->at++]];
    rank->began = sim->now;
    if (rank->doing.verb != SIM_READ && rank->doing.verb != SIM_AHEAD)
        rank->moved = sim->now;
    if (rank->doing.verb == SIM_END) {
        rank_finish(sim, rank);
        return;
    }
    if (rank_do(sim, rank, &rank->doing))
        event_rank(sim, rank);
}
