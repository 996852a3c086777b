/* references_ranks.c - what simulated programs do with references: calls that
 * drasync.h allows, and what must come of each. */
#include "sim/references.h"

#define NUMBER(r) ((r)->number)

static uint32_t bit(uint32_t node)
{
    return UINT32_C(1) << node;
}

/* --- Holds ---------------------------------------------------------------- */

static struct refsim_hold *hold_of(struct refsim_rank *rank,
                                   const struct refsim_region *r)
{
    for (uint32_t i = 0; i < rank->held_count; i++)
        if (rank->held[i].region == r)
            return &rank->held[i];
    return NULL;
}

/* Readers of what is written now keep an older version. */
static void grow_old(const struct refsim_region *r)
{
    for (uint32_t i = 0; i < refsim.ranks; i++) {
        struct refsim_hold *h = hold_of(&refsim.rank[i], r);

        if (h)
            h->old = true;
    }
}

static void hold(struct refsim_rank *rank, struct refsim_region *r, bool write)
{
    if (!r->alive || hold_of(rank, r) || r->writers || r->taken ||
        rank->held_count == sizeof(rank->held) / sizeof(rank->held[0]))
        return;
    if (write)
        grow_old(r);
    rank->held[rank->held_count++] =
        (struct refsim_hold){.region = r, .write = write};
    if (write)
        r->old_readers = r->readers;
    r->writers += write;
    r->readers += !write;
    r->met |= bit(rank->node);
}

static void release(struct refsim_hold *h, struct refsim_rank *rank)
{
    struct refsim_region *r = h->region;

    r->writers -= h->write;
    r->readers -= !h->write;
    r->old_readers -= h->old;
    *h = rank->held[--rank->held_count];
}

/* --- References ----------------------------------------------------------- */

static void got(struct refsim_rank *rank, struct refsim_region *r)
{
    if (!r->alive || r->doomed)
        refsim_found("ends: rank %u has a reference to #%u, which has ended",
                     rank->id, NUMBER(r));
    rank->tokens[NUMBER(r)]++;
    r->references++;
}

/* managed_ask(), until the home knows. */
static int ask(struct refsim_rank *rank, const struct refsim_packet *p)
{
    uint32_t home = refsim_home(p->address);
    int err;

    do {
        refsim_pause();
        err = home == rank->node ? refsim_answer(home, home, p)
                                 : refsim_ask(rank, home, p);
    } while (err == DRASYNC_EAGAIN && !refsim.finding[0]);
    return err;
}

static int ask_for_one(struct refsim_rank *rank, enum refs_ask what,
                       uint64_t address, uint64_t incarnation)
{
    const struct refsim_packet p = {
        .kind = REFSIM_ASK,
        .ask = (uint8_t)what,
        .address = address,
        .incarnation = incarnation,
    };
    int err = ask(rank, &p);

    if (err || refsim_home(address) == rank->node)
        return err;
    refsim_pause();
    refs_got(&refsim_entry(rank->node, address, incarnation)->refs);
    return 0;
}

/* A reference of this node, from one that it has or from a hold. */
static int ref(struct refsim_rank *rank, const struct refsim_region *r)
{
    int err;

    refsim_pause();
    err = refsim_change(rank->node, r->address, 0, 1, NULL);
    if (err != DRASYNC_EINVAL || !hold_of(rank, r))
        return err;
    return ask_for_one(rank, REFS_ASK_REF, r->address, r->incarnation);
}

/* May the program use @r in a call that needs a reference or a hold? */
static bool has(struct refsim_rank *rank, const struct refsim_region *r)
{
    return rank->tokens[NUMBER(r)] || hold_of(rank, r);
}

static void unref(struct refsim_rank *rank, struct refsim_region *r)
{
    struct refsim_entry *ends = NULL;

    rank->tokens[NUMBER(r)]--;
    r->references--;
    refsim_pause();
    if (refsim_change(rank->node, r->address, 0, -1, &ends))
        refsim_found("counts: node %u lost its references to #%u", rank->node,
                     NUMBER(r));
    if (ends)
        refsim_end_one(rank->node, ends);
    refsim_home_end(rank->node, false);
}

/* Let @node, another one, have a reference of this node. */
static void give_node(struct refsim_rank *rank, uint32_t node,
                      const struct refsim_region *r)
{
    const struct refsim_packet p = {
        .kind = REFSIM_HAND,
        .address = r->address,
        .incarnation = r->incarnation,
    };
    bool late = refs_fault == FAULT_LATE_COUNT;

    if (late)
        refsim_change(rank->node, r->address, r->incarnation, -1, NULL);
    refsim_ask(rank, node, &p);
    if (rank->listed) {
        refsim_pause();
        refsim_tell_count(rank->node, node, r->address, r->incarnation, 1,
                          false);
    }
    refsim_pause();
    if (!late &&
        refsim_change(rank->node, r->address, r->incarnation, -1, NULL))
        refsim_found("counts: node %u gave what it has not", rank->node);
}

static void give(struct refsim_rank *rank, struct refsim_region *r,
                 struct refsim_rank *to)
{
    if (!rank->tokens[NUMBER(r)])
        return;
    rank->tokens[NUMBER(r)]--;
    refsim_pause();
    if (to->node != rank->node)
        give_node(rank, to->node, r);
    to->tokens[NUMBER(r)]++;
    refsim_home_end(rank->node, false);
}

/* --- Links ---------------------------------------------------------------- */

static struct refsim_packet about_link(enum refs_ask what,
                                       const struct refsim_region *from,
                                       const struct refsim_region *to)
{
    return (struct refsim_packet){
        .kind = REFSIM_ASK,
        .ask = (uint8_t)what,
        .address = from->address,
        .incarnation = from->incarnation,
        .to = to->address,
        .to_incarnation = to->incarnation,
    };
}

static void link_to(struct refsim_rank *rank, struct refsim_region *from,
                    struct refsim_region *to)
{
    const struct refsim_packet p = about_link(REFS_ASK_LINK, from, to);
    bool managed = from->managed && to->managed;
    int err;

    if (!hold_of(rank, from) || !has(rank, to))
        return;
    err = ref(rank, to);
    if (!err && refsim_home(from->address) != rank->node)
        give_node(rank, refsim_home(from->address), to);
    if (!err)
        err = ask(rank, &p);
    if (!err)
        from->links[NUMBER(to)]++;
    else if (managed && !from->doomed && !to->doomed)
        refsim_found("counts: no link from #%u to #%u", NUMBER(from),
                     NUMBER(to));
    refsim_home_end(rank->node, false);
}

static void unlink_from(struct refsim_rank *rank, struct refsim_region *from,
                        struct refsim_region *to)
{
    const struct refsim_packet p = about_link(REFS_ASK_UNLINK, from, to);

    if (!hold_of(rank, from) || !from->links[NUMBER(to)])
        return;
    from->links[NUMBER(to)]--;
    if (ask(rank, &p) && !from->doomed)
        refsim_found("counts: the link from #%u to #%u is lost", NUMBER(from),
                     NUMBER(to));
    refsim_home_end(rank->node, false);
}

/* --- The other calls ------------------------------------------------------ */

/* Regions get addresses that others had. */
static void make(struct refsim_rank *rank, uint32_t slot)
{
    struct refsim_region *r = refsim.slot[slot];
    uint64_t address = ((uint64_t)rank->node << 32) | (refsim.regions + 1);

    if ((r && r->alive) || refsim.regions == REFSIM_REGIONS_MAX)
        return;
    for (uint32_t i = 0; i < refsim.regions; i++) {
        const struct refsim_region *old = &refsim.region[i];
        bool used = old->home != rank->node;

        for (uint32_t j = 0; j < refsim.regions; j++)
            used |= refsim.region[j].alive &&
                    refsim.region[j].address == old->address;
        if (!used && refsim_random(2))
            address = old->address;
    }
    r = refsim.slot[slot] = &refsim.region[refsim.regions];
    r->number = refsim.regions++;
    r->address = address;
    r->incarnation = ++refsim.incarnations;
    r->home = rank->node;
    r->alive = true;
    hold(rank, r, true);
}

static void manage(struct refsim_rank *rank, struct refsim_region *r)
{
    bool managed = r->managed;
    int err;

    if (!hold_of(rank, r))
        return;
    err = ask_for_one(rank, REFS_ASK_MANAGE, r->address, r->incarnation);
    if (!err) {
        if (managed)
            refsim_found("counts: #%u is managed twice", NUMBER(r));
        r->managed = true;
        got(rank, r);
    } else if (err != DRASYNC_EMANAGED || !r->managed) {
        refsim_found("counts: #%u is not to be managed", NUMBER(r));
    }
    refsim_home_end(rank->node, false);
}

/* A weak handle gives a reference to the region that it was made of. */
static void lock_weak(struct refsim_rank *rank, struct refsim_region *r)
{
    int err;

    refsim_pause();
    err = refsim_change(rank->node, r->address, r->incarnation, 1, NULL);
    if (err == DRASYNC_EINVAL)
        err = ask_for_one(rank, REFS_ASK_REF, r->address, r->incarnation);
    if (!err)
        got(rank, r);
    else if (r->alive && !r->doomed)
        refsim_found("counts: a weak handle does not give #%u", NUMBER(r));
    refsim_home_end(rank->node, false);
}

static void on_end(struct refsim_rank *rank, struct refsim_region *r)
{
    struct refsim_entry *e;

    if (!rank->tokens[NUMBER(r)])
        return;
    refsim_pause();
    e = refsim_referred(rank->node, r->address);
    if (!e || e->refs.incarnation != r->incarnation) {
        refsim_found("counts: node %u lost its references to #%u", rank->node,
                     NUMBER(r));
        return;
    }
    if (!e->calls && !e->refs.home)
        refsim_tell_count(rank->node, rank->node, r->address, r->incarnation, 0,
                          true);
    e->calls++;
    r->wanted[rank->node]++;
}

static void ref_call(struct refsim_rank *rank, struct refsim_region *r)
{
    int err;

    if (!has(rank, r))
        return;
    err = ref(rank, r);
    if (!err)
        got(rank, r);
    else if (r->managed && !r->doomed)
        refsim_found("counts: rank %u gets no reference to #%u", rank->id,
                     NUMBER(r));
    refsim_home_end(rank->node, false);
}

static void do_with(struct refsim_rank *rank, const struct refsim_command *c,
                    struct refsim_region *r)
{
    struct refsim_region *other = refsim.slot[c->other % REFSIM_SLOTS];
    struct refsim_hold *held = hold_of(rank, r);

    switch (c->verb) {
    case REFSIM_MANAGE:
        manage(rank, r);
        break;
    case REFSIM_READ:
    case REFSIM_WRITE:
        hold(rank, r, c->verb == REFSIM_WRITE);
        break;
    case REFSIM_RELEASE:
        if (held)
            release(held, rank);
        break;
    case REFSIM_REF:
        ref_call(rank, r);
        break;
    case REFSIM_UNREF:
        if (rank->tokens[NUMBER(r)])
            unref(rank, r);
        break;
    case REFSIM_GIVE:
        give(rank, r, &refsim.rank[c->other % refsim.ranks]);
        break;
    case REFSIM_LINK:
        if (other)
            link_to(rank, r, other);
        break;
    case REFSIM_UNLINK:
        if (other)
            unlink_from(rank, r, other);
        break;
    case REFSIM_WEAK:
        if (has(rank, r) && r->managed)
            refsim.weak[c->slot] = r;
        break;
    default:
        on_end(rank, r);
        break;
    }
}

void refsim_do(struct refsim_rank *rank)
{
    const struct refsim_command *c = &rank->doing;
    struct refsim_region *r = refsim.slot[c->slot];

    if (refsim.show && r)
        fprintf(refsim.show, "%u.%u %s %u %u, #%u\n", rank->node,
                rank->id % refsim.script->ranks_per_node, refsim_name(c->verb),
                c->slot, c->other, NUMBER(r));
    if (c->verb == REFSIM_NEW) {
        make(rank, c->slot);
    } else if (c->verb == REFSIM_COLLECT) {
        refsim_collect(rank);
    } else if (c->verb == REFSIM_LOCK) {
        if (refsim.weak[c->slot])
            lock_weak(rank, refsim.weak[c->slot]);
    } else if (r) {
        do_with(rank, c, r);
    }
}

void refsim_leave(struct refsim_rank *rank)
{
    while (rank->held_count)
        release(&rank->held[0], rank);
    for (uint32_t i = 0; i < refsim.regions; i++)
        while (rank->tokens[i] && !refsim.finding[0])
            unref(rank, &refsim.region[i]);
}
