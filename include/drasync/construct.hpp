/*
 * construct.hpp - uses-allocator construction, which C++20 has as
 * std::uses_allocator_construction_args(): the arguments of T's constructor,
 * with an allocator as one more where T takes it, and inside of pairs.  Where
 * the allocator is among the arguments already, as by
 * std::scoped_allocator_adaptor, they stay as they are.
 */
#ifndef DRASYNC_CONSTRUCT_HPP
#define DRASYNC_CONSTRUCT_HPP

#include "drasync/carries.hpp"

#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace drasync
{
namespace detail
{

template <class T> struct is_pair : std::false_type {
};
template <class A, class B> struct is_pair<std::pair<A, B>> : std::true_type {
};

template <class T, class Alloc, class... Args>
auto construction_args(const Alloc &alloc, Args &&...args);

template <class T, class Alloc> auto pair_args(const Alloc &alloc)
{
    return std::make_tuple(std::piecewise_construct,
                           construction_args<typename T::first_type>(alloc),
                           construction_args<typename T::second_type>(alloc));
}

template <class T, class Alloc, class U, class V>
auto pair_args(const Alloc &alloc, U &&first, V &&second)
{
    return std::make_tuple(std::piecewise_construct,
                           construction_args<typename T::first_type>(
                               alloc, std::forward<U>(first)),
                           construction_args<typename T::second_type>(
                               alloc, std::forward<V>(second)));
}

template <class T, class Alloc, class U, class V>
auto pair_args(const Alloc &alloc, const std::pair<U, V> &from)
{
    return pair_args<T>(alloc, from.first, from.second);
}

template <class T, class Alloc, class U, class V>
auto pair_args(const Alloc &alloc, std::pair<U, V> &from)
{
    return pair_args<T>(alloc, std::as_const(from));
}

template <class T, class Alloc, class U, class V>
auto pair_args(const Alloc &alloc, std::pair<U, V> &&from)
{
    return pair_args<T>(alloc, std::forward<U>(from.first),
                        std::forward<V>(from.second));
}

/* @all is a tuple of arguments. */
template <class T, class Alloc, class Tuple>
auto tuple_args(const Alloc &alloc, Tuple &&all)
{
    return std::apply(
        [&alloc](auto &&...args) {
            return construction_args<T>(alloc,
                                        std::forward<decltype(args)>(args)...);
        },
        std::forward<Tuple>(all));
}

template <class T, class Alloc, class First, class Second>
auto pair_args(const Alloc &alloc, std::piecewise_construct_t, First &&first,
               Second &&second)
{
    return std::make_tuple(
        std::piecewise_construct,
        tuple_args<typename T::first_type>(alloc, std::forward<First>(first)),
        tuple_args<typename T::second_type>(alloc,
                                            std::forward<Second>(second)));
}

/* Is one of these an allocator already? */
template <class Alloc, class... Args>
inline constexpr bool has_allocator_v =
    ((std::is_same_v<std::remove_cv_t<std::remove_reference_t<Args>>,
                     std::allocator_arg_t> ||
      std::is_convertible_v<Args, Alloc>) ||
     ...);

/* A tuple of references, of tuples for a pair. */
template <class T, class Alloc, class... Args>
auto construction_args(const Alloc &alloc, Args &&...args)
{
    if constexpr (is_pair<std::remove_cv_t<T>>::value)
        return pair_args<std::remove_cv_t<T>>(alloc,
                                              std::forward<Args>(args)...);
    else if constexpr (!std::uses_allocator_v<std::remove_cv_t<T>, Alloc>) {
        static_assert(!carries<std::remove_cv_t<T>, Alloc>::value,
                      "drasync: a struct, std::optional, std::array or "
                      "std::variant with containers inside does not say where "
                      "these are to be: give the struct an allocator_type and "
                      "the constructors that docs/cxx.md shows, and put the "
                      "others into such a struct");
        return std::tuple<Args &&...>(std::forward<Args>(args)...);
    } else if constexpr (std::is_constructible_v<T, std::allocator_arg_t,
                                                 const Alloc &, Args...>)
        return std::tuple<std::allocator_arg_t, const Alloc &, Args &&...>(
            std::allocator_arg, alloc, std::forward<Args>(args)...);
    else if constexpr (std::is_constructible_v<T, Args..., const Alloc &>)
        return std::tuple<Args &&..., const Alloc &>(
            std::forward<Args>(args)..., alloc);
    else {
        /* Its members would be allocated where those of the original are, in
         * another region perhaps. */
        static_assert(has_allocator_v<Alloc, Args...>,
                      "drasync: a type with an allocator_type needs, for each "
                      "way in which it is made in a region, a constructor that "
                      "takes the allocator last: T(const T &, const "
                      "allocator_type &) for copies, T(T &&, const "
                      "allocator_type &) for moves");
        return std::tuple<Args &&...>(std::forward<Args>(args)...);
    }
}

} // namespace detail
} // namespace drasync

#endif /* DRASYNC_CONSTRUCT_HPP */
