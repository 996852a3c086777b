#include "runtime/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "drasync.h"

#define OPTIONS_NODE_RANKS_MAX 1000000
#define OPTIONS_FANOUT_MAX     65536

int options_parse_bytes(const char *text, uint64_t *bytes_out)
{
    static const char units[] = "KMGT";
    uint64_t value = 0;
    const char *p = text;

    if (*p < '0' || *p > '9')
        return DRASYNC_EINVAL;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
            return DRASYNC_EINVAL;
    }
    if (*p) {
        const char *unit = strchr(units, *p & ~0x20);
        if (!unit)
            return DRASYNC_EINVAL;
        unsigned shift = 10 * (unsigned)(unit - units + 1);
        if (value > UINT64_MAX >> shift)
            return DRASYNC_EINVAL;
        value <<= shift;
        p++;
        if (strcasecmp(p, "") && strcasecmp(p, "B") && strcasecmp(p, "iB"))
            return DRASYNC_EINVAL;
    }
    *bytes_out = value;
    return 0;
}

/* The place of @text in @words (NULL at the end), or -1. */
static int find_word(const char *text, const char *const *words)
{
    for (int i = 0; words[i]; i++) {
        if (!strcmp(text, words[i]))
            return i;
    }
    return -1;
}

static int read_word(const char *name, const char *const *words,
                     const char *allowed, uint32_t *value, char *why,
                     size_t why_bytes)
{
    const char *text = getenv(name);

    if (!text || !*text)
        return 0;
    int at = find_word(text, words);
    if (at < 0) {
        snprintf(why, why_bytes, "%s=%s is not valid: it may be %s", name, text,
                 allowed);
        return DRASYNC_EINVAL;
    }
    *value = (uint32_t)at;
    return 0;
}

/* A number from 1 to @most; what else may be is in @may_be. */
static int read_number(const char *name, uint32_t most, const char *may_be,
                       uint32_t *number_out, char *why, size_t why_bytes)
{
    const char *text = getenv(name);
    uint64_t number = 0;

    if (!text || !*text)
        return 0;
    if (options_parse_bytes(text, &number) || number == 0 || number > most) {
        snprintf(why, why_bytes, "%s=%s is not valid: it may be %s", name, text,
                 may_be);
        return DRASYNC_EINVAL;
    }
    *number_out = (uint32_t)number;
    return 0;
}

/* What makes a node: a word, or how many ranks of one host at most. */
static int read_node(uint32_t *ranks, char *why, size_t why_bytes)
{
    const char *text = getenv("DRASYNC_NODE");

    if (text && !strcmp(text, "shared"))
        return 0;
    if (text && !strcmp(text, "rank")) {
        *ranks = 1;
        return 0;
    }
    return read_number("DRASYNC_NODE", OPTIONS_NODE_RANKS_MAX,
                       "rank, a number of ranks, or shared (default)", ranks,
                       why, why_bytes);
}

static int read_bytes(const char *name, uint64_t *value, char *why,
                      size_t why_bytes)
{
    const char *text = getenv(name);

    if (!text || !*text)
        return 0;
    if (options_parse_bytes(text, value) || *value == 0) {
        snprintf(why, why_bytes,
                 "%s=%s is not valid: it may be a size like 512M, 64G or 16T",
                 name, text);
        return DRASYNC_EINVAL;
    }
    return 0;
}

int options_read(struct runtime_options *options, char *why, size_t why_bytes)
{
    static const char *const progress_words[] = {"adaptive", "spin", NULL};
    static const char *const wire_words[] = {"bulk", "paged", NULL};
    static const char *const myrmics_words[] = {"copy", "move", NULL};
    static const char *const rma_words[] = {"auto", "mpi", "messages", NULL};
    static const char *const switch_words[] = {"0", "1", NULL};
    int err;

    memset(options, 0, sizeof(*options));
    err = read_bytes("DRASYNC_SPACE", &options->space_bytes, why, why_bytes);
    if (err)
        return err;
    err = read_bytes("DRASYNC_MEMORY", &options->memory_bytes, why, why_bytes);
    if (err)
        return err;
    err = read_node(&options->node_ranks, why, why_bytes);
    if (err)
        return err;
    err = read_word("DRASYNC_PROGRESS", progress_words,
                    "spin or adaptive (default)", &options->progress, why,
                    why_bytes);
    if (err)
        return err;
    err = read_word("DRASYNC_MYRMICS", myrmics_words, "move or copy (default)",
                    &options->myrmics, why, why_bytes);
    if (err)
        return err;
    err = read_word("DRASYNC_WIRE", wire_words, "paged or bulk (default)",
                    &options->wire, why, why_bytes);
    if (err)
        return err;
    err = read_word("DRASYNC_RMA", rma_words, "mpi, messages or auto (default)",
                    &options->rma, why, why_bytes);
    if (err)
        return err;
    /* How many nodes one node of a tree of readers serves. */
    err = read_number("DRASYNC_FANOUT", OPTIONS_FANOUT_MAX,
                      "a number from 1 to 65536", &options->fanout, why,
                      why_bytes);
    if (err)
        return err;
    err = read_word("DRASYNC_CHECK", switch_words, "1 or 0 (default)",
                    &options->check, why, why_bytes);
    if (err)
        return err;
    return read_word("DRASYNC_STATS", switch_words, "1 or 0 (default)",
                     &options->stats, why, why_bytes);
}
