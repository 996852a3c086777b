/*
 * dart_hdf5 FILE: a data set that all units of a team write and read together,
 * through dart__io__hdf5__prep_mpio.  Built by tests/bats/dart_io.bats, where
 * there is a parallel HDF5.
 */
#undef NDEBUG
#include <assert.h>
#include <hdf5.h>
#include <stdio.h>

#include <dash/dart/if/dart.h>
#include <dash/dart/if/dart_io.h>

#define EACH 1000

static hid_t open_for(dart_team_t team, const char *path, int create)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), file;

    assert(access >= 0);
    assert(dart__io__hdf5__prep_mpio(access, team) == DART_OK);
    file = create ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access)
                  : H5Fopen(path, H5F_ACC_RDONLY, access);
    assert(file >= 0);
    assert(H5Pclose(access) >= 0);
    return file;
}

/* Unit @part's numbers, all units at once. */
static void move(hid_t set, int part, int *numbers, int writing)
{
    hsize_t count = EACH, first = (hsize_t)part * EACH;
    hid_t in_file = H5Dget_space(set), here = H5Screate_simple(1, &count, NULL);
    hid_t together = H5Pcreate(H5P_DATASET_XFER);

    assert(H5Sselect_hyperslab(in_file, H5S_SELECT_SET, &first, NULL, &count,
                               NULL) >= 0);
    assert(H5Pset_dxpl_mpio(together, H5FD_MPIO_COLLECTIVE) >= 0);
    if (writing)
        assert(H5Dwrite(set, H5T_NATIVE_INT, here, in_file, together,
                        numbers) >= 0);
    else
        assert(H5Dread(set, H5T_NATIVE_INT, here, in_file, together, numbers) >=
               0);
    assert(H5Pclose(together) >= 0);
    assert(H5Sclose(here) >= 0 && H5Sclose(in_file) >= 0);
}

static void through_file(dart_team_t team, const char *path)
{
    static int numbers[EACH];
    dart_team_unit_t me;
    size_t size;
    hsize_t all;
    hid_t file, space, set;

    assert(dart_team_myid(team, &me) == DART_OK);
    assert(dart_team_size(team, &size) == DART_OK);
    all = size * EACH;
    file = open_for(team, path, 1);
    space = H5Screate_simple(1, &all, NULL);
    set = H5Dcreate2(file, "numbers", H5T_NATIVE_INT, space, H5P_DEFAULT,
                     H5P_DEFAULT, H5P_DEFAULT);
    assert(set >= 0);
    for (int i = 0; i < EACH; i++)
        numbers[i] = me.id * EACH + i;
    move(set, me.id, numbers, 1);
    assert(H5Dclose(set) >= 0 && H5Sclose(space) >= 0 && H5Fclose(file) >= 0);

    /* The next unit's part. */
    int next = (me.id + 1) % (int)size;
    file = open_for(team, path, 0);
    set = H5Dopen2(file, "numbers", H5P_DEFAULT);
    assert(set >= 0);
    move(set, next, numbers, 0);
    for (int i = 0; i < EACH; i++)
        assert(numbers[i] == next * EACH + i);
    assert(H5Dclose(set) >= 0 && H5Fclose(file) >= 0);
}

int main(int argc, char **argv)
{
    dart_config_t *config;
    dart_global_unit_t me;
    dart_team_t odd;
    dart_group_t g;
    char path[4096];
    size_t units;

    assert(argc == 2);
    assert(dart_init(&argc, &argv) == DART_OK);
    assert(dart_myid(&me) == DART_OK && dart_size(&units) == DART_OK);
    through_file(DART_TEAM_ALL, argv[1]);

    /* A file for the odd units and one for the even, at the same time. */
    assert(dart_group_create(&g) == DART_OK);
    for (int i = me.id % 2; i < (int)units; i += 2)
        assert(dart_group_addmember(g, DART_GLOBAL_UNIT_ID(i)) == DART_OK);
    assert(dart_team_create(DART_TEAM_ALL, g, &odd) == DART_OK);
    assert(dart_group_destroy(&g) == DART_OK);
    snprintf(path, sizeof(path), "%s.%d", argv[1], me.id % 2);
    through_file(odd, path);
    assert(dart_team_destroy(&odd) == DART_OK);

    /* HDF5 refuses what is no such list. */
    dart_config(&config);
    config->log_enabled = 0;
    assert(H5Eset_auto2(H5E_DEFAULT, NULL, NULL) >= 0);
    assert(dart__io__hdf5__prep_mpio(-1, DART_TEAM_ALL) == DART_ERR_OTHER);
    assert(dart_exit() == DART_OK);
    if (me.id == 0)
        printf("ok\n");
    return 0;
}
