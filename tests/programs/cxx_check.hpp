// What tests of drasync.hpp on several ranks share: who this is, and CHECK().
#ifndef TESTS_CXX_CHECK_HPP
#define TESTS_CXX_CHECK_HPP

#include <mpi.h>

#include <cstdio>

namespace
{

int rank, ranks;

void check(bool right, const char *what, int line)
{
    if (right)
        return;
    std::fprintf(stderr, "rank %d: line %d: %s\n", rank, line, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

} // namespace

#define CHECK(c) check(c, #c, __LINE__)

#endif
