/*
 * storable.hpp - storable<T>: may a T lie in a region?  A type may if its bytes
 * mean the same on every rank.
 *
 * What new_object(), make_root() and the elements of containers with
 * drasync::allocator are made of is looked at when the program is compiled.
 * Refused are
 *   - references, pointers to functions and to member functions;
 *   - types with virtual functions: code and vtables lie at other addresses on
 *     each rank;
 *   - containers, strings, smart pointers and handles of the standard library
 *     that keep memory outside of regions or belong to a process: those with
 *     std::allocator, std::pmr's or a stateless allocator, unique_ptr with
 *     default_delete, shared_ptr, function, any, thread, mutexes, futures ...;
 *   - pairs, tuples, arrays, optionals, variants and atomics of these, and
 *     aggregates that have one among their members (the first 64; an array
 *     counts for as many as it has elements).
 *
 * Not seen are the members of a class that has constructors, or private
 * members, or virtual bases without a virtual function; what a lambda captured;
 * and where a pointer points: it must point into regions that whoever follows
 * it holds.
 *
 * A program says what it knows better by a specialisation:
 *
 *     template <> struct drasync::storable<mine> : std::false_type {};
 */
#ifndef DRASYNC_STORABLE_HPP
#define DRASYNC_STORABLE_HPP

#include <any>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <future>
#include <initializer_list>
#include <locale>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace drasync
{
namespace detail
{
template <class T> constexpr bool storable_by_kind() noexcept;
} // namespace detail

template <class T, class Enable = void>
struct storable : std::bool_constant<detail::storable_by_kind<T>()> {
};

template <class T> struct storable<const T> : storable<T> {
};
template <class T> struct storable<volatile T> : storable<T> {
};
template <class T> struct storable<const volatile T> : storable<T> {
};

template <class T> inline constexpr bool storable_v = storable<T>::value;

/* --- The standard library ------------------------------------------------- */

template <class A, class B>
struct storable<std::pair<A, B>>
    : std::bool_constant<storable_v<A> && storable_v<B>> {
};
template <class... T>
struct storable<std::tuple<T...>> : std::bool_constant<(storable_v<T> && ...)> {
};
template <class... T>
struct storable<std::variant<T...>>
    : std::bool_constant<(storable_v<T> && ...)> {
};
template <class T> struct storable<std::optional<T>> : storable<T> {
};
template <class T, std::size_t N>
struct storable<std::array<T, N>> : storable<T> {
};
template <class T> struct storable<std::atomic<T>> : storable<T> {
};

/* They point to this rank's heap, or to code. */
template <class T> struct storable<std::allocator<T>> : std::false_type {
};
template <class T>
struct storable<std::pmr::polymorphic_allocator<T>> : std::false_type {
};
template <class T> struct storable<std::default_delete<T>> : std::false_type {
};
template <class T, class D>
struct storable<std::unique_ptr<T, D>> : storable<D> {
};
template <class T> struct storable<std::shared_ptr<T>> : std::false_type {
};
template <class T> struct storable<std::weak_ptr<T>> : std::false_type {
};
template <class T> struct storable<std::reference_wrapper<T>> : storable<T *> {
};
template <class T> struct storable<std::function<T>> : std::false_type {
};
template <> struct storable<std::any> : std::false_type {
};
template <class T> struct storable<std::initializer_list<T>> : std::false_type {
};
template <> struct storable<std::error_code> : std::false_type {
};
template <> struct storable<std::error_condition> : std::false_type {
};
template <> struct storable<std::exception_ptr> : std::false_type {
};
template <> struct storable<std::locale> : std::false_type {
};

/* They are of one process. */
template <> struct storable<std::thread> : std::false_type {
};
template <> struct storable<std::thread::id> : std::false_type {
};
template <> struct storable<std::mutex> : std::false_type {
};
template <> struct storable<std::timed_mutex> : std::false_type {
};
template <> struct storable<std::recursive_mutex> : std::false_type {
};
template <> struct storable<std::recursive_timed_mutex> : std::false_type {
};
template <> struct storable<std::shared_mutex> : std::false_type {
};
template <> struct storable<std::shared_timed_mutex> : std::false_type {
};
template <> struct storable<std::once_flag> : std::false_type {
};
template <> struct storable<std::condition_variable> : std::false_type {
};
template <> struct storable<std::condition_variable_any> : std::false_type {
};
template <class T> struct storable<std::promise<T>> : std::false_type {
};
template <class T> struct storable<std::future<T>> : std::false_type {
};
template <class T> struct storable<std::shared_future<T>> : std::false_type {
};
template <class T> struct storable<std::packaged_task<T>> : std::false_type {
};

namespace detail
{

/* --- Types that tell what they are made of -------------------------------- */

/* Its allocator means a region: it is storable, and it has a state. */
template <class T, class = void> struct allocator_storable : std::true_type {
};
template <class T>
struct allocator_storable<T, std::void_t<typename T::allocator_type>>
    : std::bool_constant<storable_v<typename T::allocator_type> &&
                         !std::allocator_traits<typename T::allocator_type>::
                             is_always_equal::value> {
};

/* What an ordered or a hashed container keeps besides. */
template <class T, class = void> struct compare_storable : std::true_type {
};
template <class T>
struct compare_storable<T, std::void_t<typename T::key_compare>>
    : storable<typename T::key_compare> {
};
template <class T, class = void> struct hash_storable : std::true_type {
};
template <class T>
struct hash_storable<T, std::void_t<typename T::hasher, typename T::key_equal>>
    : std::bool_constant<storable_v<typename T::hasher> &&
                         storable_v<typename T::key_equal>> {
};

/* Container adaptors, and what has strings inside: std::filesystem::path,
 * std::basic_regex. */
template <class T, class = void> struct inner_storable : std::true_type {
};
template <class T>
struct inner_storable<T, std::void_t<typename T::container_type>>
    : storable<typename T::container_type> {
};
template <class T, class = void> struct string_storable : std::true_type {
};
template <class T>
struct string_storable<T, std::void_t<typename T::string_type>>
    : storable<typename T::string_type> {
};

/* The copy-on-write string of libstdc++'s old ABI keeps its empty value in the
 * library, and counts references. */
template <class T> struct cow_string : std::false_type {
};
#if defined(_GLIBCXX_USE_CXX11_ABI) && !_GLIBCXX_USE_CXX11_ABI
template <class C, class Traits, class A>
struct cow_string<std::basic_string<C, Traits, A>> : std::true_type {
};
#endif

/* --- Members of an aggregate ---------------------------------------------- */

/*
 * T{any, any, bad, any} is well-formed if the third member of the aggregate T
 * can be made from something that is not storable, which a member is whose own
 * type that is.  `nothing` converts to nothing: a member that can be made of it
 * takes everything, and is none that could be told.
 */
struct any {
    template <class U> operator U() &&noexcept;
    template <class U> operator U &() const &noexcept; /* for references */
};

template <class T, class U>
using if_bad = std::enable_if_t<
    std::conjunction_v<std::negation<std::is_same<std::remove_cv_t<U>, T>>,
                       std::negation<storable<U>>>>;

template <class T> struct bad {
    template <class U, class = if_bad<T, U>> operator U() &&noexcept;
    template <class U, class = if_bad<T, U>> operator U &() const &noexcept;
};

/* For references: to what is not const, and to what is. */
struct lvalue_only {
    template <class U> operator U &() const noexcept;
};
struct value_only {
    template <class U> operator U() const noexcept;
};
struct const_only {
    template <class U, class = std::enable_if_t<std::is_const_v<U>>>
    operator U &() const noexcept;
};

struct nothing {
};

/* That a constructor takes `any` itself is what `nothing` is there for. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"

template <std::size_t> using any_at = any;

template <class T, class Probe, class Before, class After, class = void>
struct made_with : std::false_type {
};
template <class T, class Probe, std::size_t... Before, std::size_t... After>
struct made_with<T, Probe, std::index_sequence<Before...>,
                 std::index_sequence<After...>,
                 std::void_t<decltype(
                     T{std::declval<any_at<Before>>()..., std::declval<Probe>(),
                       std::declval<any_at<After>>()...})>> : std::true_type {
};

inline constexpr std::size_t members_max = 64;

/* How many of its members, with an array's each for itself; at most
 * members_max. */
template <class T, std::size_t N> constexpr std::size_t members() noexcept
{
    if constexpr (N == 0)
        return 0;
    else if constexpr (made_with<T, any, std::make_index_sequence<N - 1>,
                                 std::index_sequence<>>::value)
        return N;
    else
        return members<T, N - 1>();
}

template <class T, class Probe, std::size_t N, std::size_t At>
inline constexpr bool takes =
    made_with<T, Probe, std::make_index_sequence<At>,
              std::make_index_sequence<N - At - 1>>::value;

template <class T, std::size_t N, std::size_t At>
constexpr bool member_refused() noexcept
{
    if constexpr (takes<T, nothing, N, At>)
        return false;
    else if constexpr (takes<T, bad<T>, N, At>)
        return true;
    else if constexpr (takes<T, const_only, N, At>)
        return true;
    else
        return takes<T, lvalue_only, N, At> && !takes<T, value_only, N, At>;
}

template <class T, std::size_t N, std::size_t... At>
constexpr bool any_refused(std::index_sequence<At...>) noexcept
{
    return (member_refused<T, N, At>() || ...);
}

/* A member has at least a byte, or it has nothing to tell. */
template <class T> constexpr std::size_t members_of() noexcept
{
    return members < T, sizeof(T) < members_max ? sizeof(T) : members_max > ();
}

template <class T> constexpr bool members_storable() noexcept
{
    constexpr std::size_t n = members_of<T>();

    return !any_refused<T, n>(std::make_index_sequence<n>());
}

#pragma GCC diagnostic pop

/* --- The answer, and the message ------------------------------------------ */

template <class T>
inline constexpr bool code_pointer =
    std::is_function_v<std::remove_pointer_t<T>> ||
    std::is_member_function_pointer_v<T>;

template <class T> constexpr bool class_storable() noexcept
{
    if constexpr (std::is_polymorphic_v<T>)
        return false;
    else if constexpr (!allocator_storable<T>::value ||
                       !compare_storable<T>::value ||
                       !hash_storable<T>::value || !inner_storable<T>::value ||
                       !string_storable<T>::value || cow_string<T>::value)
        return false;
    else if constexpr (std::is_aggregate_v<T> && !std::is_union_v<T>)
        return members_storable<T>();
    else
        return true;
}

template <class T> constexpr bool storable_by_kind() noexcept
{
    if constexpr (std::is_void_v<T> || std::is_reference_v<T> ||
                  code_pointer<T>)
        return false;
    else if constexpr (std::is_array_v<T>)
        return storable_v<std::remove_all_extents_t<T>>;
    else if constexpr (std::is_class_v<T>)
        return class_storable<T>();
    else
        return true;
}

/* Stop the compiler with a reason, at the part of T that is to blame. */
template <class T> struct require_storable {
    static constexpr bool ok = storable_v<T>;
    static constexpr bool has_virtual = std::is_polymorphic_v<T>;
    static constexpr bool elsewhere = !allocator_storable<T>::value;

    static_assert(ok || !std::is_reference_v<T>,
                  "drasync: a reference cannot live in a region; a pointer to "
                  "something in a region can");
    static_assert(ok || !code_pointer<T>,
                  "drasync: a pointer to a function cannot live in a region: "
                  "code lies at other addresses on each rank");
    static_assert(ok || !has_virtual,
                  "drasync: a type with virtual functions cannot live in a "
                  "region: its vtable lies at another address on each rank");
    static_assert(ok || !elsewhere,
                  "drasync: this container or string keeps its elements on "
                  "the heap of one rank; give it drasync::allocator, as "
                  "drasync::vector and drasync::string have it");
    static_assert(ok || std::is_reference_v<T> || code_pointer<T> ||
                      has_virtual || elsewhere,
                  "drasync: this type, or a part or member of it, cannot live "
                  "in a region: it means something on one rank only "
                  "(drasync/storable.hpp lists what does; specialise "
                  "drasync::storable for a type that can)");
    static constexpr bool value = ok;
};

template <class T> struct require_storable<const T> : require_storable<T> {
};
template <class A, class B> struct require_storable<std::pair<A, B>> {
    static constexpr bool value =
        require_storable<A>::value && require_storable<B>::value;
};
template <class T, std::size_t N>
struct require_storable<T[N]> : require_storable<T> {
};

} // namespace detail
} // namespace drasync

#endif /* DRASYNC_STORABLE_HPP */
