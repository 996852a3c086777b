/*
 * drasync.hpp - DRASync for C++17 programs: guards, an allocator by which
 * standard containers live in regions, and what may live there.
 *
 *     using index_map = drasync::map<drasync::string, drasync::vector<int>>;
 *
 *     auto [region, hold] = drasync::make_region();
 *     auto &index = drasync::make_root<index_map>(hold);
 *     index[{"tree", hold}].push_back(1);
 *
 * As a region lies at one address on every rank, a container that was built in
 * it by one rank is read by others, and changed by them under WRITE, as it is:
 * nothing is packed or sent by the program.  What must hold:
 *   - The container object itself lies in the region (new_object(),
 *     make_root(), or as an element there), not on a stack: map, list, string
 *     and others have pointers to themselves.
 *   - All that it holds is storable (drasync/storable.hpp), which is looked at
 *     when the program is compiled, as far as a compiler can tell.
 *   - Whoever changes or destroys it has a write_guard of its region; whoever
 *     reads it, a read_guard.
 *   - The ranks run the same program, or at least programs of one compiler,
 *     standard library and set of flags: layouts must agree.
 *   - Containers of different regions are copied or moved element by element,
 *     which assignment does by itself; they are not to be swapped, spliced or
 *     merged, nor do they take each other's node handles.
 *
 * What cannot work, and why, is in docs/cxx.md.  The calls of drasync.h and
 * their rules (threads, order of holds) are the same here.
 */
#ifndef DRASYNC_HPP
#define DRASYNC_HPP

#if __cplusplus < 201703L
#error "drasync.hpp needs C++17: compile with -std=c++17"
#endif

#include "drasync.h"

#include "drasync/allocator.hpp"
#include "drasync/error.hpp"
#include "drasync/give.hpp"
#include "drasync/guard.hpp"
#include "drasync/names.hpp"
#include "drasync/ref.hpp"
#include "drasync/region.hpp"
#include "drasync/run.hpp"
#include "drasync/save.hpp"
#include "drasync/storable.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace drasync
{

/* The containers whose elements lie in a region, as std::pmr has them.  Others
 * take allocator<T> as well. */
template <class T> using vector = std::vector<T, allocator<T>>;

template <class Char, class Traits = std::char_traits<Char>>
using basic_string = std::basic_string<Char, Traits, allocator<Char>>;
using string = basic_string<char>;

/* std::less<>: a reader looks for a drasync::string by a string_view or a
 * literal, without a hold to allocate one under. */
template <class Key, class T, class Compare = std::less<>>
using map = std::map<Key, T, Compare, allocator<std::pair<const Key, T>>>;

template <class Key, class T, class Hash = std::hash<Key>,
          class Equal = std::equal_to<>>
using unordered_map =
    std::unordered_map<Key, T, Hash, Equal, allocator<std::pair<const Key, T>>>;

} // namespace drasync

/* The hash of the characters, the same on every rank; with C++20 also for
 * looking up by a string_view. */
template <> struct std::hash<drasync::string> {
    using is_transparent = void;

    std::size_t operator()(std::string_view s) const noexcept
    {
        return std::hash<std::string_view>()(s);
    }
};

#endif /* DRASYNC_HPP */
