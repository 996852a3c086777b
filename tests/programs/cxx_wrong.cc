/*
 * cxx_wrong write|leak|wait|inlined - mistakes with the guards of drasync.hpp: reports
 * are to name the program's lines, and functions as their author wrote them.
 */
#include <cstring>
#include <new>
#include <vector>

#include <mpi.h>

#include "drasync.hpp"

namespace shop
{
template <class T> struct shelf {
    drasync_region_t region;
    T *first;

    __attribute__((noinline)) void put(T value)
    {
        drasync::read_guard guard(region);
        *first = value;
    }
};
} // namespace shop

static shop::shelf<int> shelf;

drasync::read_guard *forgotten; // so its memory is no leak

__attribute__((noinline)) static void forget()
{
    forgotten = new drasync::read_guard(shelf.region);
}

using numbers = std::vector<int, drasync::allocator<int>>;

__attribute__((always_inline)) static inline void fill(numbers &n)
{
    n[0] = 5;
}

static numbers *all;

__attribute__((noinline)) static void fill_all()
{
    fill(*all);
}

/* Of a region without a hold. */
static void write_inlined()
{
    drasync_region_t region;
    void *object;

    drasync_new_region(&region);
    drasync_alloc(region, sizeof(numbers), &object);
    all = new (object) numbers(10, drasync::allocator<int>(region));
    drasync_release(region);
    fill_all();
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "write";
    void *object;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        drasync_new_region(&shelf.region);
        drasync_alloc(shelf.region, sizeof(int), &object);
        shelf.first = static_cast<int *>(object);
        drasync_release(shelf.region);
    }
    MPI_Bcast(&shelf, sizeof(shelf), MPI_BYTE, 0, MPI_COMM_WORLD);
    if (!std::strcmp(what, "write") && rank == 0)
        shelf.put(5);
    if (!std::strcmp(what, "inlined") && rank == 0)
        write_inlined();
    if (!std::strcmp(what, "leak") && rank == 0)
        forget();
    if (!std::strcmp(what, "wait") && rank == 0) {
        drasync::write_guard guard(shelf.region);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Recv(nullptr, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!std::strcmp(what, "wait") && rank == 1) {
        MPI_Barrier(MPI_COMM_WORLD);
        drasync::write_guard guard(shelf.region);
    }
    return MPI_Finalize();
}
