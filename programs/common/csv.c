/* Tables of numbers from CSV files: see csv.h. */
#include "csv.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const char *path;
    size_t line; /* of the file, from 1 */
    char *error;
    size_t error_bytes;
};

__attribute__((format(printf, 2, 3))) static int fail(struct reader *reader,
                                                      const char *format, ...)
{
    va_list args;
    int used;

    used = snprintf(reader->error, reader->error_bytes,
                    "%s:%zu: ", reader->path, reader->line);
    if (used < 0 || (size_t)used >= reader->error_bytes)
        return -1;
    va_start(args, format);
    vsnprintf(reader->error + used, reader->error_bytes - (size_t)used, format,
              args);
    va_end(args);
    return -1;
}

/* The whole file, with a zero after it; works on pipes too. */
static int slurp(struct reader *reader, char **text_out, size_t *bytes_out)
{
    size_t room = 1 << 16, used = 0, got;
    char *text = NULL, *more;
    FILE *file;

    file = fopen(reader->path, "rb");
    if (!file) {
        snprintf(reader->error, reader->error_bytes, "%s: cannot open: %s",
                 reader->path, strerror(errno));
        return -1;
    }
    do {
        room *= 2;
        more = realloc(text, room + 1);
        if (!more) {
            fail(reader, "out of memory");
            goto close_file;
        }
        text = more;
        got = fread(text + used, 1, room - used, file);
        used += got;
    } while (used == room);
    if (ferror(file)) {
        snprintf(reader->error, reader->error_bytes, "%s: cannot read: %s",
                 reader->path, strerror(errno));
        goto close_file;
    }
    fclose(file);
    text[used] = '\0';
    *text_out = text;
    *bytes_out = used;
    return 0;

close_file:
    fclose(file);
    free(text);
    return -1;
}

static char *trim(char *field)
{
    size_t length;

    field += strspn(field, " \t");
    length = strlen(field);
    while (length > 0 && strchr(" \t\r", field[length - 1]))
        field[--length] = '\0';
    return field;
}

enum field_kind { FIELD_NUMBER, FIELD_NOT_FINITE, FIELD_TEXT };

static enum field_kind parse_field(const char *field, double *value_out)
{
    char *end;
    double value;

    if (*field == '\0')
        return FIELD_TEXT;
    value = strtod(field, &end);
    if (*end != '\0')
        return FIELD_TEXT;
    if (!isfinite(value))
        return FIELD_NOT_FINITE;
    if (strpbrk(field, "xX"))
        return FIELD_TEXT;
    *value_out = value;
    return FIELD_NUMBER;
}

/* Is this a line of column names?  Then no field of it is a number. */
static int is_header(const char *line)
{
    char copy[CSV_LINE_BYTES_MAX + 1], *rest = copy, *field;
    double value;

    strcpy(copy, line);
    while ((field = strsep(&rest, ",")) != NULL) {
        field = trim(field);
        if (*field == '\0' || parse_field(field, &value) != FIELD_TEXT)
            return 0;
    }
    return 1;
}

static int parse_row(struct reader *reader, char *line, size_t columns,
                     double *values)
{
    char *rest = line, *field;
    size_t fields = 1, i;
    const char *comma;

    for (comma = strchr(line, ','); comma; comma = strchr(comma + 1, ','))
        fields++;
    if (fields != columns)
        return fail(reader, "%zu field%s where %zu %s expected", fields,
                    fields == 1 ? "" : "s", columns,
                    columns == 1 ? "is" : "are");
    for (i = 0; i < columns; i++) {
        field = trim(strsep(&rest, ","));
        switch (parse_field(field, &values[i])) {
        case FIELD_NUMBER:
            break;
        case FIELD_NOT_FINITE:
            return fail(reader, "field %zu is not a finite number: '%.40s'",
                        i + 1, field);
        case FIELD_TEXT:
            return fail(reader, "field %zu is not a number: '%.40s'", i + 1,
                        field);
        }
    }
    return 0;
}

static int add_row(struct reader *reader, struct csv *csv, size_t *room,
                   char *line)
{
    void *more;

    if (csv->rows == *room) {
        *room = *room ? *room * 2 : 1024;
        more = realloc(csv->values, *room * csv->columns * sizeof(double));
        if (!more)
            return fail(reader, "out of memory");
        csv->values = more;
        more = realloc(csv->lines, *room * sizeof(size_t));
        if (!more)
            return fail(reader, "out of memory");
        csv->lines = more;
    }
    if (parse_row(reader, line, csv->columns,
                  csv->values + csv->rows * csv->columns))
        return -1;
    csv->lines[csv->rows++] = reader->line;
    return 0;
}

static int parse(struct reader *reader, struct csv *csv, char *text,
                 size_t bytes)
{
    size_t room = 0, length;
    int seen_line = 0;
    char *line, *end;

    for (line = text; line < text + bytes; line = end + 1, reader->line++) {
        end = memchr(line, '\n', (size_t)(text + bytes - line));
        if (!end)
            return fail(reader, "the last line does not end: the file is "
                                "truncated");
        *end = '\0';
        length = (size_t)(end - line);
        if (length > CSV_LINE_BYTES_MAX)
            return fail(reader, "the line is longer than %d bytes",
                        CSV_LINE_BYTES_MAX);
        if (strlen(line) != length)
            return fail(reader, "the line contains a zero byte");
        if (line[0] == '#' || line[strspn(line, " \t\r")] == '\0')
            continue;
        if (!seen_line++ && is_header(line))
            continue;
        if (add_row(reader, csv, &room, line))
            return -1;
    }
    if (csv->rows == 0)
        return fail(reader, bytes ? "the file has no line of numbers"
                                  : "the file is empty");
    return 0;
}

int csv_read(const char *path, size_t columns, struct csv *csv_out, char *error,
             size_t error_bytes)
{
    struct reader reader = {path, 1, error, error_bytes};
    struct csv csv = {NULL, NULL, 0, columns};
    size_t bytes = 0;
    char *text = NULL;
    int err;

    memset(csv_out, 0, sizeof *csv_out);
    if (slurp(&reader, &text, &bytes))
        return -1;
    err = parse(&reader, &csv, text, bytes);
    free(text);
    if (err) {
        csv_free(&csv);
        return -1;
    }
    *csv_out = csv;
    return 0;
}

void csv_free(struct csv *csv)
{
    free(csv->values);
    free(csv->lines);
    memset(csv, 0, sizeof *csv);
}
