/*
 * drasync::allocator, region_resource, new_object and root: what they allocate,
 * what they hand on, and what each wrong use throws.
 *
 *   cxx_allocator          all of that
 *   cxx_allocator WHAT     one mistake that ends the job (tests/bats/cxx.bats)
 */
#include "native_check.h"

#include "drasync.hpp"

#include <deque>
#include <list>
#include <scoped_allocator>
#include <set>

using drasync::read_guard;
using drasync::write_guard;

/* 48 characters: no string keeps them in itself. */
#define LONG "a word that is too long for a string to keep it."

template <class Exception, class Call> static bool throws(Call call)
{
    try {
        call();
    } catch (const Exception &) {
        return true;
    }
    return false;
}

template <class Call> static bool throws_code(int code, Call call)
{
    try {
        call();
    } catch (const std::system_error &e) {
        return e.code() == drasync::make_error_code(code);
    }
    return false;
}

static bool inside(const void *ptr, drasync_region_t region)
{
    drasync_region_t found;

    return !drasync_region_of(ptr, &found) && found == region;
}

static void refusals()
{
    auto [owner, hold] = drasync::make_region();
    drasync::allocator<int> ints(hold);
    drasync::allocator<char> none{drasync_region_t()};

    CHECK(throws<std::bad_array_new_length>(
        [&ints = ints] { ints.allocate(SIZE_MAX / 2); }));
    CHECK(throws<std::bad_array_new_length>([&hold = hold] {
        (void)drasync::region_resource(hold).allocate(SIZE_MAX - 64, 4096);
    }));
    CHECK(throws<std::bad_alloc>([&hold = hold] {
        drasync::allocator<char>(hold).allocate(SIZE_MAX / 2);
    }));
    CHECK(throws_code(DRASYNC_ENOREGION, [&none] { none.allocate(1); }));

    drasync::vector<int> numbers(3, 7, hold);
    hold.unlock();
    CHECK(throws_code(DRASYNC_ENOTHELD, [&ints = ints] { ints.allocate(1); }));
    CHECK(throws_code(DRASYNC_ENOTHELD, [&numbers] { numbers.push_back(1); }));
    {
        read_guard reading(owner.get());

        CHECK(throws_code(DRASYNC_ENOTHELD,
                          [&numbers] { numbers.push_back(1); }));
        CHECK(throws_code(DRASYNC_ENOTHELD,
                          [&numbers] { drasync::vector<int> copy(numbers); }));
        CHECK(throws_code(DRASYNC_ENOTHELD, [&owner = owner] {
            drasync::make_root<int>(owner.get(), 1);
        }));
        CHECK(!drasync::root<int>(reading));
    }
    CHECK(throws_code(DRASYNC_ENOTHELD,
                      [&owner = owner] { drasync::root<int>(owner.get()); }));
    CHECK(numbers.size() == 3 && numbers[2] == 7);
    hold.lock();
    numbers.push_back(8);

    const drasync_region_t r = owner.get();
    numbers = drasync::vector<int>(hold);
    numbers.shrink_to_fit();
    owner.reset();
    hold.release();
    CHECK(throws_code(DRASYNC_ENOREGION,
                      [r] { drasync::allocator<int>(r).allocate(1); }));
}

static void alignments()
{
    auto [owner, hold] = drasync::make_region();
    drasync::region_resource resource(hold);
    struct drasync_info before, after;

    OK(drasync_get_info(owner.get(), &before));
    for (size_t align = 1; align <= 65536; align *= 2)
        for (size_t bytes : {size_t(0), size_t(1), size_t(100), align}) {
            void *ptr = resource.allocate(bytes, align);

            CHECK((uintptr_t)ptr % align == 0);
            CHECK(inside(ptr, owner.get()));
            memset(ptr, 1, bytes);
            resource.deallocate(ptr, bytes, align);
        }
    struct alignas(128) wide {
        char c;
    };
    auto *object = drasync::new_object<drasync::vector<wide>>(hold, size_t(9));
    CHECK((uintptr_t)object->data() % 128 == 0);
    drasync::delete_object(object);
    drasync::delete_object<wide>(nullptr);
    OK(drasync_get_info(owner.get(), &after));
    CHECK(before.used_bytes == after.used_bytes);
}

/* A constructor throws: nothing is left. */
struct refuses {
    explicit refuses(int)
    {
        throw 5;
    }
    int x;
};

static void objects()
{
    auto [owner, hold] = drasync::make_region();
    struct drasync_info before, after;

    OK(drasync_get_info(owner.get(), &before));
    CHECK(throws<int>([&h = hold] { drasync::new_object<refuses>(h, 1); }));
    CHECK(throws<int>([&h = hold] { drasync::make_root<refuses>(h, 1); }));
    OK(drasync_get_info(owner.get(), &after));
    CHECK(before.used_bytes == after.used_bytes);

    auto &word = drasync::make_root<drasync::string>(hold, LONG);
    CHECK(inside(&word, owner.get()) && inside(word.data(), owner.get()));
    CHECK(drasync::root<drasync::string>(hold) == &word);
    static_assert(
        std::is_same_v<decltype(drasync::root<int>(std::declval<read_guard>())),
                       const int *>);
}

/* Elements get the region, however they are put in. */
static void nesting()
{
    using words = drasync::vector<drasync::string>;
    using pairs = std::pair<drasync::string, std::pair<drasync::string, words>>;
    auto [owner, hold] = drasync::make_region();
    auto all_inside = [r = owner.get()](const auto &s) {
        CHECK(s.get_allocator().region() == r && inside(s.data(), r));
        return true;
    };

    auto &map =
        *drasync::new_object<drasync::map<drasync::string, words>>(hold);
    map[{LONG, hold}].emplace_back(LONG);
    map.emplace(LONG "2", 3);
    map.emplace(std::piecewise_construct, std::make_tuple(LONG "3"),
                std::make_tuple(size_t(1), drasync::string(LONG, hold)));
    map.try_emplace({LONG "4", hold}, size_t(2));
    CHECK(map.size() == 4 && map.find(LONG)->second[0] == LONG);
    for (auto &[key, value] : map) {
        all_inside(key);
        all_inside(value);
        for (auto &s : value)
            CHECK(inside(s.data(), owner.get()));
    }
    CHECK(map.find(LONG "3")->second[0] == LONG);

    auto &nested = *drasync::new_object<drasync::vector<pairs>>(hold);
    nested.emplace_back(LONG, std::make_pair(LONG, size_t(2)));
    nested.emplace_back(
        std::pair<const char *, std::pair<const char *, int>>(LONG, {LONG, 1}));
    nested.emplace_back(nested[0]);
    nested.emplace_back(std::move(nested[0]));
    nested.resize(5);
    for (int i = 1; i < 4; i++) {
        all_inside(nested[(size_t)i].first);
        all_inside(nested[(size_t)i].second.first);
        all_inside(nested[(size_t)i].second.second);
    }

    auto &hashed = *drasync::new_object<
        drasync::unordered_map<drasync::string, drasync::string>>(hold);
    for (int i = 0; i < 100; i++)
        hashed.emplace(LONG + std::to_string(i), LONG);
    for (auto &[key, value] : hashed)
        all_inside(key) && all_inside(value);
    CHECK(hashed.count(drasync::string(LONG "42", hold)) == 1);

    /* Other containers, and the standard's own way to nest. */
    auto &list = *drasync::new_object<
        std::list<drasync::string, drasync::allocator<drasync::string>>>(hold);
    list.emplace_back(LONG);
    all_inside(list.front());
    auto &deque = *drasync::new_object<
        std::deque<drasync::string, drasync::allocator<drasync::string>>>(hold);
    deque.emplace_front(LONG);
    all_inside(deque.front());
    using scoped_word = std::basic_string<
        char, std::char_traits<char>,
        std::scoped_allocator_adaptor<drasync::allocator<char>>>;
    using scoped =
        std::map<int, scoped_word, std::less<>,
                 std::scoped_allocator_adaptor<
                     drasync::allocator<std::pair<const int, scoped_word>>>>;
    auto &adapted = *drasync::new_object<scoped>(hold);
    adapted[1] = LONG;
    adapted.emplace(2, LONG);
    all_inside(adapted[1]);
    all_inside(adapted[2]);
}

/* Assignment between regions copies; each keeps its own. */
static void two_regions()
{
    auto [owner, hold] = drasync::make_region();
    auto [other, other_hold] = drasync::make_region();
    auto &a = *drasync::new_object<drasync::vector<drasync::string>>(hold);
    auto &b =
        *drasync::new_object<drasync::vector<drasync::string>>(other_hold);

    a.emplace_back(LONG);
    b = a;
    CHECK(inside(b[0].data(), other.get()) && b[0] == LONG);
    b.emplace_back(LONG "2");
    a = std::move(b);
    CHECK(a.size() == 2 && a[1] == LONG "2" &&
          inside(a[1].data(), owner.get()));
    CHECK(a.get_allocator() == drasync::allocator<int>(hold));
    CHECK(a.get_allocator() != b.get_allocator());
    drasync::vector<drasync::string> copy(a, other_hold);
    CHECK(inside(copy[1].data(), other.get()));
}

static void resources()
{
    auto [owner, hold] = drasync::make_region();
    drasync::region_resource resource(hold), same(owner.get());
    std::pmr::vector<std::pmr::string> words(&resource);

    words.emplace_back(LONG);
    CHECK(inside(words[0].data(), owner.get()));
    CHECK(resource == same && resource.region() == owner.get());
    CHECK(resource != *std::pmr::new_delete_resource());
}

/* One mistake; see tests/bats/cxx.bats. */
static void mistake(const char *what)
{
    auto [owner, hold] = drasync::make_region();
    auto *word = drasync::new_object<drasync::string>(hold, LONG);

    if (!strcmp(what, "unheld")) {
        hold.unlock();
        word->~basic_string();
    }
    if (!strcmp(what, "twice")) {
        drasync::allocator<int> ints(hold);
        int *number = ints.allocate(1);

        ints.deallocate(number, 1);
        ints.deallocate(number, 1);
    }
    if (!strcmp(what, "uncaught")) {
        hold.unlock();
        word->append(LONG);
    }
    if (!strcmp(what, "busy")) {
        drasync_region_t r = owner.get();

        hold.unlock();
        check_share(&r, 0);
        if (check_rank == 1)
            OK(drasync_acquire(r, DRASYNC_READ));
        check_barrier();
        if (check_rank == 0)
            owner = drasync::unique_region(); /* deletes what it had */
        check_barrier();
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    if (argc > 1) {
        mistake(argv[1]);
        return check_end(argv[1]);
    }
    refusals();
    alignments();
    objects();
    nesting();
    two_regions();
    resources();
    return check_end("allocator");
}
