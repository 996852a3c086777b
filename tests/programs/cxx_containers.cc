/*
 * Containers in a region against the same containers in each rank: ranks change
 * them in turns by random steps, which all ranks do on their own copies too,
 * and compare.
 *
 *   cxx_containers ROUNDS SEED
 */
#include "native_check.h"

#include "drasync.hpp"

#include <list>
#include <random>

#define STEPS 60

/* With Alloc for a region, or for this rank. */
template <template <class> class Alloc> struct kinds {
    using string = std::basic_string<char, std::char_traits<char>, Alloc<char>>;
    template <class T> using vector = std::vector<T, Alloc<T>>;
    template <class K, class V>
    using map = std::map<K, V, std::less<>, Alloc<std::pair<const K, V>>>;
    template <class K, class V>
    using unordered = std::unordered_map<K, V, std::hash<K>, std::equal_to<>,
                                         Alloc<std::pair<const K, V>>>;
    template <class T> using list = std::list<T, Alloc<T>>;
};

/* All that a region has; its members get the allocator by hand. */
template <template <class> class Alloc> struct store {
    using k = kinds<Alloc>;
    using string = typename k::string;
    using allocator_type = Alloc<char>;

    explicit store(const allocator_type &a)
        : index(a), names(a), log(a), tree(a)
    {
    }

    typename k::template map<string, typename k::template vector<int>> index;
    typename k::template unordered<int, string> names;
    typename k::template list<string> log;
    typename k::template map<
        int, typename k::template map<string, std::pair<string, double>>>
        tree;
};

using shared_store = store<drasync::allocator>;
using own_store = store<std::allocator>;

static_assert(drasync::storable_v<shared_store::string>);
static_assert(!drasync::storable_v<own_store::string>);

/* The same everywhere: no distribution of the library's. */
struct random_words {
    std::mt19937 engine;

    unsigned below(unsigned limit)
    {
        return static_cast<unsigned>(engine()) % limit;
    }

    std::string word()
    {
        std::string s;

        for (unsigned i = below(60) + 1; i > 0; i--)
            s += static_cast<char>('a' + below(3));
        return below(2) ? s : s.substr(0, 2);
    }
};

template <class Store> void step(Store &s, random_words &random)
{
    const auto alloc = s.index.get_allocator();
    const std::string word = random.word();
    const int number = static_cast<int>(random.below(40));
    using string = typename Store::string;

    switch (random.below(8)) {
    case 0:
    case 1:
        s.index[string(word.c_str(), alloc)].push_back(number);
        break;
    case 2:
        if (auto at = s.index.lower_bound(word.c_str()); at != s.index.end())
            s.index.erase(at);
        break;
    case 3:
        s.names[number].append(word.c_str());
        break;
    case 4:
        s.names.erase(number);
        break;
    case 5:
        s.log.emplace_front(word.c_str());
        s.log.splice(s.log.end(), s.log, s.log.begin());
        if (s.log.size() > 20)
            s.log.pop_front();
        break;
    case 6:
        s.tree[number % 5].emplace(word.c_str(),
                                   std::make_pair(word.c_str(), number / 2.0));
        break;
    default:
        if (random.below(10) == 0) {
            s.tree.erase(number % 5);
        } else if (!s.index.empty()) {
            auto &all = s.index.begin()->second;

            all.insert(all.begin(), static_cast<size_t>(number), number);
            all.shrink_to_fit();
        }
    }
}

/* Containers and pairs of both kinds, however nested. */
template <class T> bool same(const T &a, const T &b)
{
    return a == b;
}

static bool same(const shared_store::string &a, const std::string &b)
{
    return std::string_view(a) == b;
}

template <class A, class B, class C, class D>
bool same(const std::pair<A, B> &a, const std::pair<C, D> &b);

template <class A, class B>
auto same(const A &a, const B &b)
    -> decltype(a.begin()->first, b.begin() != b.end())
{
    auto at = b.begin();

    for (auto &x : a)
        if (at == b.end() || !same(x, *at++))
            return false;
    return at == b.end();
}

template <class T, class A, class B>
bool same(const std::vector<T, A> &a, const std::vector<T, B> &b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

template <class A, class B, class C, class D>
bool same(const std::pair<A, B> &a, const std::pair<C, D> &b)
{
    return same(a.first, b.first) && same(a.second, b.second);
}

static void compare(const shared_store &shared, const own_store &own)
{
    CHECK(same(shared.index, own.index));
    CHECK(same(shared.tree, own.tree));
    CHECK(std::equal(shared.log.begin(), shared.log.end(), own.log.begin(),
                     own.log.end(),
                     [](auto &a, auto &b) { return same(a, b); }));
    CHECK(shared.names.size() == own.names.size());
    for (auto &[number, name] : shared.names)
        CHECK(same(name, own.names.at(number)));
}

int main(int argc, char **argv)
{
    drasync_region_t region = nullptr;
    drasync::unique_region owner;
    own_store own{std::allocator<char>()};

    check_start(&argc, &argv);
    const int rounds = argc > 1 ? atoi(argv[1]) : 10;
    random_words random{
        std::mt19937(argc > 2 ? static_cast<unsigned>(atoi(argv[2])) : 1)};
    if (check_rank == 0) {
        auto made = drasync::make_region();

        drasync::make_root<shared_store>(made.hold);
        owner = std::move(made.region);
        region = owner.get();
    }
    check_share(&region, 0);
    for (int round = 0; round < rounds; round++) {
        random_words mine = random;

        for (int i = 0; i < STEPS; i++)
            step(own, random);
        if (round % check_ranks == check_rank) {
            drasync::write_guard hold(region);

            for (int i = 0; i < STEPS; i++)
                step(*drasync::root<shared_store>(hold), mine);
        }
        check_barrier();
        {
            drasync::read_guard hold(region);

            compare(*drasync::root<shared_store>(hold), own);
        }
        check_barrier();
    }
    /* The last rank ends what the first one made. */
    if (check_rank == check_ranks - 1) {
        drasync::write_guard hold(region);
        struct drasync_info info;

        drasync::delete_object(drasync::root<shared_store>(hold));
        OK(drasync_set_root(region, nullptr));
        OK(drasync_get_info(region, &info));
        CHECK(info.used_bytes == 0);
    }
    check_barrier();
    owner.reset();
    return check_end("containers");
}
