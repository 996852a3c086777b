/*
 * dart_init TIMES [own]: start and end, so often in one process; with `own` the
 * program starts MPI itself.  Everything goes through the interface alone.
 */
#undef NDEBUG
#include <assert.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dash/dart/if/dart.h"

/* AddressSanitizer keeps what was freed, and looks for leaks itself. */
#ifdef __SANITIZE_ADDRESS__
#define KEEPS_FREED 1
#else
#define KEEPS_FREED 0
#endif

static void not_up(void)
{
    dart_global_unit_t unit = {5};
    dart_team_unit_t local = {5};
    dart_datatype_t type = DART_TYPE_INT;
    size_t size = 7;

    assert(!dart_initialized());
    assert(dart_exit() == DART_ERR_NOTINIT);
    assert(dart_myid(&unit) == DART_ERR_NOTINIT);
    assert(unit.id == DART_UNDEFINED_UNIT_ID);
    assert(dart_size(&size) == DART_ERR_NOTINIT && size == 0);
    assert(dart_team_myid(DART_TEAM_ALL, &local) == DART_ERR_NOTINIT);
    assert(dart_type_create_custom(8, &type) == DART_ERR_NOTINIT);
    assert(type == DART_TYPE_UNDEFINED);
}

/* Resident kilobytes. */
static long memory_kb(void)
{
    char line[256];
    long kb = 0;
    FILE *f = fopen("/proc/self/status", "r");

    assert(f);
    while (fgets(line, sizeof(line), f)) {
        if (sscanf(line, "VmRSS: %ld", &kb) == 1)
            break;
    }
    fclose(f);
    return kb;
}

static void once(int i)
{
    dart_thread_support_level_t level;
    dart_global_unit_t unit;
    dart_datatype_t left;
    size_t size;
    int rank, ranks, provided;

    if (i % 2) {
        assert(dart_init(NULL, NULL) == DART_OK);
    } else {
        assert(dart_init_thread(NULL, NULL, &level) == DART_OK);
        MPI_Query_thread(&provided);
        assert((level == DART_THREAD_MULTIPLE) ==
               (provided == MPI_THREAD_MULTIPLE));
    }
    assert(dart_initialized());
    assert(dart_init(NULL, NULL) == DART_ERR_OTHER);
    assert(dart_init_thread(NULL, NULL, &level) == DART_ERR_OTHER);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    assert(dart_myid(&unit) == DART_OK && unit.id == rank);
    assert(dart_size(&size) == DART_OK && (int)size == ranks);
    /* What the program leaves goes with dart_exit. */
    assert(dart_type_create_custom(24, &left) == DART_OK);
    assert(dart_exit() == DART_OK);
    assert(dart_type_destroy(&left) == DART_ERR_NOTINIT);
}

int main(int argc, char **argv)
{
    int times = argc > 1 ? atoi(argv[1]) : 1;
    bool own = argc > 2 && !strcmp(argv[2], "own");
    dart_thread_support_level_t level;
    dart_config_t *config;
    int rank, up, over, provided;
    long warm = 0;

    dart_config(&config);
    config->log_enabled = 0;
    if (own)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
    not_up();
    assert(dart_init_thread(NULL, NULL, NULL) == DART_ERR_INVAL);
    for (int i = 0; i < times; i++) {
        once(i);
        not_up();
        if (i == times / 3)
            warm = memory_kb();
    }
    /* A leak of 10 KiB each time would show, where it is often. */
    assert(times < 100 || KEEPS_FREED ||
           memory_kb() < warm + times * 2 / 3 * 10);
    MPI_Initialized(&up);
    MPI_Finalized(&over);
    assert(up && !over);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (own) {
        /* It asked for less than we did. */
        assert(dart_init_thread(NULL, NULL, &level) == DART_OK);
        assert(level == DART_THREAD_SINGLE);
        assert(dart_exit() == DART_OK);
        MPI_Finalize();
        assert(dart_init(NULL, NULL) == DART_ERR_OTHER);
        assert(!dart_initialized());
    }
    if (rank == 0)
        printf("ok\n");
    return 0;
}
