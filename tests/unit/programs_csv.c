/*
 * Reading CSV: what is accepted, and the exact text of every error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "programs/common/csv.h"
#include "tap.h"

static char path[] = "/tmp/drasync-csv-XXXXXX";

static int read_text(const char *text, size_t bytes, size_t columns,
                     struct csv *csv, char *error)
{
    FILE *file = fopen(path, "wb");

    if (!file || fwrite(text, 1, bytes, file) != bytes || fclose(file))
        abort();
    return csv_read(path, columns, csv, error, CSV_ERROR_BYTES);
}

static void refuse(const char *text, size_t bytes, const char *expected,
                   const char *what)
{
    char error[CSV_ERROR_BYTES] = "";
    struct csv csv;
    int err;

    err = read_text(text, bytes, 2, &csv, error);
    printf("# %s\n", error);
    tap_ok(err && strncmp(error, path, strlen(path)) == 0 &&
               strcmp(error + strlen(path), expected) == 0 && csv.rows == 0 &&
               !csv.values,
           what);
}

static void accept(void)
{
    static const char text[] = "# a comment\r\n\n a , b \r\n"
                               "1,2\r\n  -3.5e1 ,\t+4\n# late\n.5,6.\n";
    char error[CSV_ERROR_BYTES] = "";
    struct csv csv;
    int err;

    err = read_text(text, sizeof text - 1, 2, &csv, error);
    tap_ok(!err && csv.rows == 3 && csv.columns == 2 && csv.values[0] == 1 &&
               csv.values[1] == 2 && csv.values[2] == -35 &&
               csv.values[3] == 4 && csv.values[4] == 0.5 && csv.values[5] == 6,
           "comments, empty lines, one header, blanks and CR are accepted");
    tap_ok(!err && csv.lines[0] == 4 && csv.lines[1] == 5 && csv.lines[2] == 7,
           "each row knows its line");
    csv_free(&csv);
    tap_ok(csv.rows == 0 && !csv.values && !csv.lines, "freeing empties it");
}

#define REFUSE(text, expected, what) \
    refuse(text, sizeof text - 1, expected, what)

int main(void)
{
    static char line[CSV_LINE_BYTES_MAX + 3];
    char error[CSV_ERROR_BYTES];
    struct csv csv;

    close(mkstemp(path));
    accept();
    REFUSE("", ":1: the file is empty", "an empty file");
    REFUSE("# x\n\n", ":3: the file has no line of numbers", "no numbers");
    REFUSE("a,b\nc,d\n", ":2: field 1 is not a number: 'c'", "a second header");
    REFUSE("1,2\n3,4", ":2: the last line does not end: the file is truncated",
           "a last line without end");
    REFUSE("1,2\n3\n", ":2: 1 field where 2 are expected", "a missing field");
    REFUSE("1,2\n3,4,5\n", ":2: 3 fields where 2 are expected",
           "a field too many");
    REFUSE("1,\n", ":1: field 2 is not a number: ''", "an empty field");
    REFUSE("1,2x\n", ":1: field 2 is not a number: '2x'", "a number and text");
    REFUSE("1,0x10\n", ":1: field 2 is not a number: '0x10'", "hexadecimal");
    REFUSE("1,2\nNaN,1\n", ":2: field 1 is not a finite number: 'NaN'", "NaN");
    REFUSE("inf,1\n", ":1: field 1 is not a finite number: 'inf'",
           "infinity, in the first line too");
    REFUSE("1,1e999\n", ":1: field 2 is not a finite number: '1e999'",
           "a number too large for a double");
    REFUSE("1,2\n1,\0002\n", ":2: the line contains a zero byte",
           "a zero byte");
    memset(line, '1', CSV_LINE_BYTES_MAX + 1);
    line[CSV_LINE_BYTES_MAX + 1] = '\n';
    refuse(line, CSV_LINE_BYTES_MAX + 2,
           ":1: the line is longer than 4096 bytes", "a line too long");
    unlink(path);
    tap_ok(csv_read(path, 2, &csv, error, sizeof error) &&
               strstr(error, ": cannot open: No such file"),
           "a missing file");
    tap_ok(csv_read("/tmp", 2, &csv, error, sizeof error) &&
               strcmp(error, "/tmp: cannot read: Is a directory") == 0,
           "a directory");
    return tap_end();
}
