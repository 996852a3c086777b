/*
 * carries.hpp - does a type that takes no allocator have containers of a region
 * inside?  Its own copy constructor would leave their memory where it is, in
 * another region perhaps.  Seen are the parts that drasync::storable looks at.
 */
#ifndef DRASYNC_CARRIES_HPP
#define DRASYNC_CARRIES_HPP

#include "drasync/storable.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace drasync
{
namespace detail
{

template <class T, class Alloc> constexpr bool members_carry() noexcept;

/* Does @T, or a part of it, take an @Alloc? */
template <class T, class Alloc>
struct carries : std::bool_constant<std::uses_allocator_v<T, Alloc> ||
                                    members_carry<T, Alloc>()> {
};
template <class T, class Alloc>
struct carries<const T, Alloc> : carries<T, Alloc> {
};
template <class A, class B, class Alloc>
struct carries<std::pair<A, B>, Alloc>
    : std::disjunction<carries<A, Alloc>, carries<B, Alloc>> {
};
template <class T, class Alloc>
struct carries<std::optional<T>, Alloc> : carries<T, Alloc> {
};
template <class T, std::size_t N, class Alloc>
struct carries<std::array<T, N>, Alloc> : carries<T, Alloc> {
};
template <class T, std::size_t N, class Alloc>
struct carries<T[N], Alloc> : carries<T, Alloc> {
};
template <class... T, class Alloc>
struct carries<std::tuple<T...>, Alloc> /* takes any, for its members */
    : std::disjunction<carries<T, Alloc>...> {
};
template <class... T, class Alloc>
struct carries<std::variant<T...>, Alloc>
    : std::disjunction<carries<T, Alloc>...> {
};

/* As `bad` of storable.hpp, but for these. */
template <class T, class Alloc> struct carrier {
    template <class U, class = std::enable_if_t<std::conjunction_v<
                           std::negation<std::is_same<std::remove_cv_t<U>, T>>,
                           carries<U, Alloc>>>>
    operator U() &&noexcept;
};

template <class T, class Alloc, std::size_t N, std::size_t... At>
constexpr bool any_carries(std::index_sequence<At...>) noexcept
{
    return ((takes<T, carrier<T, Alloc>, N, At> && !takes<T, nothing, N, At>) ||
            ...);
}

template <class T, class Alloc> constexpr bool members_carry() noexcept
{
    if constexpr (std::is_class_v<T> && std::is_aggregate_v<T>) {
        constexpr std::size_t n = members_of<T>();

        return any_carries<T, Alloc, n>(std::make_index_sequence<n>());
    } else {
        return false;
    }
}

} // namespace detail
} // namespace drasync

#endif /* DRASYNC_CARRIES_HPP */
