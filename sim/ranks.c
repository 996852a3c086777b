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

static struct sim_held *held_add(struct sim_rank *rank, struct oracle *region)
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

static void held_remove(struct sim_rank *rank, struct sim_held *held)
{
    struct sim_held last = rank->held[--rank->held_count], gone = *held;
    *held = last;
    rank->held[rank->held_count] = gone;
}

bool held_write(struct sim_rank *rank, const struct oracle *region)
{
    for (; region; region = region->parent) {
        struct sim_held *held = held_of(rank, region);
        if (held && held->writes)
            return true;
    }
    return false;
}

static bool held_above(struct sim_rank *rank, const struct oracle *region)
{
    for (; region; region = region->parent)
        if (held_of(rank, region))
            return true;
    return false;
}

static bool held_below(struct sim_rank *rank, const struct oracle *region)
{
    for (uint32_t i = 0; i < rank->held_count; i++)
        if (rank->held[i].region != region &&
            oracle_below(rank->held[i].region, region))
            return true;
    return false;
}

/* May the rank wait for @region without risking a deadlock with others that
 * keep to the order? */
static bool in_order(struct sim_rank *rank, const struct oracle *region)
{
    for (uint32_t i = 0; i < rank->held_count; i++)
        if (!oracle_below(region, rank->held[i].region) &&
            !oracle_before(rank->held[i].region, region))
            return false;
    return true;
}

/* --- Results -------------------------------------------------------------- */

static void tell(struct sim *sim, struct sim_rank *rank, int error)
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

/* Before a WRITE hold is used: readers keep the frames they have. */
static void split(struct sim *sim, struct sim_rank *rank,
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

static void acquired(struct sim *sim, struct sim_rank *rank,
                     struct proto_region *region, struct proto_hold *hold,
                     bool split_needed)
{
    /* An address that was used again names the new region. */
    struct oracle *o = oracle_of(sim, region);
    rank->target = o;
    sim->grants++;
    if (held_below(rank, o) && !held_above(rank, o))
        sim_found(sim, "rank %u acquired #%llu while holding a part of it",
                  rank->id, (unsigned long long)o->number);
    if (rank->doing.mode == DRASYNC_WRITE && !held_write(rank, o) &&
        held_above(rank, o) && o->birth < rank->started && hold)
        sim_found(sim, "rank %u upgraded its hold", rank->id);
    struct sim_held *held = held_add(rank, o);
    if (rank->doing.mode == DRASYNC_WRITE) {
        held->writes++;
        if (split_needed)
            split(sim, rank, region);
        check_write_grant(sim, rank, o);
    } else {
        held->reads++;
        held->hold = hold;
        if (held->reads == 1) {
            held->seen_count = 0;
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
static struct oracle *handle(struct sim *sim, struct oracle *o)
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
        struct sim_held *held = held_of(rank, o);
        if (held)
            held_remove(rank, held);
    }
}

/* Had another region this address?  While a node still waits for an answer
 * about that one, it may take the new one for it, and say EDELETED. */
static bool used_before(struct sim *sim, const struct oracle *o)
{
    for (struct oracle *x = sim->regions; x; x = x->next)
        if (x != o && x->address == o->address)
            return true;
    return false;
}

/* An acquire or delete of rank->target failed: was that right? */
static void check_error(struct sim *sim, struct sim_rank *rank, int error)
{
    const struct oracle *o = rank->target;
    bool memory =
        sim->script->memory_fault || sim->script->data_fault;
    bool wrong = false;
    if (error == DRASYNC_ENOREGION || error == DRASYNC_EDELETED)
        wrong = o->death == UINT64_MAX && !o->deleting && !used_before(sim, o);
    else if (error == DRASYNC_ENOMEM)
        wrong = !memory;
    else if (error == DRASYNC_EORDER)
        wrong = !held_below(rank, o);
    else if (error == DRASYNC_EUPGRADE)
        wrong = !held_above(rank, o) || held_write(rank, o);
    else if (error == DRASYNC_EAGAIN)
        wrong = rank->doing.verb == SIM_ACQUIRE;
    else if (error == DRASYNC_EBUSY)
        wrong = rank->doing.verb != SIM_DELETE;
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
    rank->op = NULL;
    rank->serial++;
    int error = e->kind == PROTO_FAILED ? e->error : 0;
    struct sim_node *node = &sim->node[rank->node];
    switch (rank->doing.verb) {
    case SIM_CREATE:
    case SIM_SUB:
    case SIM_ALLOC:
        if (!error && e->pages) {
            for (uint64_t i = 0; i < e->pages; i++)
                page_free(node, e->address + (i << 12));
        }
        if (!error && rank_do(sim, rank, &rank->doing))
            break;
        if (error)
            break;
        return;
    case SIM_DELETE:
        if (error)
            check_error(sim, rank, error);
        else
            deleted(sim, rank, alive_at(sim, e->address));
        for (struct oracle *x = sim->regions; x; x = x->next)
            if (oracle_below(x, rank->target))
                x->deleting = false;
        break;
    case SIM_PUBLISH:
    case SIM_LOOKUP:
        break;
    default:
        if (error)
            check_error(sim, rank, error);
        else
            acquired(sim, rank, e->region, e->hold, e->split);
        break;
    }
    tell(sim, rank, error);
    event_rank(sim, rank);
}

void rank_timeout(struct sim *sim, struct sim_rank *rank, uint32_t serial)
{
    if (!rank->blocked || rank->serial != serial || !rank->op)
        return;
    struct proto_op *op = rank->op;
    rank->blocked = false;
    rank->op = NULL;
    rank->serial++;
    struct proto_effects *out = effects_take(sim);
    proto_detach(&sim->node[rank->node].proto, op, out);
    effects_run(sim, rank->node, out, NULL);
    effects_give(sim, out);
    tell(sim, rank, DRASYNC_EAGAIN);
    event_rank(sim, rank);
}

/* --- Commands ------------------------------------------------------------- */

/* A chunk is needed first; the command is done again when it has come. */
static bool need_chunk(struct sim *sim, struct sim_rank *rank)
{
    struct proto_effects *out = effects_take(sim);
    rank->blocked = true;
    rank->op = NULL;
    struct proto_op *op;
    int err = proto_chunk(&sim->node[rank->node].proto, SIM_CHUNK_PAGES, rank,
                          &op, out);
    if (err != PROTO_WAIT)
        rank->blocked = false;
    effects_run(sim, rank->node, out, NULL);
    effects_give(sim, out);
    return !rank->blocked;
}

static bool do_create(struct sim *sim, struct sim_rank *rank,
                      const struct sim_command *c)
{
    struct sim_node *node = &sim->node[rank->node];
    struct oracle *parent = NULL;
    struct proto_region *above = NULL, *region = NULL;
    if (sim->slot[c->slot] && sim->slot[c->slot]->death == UINT64_MAX)
        return true;
    if (c->verb == SIM_SUB) {
        parent = sim->slot[c->other];
        if (!parent || parent->death != UINT64_MAX)
            return true;
        above = world_find(sim, rank->node, parent->address);
        if (!above || above->incarnation != parent->incarnation)
            return true;
    }
    uint64_t address = page_cut(sim, rank->node);
    if (!address)
        return need_chunk(sim, rank);
    struct proto_effects *out = effects_take(sim);
    uint64_t tag = ++sim->step;
    struct sim_frames *frames = frames_new(sim, tag);
    int err;
    if (parent)
        err = proto_create_subregion(&node->proto, rank->local, above, address,
                                     NULL, frames, &region, out);
    else
        err = proto_create_root(&node->proto, rank->local, address, NULL,
                                frames, &region, out);
    bool allowed = !parent || held_write(rank, parent);
    /* A READ hold may stay as strong as the WRITE hold that covered it. */
    if (!err && !held_above(rank, parent) && parent)
        sim_found(sim, "rank %u made a subregion without a hold", rank->id);
    if (err == DRASYNC_ENOTHELD && allowed)
        sim_found(sim, "rank %u may not make a subregion", rank->id);
    if (err) {
        page_free(node, address);
    } else {
        struct oracle *o =
            oracle_new(sim, address, tag, region->incarnation, parent);
        o->slot = c->slot;
        sim->slot[c->slot] = o;
        region->memory = o;
        if (!parent)
            held_add(rank, o)->writes = 1;
    }
    effects_run(sim, rank->node, out, NULL);
    effects_give(sim, out);
    tell(sim, rank, err);
    return true;
}

static bool do_acquire(struct sim *sim, struct sim_rank *rank,
                       const struct sim_command *c)
{
    struct oracle *o = handle(sim, sim->slot[c->slot]);
    if (!o)
        return true;
    rank->target = o;
    bool nowait = c->verb == SIM_TRY;
    /* A dead handle may come to mean a region that is not in order. */
    if (c->verb == SIM_ACQUIRE && !held_below(rank, o) &&
        (!in_order(rank, o) || o->death != UINT64_MAX)) {
        rank->doing.verb = SIM_TRY;
        nowait = true;
    }
    struct proto_grant grant;
    struct proto_effects *out = effects_take(sim);
    rank->started = sim->step;
    rank->blocked = true;
    int err = proto_acquire(&sim->node[rank->node].proto, rank->local,
                            world_find(sim, rank->node, o->address),
                            o->address, (enum drasync_mode)c->mode, nowait,
                            rank, &grant, &rank->op, out);
    if (err != PROTO_WAIT) {
        rank->blocked = false;
        rank->op = NULL;
        if (!err)
            acquired(sim, rank, grant.region, grant.hold, grant.split);
        else
            check_error(sim, rank, err);
        tell(sim, rank, err);
    } else if (c->verb == SIM_TIMED) {
        event_add(sim, sim->now + 1 + c->other, EVENT_TIMEOUT, rank->id,
                  rank->serial, NULL);
    }
    uint32_t serial = rank->serial;
    effects_run(sim, rank->node, out, NULL);
    effects_give(sim, out);
    return err != PROTO_WAIT && rank->serial == serial;
}

static bool do_release(struct sim *sim, struct sim_rank *rank,
                       struct oracle *o)
{
    struct proto_region *r =
        o ? world_find(sim, rank->node, o->address) : NULL;
    if (!r || r->incarnation != o->incarnation)
        return true;
    struct sim_held *held = held_of(rank, o);
    if (held)
        check_pins(sim, rank, held);
    struct proto_effects *out = effects_take(sim);
    sim->step++;
    int err = proto_release(&sim->node[rank->node].proto, rank->local, r, out);
    if ((err == 0) != (held != NULL))
        sim_found(sim, "rank %u: release of #%llu gave %s", rank->id,
                  (unsigned long long)o->number, sim_errname(err));
    if (held && held->writes)
        held->writes--;
    else if (held)
        held->reads--;
    if (held && !held->writes && !held->reads)
        held_remove(rank, held);
    tell(sim, rank, err);
    effects_run(sim, rank->node, out, NULL);
    effects_give(sim, out);
    return true;
}

static bool do_delete(struct sim *sim, struct sim_rank *rank, struct oracle *o)
{
    o = handle(sim, o);
    if (!o)
        return true;
    rank->target = o;
    rank->blocked = true;
    rank->op = NULL;
    rank->started = sim->step;
    struct proto_effects *out = effects_take(sim);
    int err = proto_delete(&sim->node[rank->node].proto, rank->local,
                           world_find(sim, rank->node, o->address), o->address,
                           rank, out);
    if (err != PROTO_WAIT) {
        rank->blocked = false;
        check_error(sim, rank, err);
        tell(sim, rank, err);
    } else {
        for (struct oracle *x = sim->regions; x; x = x->next)
            if (oracle_below(x, o))
                x->deleting = true;
    }
    effects_run(sim, rank->node, out, NULL);
    effects_give(sim, out);
    return err != PROTO_WAIT;
}

static bool do_write(struct sim *sim, struct sim_rank *rank, struct oracle *o)
{
    if (!o || o->death != UINT64_MAX || !held_write(rank, o))
        return true;
    struct proto_region *r = world_find(sim, rank->node, o->address);
    struct proto_copy *copy = r ? proto_newest(r) : NULL;
    if (!copy || !r->owned ||
        proto_held(r, rank->local) != DRASYNC_WRITE) {
        sim_found(sim, "rank %u lost #%llu while it held it", rank->id,
                  (unsigned long long)o->number);
        return true;
    }
    struct sim_frames *frames = copy->frames;
    if (frames->tag != oracle_last(o))
        sim_found(sim, "rank %u writes into an old copy of #%llu", rank->id,
                  (unsigned long long)o->number);
    frames->tag = ++sim->step;
    oracle_tag(sim, o, frames->tag);
    return true;
}

static bool do_alloc(struct sim *sim, struct sim_rank *rank, struct oracle *o)
{
    if (!o || o->death != UINT64_MAX || !held_write(rank, o) ||
        o->extents_count == 16)
        return true;
    uint64_t address = page_cut(sim, rank->node);
    if (!address)
        return need_chunk(sim, rank);
    o->extents[o->extents_count++] = address;
    return true;
}

static bool do_name(struct sim *sim, struct sim_rank *rank,
                    const struct sim_command *c)
{
    char name[32];
    struct oracle *o = sim->slot[c->slot];
    struct proto_node *node = &sim->node[rank->node].proto;
    snprintf(name, sizeof(name), "name%u", c->other % 8);
    if (c->verb == SIM_PUBLISH && !o)
        return true;
    rank->blocked = true;
    struct proto_effects *out = effects_take(sim);
    int err;
    if (c->verb == SIM_PUBLISH)
        err = proto_publish(node, name, o->address, rank, &rank->op, out);
    else
        err = proto_lookup(node, name, c->other % 2 == 0, rank, &rank->op, out);
    if (err != PROTO_WAIT)
        rank->blocked = false;
    else if (c->verb == SIM_LOOKUP)
        event_add(sim, sim->now + 50, EVENT_TIMEOUT, rank->id, rank->serial,
                  NULL);
    effects_run(sim, rank->node, out, NULL);
    effects_give(sim, out);
    return err != PROTO_WAIT;
}

static bool do_read(struct sim *sim, struct sim_rank *rank, struct oracle *o)
{
    struct sim_held *held = o ? held_of(rank, o) : NULL;
    if (held)
        check_pins(sim, rank, held);
    return true;
}

static void do_drop(struct sim *sim, struct sim_rank *rank)
{
    uint64_t cursor = 0;
    struct proto_region *root;
    while ((root = world_next_root(sim, rank->node, &cursor)) != NULL) {
        struct proto_effects *out = effects_take(sim);
        proto_drop_copies(&sim->node[rank->node].proto, root, out);
        effects_run(sim, rank->node, out, NULL);
        effects_give(sim, out);
    }
}

/* True if it is over; false if rank_ended() will be called. */
bool rank_do(struct sim *sim, struct sim_rank *rank,
             const struct sim_command *c)
{
    struct oracle *o = sim->slot[c->slot % SIM_SLOTS_MAX];
    switch (c->verb) {
    case SIM_CREATE:
    case SIM_SUB:
        return do_create(sim, rank, c);
    case SIM_ACQUIRE:
    case SIM_TRY:
    case SIM_TIMED:
        return do_acquire(sim, rank, c);
    case SIM_RELEASE:
        return do_release(sim, rank, o);
    case SIM_DELETE:
        return do_delete(sim, rank, o);
    case SIM_WRITE:
        return do_write(sim, rank, o);
    case SIM_READ:
        return do_read(sim, rank, o);
    case SIM_ALLOC:
        return do_alloc(sim, rank, o);
    case SIM_PUBLISH:
    case SIM_LOOKUP:
        return do_name(sim, rank, c);
    case SIM_DROP:
        do_drop(sim, rank);
        return true;
    default:
        return true;
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
    sim->step++;
    while ((root = world_next_root(sim, rank->node, &cursor)) != NULL) {
        struct proto_effects *out = effects_take(sim);
        proto_end_rank(&node->proto, rank->local, root, out);
        rank->held_count = 0;
        effects_run(sim, rank->node, out, NULL);
        effects_give(sim, out);
    }
    rank->held_count = 0;
    if (--node->ranks_left)
        return;
    struct proto_effects *out = effects_take(sim);
    proto_finish(&node->proto, out);
    effects_run(sim, rank->node, out, NULL);
    effects_give(sim, out);
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
    if (rank->doing.verb == SIM_END) {
        rank_finish(sim, rank);
        return;
    }
    if (rank_do(sim, rank, &rank->doing))
        event_rank(sim, rank);
}
