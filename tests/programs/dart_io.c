/* dart_io: what is said where no HDF5 is loaded, and to wrong calls. */
#undef NDEBUG
#include <assert.h>
#include <stdint.h>
#include <stdio.h>

typedef int64_t hid_t;

#include "dash/dart/if/dart.h"
#include "dash/dart/if/dart_io.h"

int main(void)
{
    dart_config_t *config;
    dart_global_unit_t me;

    dart_config(&config);
    config->log_enabled = 0;
    assert(dart__io__hdf5__prep_mpio(1, DART_TEAM_ALL) == DART_ERR_NOTINIT);
    assert(dart_init(NULL, NULL) == DART_OK);
    assert(dart_myid(&me) == DART_OK);
    assert(dart__io__hdf5__prep_mpio(1, 99) == DART_ERR_INVAL);
    assert(dart__io__hdf5__prep_mpio(1, DART_TEAM_ALL) == DART_ERR_OTHER);
    assert(dart_exit() == DART_OK);
    assert(dart__io__hdf5__prep_mpio(1, DART_TEAM_ALL) == DART_ERR_NOTINIT);
    if (me.id == 0)
        printf("ok\n");
    return 0;
}
