# Both come from mpicc-drasync.in, which configure knows of.
bin_SCRIPTS += mpicc-drasync mpicxx-drasync

EXTRA_DIST += tests/bats/wrappers.bats tests/bats/wrappers-installed.bats
TESTS += tests/bats/wrappers.bats

# For find_package(DRASync) of CMake.
cmakedir = $(libdir)/cmake/DRASync
cmake_DATA = DRASyncConfigVersion.cmake
dist_cmake_DATA = wrappers/DRASyncConfig.cmake
EXTRA_DIST += tests/bats/cmake.bats
install_tests += tests/bats/wrappers-installed.bats tests/bats/cmake.bats
