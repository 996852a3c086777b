/*
 * An example of the DART interface: how many cities lie in each box of the
 * globe, counted by all units into a table of which each has a part.
 *
 *     mpicc-drasync --dart cities_dart.c -o cities_dart
 *     mpirun -n 4 ./cities_dart data/cities.csv
 */
#include <dash/dart/if/dart.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "cities_dart"

/* A box is so many degrees wide and high. */
#define DEGREES 10
#define COLUMNS (360 / DEGREES)
#define ROWS    (180 / DEGREES)
#define BOXES   (COLUMNS * ROWS)

/* What the units find together: the box with the most cities. */
struct record {
    uint64_t cities, box;
};

struct table {
    dart_gptr_t boxes; /* unit 0's part; the others have the same offsets */
    size_t boxes_each;
    dart_gptr_t record; /* on unit 0 */
    dart_lock_t record_lock;
    size_t units;
    dart_team_unit_t me;
};

static void check(dart_ret_t ret, const char *what)
{
    if (ret == DART_OK)
        return;
    fprintf(stderr, NAME ": %s: error %d\n", what, (int)ret);
    dart_abort(DART_EXIT_ABORT);
}

/* Memory on each unit, and a lock: all units make them together. */
static void table_make(struct table *table)
{
    struct record none = {0, 0};

    check(dart_team_myid(DART_TEAM_ALL, &table->me), "who am I");
    check(dart_team_size(DART_TEAM_ALL, &table->units), "how many are we");
    table->boxes_each = (BOXES + table->units - 1) / table->units;
    check(dart_team_memalloc_aligned(DART_TEAM_ALL, table->boxes_each,
                                     DART_TYPE_ULONG, &table->boxes),
          "cannot allocate boxes");
    check(dart_team_memalloc_aligned(DART_TEAM_ALL, 2, DART_TYPE_ULONG,
                                     &table->record),
          "cannot allocate a record");
    check(dart_team_lock_init(DART_TEAM_ALL, &table->record_lock),
          "cannot make a lock");
    if (table->me.id == 0)
        check(dart_put_blocking(table->record, &none, 2, DART_TYPE_ULONG,
                                DART_TYPE_ULONG),
              "cannot put");
}

static void table_free(struct table *table)
{
    check(dart_team_lock_destroy(&table->record_lock), "cannot free a lock");
    check(dart_team_memfree(table->record), "cannot free a record");
    check(dart_team_memfree(table->boxes), "cannot free boxes");
}

/* This unit's part, by its address. */
static uint64_t *table_mine(const struct table *table)
{
    dart_gptr_t gptr = table->boxes;
    void *address = NULL;

    check(dart_gptr_setunit(&gptr, table->me), "no such unit");
    check(dart_gptr_getaddr(gptr, &address), "no address");
    return address;
}

/* The box of a line "longitude,latitude"; false: it is no such line. */
static int box_of(const char *line, size_t *box_out)
{
    double longitude, latitude;
    size_t column, row;

    if (sscanf(line, "%lf,%lf", &longitude, &latitude) != 2 ||
        !(longitude >= -180 && longitude <= 180) ||
        !(latitude >= -90 && latitude <= 90))
        return 0;
    column = (size_t)((longitude + 180) / DEGREES) % COLUMNS;
    row = (size_t)((latitude + 90) / DEGREES);
    *box_out = (row < ROWS ? row : ROWS - 1) * COLUMNS + column;
    return 1;
}

/* Count every units-th line, and return how many cities there were. */
static uint64_t count_lines(const struct table *table, FILE *file,
                            uint64_t *counts)
{
    uint64_t cities = 0, line_number = 0;
    char line[256];
    size_t box;

    while (fgets(line, sizeof(line), file)) {
        if (line_number++ % table->units != (uint64_t)table->me.id ||
            !box_of(line, &box))
            continue;
        counts[box]++;
        cities++;
    }
    return cities;
}

/*
 * Add this unit's counts to everybody's part: an atomic operation for each
 * element, a call for each part, and no unit is disturbed.
 */
static void add_counts(const struct table *table, const uint64_t *counts)
{
    dart_gptr_t gptr = table->boxes;

    for (size_t i = 0; i < table->units; i++) {
        /* Not all begin with unit 0. */
        size_t unit = ((size_t)table->me.id + i) % table->units;

        dart_gptr_setunit(&gptr, DART_TEAM_UNIT_ID((dart_unit_t)unit));
        check(dart_accumulate(gptr, counts + unit * table->boxes_each,
                              table->boxes_each, DART_TYPE_ULONG, DART_OP_SUM),
              "cannot add");
    }
    check(dart_flush_all(table->boxes), "cannot flush");
}

/* The fullest box of this unit's part goes into the record if it is fuller than
 * the one there, or as full and before it. */
static void report_fullest(const struct table *table)
{
    const uint64_t *mine = table_mine(table);
    struct record best = {0, 0}, record;

    for (size_t i = 0; i < table->boxes_each; i++) {
        if (mine[i] > best.cities) {
            best.cities = mine[i];
            best.box = (uint64_t)table->me.id * table->boxes_each + i;
        }
    }
    check(dart_lock_acquire(table->record_lock), "cannot lock");
    check(dart_get_blocking(&record, table->record, 2, DART_TYPE_ULONG,
                            DART_TYPE_ULONG),
          "cannot get");
    if (best.cities > record.cities ||
        (best.cities == record.cities && best.box < record.box))
        check(dart_put_blocking(table->record, &best, 2, DART_TYPE_ULONG,
                                DART_TYPE_ULONG),
              "cannot put");
    check(dart_lock_release(table->record_lock), "cannot unlock");
}

static void print_result(const struct table *table, uint64_t cities)
{
    struct record record;

    check(dart_get_blocking(&record, table->record, 2, DART_TYPE_ULONG,
                            DART_TYPE_ULONG),
          "cannot get");
    printf(NAME " cities=%" PRIu64 " fullest=%" PRIu64
                " longitude=%d latitude=%d degrees=%d units=%zu\n",
           cities, record.cities, (int)(record.box % COLUMNS) * DEGREES - 180,
           (int)(record.box / COLUMNS) * DEGREES - 90, DEGREES, table->units);
}

static void run(FILE *file)
{
    struct table table;
    uint64_t cities, all_cities, *counts;

    table_make(&table);
    counts = calloc(table.boxes_each * table.units, sizeof(*counts));
    if (!counts)
        check(DART_ERR_NOMEM, "cannot count");
    memset(table_mine(&table), 0, table.boxes_each * sizeof(*counts));
    check(dart_barrier(DART_TEAM_ALL), "no barrier"); /* all are zero */

    cities = count_lines(&table, file, counts);
    add_counts(&table, counts);
    check(dart_barrier(DART_TEAM_ALL), "no barrier"); /* all are counted */

    report_fullest(&table);
    check(dart_allreduce(&cities, &all_cities, 1, DART_TYPE_ULONG, DART_OP_SUM,
                         DART_TEAM_ALL),
          "cannot reduce");
    check(dart_barrier(DART_TEAM_ALL), "no barrier"); /* all have reported */
    if (table.me.id == 0)
        print_result(&table, all_cities);
    free(counts);
    table_free(&table);
}

int main(int argc, char **argv)
{
    FILE *file;

    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf(NAME " " DART_VERSION_STR "\n");
        return 0;
    }
    if (argc != 2 || argv[1][0] == '-') {
        fprintf(argc == 2 && strcmp(argv[1], "--help") == 0 ? stdout : stderr,
                "Usage: mpirun -n UNITS " NAME " FILE.csv\n"
                "Counts the cities (lines \"longitude,latitude\") in each box "
                "of the globe,\n"
                "and prints the fullest.\n");
        return argc == 2 && strcmp(argv[1], "--help") == 0 ? 0 : 2;
    }
    file = fopen(argv[1], "r");
    if (!file) {
        perror(argv[1]);
        return 2;
    }
    check(dart_init(&argc, &argv), "cannot start");
    run(file);
    check(dart_exit(), "cannot end");
    fclose(file);
    return 0;
}
