/*
 * guard.hpp - holds that are given back at the end of a block: read_guard and
 * write_guard, by the interface of std::shared_lock and std::unique_lock.
 *
 * A guard has a region, or none, and owns one hold of it, or none.  It is
 * movable, not copyable, and used by one thread at a time; being Lockable,
 * several may go into std::lock().  The hold is the rank's: while the guard owns
 * it, all threads of the rank may do what it allows.  As with drasync_release(),
 * a thread that owns several holds of one region gives back what it took last.
 *
 * Errors are std::system_error, whose what() has the region's address; the guard
 * then owns what it did before.  They are those of drasync_acquire(), and of the
 * guard itself, as std::unique_lock has them:
 *   std::errc::operation_not_permitted       it has no region, or nothing to
 *                                            unlock
 *   std::errc::resource_deadlock_would_occur it owns a hold already
 *
 * The destructor gives the hold back and is silent about errors: the region may
 * have been deleted, and DRASync may have ended, as in main() after
 * MPI_Finalize().  Who deletes a region while a guard owns a hold of it calls
 * the guard's release() then, since a new region may get the address.
 */
#ifndef DRASYNC_GUARD_HPP
#define DRASYNC_GUARD_HPP

#include "drasync.h"
#include "drasync/error.hpp"
#include "drasync/storable.hpp"

#include <chrono>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <type_traits>
#include <utility>

namespace drasync
{
namespace detail
{

/* At least that long; DRASYNC_FOREVER for what is longer than that. */
template <class Rep, class Period>
std::uint64_t
timeout_us(const std::chrono::duration<Rep, Period> &timeout) noexcept
{
    const long double us =
        std::chrono::duration<long double, std::micro>(timeout).count();

    if (!(us > 0))
        return 0;
    if (us >= static_cast<long double>(DRASYNC_FOREVER))
        return DRASYNC_FOREVER;
    const std::uint64_t whole = static_cast<std::uint64_t>(us);
    return static_cast<long double>(whole) < us ? whole + 1 : whole;
}

} // namespace detail

/* Of constructors, older compilers would say that it means nothing there. */
#if __has_cpp_attribute(nodiscard) >= 201907L
#define DRASYNC_NAMED [[nodiscard]]
#else
#define DRASYNC_NAMED
#endif

/* read_guard and write_guard, below.  What takes a hold is inlined however the
 * program is compiled: reports then name the program's line.  A guard needs a
 * name, or it gives the hold back at the semicolon: hence the warning. */
template <enum drasync_mode Mode> class guard
{
  public:
    guard() noexcept = default;

    /* Take the hold, however long it takes. */
    DRASYNC_NAMED [[gnu::always_inline]] explicit guard(drasync_region_t handle)
        : region_(handle)
    {
        lock();
    }

    /* The same; an error is in @error, and the guard owns nothing. */
    DRASYNC_NAMED [[gnu::always_inline]] guard(drasync_region_t handle,
                                               std::error_code &error) noexcept
        : region_(handle)
    {
        const int err = drasync_acquire(handle, Mode);

        owns_ = !err;
        error = make_error_code(err);
    }

    /* lock() comes later. */
    DRASYNC_NAMED guard(drasync_region_t handle, std::defer_lock_t) noexcept
        : region_(handle)
    {
    }

    /* Without waiting for other holders: owns_lock() tells. */
    DRASYNC_NAMED [[gnu::always_inline]] guard(drasync_region_t handle,
                                               std::try_to_lock_t)
        : region_(handle)
    {
        try_lock();
    }

    /* The caller has taken the hold: that of a new region, or by
     * drasync_wait(). */
    DRASYNC_NAMED guard(drasync_region_t handle, std::adopt_lock_t) noexcept
        : region_(handle), owns_(true)
    {
    }

    /* Waiting so long, or until then: owns_lock() tells. */
    template <class Rep, class Period>
    DRASYNC_NAMED [[gnu::always_inline]] guard(
        drasync_region_t handle,
        const std::chrono::duration<Rep, Period> &timeout)
        : region_(handle)
    {
        try_lock_for(timeout);
    }

    template <class Clock, class Duration>
    DRASYNC_NAMED [[gnu::always_inline]] guard(
        drasync_region_t handle,
        const std::chrono::time_point<Clock, Duration> &until)
        : region_(handle)
    {
        try_lock_until(until);
    }

    guard(guard &&other) noexcept : region_(other.region_), owns_(other.owns_)
    {
        other.release();
    }

    guard &operator=(guard &&other) noexcept
    {
        guard(std::move(other)).swap(*this);
        return *this;
    }

    ~guard()
    {
        if (owns_)
            drasync_release(region_);
    }

    [[gnu::always_inline]] void lock()
    {
        may_lock();
        check(drasync_acquire(region_, Mode), name(), region_, Mode);
        owns_ = true;
    }

    /* true if the hold was taken.  An error other than that it is not to be had
     * in this time is thrown. */
    [[gnu::always_inline]] bool try_lock()
    {
        return lock_in(0);
    }

    template <class Rep, class Period>
    [[gnu::always_inline]] bool
    try_lock_for(const std::chrono::duration<Rep, Period> &timeout)
    {
        return lock_in(detail::timeout_us(timeout));
    }

    template <class Clock, class Duration>
    [[gnu::always_inline]] bool
    try_lock_until(const std::chrono::time_point<Clock, Duration> &until)
    {
        return try_lock_for(until - Clock::now());
    }

    /* Take the hold once the region is newer than @version, which then is that of
     * what is held: drasync_acquire_newer(). */
    [[gnu::always_inline]] void lock_newer(std::uint64_t &version)
    {
        may_lock();
        check(drasync_acquire_newer(region_, Mode, &version, DRASYNC_FOREVER),
              name(), region_, Mode);
        owns_ = true;
    }

    /* The same, waiting so long: true if the hold was taken. */
    template <class Rep, class Period>
    [[gnu::always_inline]] bool
    try_lock_newer_for(std::uint64_t &version,
                       const std::chrono::duration<Rep, Period> &timeout)
    {
        may_lock();
        return locked(drasync_acquire_newer(region_, Mode, &version,
                                            detail::timeout_us(timeout)));
    }

    /* After an error, as that the region was deleted, it owns nothing. */
    void unlock()
    {
        if (!owns_)
            raise(std::errc::operation_not_permitted);
        owns_ = false;
        check(drasync_release(region_), name(), region_, 0);
    }

    /* Forget region and hold: whoever calls this gives the hold back. */
    drasync_region_t release() noexcept
    {
        owns_ = false;
        return std::exchange(region_, nullptr);
    }

    void swap(guard &other) noexcept
    {
        std::swap(region_, other.region_);
        std::swap(owns_, other.owns_);
    }

    friend void swap(guard &a, guard &b) noexcept
    {
        a.swap(b);
    }

    /* NULL: none. */
    drasync_region_t region() const noexcept
    {
        return region_;
    }

    /* That of what it holds, to be sent along with the region's handle. */
    std::uint64_t version() const
    {
        std::uint64_t version = 0;

        check(drasync_get_version(region_, &version), name(), region_, Mode);
        return version;
    }

    bool owns_lock() const noexcept
    {
        return owns_;
    }

    explicit operator bool() const noexcept
    {
        return owns_;
    }

  private:
    static const char *name() noexcept
    {
        return Mode == DRASYNC_READ ? "drasync::read_guard"
                                    : "drasync::write_guard";
    }

    [[noreturn]] void raise(std::errc error) const
    {
        detail::raise(std::make_error_code(error), name(), region_, Mode);
    }

    void may_lock() const
    {
        if (!region_)
            raise(std::errc::operation_not_permitted);
        if (owns_)
            raise(std::errc::resource_deadlock_would_occur);
    }

    [[gnu::always_inline]] bool lock_in(std::uint64_t timeout_us)
    {
        may_lock();
        return locked(drasync_acquire_timed(region_, Mode, timeout_us));
    }

    bool locked(int err)
    {
        if (err != DRASYNC_EAGAIN)
            check(err, name(), region_, Mode);
        owns_ = !err;
        return owns_;
    }

    drasync_region_t region_ = nullptr;
    bool owns_ = false;
};

using read_guard = guard<DRASYNC_READ>;
using write_guard = guard<DRASYNC_WRITE>;

/* A hold is of a rank, and the region that it is of may move away. */
template <enum drasync_mode Mode>
struct storable<guard<Mode>> : std::false_type {
};

} // namespace drasync

#endif /* DRASYNC_GUARD_HPP */
