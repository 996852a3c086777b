/* references_script.c - scripts for references.h: made from a seed, read, printed
 * and shortened. */
#include "sim/references.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[REFSIM_VERBS] = {
    "new",  "manage", "read",   "write", "release", "ref",    "unref",
    "give", "link",   "unlink", "weak",  "lock",    "on_end", "collect"};

const char *refsim_name(uint8_t verb)
{
    return names[verb];
}

/* --- From a seed ---------------------------------------------------------- */

static uint64_t state;

static uint32_t pick(uint32_t below)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) % below);
}

static void add(struct refsim_script *s, uint32_t rank, enum refsim_verb verb,
                uint32_t slot, uint32_t other)
{
    if (s->count < REFSIM_COMMANDS_MAX)
        s->command[s->count++] = (struct refsim_command){
            .rank = rank, .verb = (uint8_t)verb, .slot = slot, .other = other};
}

/* A region that may be linked, given or left. */
static void add_region(struct refsim_script *s, uint32_t rank, uint32_t slot)
{
    add(s, rank, REFSIM_NEW, slot, 0);
    add(s, rank, REFSIM_MANAGE, slot, 0);
    for (uint32_t n = pick(3); n > 0; n--)
        add(s, rank, REFSIM_LINK, slot, pick(REFSIM_SLOTS));
    if (pick(4))
        add(s, rank, REFSIM_WEAK, slot, 0);
    add(s, rank, REFSIM_RELEASE, slot, 0);
    if (pick(3) == 0)
        add(s, rank, REFSIM_UNREF, slot, 0);
}

/* Somebody on the rank's node reads a region, which @rank writes meanwhile. */
static void add_reader(struct refsim_script *s, uint32_t rank, uint32_t slot)
{
    uint32_t node = rank / s->ranks_per_node;

    add(s, node * s->ranks_per_node + pick(s->ranks_per_node), REFSIM_READ,
        slot, 0);
    for (int i = 0; i < 2; i++) {
        add(s, rank, REFSIM_WRITE, slot, 0);
        add(s, rank, REFSIM_RELEASE, slot, 0);
    }
}

/* Regions of a rank that refer to each other, and to nothing else. */
static void add_circle(struct refsim_script *s, uint32_t rank)
{
    uint32_t first = pick(REFSIM_SLOTS), size = 1 + pick(3);

    for (uint32_t i = 0; i < size; i++) {
        add(s, rank, REFSIM_NEW, (first + i) % REFSIM_SLOTS, 0);
        add(s, rank, REFSIM_MANAGE, (first + i) % REFSIM_SLOTS, 0);
        add(s, rank, REFSIM_WEAK, (first + i) % REFSIM_SLOTS, 0);
    }
    for (uint32_t i = 0; i < size; i++)
        add(s, rank, REFSIM_LINK, (first + i) % REFSIM_SLOTS,
            (first + (i + 1) % size) % REFSIM_SLOTS);
    for (uint32_t i = 0; i < size; i++) {
        if (pick(4))
            add(s, rank, REFSIM_RELEASE, (first + i) % REFSIM_SLOTS, 0);
        if (pick(8))
            add(s, rank, REFSIM_UNREF, (first + i) % REFSIM_SLOTS, 0);
    }
    if (pick(2))
        add_reader(s, rank, first);
    if (pick(2))
        add(s, pick(s->nodes * s->ranks_per_node), REFSIM_LOCK, first, 0);
    add(s, rank, REFSIM_COLLECT, 0, 0);
}

/* A circle with a region of each rank, if those that are given come in time. */
static void add_ring(struct refsim_script *s)
{
    uint32_t ranks = s->nodes * s->ranks_per_node, size = 2 + pick(3);
    uint32_t first = pick(ranks), at = pick(REFSIM_SLOTS);

    for (uint32_t i = 0; i < size; i++) {
        uint32_t rank = (first + i) % ranks, slot = (at + i) % REFSIM_SLOTS;

        add(s, rank, REFSIM_NEW, slot, 0);
        add(s, rank, REFSIM_MANAGE, slot, 0);
        add(s, rank, REFSIM_WEAK, slot, 0);
        add(s, rank, REFSIM_REF, slot, 0);
        add(s, rank, REFSIM_GIVE, slot,
            (first + (i + size - 1) % size) % ranks);
    }
    for (uint32_t i = 0; i < size; i++)
        for (uint32_t n = pick(4); n > 0; n--)
            add(s, (first + i) % ranks, REFSIM_COLLECT, 0, 0);
    for (uint32_t i = 0; i < size; i++) {
        uint32_t rank = (first + i) % ranks, slot = (at + i) % REFSIM_SLOTS;
        uint32_t next = (at + (i + 1) % size) % REFSIM_SLOTS;

        add(s, rank, REFSIM_LINK, slot, next);
        add(s, rank, REFSIM_RELEASE, slot, 0);
        if (pick(4) == 0)
            add(s, rank, REFSIM_READ, next, 0);
        add(s, rank, REFSIM_UNREF, next, 0);
        if (pick(8))
            add(s, rank, REFSIM_UNREF, slot, 0);
    }
    if (pick(2))
        add(s, pick(ranks), REFSIM_LOCK, at, 0);
    add(s, pick(ranks), REFSIM_COLLECT, 0, 0);
}

/* One region, whose references go from rank to rank. */
static void add_gifts(struct refsim_script *s, uint32_t rank)
{
    uint32_t slot = pick(REFSIM_SLOTS), ranks = s->nodes * s->ranks_per_node;

    add_region(s, rank, slot);
    for (uint32_t i = 4 + pick(12); i > 0; i--) {
        add(s, rank, REFSIM_REF, slot, 0);
        add(s, rank, REFSIM_GIVE, slot, pick(ranks));
        rank = pick(ranks);
        add(s, rank, pick(3) ? REFSIM_UNREF : REFSIM_GIVE, slot, pick(ranks));
    }
}

static void generate(struct refsim_script *s, uint64_t seed)
{
    uint32_t ranks, commands;

    memset(s, 0, sizeof(*s));
    state = seed * 0xd1342543de82ef95u + 1;
    s->seed = seed;
    s->nodes = 1 + pick(REFSIM_NODES_MAX);
    s->ranks_per_node = 1 + pick(REFSIM_RANKS_MAX / REFSIM_NODES_MAX);
    s->delay_max = pick(3) ? 20 : 300;
    s->think_max = pick(3) ? 5 : 50;
    ranks = s->nodes * s->ranks_per_node;
    commands = 20 + pick(REFSIM_COMMANDS_MAX - 40);
    while (s->count < commands) {
        uint32_t rank = pick(ranks), slot = pick(REFSIM_SLOTS);
        uint32_t what = pick(20);

        if (what < 2)
            add_region(s, rank, slot);
        else if (what < 3)
            add_circle(s, rank);
        else if (what < 4)
            add_gifts(s, rank);
        else if (what < 5)
            add_ring(s);
        else
            add(s, rank,
                (enum refsim_verb)(REFSIM_MANAGE +
                                   pick(REFSIM_VERBS - REFSIM_MANAGE)),
                slot, what < 12 ? pick(REFSIM_SLOTS) : pick(ranks));
    }
}

/* --- As text -------------------------------------------------------------- */

static void print(const struct refsim_script *s)
{
    printf("seed %llu\nnodes %u\nranks %u\ndelay %u\nthink %u\nfault %u\n",
           (unsigned long long)s->seed, s->nodes, s->ranks_per_node,
           s->delay_max, s->think_max, s->fault);
    for (uint32_t i = 0; i < s->count; i++)
        printf("%u.%u %s %u %u\n", s->command[i].rank / s->ranks_per_node,
               s->command[i].rank % s->ranks_per_node,
               names[s->command[i].verb], s->command[i].slot,
               s->command[i].other);
}

/* A line of settings.  False: it is none. */
static bool parse_setting(struct refsim_script *s, const char *line)
{
    unsigned long long value;
    char word[16];

    if (sscanf(line, "%15s %llu", word, &value) != 2)
        return false;
    if (!strcmp(word, "seed"))
        s->seed = value;
    else if (!strcmp(word, "nodes") && value && value <= REFSIM_NODES_MAX)
        s->nodes = (uint32_t)value;
    else if (!strcmp(word, "ranks") && value &&
             value <= REFSIM_RANKS_MAX / REFSIM_NODES_MAX)
        s->ranks_per_node = (uint32_t)value;
    else if (!strcmp(word, "delay") && value)
        s->delay_max = (uint32_t)value;
    else if (!strcmp(word, "think") && value)
        s->think_max = (uint32_t)value;
    else if (!strcmp(word, "fault"))
        s->fault = (uint32_t)value;
    else
        return false;
    return true;
}

static bool parse_command(struct refsim_script *s, const char *line)
{
    unsigned node, rank, slot, other;
    char word[16];

    if (sscanf(line, "%u.%u %15s %u %u", &node, &rank, word, &slot, &other) !=
            5 ||
        node >= s->nodes || rank >= s->ranks_per_node || slot >= REFSIM_SLOTS)
        return false;
    for (int v = 0; v < REFSIM_VERBS; v++)
        if (!strcmp(word, names[v])) {
            add(s, node * s->ranks_per_node + rank, (enum refsim_verb)v, slot,
                other);
            return true;
        }
    return false;
}

/* 0, or the number of the line that is wrong. */
static int parse(struct refsim_script *s, FILE *from)
{
    char line[128];

    *s = (struct refsim_script){
        .nodes = 1, .ranks_per_node = 1, .delay_max = 20, .think_max = 5};
    for (int number = 1; fgets(line, sizeof(line), from); number++)
        if (line[0] != '#' && line[0] != '\n' && !parse_command(s, line) &&
            !parse_setting(s, line))
            return number;
    return 0;
}

/* --- Runs ----------------------------------------------------------------- */

/* The same finding, up to its numbers. */
static bool finds(struct refsim_script *s, const char *kind)
{
    size_t length = strcspn(kind, ":");

    return !refsim_run(s, NULL) && !strncmp(refsim.finding, kind, length + 1);
}

/* Leave out what is not needed, in pieces of half as many each time. */
static void shrink(struct refsim_script *s)
{
    static struct refsim_script less;
    char kind[sizeof(refsim.finding)];

    memcpy(kind, refsim.finding, sizeof(kind));
    for (uint32_t piece = s->count / 2; piece; piece /= 2)
        for (uint32_t at = 0; at + piece <= s->count;) {
            less = *s;
            memmove(&less.command[at], &less.command[at + piece],
                    (s->count - at - piece) * sizeof(less.command[0]));
            less.count -= piece;
            if (finds(&less, kind))
                *s = less;
            else
                at += piece;
        }
    refsim_run(s, NULL);
}

static int run_file(const char *path)
{
    static struct refsim_script script;
    FILE *file = fopen(path, "r");
    int line;

    if (!file) {
        perror(path);
        return 2;
    }
    line = parse(&script, file);
    fclose(file);
    if (line) {
        fprintf(stderr, "%s:%d: not a setting or command\n", path, line);
        return 2;
    }
    if (refsim_run(&script, stdout)) {
        printf("%s: no finding\n", path);
        return 0;
    }
    return 1;
}

int refsim_main(int argc, char **argv)
{
    static struct refsim_script script;
    unsigned long long from, to, messages = 0, ends = 0;
    uint32_t fault = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 0) : 0;

    if (argc == 1)
        return run_file(argv[0]);
    if (argc < 2)
        return 2;
    from = strtoull(argv[0], NULL, 10);
    to = strtoull(argv[1], NULL, 10);
    for (unsigned long long seed = from; seed <= to; seed++) {
        generate(&script, seed);
        script.fault = fault;
        if (!refsim_run(&script, NULL)) {
            printf("seed %llu: %s\n", seed, refsim.finding);
            shrink(&script);
            printf("# shortest found: %s\n", refsim.finding);
            print(&script);
            return 1;
        }
        messages += refsim.messages;
        ends += refsim.ends;
    }
    printf("seeds %llu to %llu: no finding, %llu messages, %llu ends\n", from,
           to, messages, ends);
    return 0;
}
