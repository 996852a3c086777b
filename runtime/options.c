/* The table of the variables, and what their values mean: see options.h. */
#include "runtime/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config.h"
#include "drasync.h"

enum option_kind {
    OPTION_BYTES,  /* a size; a uint64_t */
    OPTION_WORD,   /* the place of the value in `words`; a uint32_t */
    OPTION_NUMBER, /* the same, or a number; a uint32_t */
    OPTION_SET,    /* several of `words`, the first as bit 0, or "all", which is
                      `most`; a uint32_t */
    OPTION_OTHER,  /* read where it is used */
};

struct option {
    const char *name;
    enum option_kind kind;
    size_t offset; /* in struct runtime_options */
    uint64_t least, most;
    const char *const *words; /* NULL at the end; or NULL */
    const char *may_be;
};

#define FIELD(name) offsetof(struct runtime_options, name)
#define WORDS(...)  ((const char *const[]){__VA_ARGS__, NULL})

static const struct option options_table[] = {
    {"DRASYNC_SPACE", OPTION_BYTES, FIELD(space_bytes), 1, UINT64_MAX, NULL,
     "a size like 512M, 64G or 16T"},
    {"DRASYNC_MEMORY", OPTION_BYTES, FIELD(memory_bytes),
     OPTIONS_MEMORY_BYTES_MIN, UINT64_MAX, NULL,
     "a size from 16M on, like 512M or 64G"},
    {"DRASYNC_NODE", OPTION_NUMBER, FIELD(node_ranks), 1, 1000000,
     WORDS("shared", "rank"), "rank, a number of ranks, or shared (default)"},
    {"DRASYNC_PROGRESS", OPTION_WORD, FIELD(progress), 0, 0,
     WORDS("adaptive", "spin"), "spin or adaptive (default)"},
    {"DRASYNC_MYRMICS", OPTION_WORD, FIELD(myrmics), 0, 0,
     WORDS("copy", "move"), "move or copy (default)"},
#if WIRE_PAGED
    {"DRASYNC_WIRE", OPTION_WORD, FIELD(wire), 0, 0, WORDS("bulk", "paged"),
     "paged or bulk (default)"},
#endif
    {"DRASYNC_RMA", OPTION_WORD, FIELD(rma), 0, 0,
     WORDS("auto", "mpi", "messages"), "mpi, messages or auto (default)"},
    {"DRASYNC_FANOUT", OPTION_NUMBER, FIELD(fanout), 1, 65536, NULL,
     "a number from 1 to 65536"},
    {"DRASYNC_AHEAD", OPTION_WORD, FIELD(ahead), 0, 0,
     WORDS("auto", "off", "data", "token"),
     "off, data, token or auto (default)"},
    {"DRASYNC_CHECK", OPTION_SET, FIELD(check), 0, OPTIONS_CHECK_ALL,
     WORDS("access", "leaks", "objects", "deadlock", "pointers", "links"),
     "access (or 1), leaks, objects, deadlock, pointers, links, some of them "
     "with commas between, all, or 0 (default)"},
    {"DRASYNC_CHECK_ACTION", OPTION_WORD, FIELD(check_action), 0, 0,
     WORDS("end", "continue"), "continue or end (default)"},
    {"DRASYNC_STATS", OPTION_WORD, FIELD(stats), 0, 0, WORDS("0", "1", "waits"),
     "1, waits or 0 (default)"},
    {"DRASYNC_STALL_S", OPTION_NUMBER, FIELD(stall_s), 1, OPTIONS_STALL_S_MAX,
     WORDS("0"), "a number of seconds, or 0 (no reports)"},
    {"DRASYNC_LINK_S", OPTION_NUMBER, FIELD(link_s), 1, OPTIONS_STALL_S_MAX,
     WORDS("0"), "a number of seconds, or 0 (links are not watched)"},
    {"DRASYNC_DEADLOCK", OPTION_WORD, FIELD(deadlock), 0, 0,
     WORDS("end", "error", "off"), "error, off or end (default)"},
    {"DRASYNC_ON_DEATH", OPTION_WORD, FIELD(on_death), 0, 0,
     WORDS("end", "continue"), "continue or end (default)"},
    {"DRASYNC_REPORT_SIGNAL", OPTION_WORD, FIELD(report_signal), 0, 0,
     WORDS("USR2", "USR1", "off"), "USR1, off or USR2 (default)"},
    {"DRASYNC_CORE", OPTION_WORD, FIELD(core), 0, 0,
     WORDS("small", "regions", "none"), "regions, none or small (default)"},
    {"DRASYNC_RECORD", OPTION_OTHER, 0, 0, 0, NULL, NULL},
    {"DRASYNC_SAVE", OPTION_OTHER, 0, 0, 0, NULL, NULL},
};

#define OPTIONS_COUNT (sizeof(options_table) / sizeof(options_table[0]))

const char *options_name(size_t index)
{
    return index < OPTIONS_COUNT ? options_table[index].name : NULL;
}

/* The digits that @text begins with; what comes after them, or NULL if there
 * are none or too many. */
static const char *parse_digits(const char *text, uint64_t *value_out)
{
    uint64_t value = 0;
    const char *p;

    for (p = text; *p >= '0' && *p <= '9'; p++) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
            return NULL;
    }
    *value_out = value;
    return p > text ? p : NULL;
}

int options_parse_bytes(const char *text, uint64_t *bytes_out)
{
    static const char units[] = "kKmMgGtT";
    uint64_t value;
    const char *p = parse_digits(text, &value);

    if (!p)
        return DRASYNC_EINVAL;
    const char *unit = *p ? strchr(units, *p) : NULL;
    if (unit) {
        unsigned shift = 10 * ((unsigned)(unit - units) / 2 + 1);
        if (value > UINT64_MAX >> shift)
            return DRASYNC_EINVAL;
        value <<= shift;
        p++;
    }
    if (*p && strcasecmp(p, "B") && (!unit || strcasecmp(p, "iB")))
        return DRASYNC_EINVAL;
    *bytes_out = value;
    return 0;
}

/* The place of @text in @words, or -1. */
static int find_word(const char *text, const char *const *words)
{
    for (int i = 0; words && words[i]; i++) {
        if (!strcmp(text, words[i]))
            return i;
    }
    return -1;
}

/* Words with commas between them; 1 is the first, all is all, 0 alone none. */
static int parse_set(const struct option *option, const char *text,
                     uint64_t *value_out)
{
    char word[32] = "";

    *value_out = 0;
    if (!strcmp(text, "0"))
        return 0;
    for (const char *p = text; p; p = strchr(p, ','), p = p ? p + 1 : NULL) {
        size_t bytes = strcspn(p, ",");
        int at = -1;

        if (bytes < sizeof(word)) {
            memcpy(word, p, bytes);
            word[bytes] = 0;
            at = strcmp(word, "1") ? find_word(word, option->words) : 0;
        }
        if (at >= 0)
            *value_out |= UINT64_C(1) << at;
        else if (!strcmp(word, "all") && bytes == 3)
            *value_out |= option->most;
        else
            return DRASYNC_EINVAL;
    }
    return 0;
}

static int parse(const struct option *option, const char *text,
                 uint64_t *value_out)
{
    int at = find_word(text, option->words);
    const char *end = NULL;

    if (option->kind == OPTION_SET)
        return parse_set(option, text, value_out);
    if (at >= 0) {
        *value_out = (uint64_t)at;
        return 0;
    }
    if (option->kind == OPTION_BYTES)
        end = options_parse_bytes(text, value_out) ? NULL : "";
    else if (option->kind == OPTION_NUMBER)
        end = parse_digits(text, value_out);
    return end && !*end && *value_out >= option->least &&
                   *value_out <= option->most
               ? 0
               : DRASYNC_EINVAL;
}

static void set(struct runtime_options *options, const struct option *option,
                uint64_t value)
{
    char *field = (char *)options + option->offset;
    uint32_t narrow = (uint32_t)value;

    if (option->kind == OPTION_BYTES)
        memcpy(field, &value, sizeof(value));
    else
        memcpy(field, &narrow, sizeof(narrow));
}

static uint64_t get(const struct runtime_options *options,
                    const struct option *option)
{
    const char *field = (const char *)options + option->offset;
    uint64_t value = 0;
    uint32_t narrow = 0;

    if (option->kind == OPTION_BYTES) {
        memcpy(&value, field, sizeof(value));
        return value;
    }
    memcpy(&narrow, field, sizeof(narrow));
    return narrow;
}

int options_read(struct runtime_options *options, char *why, size_t why_bytes)
{
    memset(options, 0, sizeof(*options));
    options->stall_s = OPTIONS_STALL_S;
    options->link_s = OPTIONS_LINK_S;
    for (size_t i = 0; i < OPTIONS_COUNT; i++) {
        const struct option *option = &options_table[i];
        const char *text = getenv(option->name);
        uint64_t value = 0;

        if (option->kind == OPTION_OTHER || !text || !*text)
            continue;
        if (parse(option, text, &value)) {
            snprintf(why, why_bytes, "%s=%.100s is not valid: it may be %s",
                     option->name, text, option->may_be);
            return DRASYNC_EINVAL;
        }
        set(options, option, value);
    }
    return 0;
}

/* A set as one would write it. */
static const char *set_text(const struct option *option, uint64_t value,
                            char text[32])
{
    size_t used = 0;

    snprintf(text, 32, "0");
    for (int i = 0; option->words[i]; i++)
        if (value >> i & 1 && used < 32)
            used += (size_t)snprintf(text + used, 32 - used, "%s%s",
                                     used ? "," : "", option->words[i]);
    return text;
}

/* A value as one would write it. */
static const char *value_text(const struct option *option, uint64_t value,
                              char text[32])
{
    static const char units[] = "\0KMGT";
    size_t unit = 0;

    if (option->kind == OPTION_SET)
        return set_text(option, value, text);

    for (uint64_t i = 0; option->words && option->words[i]; i++) {
        if (i == value)
            return option->words[i];
    }
    if (!value)
        return "not set";
    while (option->kind == OPTION_BYTES && value % 1024 == 0 &&
           units[unit + 1]) {
        value /= 1024;
        unit++;
    }
    snprintf(text, 32, "%" PRIu64 "%.1s", value, units + unit);
    return text;
}

bool options_differ(const struct runtime_options *here,
                    const struct runtime_options *first, char *line,
                    size_t line_bytes)
{
    for (size_t i = 0; i < OPTIONS_COUNT; i++) {
        const struct option *option = &options_table[i];
        char text[2][32];

        if (option->kind == OPTION_OTHER ||
            get(here, option) == get(first, option))
            continue;
        snprintf(line, line_bytes,
                 "%s is %s here and %s on rank 0, whose value counts; give all "
                 "ranks the same",
                 option->name, value_text(option, get(here, option), text[0]),
                 value_text(option, get(first, option), text[1]));
        return true;
    }
    return false;
}
