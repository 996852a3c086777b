/*
 * ref.hpp - region_ref, a counted reference to a managed region, and weak_ref,
 * as std::shared_ptr and std::weak_ptr are to objects.
 *
 * A region_ref has one reference of this rank (drasync_ref()), or none.  When
 * the last one of all ranks is gone, and nobody holds the region, it ends.  A
 * reference is no hold: who reads or writes takes a guard as ever.
 *
 *     drasync::region_ref tree = drasync::manage(hold);
 *     std::move(tree).give_to(rank); // then tell that rank the handle
 *     ...
 *     drasync::region_ref tree(handle, drasync::adopt_ref); // there
 *
 * A region_ref may not lie in a region: what it counts is a rank's.  A weak_ref
 * may, and be sent, as its value(), a drasync_weak_t.
 *
 * Errors are std::system_error; the reference is as it was.  Destructors are
 * silent.
 */
#ifndef DRASYNC_REF_HPP
#define DRASYNC_REF_HPP

#include "drasync.h"
#include "drasync/error.hpp"
#include "drasync/guard.hpp"
#include "drasync/storable.hpp"

#include <utility>

namespace drasync
{

struct adopt_ref_t {
    explicit adopt_ref_t() = default;
};

/* The reference is there: another rank gave it. */
inline constexpr adopt_ref_t adopt_ref{};

class region_ref
{
  public:
    region_ref() noexcept = default;

    /* One more reference to @handle, which a rank of this node has, or which
     * this rank holds. */
    explicit region_ref(drasync_region_t handle)
    {
        check(drasync_ref(handle), "drasync::region_ref", handle,
              DRASYNC_READ);
        region_ = handle;
    }

    region_ref(drasync_region_t handle, adopt_ref_t) noexcept : region_(handle)
    {
    }

    region_ref(const region_ref &other)
    {
        if (other.region_)
            check(drasync_ref(other.region_), "drasync::region_ref",
                  other.region_, DRASYNC_READ);
        region_ = other.region_;
    }

    region_ref(region_ref &&other) noexcept : region_(other.release())
    {
    }

    region_ref &operator=(region_ref other) noexcept
    {
        swap(other);
        return *this;
    }

    ~region_ref()
    {
        if (region_)
            drasync_unref(region_);
    }

    /* Give the reference back. */
    void reset() noexcept
    {
        region_ref().swap(*this);
    }

    /* Somebody else gives it back: who adopts it. */
    drasync_region_t release() noexcept
    {
        return std::exchange(region_, nullptr);
    }

    /* @rank has it from now on, and adopts it when the program has told it the
     * handle. */
    void give_to(int rank) &&
    {
        check(drasync_ref_give(region_, rank), "drasync::region_ref::give_to",
              region_, detail::elsewhere);
        region_ = nullptr;
    }

    void swap(region_ref &other) noexcept
    {
        std::swap(region_, other.region_);
    }

    friend void swap(region_ref &a, region_ref &b) noexcept
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

    friend bool operator==(const region_ref &a, const region_ref &b) noexcept
    {
        return a.region_ == b.region_;
    }

    friend bool operator!=(const region_ref &a, const region_ref &b) noexcept
    {
        return !(a == b);
    }

  private:
    drasync_region_t region_ = nullptr;
};

/* Let the root region of @hold end by itself; this is its first reference. */
inline region_ref manage(const write_guard &hold)
{
    check(drasync_manage(hold.region()), "drasync::manage", hold.region());
    return region_ref(hold.region(), adopt_ref);
}

/* What lies in the managed region of @from has pointers into @to, a managed one,
 * which has a reference more: drasync_link(). */
template <enum drasync_mode Mode>
void link(const guard<Mode> &from, drasync_region_t to)
{
    check(drasync_link(from.region(), to), "drasync::link", to,
          detail::elsewhere);
}

template <enum drasync_mode Mode>
void unlink(const guard<Mode> &from, drasync_region_t to)
{
    check(drasync_unlink(from.region(), to), "drasync::unlink", to,
          detail::elsewhere);
}

class weak_ref
{
  public:
    weak_ref() noexcept = default;

    /* Of a reference that has none, empty. */
    explicit weak_ref(const region_ref &ref)
    {
        if (ref)
            check(drasync_weak(ref.get(), &weak_), "drasync::weak_ref",
                  ref.get(), DRASYNC_READ);
    }

    /* A value() that came from anywhere. */
    explicit weak_ref(const drasync_weak_t &value) noexcept : weak_(value)
    {
    }

    /* A reference, or none where the region has ended, or this is empty. */
    region_ref lock() const
    {
        drasync_region_t handle = nullptr;

        if (!weak_.word[0] && !weak_.word[1])
            return {};
        const int err = drasync_weak_lock(&weak_, &handle);

        if (err == DRASYNC_EDELETED)
            return {};
        check(err, "drasync::weak_ref::lock");
        return region_ref(handle, adopt_ref);
    }

    const drasync_weak_t &value() const noexcept
    {
        return weak_;
    }

  private:
    drasync_weak_t weak_ = {{0, 0}};
};

/* They count what a rank has: a copy by another rank would count nothing. */
template <> struct storable<region_ref> : std::false_type {
};

} // namespace drasync

#endif /* DRASYNC_REF_HPP */
