/*
 * dart_io.h - files that all units of a team write and read together.
 *
 * For programs with parallel HDF5: include <hdf5.h>, which has hid_t, first.
 */
#ifndef DART__IO_H_
#define DART__IO_H_

#include <dash/dart/if/dart_types.h>
#include <dash/dart/if/dart_util.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Let files that are opened with the file access property list @plist_id be the
 * team's, through MPI-IO.  Calls H5Pset_fapl_mpio of the HDF5 library that the
 * program has loaded; the library here is not linked to any.  Collective over
 * the team where that is.
 *   DART_ERR_INVAL  no such team
 *   DART_ERR_OTHER  HDF5 refused, is not loaded, or is not a parallel one
 */
dart_ret_t dart__io__hdf5__prep_mpio(hid_t plist_id,
                                     dart_team_t teamid) DART_NOTHROW;

#ifdef __cplusplus
}
#endif

#endif /* DART__IO_H_ */
