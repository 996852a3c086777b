// Regions that are given, named, saved and linked, and functions that run where
// a region is, in the forms of drasync.hpp.  The argument is a file to write.
#include <drasync.hpp>

#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <utility>

#include "cxx_check.hpp"

static_assert(std::is_nothrow_move_constructible_v<drasync::pending<int>>);
static_assert(!std::is_copy_constructible_v<drasync::pending<void>>);
static_assert(!drasync::storable_v<drasync::pending<int>>);

namespace
{

using namespace std::chrono_literals;
using numbers = drasync::vector<int>;

// That @call throws @error.
template <class Call, class Error>
void throws(Call &&call, Error error, int line)
{
    try {
        call();
    } catch (const std::system_error &e) {
        check(e.code() == error, e.what(), line);
        return;
    }
    check(false, "nothing was thrown", line);
}

#define THROWS(error, call) throws([&] { call; }, error, __LINE__)

void barrier()
{
    MPI_Barrier(MPI_COMM_WORLD);
}

drasync::made_region make(int number)
{
    auto made = drasync::make_region();

    drasync::make_root<numbers>(made.hold).push_back(number);
    return made;
}

/* --- Given and taken ------------------------------------------------------ */

// Round the ring once: each rank gives to the next, and gives on what it took.
void gifts()
{
    const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    drasync::made_region mine = make(rank);

    CHECK(!drasync::take_for(0s).region);
    barrier();
    drasync::give(std::move(mine), next, 5);
    CHECK(!mine.region && !mine.hold && !mine.hold.region());
    for (int step = 1; step < ranks; step++) {
        drasync_gift gift{};
        auto [region, hold] = drasync::take(before, 5, &gift);

        CHECK(gift.from == before && gift.tag == 5);
        CHECK(region && hold.owns_lock() && hold.region() == region.get());
        drasync::root<numbers>(hold)->push_back(rank);
        drasync::give(std::move(region), std::move(hold), next, 5);
        CHECK(!region && !hold);
    }
    auto [region, hold] = drasync::take_for(1h);
    CHECK(region.get() != nullptr);
    const numbers &all = *drasync::root<numbers>(hold);
    CHECK(static_cast<int>(all.size()) == ranks);
    for (int i = 0; i < ranks; i++)
        CHECK(all[static_cast<std::size_t>(i)] == (rank + i) % ranks);
    barrier();
}

void not_given()
{
    auto [region, hold] = make(1);
    auto other = make(2);

    THROWS(DRASYNC_EINVAL, drasync::give(std::move(hold), ranks));
    CHECK(region && hold.owns_lock());
    THROWS(DRASYNC_EINVAL,
           drasync::give(std::move(other.region), std::move(hold), rank));
    CHECK(other.region && hold.owns_lock());
    hold.unlock();
    THROWS(DRASYNC_ENOTHELD,
           drasync::give(std::move(region), std::move(hold), rank));
    CHECK(region && hold.region() == region.get());
    THROWS(DRASYNC_EINVAL, drasync::take(ranks));
}

/* --- Names, files, links -------------------------------------------------- */

void names()
{
    CHECK(drasync::lookup_for("nobody's", 0s) == nullptr);
    barrier();
    auto [region, hold] = make(7);
    if (rank == 0)
        drasync::publish("numbers", region.get());
    hold.unlock();
    {
        drasync::read_guard reading(drasync::lookup("numbers"));

        CHECK(drasync::root<numbers>(reading)->front() == 7);
        CHECK((reading.region() == region.get()) == (rank == 0));
        CHECK(drasync::lookup_for("numbers", 1h) == reading.region());
        THROWS(DRASYNC_EEXIST, drasync::publish("numbers", region.get()));
    }
    THROWS(DRASYNC_EINVAL, drasync::lookup(""));
    barrier();
}

void files(const char *path)
{
    drasync_region_t before = nullptr;

    if (rank == 0) {
        auto [region, hold] = make(9);

        drasync::save(region.get(), path);
        before = region.get();
        drasync::root<numbers>(hold)->push_back(10);
        THROWS(DRASYNC_EFILE, drasync::save(region.get(), "/nowhere/at all"));
    }
    barrier();
    if (rank == 0) {
        auto [region, hold] = drasync::load(path);

        CHECK(region.get() == before && hold.owns_lock());
        numbers &all = *drasync::root<numbers>(hold);
        CHECK(all.size() == 1 && all[0] == 9);
        all.push_back(10);
        THROWS(DRASYNC_ETAKEN, drasync::load(path));
        std::remove(path);
        THROWS(DRASYNC_EFILE, drasync::load(path));
    }
    barrier();
}

void links()
{
    auto from = make(1), to = make(2);
    drasync::region_ref holder = drasync::manage(from.hold);
    drasync::weak_ref weak;
    {
        drasync::region_ref linked = drasync::manage(to.hold);

        weak = drasync::weak_ref(linked);
        drasync::link(from.hold, linked.get());
    }
    to.region.release();
    to.hold.unlock();
    drasync_collect();
    CHECK(weak.lock().get() != nullptr);
    drasync::unlink(from.hold, weak.lock().get());
    THROWS(DRASYNC_EINVAL, drasync::unlink(from.hold, from.region.get()));
    drasync_collect();
    CHECK(!weak.lock());
    from.region.release();
}

/* --- Functions ------------------------------------------------------------ */

struct entry {
    int from;
    char size; // so that 3 bytes are left over
};

struct odd {
    unsigned char byte[3];
};

struct range {
    int least, most;
    std::size_t count;

    range(int a, int b, std::size_t n) : least(a), most(b), count(n)
    {
    }
};

numbers &of(drasync_region_t region)
{
    return *drasync::root<numbers>(region);
}

long add(drasync_region_t region, const entry &e)
{
    of(region).push_back(e.from + e.size);
    return static_cast<long>(of(region).size());
}

void clear(drasync_region_t region) noexcept
{
    of(region).clear();
}

range look(drasync_region_t region)
{
    range r(1 << 30, -1, of(region).size());

    for (int n : of(region)) {
        r.least = n < r.least ? n : r.least;
        r.most = n > r.most ? n : r.most;
    }
    return r;
}

void add_all(drasync_region_t region, const drasync::arguments<odd> &all)
{
    CHECK(all.size() > 0);
    CHECK(all[all.size() - 1].byte[2] == 9 && !(all.begin() == all.end()));
    for (const odd &o : all)
        of(region).push_back(o.byte[0] + o.byte[1]);
}

// Errors of DRASync's, by any name.
int fails(drasync_region_t region, int how)
{
    if (how == 1)
        throw drasync::bad_alloc(DRASYNC_ENOMEM);
    if (how == 2)
        drasync::check(DRASYNC_EBUSY, "fails");
    if (how == 3)
        drasync::write_guard hold(region);
    return how;
}

[[noreturn]] void wrong(drasync_region_t)
{
    throw std::system_error(std::make_error_code(std::errc::io_error),
                            "an error of the program's own");
}

int by_int(drasync_region_t, int n)
{
    return n;
}

int by_long(drasync_region_t, long n)
{
    return static_cast<int>(n);
}

long answers_long(drasync_region_t, int n)
{
    return n;
}

const drasync::function<add> add_there("add");
const drasync::function<clear> clear_there("clear");
const drasync::function<look> look_there("look");
const drasync::batch_function<add_all> add_all_there("add all");
const drasync::function<fails> fails_there("fails");
const drasync::function<wrong> wrong_there("wrong");

void functions(drasync_region_t region)
{
    long last = 0;

    for (int i = 0; i < 50; i++) {
        const long count = add_there.run(region, {rank, 100});

        CHECK(count > last);
        last = count;
    }
    barrier();
    range r = look_there.run(region, DRASYNC_READ);
    CHECK(r.least == 100 && r.most == 99 + ranks);
    CHECK(r.count == static_cast<std::size_t>(50 * ranks));
    barrier();
    if (rank == 0)
        clear_there.run(region);
    barrier();
    for (int i = 0; i < 500; i++)
        add_all_there.run_ff(region,
                             {{static_cast<unsigned char>(rank), 1, 9}});
    add_there.run_ff(region, {0, 1});
    add_all_there.run(region, {{200, 20, 9}});
    drasync::run_flush();
    barrier();
    r = look_there.run(region);
    CHECK(r.least == 1 && r.most == 220);
    CHECK(r.count == static_cast<std::size_t>(502 * ranks));
    barrier();
}

void later(drasync_region_t region)
{
    drasync::pending<long> none, answer = add_there.irun(region, {1, 1});

    CHECK(answer.valid() && !none.valid() && none.wait_for(0s));
    none = std::move(answer);
    CHECK(!answer.valid() && none.wait_for(1h) && none.valid());
    CHECK(none.get() > 0 && !none.valid());
    THROWS(std::errc::operation_not_permitted, none.get());
    drasync::pending<void> cleared = clear_there.irun(region);
    while (!cleared.wait_for(1us))
        ;
    cleared.get();
    {
        auto forgotten = add_there.irun(region, {2, 2});
    }
    auto failed = fails_there.irun(region, 2);
    THROWS(DRASYNC_EBUSY, failed.get());
    barrier();
    drasync::run_flush();
    barrier();
}

void errors(drasync_region_t region)
{
    CHECK(fails_there.run(region, 7) == 7);
    THROWS(DRASYNC_ENOMEM, fails_there.run(region, 1));
    THROWS(DRASYNC_EBUSY, fails_there.run(region, 2));
    fails_there.run_ff(region, 2);
    THROWS(DRASYNC_EBUSY, drasync::run_flush());
    drasync::run_flush();
    THROWS(DRASYNC_ERUNNING, fails_there.run(region, 3));
    THROWS(DRASYNC_ENOREGION, add_there.run(nullptr, {1, 1}));
    THROWS(DRASYNC_EINVAL, drasync::function<by_int>(""));
    THROWS(DRASYNC_EEXIST, drasync::function<by_int>("add"));
    barrier();
}

// One name, and other types, on ranks of several nodes.
void types(drasync_region_t region)
{
    struct drasync_stats stats;

    drasync::check(drasync_get_stats(&stats), "stats");
    if (rank == 0) {
        const drasync::function<by_int> first("types"), second("answers");
    }
    barrier();
    if (rank > 0 && stats.nodes == ranks) {
        const drasync::function<by_long> first("types");
        const drasync::function<answers_long> second("answers");

        THROWS(DRASYNC_EINVAL, first.run(region, 1L));
        THROWS(DRASYNC_EINVAL, second.run(region, 1));
    }
    barrier();
}

} // namespace

int main(int argc, char **argv)
{
    drasync_region_t shared = nullptr;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    gifts();
    not_given();
    names();
    files(argv[1]);
    links();
    drasync::unique_region mine;
    if (rank == 0) {
        mine = make(0).region;
        shared = mine.get();
        clear_there.run(shared);
    }
    MPI_Bcast(&shared, sizeof(shared), MPI_BYTE, 0, MPI_COMM_WORLD);
    functions(shared);
    later(shared);
    errors(shared);
    types(shared);
    if (argc > 2 && rank == ranks - 1)
        wrong_there.run(shared);
    barrier();
    mine.reset();
    if (rank == 0)
        std::printf("calls ok ranks=%d\n", ranks);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
