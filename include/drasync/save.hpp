/*
 * save.hpp - regions in files: drasync_save() and drasync_load().  Errors are
 * std::system_error.
 *
 * A file is for the program that wrote it: what is in it is not converted, so
 * the types, the compiler's layout and the standard library must be the same.
 */
#ifndef DRASYNC_SAVE_HPP
#define DRASYNC_SAVE_HPP

#include "drasync.h"
#include "drasync/error.hpp"
#include "drasync/guard.hpp"
#include "drasync/region.hpp"

#include <mutex>

namespace drasync
{

/* The current version, or the one that this thread holds. */
inline void save(drasync_region_t region, const char *path)
{
    check(drasync_save(region, path), "drasync::save", region);
}

/* The region that was saved, at the address that it had, held for WRITE. */
inline made_region load(const char *path)
{
    drasync_region_t region = nullptr;

    check(drasync_load(path, &region), "drasync::load");
    return {unique_region(region), write_guard(region, std::adopt_lock)};
}

} // namespace drasync

#endif /* DRASYNC_SAVE_HPP */
