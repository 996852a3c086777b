/* Variables whose names are misspelt: see options.h. */
#include "runtime/options.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PREFIX       "DRASYNC_"
#define PREFIX_BYTES (sizeof(PREFIX) - 1)

/* Longer names are not compared, only named. */
#define NAME_BYTES_MAX 40

/* A name that needs more changes than this was not meant. */
#define CHANGES_MAX 3

/*
 * Beginnings of names that are not ours to judge: environment modules and
 * package managers set some for every package, our scripts and tests have
 * others.
 */
static const char *const others[] = {
    "BENCH_",     "BIN",   "BUILD",   "CLUSTER",  "DASH", "DIR",    "FIGURES",
    "HOME",       "INC",   "LIB",     "MODULE",   "PATH", "PREFIX", "ROOT",
    "SANITIZERS", "TEST_", "VERSION", "WARNINGS", NULL,
};

static bool is_others(const char *rest)
{
    for (size_t i = 0; others[i]; i++) {
        if (!strncmp(rest, others[i], strlen(others[i])))
            return true;
    }
    return false;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/*
 * How many letters have to be put in, taken out, changed, or exchanged with
 * their neighbour, to make @b of the @a_bytes of @a (Damerau, Levenshtein).
 */
static unsigned changes(const char *a, size_t a_bytes, const char *b)
{
    unsigned rows[3][NAME_BYTES_MAX + 1];
    unsigned *before = rows[0], *last = rows[1], *row = rows[2];
    size_t b_bytes = strlen(b);

    if (a_bytes > NAME_BYTES_MAX || b_bytes > NAME_BYTES_MAX)
        return UINT32_MAX;
    for (size_t j = 0; j <= b_bytes; j++)
        last[j] = before[j] = (unsigned)j;
    for (size_t i = 1; i <= a_bytes; i++) {
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_bytes; j++) {
            unsigned other = a[i - 1] != b[j - 1];

            row[j] = least(last[j - 1] + other, least(last[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
        unsigned *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[b_bytes];
}

/* The variable that was meant, or NULL: one of which this is the beginning
 * (DRASYNC_STALL), or one that needs few changes, and keeps more than half of
 * its letters. */
static const char *nearest(const char *name, size_t bytes)
{
    const char *found = NULL, *known;
    unsigned fewest = CHANGES_MAX + 1;

    for (size_t i = 0; (known = options_name(i)); i++) {
        if (!strncmp(known, name, bytes) && known[bytes] == '_')
            return known;
        unsigned count = changes(name + PREFIX_BYTES, bytes - PREFIX_BYTES,
                                 known + PREFIX_BYTES);

        if (count < fewest && 2 * count < strlen(known + PREFIX_BYTES)) {
            fewest = count;
            found = known;
        }
    }
    return found;
}

static bool is_known(const char *name, size_t bytes)
{
    const char *known;

    for (size_t i = 0; (known = options_name(i)); i++) {
        if (strlen(known) == bytes && !strncmp(name, known, bytes))
            return true;
    }
    return false;
}

bool options_unknown(size_t *at, char *line, size_t line_bytes)
{
    const char *variable;

    while (environ && (variable = environ[*at])) {
        size_t bytes = strcspn(variable, "=");

        (*at)++;
        if (strncmp(variable, PREFIX, PREFIX_BYTES) != 0 ||
            is_others(variable + PREFIX_BYTES) || is_known(variable, bytes))
            continue;
        const char *meant = nearest(variable, bytes);
        snprintf(line, line_bytes,
                 "%.*s is not a variable of DRASync and does nothing: %s%s%s",
                 (int)(bytes < 100 ? bytes : 100), variable,
                 meant ? "is " : "\"man 7 drasync\" lists them",
                 meant ? meant : "", meant ? " meant?" : "");
        return true;
    }
    return false;
}
