/*
 * oracle.c - the checkers: what is true of every region, and whether what a
 * rank was given agrees.
 *
 * mutual exclusion   no two ranks hold overlapping subtrees when one of the
 *                    holds is WRITE and the other was granted later, and
 *                    nobody is given a copy to read that another writes
 * freshness          WRITE sees the last tag; READ sees tags that were all
 *                    current at one moment between asking and being granted
 * pins               what a READ hold sees does not change
 * completeness       a hold has every region of the subtree
 * one owner          a token is on one node
 * pages              every page is in use, free, or of nobody exactly once
 * gifts              each gift arrives, once, at the rank it is for
 * ends               every rank gets an answer (unless its region's address
 *                    came to mean one that is out of order); at the end no object
 *                    of an operation is left; after POISON all nodes have it
 */
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

#define NUMBER(o) ((unsigned long long)(o)->number)

struct oracle *oracle_new(struct sim *sim, uint64_t address, uint64_t tag,
                          uint64_t incarnation, struct oracle *parent)
{
    struct oracle *o = sim_alloc(sim, sizeof(*o));
    o->address = address;
    o->incarnation = incarnation;
    o->parent = parent;
    o->birth = sim->step;
    o->death = UINT64_MAX;
    o->number = ++sim->numbers;
    o->extents[0] = address;
    o->extents_count = 1;
    o->next = sim->regions;
    sim->regions = o;
    oracle_tag(sim, o, tag);
    return o;
}

struct oracle *oracle_of(struct sim *sim, const struct proto_region *region)
{
    for (struct oracle *o = sim->regions; o; o = o->next)
        if (o->address == region->address &&
            o->incarnation == region->incarnation)
            return o;
    return NULL;
}

bool oracle_below(const struct oracle *region, const struct oracle *top)
{
    for (; region; region = region->parent)
        if (region == top)
            return true;
    return false;
}

static uint32_t depth_of(const struct oracle *o)
{
    uint32_t depth = 0;
    for (; o->parent; o = o->parent)
        depth++;
    return depth;
}

/* Does @a come before @b in the order in which operations lock regions? */
bool oracle_before(const struct oracle *a, const struct oracle *b)
{
    uint32_t da = depth_of(a), db = depth_of(b);
    const struct oracle *x = a, *y = b;
    for (; da > db; da--)
        x = x->parent;
    for (uint32_t d = db; d > da; d--)
        y = y->parent;
    if (x == y)
        return depth_of(a) < db;
    while (x->parent != y->parent) {
        x = x->parent;
        y = y->parent;
    }
    return x->number < y->number;
}

void oracle_tag(struct sim *sim, struct oracle *o, uint64_t tag)
{
    (void)sim;
    if (o->tags_count == o->tags_room) {
        o->tags_room = o->tags_room ? o->tags_room * 2 : 4;
        o->tags = realloc(o->tags, o->tags_room * sizeof(*o->tags));
    }
    o->tags[o->tags_count++] = tag;
}

uint64_t oracle_last(const struct oracle *o)
{
    return o->tags[o->tags_count - 1];
}

static void check_exclusion(struct sim *sim, struct sim_rank *rank,
                            struct oracle *region, bool write)
{
    for (uint32_t i = 0; i < sim->ranks_count; i++) {
        struct sim_rank *other = &sim->rank[i];
        if (rank_same(other, rank))
            continue;
        for (uint32_t j = 0; j < other->held_count; j++) {
            struct sim_held *held = &other->held[j];
            if (!held->writes || (!oracle_below(held->region, region) &&
                                  !oracle_below(region, held->region)))
                continue;
            sim_found(sim,
                      "exclusion: rank %u was granted %s of #%llu while rank "
                      "%u holds #%llu for WRITE",
                      rank->id, write ? "WRITE" : "READ", NUMBER(region),
                      other->id, NUMBER(held->region));
        }
    }
}

static void check_owner(struct sim *sim, const struct oracle *o)
{
    uint32_t owners = 0, nodes = sim->script->nodes;
    for (uint32_t i = 0; i < nodes; i++) {
        struct proto_region *r = world_find(sim, i, o->address);
        owners += r && r->incarnation == o->incarnation && r->owned;
    }
    if (owners > 1)
        sim_found(sim, "owner: #%llu has %u owners", NUMBER(o), owners);
}

/* Does a rank of @node other than @rank hold @o for WRITE? */
static bool written_by_others(struct sim *sim, const struct sim_rank *rank,
                              const struct oracle *o)
{
    for (uint32_t i = 0; i < sim->ranks_count; i++) {
        struct sim_rank *other = &sim->rank[i];
        if (!rank_same(other, rank) && other->node == rank->node &&
            held_write(other, o))
            return true;
    }
    return false;
}

static bool alive(const struct oracle *o)
{
    return o->death == UINT64_MAX;
}

void check_write_grant(struct sim *sim, struct sim_rank *rank,
                       struct oracle *region)
{
    check_exclusion(sim, rank, region, true);
    for (struct oracle *o = sim->regions; o; o = o->next) {
        if (!alive(o) || o->deleting || !oracle_below(o, region))
            continue;
        struct proto_region *r = world_find(sim, rank->node, o->address);
        if (!r || r->incarnation != o->incarnation || !r->owned) {
            sim_found(sim,
                      "completeness: rank %u holds #%llu without its "
                      "part #%llu",
                      rank->id, NUMBER(region), NUMBER(o));
            return;
        }
        struct proto_copy *copy = proto_newest(r);
        struct sim_frames *frames = copy ? copy->frames : NULL;
        if (!frames || frames->freed || frames->tag != oracle_last(o))
            sim_found(sim, "freshness: rank %u got an old copy of #%llu",
                      rank->id, NUMBER(o));
        if (sim->script->nodes <= 64)
            check_owner(sim, o);
    }
}

/* The moments at which @tag was @o's current one, cut to [*from, *to]. */
static bool cut_moments(const struct oracle *o, uint64_t tag, uint64_t *from,
                        uint64_t *to)
{
    for (uint32_t i = o->tags_count; i-- > 0;) {
        if (o->tags[i] != tag)
            continue;
        if (tag > *from)
            *from = tag;
        if (i + 1 < o->tags_count && o->tags[i + 1] - 1 < *to)
            *to = o->tags[i + 1] - 1;
        return true;
    }
    return false;
}

static void see(struct sim_held *held, struct oracle *o, uint64_t tag)
{
    if (held->seen_count == held->seen_room) {
        held->seen_room = held->seen_room ? held->seen_room * 2 : 8;
        held->seen = realloc(held->seen, held->seen_room * sizeof(*held->seen));
    }
    held->seen[held->seen_count++] = (struct sim_seen){o, tag};
}

static bool seen(const struct sim_held *held, const struct oracle *o)
{
    for (uint32_t i = 0; i < held->seen_count; i++)
        if (held->seen[i].region == o)
            return true;
    return false;
}

static struct sim_frames *frames_of(const struct proto_pin *pin)
{
    return pin->copy->frames;
}

#define PIN(link_) ((struct proto_pin *)(void *)(link_))

void check_read_grant(struct sim *sim, struct sim_rank *rank,
                      struct oracle *region, struct sim_held *held)
{
    uint64_t from = rank->started, to = sim->step;
    if (held->hold->covered)
        return;
    if (from < region->birth)
        from = region->birth;
    for (struct proto_link *l = held->hold->pins.next; l != &held->hold->pins;
         l = l->next) {
        struct oracle *o = oracle_of(sim, PIN(l)->region);
        struct sim_frames *frames = frames_of(PIN(l));
        if (!o || !frames || frames->freed) {
            sim_found(sim, "freshness: rank %u reads what is gone", rank->id);
            return;
        }
        if (!cut_moments(o, frames->tag, &from, &to) || from > to) {
            sim_found(sim,
                      "consistency: what rank %u reads of #%llu was not "
                      "current with the rest after it asked",
                      rank->id, NUMBER(o));
            return;
        }
        if (PIN(l)->region->owned &&
            PIN(l)->copy == proto_newest(PIN(l)->region) &&
            written_by_others(sim, rank, o))
            sim_found(sim,
                      "exclusion: rank %u was granted READ of #%llu in the "
                      "copy that another writes",
                      rank->id, NUMBER(o));
        if (o->birth > from)
            from = o->birth;
        if (o->death < to)
            to = o->death;
        see(held, o, frames->tag);
    }
    for (struct oracle *o = sim->regions; o; o = o->next)
        if (oracle_below(o, region) && o->birth <= from && o->death > to &&
            !o->deleting && !seen(held, o))
            sim_found(sim,
                      "completeness: rank %u reads #%llu without its part "
                      "#%llu",
                      rank->id, NUMBER(region), NUMBER(o));
}

void check_here(struct sim *sim, const struct sim_rank *rank,
                const struct oracle *o)
{
    uint64_t node = page_node(rank->node);

    if (node && !(o->here & node))
        sim_found(sim,
                  "pages: rank %u uses #%llu, of whose addresses its node has "
                  "nothing",
                  rank->id, NUMBER(o));
}

/* What a hold saw when it was granted, it sees still. */
void check_pins(struct sim *sim, struct sim_rank *rank, struct sim_held *held)
{
    struct proto_region *r = world_find(sim, rank->node, held->region->address);
    if (!held->reads || !r)
        return;
    held->hold = proto_read_hold(r, rank->local);
    if (!held->hold || held->hold->covered)
        return;
    for (struct proto_link *l = held->hold->pins.next; l != &held->hold->pins;
         l = l->next) {
        struct oracle *o = oracle_of(sim, PIN(l)->region);
        struct sim_frames *frames = frames_of(PIN(l));
        if (!o || frames->freed) {
            sim_found(sim, "pins: rank %u reads what is gone", rank->id);
            return;
        }
        check_here(sim, rank, o);
        uint32_t i = 0;
        while (i < held->seen_count && held->seen[i].region != o)
            i++;
        if (i == held->seen_count)
            see(held, o, frames->tag);
        else if (held->seen[i].tag != frames->tag)
            sim_found(sim, "pins: #%llu changed while rank %u reads it",
                      NUMBER(o), rank->id);
    }
}

void check_delete(struct sim *sim, struct sim_rank *rank, struct oracle *top)
{
    for (uint32_t i = 0; i < sim->ranks_count; i++) {
        struct sim_rank *other = &sim->rank[i];
        for (uint32_t j = 0; !rank_same(other, rank) && j < other->held_count;
             j++) {
            struct sim_held *held = &other->held[j];
            bool part = oracle_below(held->region, top);
            bool whole = held->writes && oracle_below(top, held->region);
            if (part || whole)
                sim_found(sim,
                          "delete: rank %u deleted #%llu while rank %u "
                          "holds it",
                          rank->id, NUMBER(top), other->id);
        }
    }
}

static void check_objects(struct sim *sim, struct sim_node *node)
{
    static const enum proto_type gone[] = {PROTO_PIN,     PROTO_HOLD,
                                           PROTO_OP,      PROTO_PART,
                                           PROTO_SENDING, PROTO_ARRIVAL};
    for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
        if (node->objects[gone[i]])
            sim_found(sim, "end: node %u has %ld objects of type %d left",
                      node->id, node->objects[gone[i]], (int)gone[i]);
}

/* What is deleted, at last no node knows; but as a child, where nobody has asked
 * for that since. */
static void check_forgotten(struct sim *sim, const struct oracle *o)
{
    for (uint32_t i = 0; i < sim->script->nodes; i++) {
        const struct proto_region *r = world_find(sim, i, o->address);
        if (r && r->incarnation == o->incarnation && !r->parent)
            sim_found(sim, "end: node %u still knows #%llu", i, NUMBER(o));
    }
}

/* The job was ended: everybody knows. */
static void check_poisoned(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->script->nodes; i++)
        if (!sim->node[i].poisoned)
            sim_found(sim, "poison: node %u does not know that the job ended",
                      i);
}

/*
 * Does a rank wait for a region that it did not mean?  The one that it asked
 * for was deleted while its node was finding out where that is, and the address
 * was used again, for a region that the rank, with what it holds, would not
 * have waited for: that locks up, and nobody is to blame but the program.
 */
static bool misled(struct sim *sim, struct sim_rank *rank)
{
    if (rank->done || !rank->target || alive(rank->target))
        return false;
    struct oracle *now = oracle_handle(sim, rank->target);
    return now != rank->target && !in_order(rank, now);
}

void check_end(struct sim *sim)
{
    if (sim->poisoned) {
        check_poisoned(sim);
        return;
    }
    for (uint32_t i = 0; i < sim->ranks_count; i++)
        if (misled(sim, &sim->rank[i]))
            return;
    for (uint32_t i = 0; i < sim->ranks_count; i++)
        if (!sim->rank[i].done)
            sim_found(sim, "starvation: rank %u waits for ever for #%llu", i,
                      sim->rank[i].target ? NUMBER(sim->rank[i].target) : 0);
    if (sim->gifts)
        sim_found(sim, "gifts: %llu were lost", (unsigned long long)sim->gifts);
    for (uint32_t i = 0; i < sim->script->nodes; i++) {
        check_objects(sim, &sim->node[i]);
    }
    for (struct oracle *o = sim->regions; o; o = o->next) {
        uint32_t owners = 0;
        if (!alive(o))
            check_forgotten(sim, o);
        for (uint32_t i = 0;
             i < sim->script->nodes && alive(o) && sim->script->nodes <= 64;
             i++) {
            struct proto_region *r = world_find(sim, i, o->address);
            if (r && r->incarnation == o->incarnation && r->owned) {
                owners++;
                struct proto_copy *copy = proto_newest(r);
                struct sim_frames *frames = copy ? copy->frames : NULL;
                if (!frames || frames->tag != oracle_last(o))
                    sim_found(sim, "freshness: #%llu was lost", NUMBER(o));
            }
        }
        if (alive(o) && sim->script->nodes <= 64 && owners != 1)
            sim_found(sim, "owner: #%llu has %u owners at the end", NUMBER(o),
                      owners);
    }
    page_end_check(sim);
}
