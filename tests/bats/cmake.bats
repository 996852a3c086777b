#!/usr/bin/env bats
# find_package(DRASync): programs that CMake builds, whatever order it is given.

load common
load installed

setup_file() {
  ! command -v cmake >/dev/null || installed_at "$BATS_FILE_TMPDIR/the prefix"
}

setup() {
  command -v cmake >/dev/null || skip "cmake is not there"
  installed="$BATS_FILE_TMPDIR/the prefix"
  cd "$BATS_TEST_TMPDIR"
  unset LD_LIBRARY_PATH
  flags=
  for sanitizer in ${DRASYNC_SANITIZERS:-}; do
    flags+=" -fsanitize=$sanitizer"
  done
}

# lists TARGETS...: docs/guide.md's project, with these in place of its libraries.
lists() {
  awk '/^```cmake$/ { inside = 1; next } /^```/ { inside = 0 } inside' \
    "$abs_top_srcdir/docs/guide.md" |
    sed "s/^\(target_link_libraries(app\) .*/\1 $*)/" >CMakeLists.txt
}

# Build app.c in ./build, as users do.
build() {
  local log
  log=$(env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS cmake -S . -B build \
    -DCMAKE_C_COMPILER="${CC%% *}" -DCMAKE_C_FLAGS="$flags" \
    -DMPI_C_COMPILER="$MPICC" -DCMAKE_PREFIX_PATH="$installed" "$@" 2>&1 &&
    env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS cmake --build build 2>&1) || {
    echo "$log"
    return 1
  }
}

# One of our libraries comes first in what the program needs.
ours_first() {
  run -0 readelf -dW build/app
  refute_output --regexp "NEEDED[^
]*libmpi.*NEEDED[^
]*lib(drasync|dart)"
  assert_output --partial libdrasync.so
}

: "${CC:=cc}" "${CXX:=c++}"

@test "a program runs whether MPI or DRASync is named first" {
  cp "$abs_top_srcdir/tests/programs/link_order.c" app.c
  local order
  # The last one alone lets CMake put MPI's file first.
  for order in "MPI::MPI_C DRASync::drasync" "DRASync::drasync MPI::MPI_C" \
    "\${MPI_C_LIBRARIES} DRASync::drasync MPI::MPI_C"; do
    rm -rf build
    lists "$order"
    build
    ours_first
    run -0 mpi 2 build/app call
    assert_line "use: rank 0 DRASYNC_OK"
    assert_line "use: rank 1 DRASYNC_OK"
  done
}

@test "the lines of docs/guide.md are such a project" {
  awk '/^```cmake$/ { inside = 1; next } /^```/ { inside = 0 } inside' \
    "$abs_top_srcdir/docs/guide.md" >CMakeLists.txt
  cp "$abs_top_srcdir/tests/programs/link_order.c" app.c
  build
  run -0 mpi 2 build/app call
  assert_line "use: rank 1 DRASYNC_OK"
}

@test "the lines of docs/guide.md are such a project for C++ and drasync.hpp, too" {
  grep -q "^#define HAVE_CXX17 1" "$abs_top_builddir/config.h" ||
    skip "configure found no compiler for C++17"
  lists MPI::MPI_CXX DRASync::drasync
  sed -i 's/(app C)/(app CXX)/; s/app\.c)/app.cc)/' CMakeLists.txt
  echo 'target_compile_features(app PRIVATE cxx_std_17)' >>CMakeLists.txt
  awk '/^```c\+\+$/ { if (!seen) inside = 1; seen = 1; next }
    /^```/ { inside = 0 } inside' "$abs_top_srcdir/docs/cxx.md" >app.cc
  build -DCMAKE_CXX_COMPILER="${CXX%% *}" -DCMAKE_CXX_FLAGS="$flags" \
    -DMPI_CXX_COMPILER="$MPICXX"
  ours_first
  run -0 mpi 2 build/app
  assert_line "rank 1: tree, 2 lines"
}

@test "a Myrmics program gets DRASync's calls, though it refers to none of MPI's" {
  cat >app.c <<'END'
#include <myrmics.h>
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (sys_get_worker_id() == 1) /* one alone: mpirun mixes lines */
        printf("1 of %d\n", sys_get_num_workers());
    return MPI_Finalize();
}
END
  lists MPI::MPI_C DRASync::myrmics
  build
  ours_first
  run -0 mpi 2 build/app
  assert_line "1 of 2"
}

@test "a DART program gets DRASync's DART" {
  cat >app.c <<'END'
#include <dash/dart/if/dart.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    dart_global_unit_t me;
    if (dart_init(&argc, &argv) || dart_myid(&me))
        return 1;
    if (me.id == 1)
        puts("unit 1");
    return dart_exit();
}
END
  lists MPI::MPI_C DRASync::dart
  build
  ours_first
  run -0 mpi 2 build/app
  assert_line "unit 1"
}

@test "the version is asked for as usual" {
  echo 'int main(void) { return 0; }' >app.c
  lists DRASync::drasync
  sed -i 's/find_package(DRASync/& 0.1/' CMakeLists.txt
  build
  sed -i 's/find_package(DRASync 0.1/find_package(DRASync 7/' CMakeLists.txt
  rm -rf build
  run -1 build
  assert_output --partial "compatible with requested version \"7\""
}
