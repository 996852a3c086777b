/*
 * give.hpp - give() and take(): regions that one rank gives to another, in one
 * message with their data.  The rules are those of drasync_give() and drasync_take().
 *
 *     auto [list, hold] = drasync::make_region(); // here
 *     fill(drasync::make_root<items>(hold));
 *     drasync::give(std::move(list), std::move(hold), consumer);
 *
 *     auto [list, hold] = drasync::take(producer); // there
 *     use(*drasync::root<items>(hold));            // deleted at the block's end
 *
 * Who is given a region and its unique_region deletes it, or gives it on.
 * Errors are std::system_error; the giver then has what it had.
 */
#ifndef DRASYNC_GIVE_HPP
#define DRASYNC_GIVE_HPP

#include "drasync.h"
#include "drasync/error.hpp"
#include "drasync/guard.hpp"
#include "drasync/region.hpp"

#include <chrono>
#include <cstdint>
#include <utility>

namespace drasync
{

/* @hold owns nothing afterwards.  Who deletes the region stays as agreed between
 * the ranks: take() makes it the taker, which may release() that. */
inline void give(write_guard &&hold, int rank, int tag = 0)
{
    check(drasync_give(hold.region(), rank, tag), "drasync::give",
          hold.region());
    hold.release();
}

/* The same, and the taker deletes the region, which is @hold's. */
inline void give(unique_region &&region, write_guard &&hold, int rank,
                 int tag = 0)
{
    if (region.get() != hold.region())
        check(DRASYNC_EINVAL, "drasync::give", region.get());
    give(std::move(hold), rank, tag);
    region.release();
}

inline void give(made_region &&made, int rank, int tag = 0)
{
    give(std::move(made.region), std::move(made.hold), rank, tag);
}

namespace detail
{

inline made_region take_in(int rank, int tag, std::uint64_t timeout_us,
                           drasync_gift *gift_out)
{
    drasync_region_t region = nullptr;
    const int err = drasync_take(rank, tag, timeout_us, &region, gift_out);

    if (err == DRASYNC_EAGAIN && timeout_us != DRASYNC_FOREVER)
        return {unique_region(), write_guard()};
    check(err, "drasync::take");
    return {unique_region(region), write_guard(region, std::adopt_lock)};
}

} // namespace detail

/* Wait for a region that @rank gave with @tag, either of which may be DRASYNC_ANY.
 * *@gift_out, if it is not NULL, says who gave it. */
inline made_region take(int rank = DRASYNC_ANY, int tag = DRASYNC_ANY,
                        drasync_gift *gift_out = nullptr)
{
    return detail::take_in(rank, tag, DRASYNC_FOREVER, gift_out);
}

/* The same, waiting so long: without a region if none came. */
template <class Rep, class Period>
made_region take_for(const std::chrono::duration<Rep, Period> &timeout,
                     int rank = DRASYNC_ANY, int tag = DRASYNC_ANY,
                     drasync_gift *gift_out = nullptr)
{
    return detail::take_in(rank, tag, detail::timeout_us(timeout), gift_out);
}

} // namespace drasync

#endif /* DRASYNC_GIVE_HPP */
