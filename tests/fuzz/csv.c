/*
 * csv.c - tables of numbers.  What is read is finite, of as many columns as were
 * asked for; what is not is named by file and line.
 */
#include <math.h>

#include "programs/common/csv.h"
#include "tests/fuzz/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct fuzz_input in = {data, bytes};
    size_t columns = 1 + fuzz_number(&in, 1) % 4;
    char error[CSV_ERROR_BYTES] = "";
    struct csv csv;

    files_cut(in.at, in.left);
    if (csv_read("table.csv", columns, &csv, error, sizeof(error))) {
        FUZZ_HOLDS(!csv.rows && !csv.values && !csv.lines);
        FUZZ_HOLDS(!strncmp(error, "table.csv:", 10) && !strchr(error, '\n'));
        return 0;
    }
    FUZZ_HOLDS(csv.rows > 0 && csv.columns == columns);
    for (size_t i = 0; i < csv.rows * columns; i++)
        FUZZ_HOLDS(isfinite(csv.values[i]));
    for (size_t i = 0; i < csv.rows; i++)
        FUZZ_HOLDS(csv.lines[i] > (i ? csv.lines[i - 1] : 0));
    csv_free(&csv);
    return 0;
}
