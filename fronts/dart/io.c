/*
 * Files of a team.  HDF5 is looked for when it is needed, among what the program
 * has loaded: so the front is not linked to a library of which a program may
 * have another version, or none.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <string.h>

#include "fronts/dart/front.h"
#include "fronts/dart/team.h"
#include "fronts/dart/team_call.h"

/* As in HDF5 1.10 and later. */
typedef int64_t hid_t;

#include "dash/dart/if/dart_io.h"

typedef int set_fapl_mpio_fn(hid_t list, MPI_Comm comm, MPI_Info info);

dart_ret_t dart__io__hdf5__prep_mpio(hid_t plist_id, dart_team_t teamid)
{
    static const char what[] = "dart__io__hdf5__prep_mpio";
    void *symbol = dlsym(RTLD_DEFAULT, "H5Pset_fapl_mpio");
    set_fapl_mpio_fn *set_fapl_mpio;
    struct team *team;
    dart_ret_t ret = team_get(what, teamid, &team);

    if (ret)
        return ret;
    if (!symbol)
        return front_fail(DART_ERR_OTHER, "%s: no parallel HDF5 is loaded",
                          what);
    memcpy(&set_fapl_mpio, &symbol, sizeof(symbol));
    /* It takes a communicator of its own from this one. */
    if ((team->tickets && team_ticket_wait(team)) ||
        team_ticket_end(team,
                        set_fapl_mpio(plist_id, team->comm, MPI_INFO_NULL)) < 0)
        return front_fail(DART_ERR_OTHER, "%s: HDF5 refused", what);
    return DART_OK;
}
