/* dart_io.h - the DART interface. */
#ifndef DART__IO_H_
#define DART__IO_H_
#include <dash/dart/if/dart_types.h>
#include <dash/dart/if/dart_util.h>
#ifdef __cplusplus
extern "C" {
#endif
dart_ret_t dart__io__hdf5__prep_mpio(hid_t plist_id,
                                     dart_team_t teamid) DART_NOTHROW;
#ifdef __cplusplus
}
#endif
#endif
