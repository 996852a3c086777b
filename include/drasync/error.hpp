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
#include <stdexcept>
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
    /* How much memory there is when it is made is in what(). */
    explicit bad_alloc(int code) noexcept : code_(code)
    {
        drasync_explain(code, nullptr, DRASYNC_WRITE, text_, sizeof(text_));
    }

    const char *what() const noexcept override
    {
        return text_;
    }

    std::error_code code() const noexcept
    {
        return make_error_code(code_);
    }

  private:
    int code_;
    char text_[DRASYNC_EXPLAIN_BYTES];
};

namespace detail
{

/* A std::system_error with another text than its code's. */
class explained_error final : public std::system_error
{
  public:
    explained_error(std::error_code code, const std::string &text)
        : std::system_error(code), text_(text)
    {
    }

    const char *what() const noexcept override
    {
        return text_.what();
    }

  private:
    std::runtime_error text_; // copying it throws nothing
};

/* For check(): the error may be another rank's, so nothing is said of this one. */
inline constexpr int elsewhere = -1;

/* May drasync_explain() say more of @code than its text? */
inline bool explains(std::error_code code, drasync_region_t region,
                     int needed) noexcept
{
    return code.category() == category() && needed != elsewhere &&
           (region || code.value() == DRASYNC_ENOMEM ||
            code.value() == DRASYNC_ENOSPACE ||
            code.value() == DRASYNC_EINTERNAL);
}

/* Apart, so that what checks is short. */
[[noreturn, gnu::cold, gnu::noinline]] inline void
raise(std::error_code code, const char *what, drasync_region_t region,
      int needed)
{
    char explained[DRASYNC_EXPLAIN_BYTES], of[40] = "";

    if (region)
        std::snprintf(of, sizeof(of), " of region %p",
                      static_cast<void *>(region));
    const std::string text = std::string(what) + of + ": ";
    if (!explains(code, region, needed))
        throw explained_error(code, text + code.message());
    throw explained_error(code, text + drasync_explain(code.value(), region,
                                                       needed, explained,
                                                       sizeof(explained)));
}

} // namespace detail

/* Throw std::system_error unless @code, the result of a call of drasync.h, is 0.
 * Its what() is @what and what the code means. */
inline void check(int code, const char *what)
{
    if (code)
        detail::raise(make_error_code(code), what, nullptr, DRASYNC_WRITE);
}

/* The same of a call on @region: its address is in what(), and what the code means
 * for it here (drasync_explain()), where the call @needed that hold; 0: it gave one
 * back. */
inline void check(int code, const char *what, drasync_region_t region,
                  int needed = DRASYNC_WRITE)
{
    if (code)
        detail::raise(make_error_code(code), what, region, needed);
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
