/*
 * csv.h - read a table of numbers from a CSV file, with errors that name the
 * file and the line.
 *
 * The file: lines that start with '#' and empty lines are skipped; the first
 * other line may be a header (no field of it is a number); every further line
 * has the same number of fields, each a finite decimal number, blanks around it
 * allowed.  Lines end with LF or CR LF.  The last line must end too: a file
 * whose last line does not was cut off, and the number it ends with may be
 * another than the one that was meant.
 *
 * Not thread-safe with setlocale(): numbers are read in the "C" locale.
 */
#ifndef PROGRAMS_COMMON_CSV_H
#define PROGRAMS_COMMON_CSV_H

#include <stddef.h>

/* The longest line, in bytes; a longer one is an error. */
#define CSV_LINE_BYTES_MAX 4096

/* Enough room for any error text with a path of usual length. */
#define CSV_ERROR_BYTES 512

struct csv {
    double *values; /* rows * columns numbers, row by row */
    size_t *lines;  /* where each row stood in the file, from 1 */
    size_t rows;
    size_t columns;
};

/*
 * Read @path, whose lines must have @columns fields, into *csv_out, which the
 * caller frees with csv_free().
 *
 * Returns 0, or -1 with one line without end, "path:line: what is wrong", in
 * @error (of @error_bytes bytes) and *csv_out empty.  A file without any row is
 * an error.
 */
int csv_read(const char *path, size_t columns, struct csv *csv_out, char *error,
             size_t error_bytes);

void csv_free(struct csv *csv);

#endif /* PROGRAMS_COMMON_CSV_H */
