// region_ref and weak_ref: copies, moves, what is given to other ranks, and ends.
#include <drasync.hpp>

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <utility>
#include <vector>

#include "cxx_check.hpp"

static_assert(!drasync::storable_v<drasync::region_ref>);
static_assert(drasync::storable_v<drasync_weak_t>);
static_assert(std::is_nothrow_move_constructible_v<drasync::region_ref>);

namespace
{

drasync::region_ref make(int number)
{
    auto [region, hold] = drasync::make_region();

    drasync::make_root<drasync::vector<int>>(hold).push_back(number);
    drasync::region_ref ref = drasync::manage(hold);
    region.release();
    return ref;
}

int look(const drasync::region_ref &ref)
{
    drasync::read_guard hold(ref.get());

    return drasync::root<drasync::vector<int>>(hold)->front();
}

// The home may have to hear of the last reference first.
void wait_for_end(const drasync::weak_ref &weak)
{
    int there, anywhere;

    do {
        drasync_collect();
        there = weak.lock() ? 1 : 0;
        MPI_Allreduce(&there, &anywhere, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    } while (anywhere);
}

void alone()
{
    drasync::region_ref a = make(1), none;
    drasync::weak_ref weak(a);

    CHECK(a && !none && look(a) == 1);
    {
        drasync::region_ref b = a, c = std::move(a);
        CHECK(!a && b == c && b != none);
        none = b;
        b.reset();
        CHECK(!b && look(none) == 1);
        swap(b, c);
        CHECK(b && !c);
    }
    drasync::region_ref again = weak.lock();
    CHECK(again == none);
    std::vector<drasync::region_ref> many(5, again);
    many.clear();
    again.reset();
    none.reset();
    CHECK(!weak.lock());
    try {
        drasync::region_ref wrong(drasync_region_t{});
        CHECK(!"thrown");
    } catch (const std::system_error &e) {
        CHECK(e.code() == DRASYNC_ENOREGION);
    }
    CHECK(!drasync::weak_ref().lock());
    CHECK(!drasync::weak_ref(drasync::region_ref()).lock());
    try {
        drasync::weak_ref(drasync_weak_t{{1, 2}}).lock();
        CHECK(!"thrown");
    } catch (const std::system_error &e) {
        CHECK(e.code() == DRASYNC_EINVAL);
    }
}

// Each rank changes it and gives it on.
void around()
{
    drasync_region_t handle = nullptr;
    drasync::region_ref ref;
    drasync_weak_t value{};

    if (rank == 0) {
        ref = make(2);
        value = drasync::weak_ref(ref).value();
    } else {
        MPI_Recv(&handle, sizeof(handle), MPI_BYTE, rank - 1, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        ref = drasync::region_ref(handle, drasync::adopt_ref);
    }
    {
        drasync::write_guard hold(ref.get());
        auto &numbers = *drasync::root<drasync::vector<int>>(hold);
        CHECK(static_cast<int>(numbers.size()) == rank + 1);
        numbers.push_back(rank);
    }
    handle = ref.get();
    if (rank + 1 < ranks) {
        std::move(ref).give_to(rank + 1);
        CHECK(!ref);
        MPI_Send(&handle, sizeof(handle), MPI_BYTE, rank + 1, 0,
                 MPI_COMM_WORLD);
    }
    MPI_Bcast(&value, sizeof(value), MPI_BYTE, 0, MPI_COMM_WORLD);
    drasync::region_ref mine = drasync::weak_ref(value).lock();
    CHECK(mine.get() == handle && look(mine) == 2);
    MPI_Barrier(MPI_COMM_WORLD);
    mine.reset();
    ref.reset();
    wait_for_end(drasync::weak_ref(value));
}

} // namespace

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    alone();
    MPI_Barrier(MPI_COMM_WORLD);
    around();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        std::printf("refs ok ranks=%d\n", ranks);
    MPI_Finalize();
    return 0;
}
