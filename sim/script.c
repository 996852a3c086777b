/* script.c - scripts as text. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

static const char *const verbs[SIM_VERBS] = {
    "create", "sub",   "acquire", "try",  "timed", "release", "delete", "write",
    "read",   "alloc", "drop",    "give", "ahead", "newer",   "end",
};

static bool has_mode(uint8_t verb)
{
    return verb == SIM_ACQUIRE || verb == SIM_TRY || verb == SIM_TIMED ||
           verb == SIM_AHEAD || verb == SIM_NEWER;
}

static bool has_other(uint8_t verb)
{
    return verb == SIM_SUB || verb == SIM_TIMED || verb == SIM_GIVE ||
           verb == SIM_NEWER;
}

static bool has_slot(uint8_t verb)
{
    return verb != SIM_END && verb != SIM_DROP;
}

void sim_print_command(const struct sim_script *script,
                       const struct sim_command *c, FILE *to)
{
    (void)script;
    fprintf(to, "%s", verbs[c->verb]);
    if (has_slot(c->verb))
        fprintf(to, " %u", c->slot);
    if (has_mode(c->verb))
        fprintf(to, " %s", c->mode == DRASYNC_READ ? "read" : "write");
    if (has_other(c->verb))
        fprintf(to, " %u", c->other);
}

static const struct {
    const char *name;
    size_t offset;
} numbers[] = {
    {"nodes", offsetof(struct sim_script, nodes)},
    {"ranks", offsetof(struct sim_script, ranks_per_node)},
    {"threads", offsetof(struct sim_script, threads)},
    {"delay", offsetof(struct sim_script, delay_max)},
    {"think", offsetof(struct sim_script, think_max)},
    {"slow", offsetof(struct sim_script, slow_node)},
    {"lane", offsetof(struct sim_script, lane_pages)},
    {"memory-fault", offsetof(struct sim_script, memory_fault)},
    {"data-fault", offsetof(struct sim_script, data_fault)},
    {"bounce-fault", offsetof(struct sim_script, bounce_fault)},
    {"waiters", offsetof(struct sim_script, waiters)},
    {"presence", offsetof(struct sim_script, presence)},
    {"fanout", offsetof(struct sim_script, fanout)},
    {"portion", offsetof(struct sim_script, portion)},
    {"answer", offsetof(struct sim_script, answer)},
    {"subscribe", offsetof(struct sim_script, subscribe)},
    {"subscriptions", offsetof(struct sim_script, subscriptions)},
    {"fault", offsetof(struct sim_script, fault)},
};

enum { NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };

static uint32_t *number_of(struct sim_script *script, size_t i)
{
    return (uint32_t *)(void *)((char *)script + numbers[i].offset);
}

void sim_print(const struct sim_script *script, FILE *to)
{
    struct sim_script copy = *script;
    fprintf(to, "seed %llu\n", (unsigned long long)script->seed);
    for (size_t i = 0; i < NUMBERS; i++)
        if (*number_of(&copy, i))
            fprintf(to, "%s %u\n", numbers[i].name, *number_of(&copy, i));
    for (uint32_t i = 0; i < script->count; i++) {
        const struct sim_command *c = &script->command[i];
        fprintf(to, "%s%u.%u ", c->together ? "+ " : "",
                c->rank / script->ranks_per_node,
                c->rank % script->ranks_per_node);
        sim_print_command(script, c, to);
        fprintf(to, "\n");
    }
}

static bool parse_setting(struct sim_script *script, const char *line)
{
    char name[32];
    unsigned long long value;
    if (sscanf(line, "%31s %llu", name, &value) != 2)
        return false;
    if (!strcmp(name, "seed")) {
        script->seed = value;
        return true;
    }
    for (size_t i = 0; i < NUMBERS; i++) {
        if (strcmp(name, numbers[i].name))
            continue;
        *number_of(script, i) = (uint32_t)value;
        return script->nodes >= 1 && script->nodes <= SIM_NODES_MAX &&
               script->ranks_per_node >= 1 && script->ranks_per_node <= 1000;
    }
    return false;
}

/* What follows the verb. */
static bool parse_rest(struct sim_command *c, char *rest)
{
    char *word = strtok(rest, " \t\n");
    if (has_slot(c->verb)) {
        if (!word)
            return false;
        c->slot = (uint32_t)strtoul(word, NULL, 10);
        word = strtok(NULL, " \t\n");
    }
    if (has_mode(c->verb)) {
        if (!word || (strcmp(word, "read") && strcmp(word, "write")))
            return false;
        c->mode = !strcmp(word, "read") ? DRASYNC_READ : DRASYNC_WRITE;
        word = strtok(NULL, " \t\n");
    }
    if (has_other(c->verb)) {
        if (!word)
            return false;
        c->other = (uint32_t)strtoul(word, NULL, 10);
        word = strtok(NULL, " \t\n");
    }
    return !word && c->slot < SIM_SLOTS_MAX &&
           (c->verb != SIM_SUB || c->other < SIM_SLOTS_MAX);
}

static bool parse_command(struct sim_script *script, char *line)
{
    struct sim_command c = {0};
    unsigned node, rank;
    char verb[16];
    int used;
    if (line[0] == '+') {
        c.together = true;
        line++;
    }
    if (sscanf(line, " %u.%u %15s%n", &node, &rank, verb, &used) != 3)
        return false;
    if (node >= script->nodes || rank >= script->ranks_per_node)
        return false;
    c.rank = node * script->ranks_per_node + rank;
    while (c.verb < SIM_VERBS && strcmp(verb, verbs[c.verb]))
        c.verb++;
    if (c.verb == SIM_VERBS || !parse_rest(&c, line + used))
        return false;
    sim_add(script, c);
    return true;
}

int sim_parse(struct sim_script *script, FILE *from)
{
    char line[256];
    int number = 0;
    memset(script, 0, sizeof(*script));
    script->nodes = script->ranks_per_node = 1;
    script->delay_max = script->think_max = 10;
    script->lane_pages = SIM_LANE_PAGES;
    while (fgets(line, sizeof(line), from)) {
        char *at = line;
        number++;
        while (isspace((unsigned char)*at))
            at++;
        /* Comments, and in scenarios what the run printed. */
        if (!*at || *at == '#' || *at == '>' || *at == '=')
            continue;
        if (!(isalpha((unsigned char)*at) ? parse_setting(script, at)
                                          : parse_command(script, at)))
            return number;
    }
    return 0;
}

const char *sim_errname(int error)
{
    switch (error) {
#define SIM_ERROR_CASE(name, value, text) \
    case value:                           \
        return #name;
        DRASYNC_ERRORS(SIM_ERROR_CASE)
#undef SIM_ERROR_CASE
    default:
        return "?";
    }
}
