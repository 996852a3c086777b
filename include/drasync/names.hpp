/*
 * names.hpp - names of regions, which every rank can look up: drasync_publish()
 * and drasync_lookup().  Errors are std::system_error.
 */
#ifndef DRASYNC_NAMES_HPP
#define DRASYNC_NAMES_HPP

#include "drasync.h"
#include "drasync/error.hpp"
#include "drasync/guard.hpp"

#include <chrono>

namespace drasync
{

inline void publish(const char *name, drasync_region_t region)
{
    check(drasync_publish(name, region), "drasync::publish", region);
}

/* Wait until a rank has published @name. */
inline drasync_region_t lookup(const char *name)
{
    drasync_region_t region = nullptr;

    check(drasync_lookup(name, DRASYNC_FOREVER, &region), "drasync::lookup");
    return region;
}

/* The same, waiting so long: NULL if nobody has. */
template <class Rep, class Period>
drasync_region_t lookup_for(const char *name,
                            const std::chrono::duration<Rep, Period> &timeout)
{
    drasync_region_t region = nullptr;
    const int err = drasync_lookup(name, detail::timeout_us(timeout), &region);

    if (err == DRASYNC_EAGAIN)
        return nullptr;
    check(err, "drasync::lookup_for");
    return region;
}

} // namespace drasync

#endif /* DRASYNC_NAMES_HPP */
