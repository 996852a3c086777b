/*
 * replay_lives.c - which region an address means in each line of a record, and
 * what must have happened before.
 *
 * An address is used again, by regions of other makers, and ranks learn of
 * regions in ways that no line tells.  In the replay things may come in another
 * order than in the run.  But a region was used after it was made and before it
 * was deleted.  So a line waits until its region is made; deleting waits for
 * the lines of others about the region, and taking what will be deleted without
 * being released waits until the others have had it.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/replay.h"

enum { NOBODY = UINT32_MAX };

/* What may be waited for: a flag each. */
enum what {
    MADE,
    HAD,  /* by all others who will hold it or what is below */
    LEFT, /* by all others */
    WHATS
};

struct life {
    uint64_t address, incarnation;
    uint32_t above;       /* number of the parent, or 0 */
    uint32_t next;        /* in the table */
    uint32_t deleter;     /* rank, or NOBODY */
    uint32_t left[WHATS]; /* lines to come until that is so */
    bool waited[WHATS];
    /* While the lines are looked through: of the rank whose turn it is. */
    uint32_t rank, depth;
    uint64_t order;            /* of holds, the last in bit 0; 1: WRITE */
    size_t seen;               /* at its last line */
    struct record_line *outer; /* where its hold began */
};

struct replay_lives {
    struct life *life; /* number 1 is the first */
    uint32_t count;
    uint32_t *bucket;
    uint32_t buckets;
    uint32_t flags; /* the first of theirs */
};

static uint32_t bucket_of(const struct replay_lives *lives, uint64_t address)
{
    return (uint32_t)((address * UINT64_C(0x9e3779b97f4a7c15)) >> 32) %
           lives->buckets;
}

static struct life *life_at(struct replay *replay, uint64_t number)
{
    return &replay->lives->life[number - 1];
}

/* The number of the region, or 0. */
static uint32_t find(const struct replay_lives *lives, uint64_t address,
                     uint64_t incarnation)
{
    uint32_t i;

    if (!incarnation)
        return 0;
    i = lives->bucket[bucket_of(lives, address)];
    while (i && (lives->life[i - 1].address != address ||
                 lives->life[i - 1].incarnation != incarnation))
        i = lives->life[i - 1].next;
    return i;
}

/* What @address meant last to the rank whose lines are looked through; or 0. */
static uint32_t find_known(const struct replay_lives *lives, uint64_t address,
                           uint32_t id)
{
    uint32_t i = lives->bucket[bucket_of(lives, address)], known = 0;

    for (; i; i = lives->life[i - 1].next) {
        const struct life *life = &lives->life[i - 1];

        if (life->address == address && life->rank == id &&
            (!known || life->seen > lives->life[known - 1].seen))
            known = i;
    }
    return known;
}

static void enter(struct replay_lives *lives, const struct record_line *line)
{
    uint32_t *bucket = &lives->bucket[bucket_of(lives, line->argument[0])];

    if (!line->life[0] || find(lives, line->argument[0], line->life[0]))
        return;
    lives->life[lives->count++] = (struct life){
        .address = line->argument[0],
        .incarnation = line->life[0],
        .next = *bucket,
        .deleter = NOBODY,
        .left[MADE] = 1,
        .rank = NOBODY,
    };
    *bucket = lives->count;
}

/* The line's incarnations become numbers.  That of a request may not have been
 * known: then a later line of the rank has it. */
static void number(struct replay *replay, struct record_rank *rank, size_t at)
{
    struct replay_lives *lives = replay->lives;
    struct record_line *line = &rank->line[at];

    for (size_t j = at + 1; line->kind == 'A' && !line->life[0]; j++) {
        const struct record_line *later = &rank->line[j];

        if (j == rank->count ||
            (strchr("NAD", later->kind) &&
             later->argument[0] == line->argument[0] && !later->life[0]))
            break;
        if (strchr("ALD", later->kind) &&
            later->argument[0] == line->argument[0])
            line->life[0] = later->life[0];
    }
    line->life[0] = find(lives, line->argument[0], line->life[0]);
    line->life[1] = find(lives, line->argument[1], line->life[1]);
}

/* Region number @n is made below @above; 0 where that is below @n itself, which a
 * record can say though no run is like that. */
static uint32_t made_below(struct replay *replay, uint64_t n, uint64_t above)
{
    for (uint64_t x = above; x; x = life_at(replay, x)->above)
        if (x == n)
            return 0;
    return (uint32_t)above;
}

/* Line @at of a rank: how its hold of a region begins and ends. */
static void follow(struct replay *replay, uint32_t id, size_t at)
{
    struct record_line *line = &replay->records.rank[id].line[at];
    struct life *life = life_at(replay, line->life[0]);

    if (life->rank != id) {
        life->rank = id;
        life->depth = 0;
    }
    life->seen = at;
    switch (line->kind) {
    case 'N':
        line->life[1] = life->above =
            made_below(replay, line->life[0], line->life[1]);
        life->depth = !line->argument[1];
        life->order = 1;
        life->outer = NULL;
        break;
    case 'A':
        if (!life->depth++)
            life->outer = line;
        life->order = life->order << 1 | (line->argument[1] == DRASYNC_WRITE);
        break;
    case 'L': /* as if one thread had taken all: what it took last */
        line->argument[1] = life->order & 1 ? DRASYNC_WRITE : DRASYNC_READ;
        life->order >>= 1;
        if (life->depth)
            life->depth--;
        break;
    default:
        life->deleter = id;
        /* Who waited for others only then would have what they wait for. */
        for (uint64_t n = line->life[0]; n; n = life_at(replay, n)->above) {
            struct life *held = life_at(replay, n);

            if (held->rank == id && held->depth && held->outer)
                held->outer->free = (uint32_t)line->life[0];
        }
        life->depth = 0;
        break;
    }
}

static uint32_t flag_of(const struct replay *replay, uint64_t n, enum what what)
{
    return replay->lives->flags + WHATS * (uint32_t)(n - 1) + what;
}

/* One line less until @what is so. */
static void less(struct replay *replay, uint32_t id, uint64_t n, enum what what)
{
    struct life *life = life_at(replay, n);

    if (!life->left[what])
        return; /* made twice: no run was like that */
    if (!--life->left[what] && life->waited[what])
        model_flag_raise(&replay->model, flag_of(replay, n, what),
                         replay->model.rank[id].node);
}

/* A line of rank @id about region number @n, which holds for what is above it,
 * too: it is still to come, or (@done) it comes. */
static void use(struct replay *replay, uint32_t id,
                const struct record_line *line, uint64_t n, bool done)
{
    for (; n; n = life_at(replay, n)->above) {
        struct life *life = life_at(replay, n);

        for (enum what what = HAD; what <= LEFT; what++) {
            if (life->deleter == id || (what == HAD && line->kind == 'L'))
                continue;
            if (done)
                less(replay, id, n, what);
            else
                life->left[what]++;
        }
    }
}

/* Which region counts as used by the line: deleting ends it. */
static uint64_t used(struct replay *replay, const struct record_line *line)
{
    if (line->kind == 'N')
        return line->life[1];
    if (line->kind == 'D' && line->life[0])
        return life_at(replay, line->life[0])->above;
    return line->life[0];
}

static void number_lines(struct replay *replay, uint32_t id)
{
    struct record_rank *rank = &replay->records.rank[id];

    for (size_t i = 0; i < rank->count; i++) {
        struct record_line *line = &rank->line[i];

        if (line->kind == 'a') {
            line->life[0] = find_known(replay->lives, line->program_ns, id);
        } else if (strchr("NALDH", line->kind)) {
            number(replay, rank, i);
            if (line->life[0] && line->kind != 'H')
                follow(replay, id, i);
        }
    }
}

int replay_lives_open(struct replay *replay)
{
    const struct records *records = &replay->records;
    struct replay_lives *lives = calloc(1, sizeof(*lives));

    replay->lives = lives;
    if (!lives)
        return -1;
    lives->buckets = (uint32_t)records->creations + 1;
    lives->life = calloc(records->creations + 1, sizeof(*lives->life));
    lives->bucket = calloc(lives->buckets, sizeof(*lives->bucket));
    if (!lives->life || !lives->bucket)
        return -1;
    for (uint32_t i = 0; i < records->ranks; i++)
        for (size_t j = 0; j < records->rank[i].count; j++)
            if (records->rank[i].line[j].kind == 'N')
                enter(lives, &records->rank[i].line[j]);
    lives->flags = replay->model.flags;
    replay->model.flags += WHATS * lives->count;
    replay->slots = lives->count;
    for (uint32_t i = 0; i < records->ranks; i++)
        number_lines(replay, i);
    for (uint32_t i = 0; i < records->ranks; i++)
        for (size_t j = 0; j < records->rank[i].count; j++) {
            const struct record_line *line = &records->rank[i].line[j];

            if (strchr("NALD", line->kind))
                use(replay, i, line, used(replay, line), false);
        }
    return 0;
}

void replay_lives_close(struct replay *replay)
{
    if (!replay->lives)
        return;
    free(replay->lives->life);
    free(replay->lives->bucket);
    free(replay->lives);
    replay->lives = NULL;
}

/* If it is not so yet, its flag is one more to wait for. */
static uint32_t wait_for(struct replay *replay, uint64_t n, enum what what,
                         uint32_t *flag_out)
{
    struct life *life = n ? life_at(replay, n) : NULL;

    if (!life || !life->left[what])
        return 0;
    life->waited[what] = true;
    *flag_out = flag_of(replay, n, what);
    return 1;
}

uint32_t replay_life_wait(struct replay *replay, const struct record_line *line,
                          uint32_t flags_out[REPLAY_WAITS])
{
    uint32_t count = 0;

    if (line->kind != 'N')
        count += wait_for(replay, line->life[0], MADE, &flags_out[count]);
    count += wait_for(replay, line->life[1], MADE, &flags_out[count]);
    count += wait_for(replay, line->free, HAD, &flags_out[count]);
    if (line->kind == 'D')
        count += wait_for(replay, line->life[0], LEFT, &flags_out[count]);
    return count;
}

void replay_life_made(struct replay *replay, uint32_t id, uint64_t n)
{
    less(replay, id, n, MADE);
}

void replay_life_used(struct replay *replay, uint32_t id,
                      const struct record_line *line)
{
    use(replay, id, line, used(replay, line), true);
}
