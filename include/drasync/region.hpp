/*
 * region.hpp - unique_region, which deletes its region, as std::unique_ptr does
 * with objects.
 *
 * It is for a region that one rank makes and, unless release() hands that to
 * somebody else, deletes; also if an exception ends the block meanwhile.  A
 * region can be deleted while no other rank holds it or a subregion: it is the
 * program's to see to that, by a barrier or by a message.  Otherwise reset()
 * throws DRASYNC_EBUSY and keeps it; the destructor leaves the region behind
 * and says so in a line on stderr.
 */
#ifndef DRASYNC_REGION_HPP
#define DRASYNC_REGION_HPP

#include "drasync.h"
#include "drasync/error.hpp"
#include "drasync/guard.hpp"
#include "drasync/storable.hpp"

#include <cstdio>
#include <mutex>
#include <utility>

namespace drasync
{

class unique_region
{
  public:
    unique_region() noexcept = default;

    /* From now on @handle is deleted here. */
    explicit unique_region(drasync_region_t handle) noexcept : region_(handle)
    {
    }

    unique_region(unique_region &&other) noexcept : region_(other.release())
    {
    }

    unique_region &operator=(unique_region &&other) noexcept
    {
        unique_region(std::move(other)).swap(*this);
        return *this;
    }

    ~unique_region()
    {
        const int err = region_ ? drasync_delete(region_) : 0;

        if (err && !gone(err))
            std::fprintf(stderr,
                         "drasync::unique_region: region %p is not deleted: "
                         "%s (one that was given away, or that another rank "
                         "deletes, is let go by release())\n",
                         static_cast<void *>(region_), drasync_strerror(err));
    }

    /* Delete the region, if there is one; holds of this rank end with it. */
    void reset()
    {
        const int err = region_ ? drasync_delete(region_) : 0;

        if (err && !gone(err))
            check(err, "drasync::unique_region", region_);
        region_ = nullptr;
    }

    /* Somebody else deletes it. */
    drasync_region_t release() noexcept
    {
        return std::exchange(region_, nullptr);
    }

    void swap(unique_region &other) noexcept
    {
        std::swap(region_, other.region_);
    }

    friend void swap(unique_region &a, unique_region &b) noexcept
    {
        a.swap(b);
    }

    /* NULL: none. */
    drasync_region_t get() const noexcept
    {
        return region_;
    }

    explicit operator bool() const noexcept
    {
        return region_ != nullptr;
    }

  private:
    /* Another rank was first, or DRASync has ended and with it all regions. */
    static bool gone(int err) noexcept
    {
        return err == DRASYNC_EDELETED || err == DRASYNC_ENOREGION ||
               err == DRASYNC_ENOTREADY;
    }

    drasync_region_t region_ = nullptr;
};

/* It deletes for one rank. */
template <> struct storable<unique_region> : std::false_type {
};

/* The hold ends before the region does: members go in reverse order, and are
 * moved to in it. */
struct made_region {
    unique_region region;
    write_guard hold;

    made_region(unique_region made, write_guard held) noexcept
        : region(std::move(made)), hold(std::move(held))
    {
    }

    made_region(made_region &&other) noexcept = default;

    made_region &operator=(made_region &&other) noexcept
    {
        hold = std::move(other.hold);
        region = std::move(other.region);
        return *this;
    }
};

/* A new root region, with the hold for WRITE that this rank has of it.  Throws
 * std::system_error with the errors of drasync_new_region(). */
inline made_region make_region()
{
    drasync_region_t made = nullptr;

    check(drasync_new_region(&made), "drasync::make_region");
    return {unique_region(made), write_guard(made, std::adopt_lock)};
}

/* A new subregion of @parent, covered by the parent's hold and deleted with the
 * parent.  Throws std::system_error with the errors of
 * drasync_new_subregion(). */
inline drasync_region_t make_subregion(drasync_region_t parent)
{
    drasync_region_t made = nullptr;

    check(drasync_new_subregion(parent, &made), "drasync::make_subregion",
          parent);
    return made;
}

inline drasync_region_t make_subregion(const write_guard &parent)
{
    return make_subregion(parent.region());
}

} // namespace drasync

#endif /* DRASYNC_REGION_HPP */
