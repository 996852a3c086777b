/* replay_read.c - records from their files. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/replay.h"

/* How many numbers stand behind the letter, at least; 0: no such letter. */
static unsigned numbers(char kind)
{
    const char *found;
    static const char letters[] = "aNAHMSRsrQDLPUEBb";
    static const unsigned char counts[] = {4, 4, 4, 4, 4, 5, 5, 5, 5,
                                           5, 3, 3, 3, 3, 3, 2, 2};

    found = kind ? strchr(letters, kind) : NULL;
    return found ? counts[found - letters] : 0;
}

/* Is number @i there, which may be missing: that of kept data, which older
 * records have not; versions, both of an acquire for what is newer. */
static bool optional(const struct record_line *line, unsigned i,
                     const char *text)
{
    if (line->kind == 'A' && i == 5)
        return true;
    return *text == ' ' &&
           ((line->kind == 'S' && i == 5) || (line->kind == 'A' && i == 4) ||
            (line->kind == 'L' && i == 3));
}

/* Behind a region may be which of its address's it is. */
static bool parse_life(const char **text, struct record_line *line, unsigned i)
{
    char *end;

    if (**text != '.')
        return true;
    if (i < 2 || i > 3 || !strchr("NALDH", line->kind))
        return false;
    errno = 0;
    line->life[i - 2] = strtoull(*text + 1, &end, 10);
    if (end == *text + 1 || errno)
        return false;
    *text = end;
    return true;
}

static bool parse(const char *text, struct record_line *line)
{
    uint64_t value[6] = {0};
    unsigned count = numbers(text[0]);
    char *end;

    if (!count)
        return false;
    line->kind = *text++;
    for (unsigned i = 0; i < count || optional(line, i, text); i++) {
        if (*text != ' ')
            return false;
        errno = 0;
        value[i] = strtoull(text + 1, &end, 10);
        if (end == text + 1 || errno)
            return false;
        text = end;
        if (!parse_life(&text, line, i))
            return false;
    }
    line->program_ns = value[0];
    line->call_ns = value[1];
    memcpy(line->argument, value + 2, sizeof(line->argument));
    if (line->kind == 'L') {
        line->argument[2] = line->argument[1];
        line->argument[1] = 0;
    }
    return *text == '\n';
}

/* Are the ranks that it names there? */
static bool sensible(const struct records *records,
                     const struct record_line *line)
{
    if (line->kind == 'S' || line->kind == 'R')
        return line->argument[1] < records->ranks;
    if (line->kind == 's' || line->kind == 'r')
        return line->argument[0] < records->ranks;
    return (line->kind != 'A' && line->kind != 'H') ||
           (line->argument[1] >= 1 && line->argument[1] <= 2);
}

static bool add(struct record_rank *rank, const struct record_line *line)
{
    if (rank->count == rank->room) {
        size_t room = rank->room ? rank->room * 2 : 256;
        struct record_line *more;

        if (room > RECORD_LINES_MAX)
            return false;
        more = realloc(rank->line, room * sizeof(*more));
        if (!more)
            return false;
        rank->line = more;
        rank->room = room;
    }
    rank->line[rank->count++] = *line;
    return true;
}

static void note(struct records *records, uint32_t id,
                 const struct record_line *line)
{
    records->creations += line->kind == 'N';
    records->native |= line->kind == 'A';
    records->baseline |= line->kind == 'Q';
    if (id || line->kind != 'M')
        return;
    if (line->argument[0])
        records->measured_ns -= line->argument[1];
    else
        records->measured_ns += line->argument[1];
}

static int read_rank(FILE *file, struct records *records, uint32_t id,
                     unsigned long *number)
{
    char text[256];

    while (++*number, fgets(text, sizeof(text), file)) {
        struct record_line line = {0};

        if (!parse(text, &line) || !sensible(records, &line) ||
            !add(&records->rank[id], &line))
            return -1;
        note(records, id, &line);
    }
    if (ferror(file) || !records->rank[id].count ||
        records->rank[id].line[records->rank[id].count - 1].kind != 'E')
        return -1; /* the run did not end */
    return 0;
}

static int read_file(const char *name, struct records *records, uint32_t id,
                     char *error, size_t error_bytes)
{
    unsigned long number = 1;
    unsigned rank, ranks, node;
    char path[4096], text[256];
    FILE *file;
    int err = -1;

    snprintf(path, sizeof(path), "%s.%u", name, id);
    file = fopen(path, "r");
    if (!file) {
        snprintf(error, error_bytes, "%s: %s", path, strerror(errno));
        return -1;
    }
    if (!fgets(text, sizeof(text), file) ||
        sscanf(text, "drasync-record 1 rank %u of %u node %u", &rank, &ranks,
               &node) != 3 ||
        rank != id || ranks < 1 || ranks > RECORD_RANKS_MAX ||
        (records->ranks && ranks != records->ranks))
        goto out;
    if (!records->rank) {
        records->ranks = ranks;
        records->rank = calloc(ranks, sizeof(*records->rank));
        if (!records->rank)
            goto out;
    }
    err = read_rank(file, records, id, &number);
out:
    if (err)
        snprintf(error, error_bytes, "%s:%lu: not a record, or not a whole one",
                 path, number);
    fclose(file);
    return err;
}

/* What scheduler @i served: added up over all.  1, 0 if it has no file, -1. */
static int read_scheduler(const char *name, struct records *records, uint32_t i,
                          char *error, size_t error_bytes)
{
    unsigned long long count[2], ns[2];
    unsigned id, of;
    char path[4096];
    FILE *file;
    int fields;

    snprintf(path, sizeof(path), "%s.%u", name, records->ranks + i);
    file = fopen(path, "r");
    if (!file && i)
        return 0;
    if (!file) {
        snprintf(error, error_bytes, "%s: %s", path, strerror(errno));
        return -1;
    }
    fields = fscanf(file,
                    "drasync-record 1 scheduler %u of %u requests %llu %llu "
                    "queries %llu %llu",
                    &id, &of, &count[0], &ns[0], &count[1], &ns[1]);
    fclose(file);
    if (fields != 6 || id != i || id >= of) {
        snprintf(error, error_bytes, "%s: not a scheduler's record", path);
        return -1;
    }
    records->requests += count[0];
    records->requests_ns += ns[0];
    records->queries += count[1];
    records->queries_ns += ns[1];
    return i + 1 < of;
}

int records_read(const char *name, struct records *records, char *error,
                 size_t error_bytes)
{
    int more = 1;

    memset(records, 0, sizeof(*records));
    for (uint32_t i = 0; i == 0 || i < records->ranks; i++)
        if (read_file(name, records, i, error, error_bytes))
            goto fail;
    for (uint32_t i = 0; records->baseline && more; i++) {
        more = read_scheduler(name, records, i, error, error_bytes);
        if (more < 0)
            goto fail;
    }
    return 0;

fail:
    records_free(records);
    return -1;
}

void records_free(struct records *records)
{
    for (uint32_t i = 0; records->rank && i < records->ranks; i++)
        free(records->rank[i].line);
    free(records->rank);
    records->rank = NULL;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int records_unpack_ns(const struct records *records, double *ns_out)
{
    size_t count = 0, room = 0;
    double *each;

    for (uint32_t i = 0; i < records->ranks; i++)
        room += records->rank[i].count;
    each = malloc((room + 1) * sizeof(*each));
    if (!each)
        return -1;
    for (uint32_t i = 0; i < records->ranks; i++) {
        const struct record_rank *rank = &records->rank[i];

        for (size_t j = 0; j < rank->count; j++) {
            const struct record_line *line = &rank->line[j];

            if (line->kind == 'R' && line->argument[2] > UNPACK_BYTES_MIN)
                each[count++] =
                    (double)line->call_ns / (double)line->argument[2];
        }
    }
    qsort(each, count, sizeof(*each), by_size);
    *ns_out = count ? each[count / 10] : 0;
    free(each);
    return 0;
}
