/*
 * error.hpp - the errors of drasync.h as std::error_code, and what is thrown.
 *
 * Each DRASYNC_E* is an error code enumerator: `e.code() == DRASYNC_EAGAIN`.
 * Their conditions are those of std::errc where one means the same.
 */
#ifndef DRASYNC_ERROR_HPP
#define DRASYNC_ERROR_HPP

#include "drasync.h"

#include <cstdio>
#include <new>
#include <string>
#include <system_error>

namespace drasync
{
namespace detail
{

class error_category final : public std::error_category
{
  public:
    const char *name() const noexcept override
    {
        return "drasync";
    }

    std::string message(int code) const override
    {
        return drasync_strerror(code);
    }

    std::error_condition
    default_error_condition(int code) const noexcept override
    {
        switch (code) {
        case DRASYNC_OK:
            return {};
        case DRASYNC_EINVAL:
            return std::errc::invalid_argument;
        case DRASYNC_EAGAIN:
            return std::errc::timed_out;
        case DRASYNC_ENOTHELD:
            return std::errc::operation_not_permitted;
        case DRASYNC_EUPGRADE:
        case DRASYNC_EORDER:
        case DRASYNC_EDEADLK:
            return std::errc::resource_deadlock_would_occur;
        case DRASYNC_EBUSY:
            return std::errc::device_or_resource_busy;
        case DRASYNC_ENOMEM:
        case DRASYNC_ENOSPACE:
            return std::errc::not_enough_memory;
        default:
            return {code, *this};
        }
    }
};

} // namespace detail

/* The category of these codes; "drasync". */
inline const std::error_category &category() noexcept
{
    static const detail::error_category only;

    return only;
}

/* What a call of drasync.h returned. */
inline std::error_code make_error_code(int code) noexcept
{
    return {code, category()};
}

/*
 * Thrown where memory of a region is wanted and there is none: DRASYNC_ENOMEM
 * or DRASYNC_ENOSPACE.  Other errors of an allocation are std::system_error.
 */
class bad_alloc : public std::bad_alloc
{
  public:
    explicit bad_alloc(int code) noexcept : code_(code)
    {
    }

    const char *what() const noexcept override
    {
        return drasync_strerror(code_);
    }

    std::error_code code() const noexcept
    {
        return make_error_code(code_);
    }

  private:
    int code_;
};

/* Throw std::system_error with @what unless @code, the result of a call of
 * drasync.h, is 0. */
inline void check(int code, const char *what)
{
    if (code)
        throw std::system_error(make_error_code(code), what);
}

namespace detail
{

/* Apart, so that what checks is short. */
[[noreturn, gnu::cold, gnu::noinline]] inline void
raise(std::error_code code, const char *what, drasync_region_t region)
{
    char text[100];

    if (!region)
        throw std::system_error(code, what);
    std::snprintf(text, sizeof(text), "%s of region %p", what,
                  static_cast<void *>(region));
    throw std::system_error(code, text);
}

} // namespace detail

/* The same, with the address of @region, if it has one, after @what. */
inline void check(int code, const char *what, drasync_region_t region)
{
    if (code)
        detail::raise(make_error_code(code), what, region);
}

} // namespace drasync

/* Found by the namespace of the enumerators, which is C's. */
inline std::error_code make_error_code(enum drasync_error code) noexcept
{
    return drasync::make_error_code(static_cast<int>(code));
}

template <> struct std::is_error_code_enum<drasync_error> : std::true_type {
};

#endif /* DRASYNC_ERROR_HPP */
