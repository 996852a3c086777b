#!/usr/bin/env bats
# The wrappers where make install puts them, and where users move them.

load common
load installed

setup_file() {
  installed_at "$BATS_FILE_TMPDIR/the prefix"
}

setup() {
  installed="$BATS_FILE_TMPDIR/the prefix"
  cd "$BATS_TEST_TMPDIR"
  unset LD_PRELOAD LD_LIBRARY_PATH
  cat >hello.c <<'END'
#include <drasync.h>
#include <mpi.h>
#include <myrmics.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int me, first;
    MPI_Init(&argc, &argv);
    me = first = sys_get_worker_id();
    MPI_Bcast(&first, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (me == sys_get_num_workers() - 1) /* one alone: mpirun mixes lines */
        printf("%d, %d of %d on %s\n", first, me, sys_get_num_workers(),
               drasync_version());
    return MPI_Finalize();
}
END
}

@test "an installed wrapper uses the installed headers and libraries" {
  run -0 "$installed/bin/mpicc-drasync" -show hello.c
  assert_output --partial "-I$installed/include"
  assert_output --partial "$installed/lib/libdrasync.so"
  refute_output --partial "$abs_top_builddir"
}

@test "what an installed wrapper makes runs on its own, on those libraries" {
  "$installed/bin/mpicc-drasync" hello.c -o hello
  run -0 mpi 2 ./hello
  assert_line --regexp "^0, 1 of 2 on [0-9.]+$"
  run -0 ldd ./hello
  assert_line --partial "$installed/lib/libdrasync_shim.so"
  assert_line --partial "$installed/lib/libdrasync.so"
  refute_output --partial "not found"
}

@test "an installed wrapper makes DART programs on the installed library" {
  cat >dart.c <<'END'
#include <dash/dart/if/dart.h>
#include <dash/dart/if/dart_locality.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    dart_global_unit_t me;
    if (dart_init(&argc, &argv) || dart_myid(&me))
        return 1;
    if (me.id == 0) /* mpirun mixes the lines of ranks that print at once */
        puts(dart_initialized() ? "up" : "down");
    return dart_exit();
}
END
  "$installed/bin/mpicc-drasync" --dart dart.c -o dart
  run -0 mpi 2 ./dart
  assert_line up
  run -0 ldd ./dart
  assert_line --partial "$installed/lib/libdart-mpi.so"
  refute_output --partial "not found"
}

@test "an installed wrapper makes C++ programs with drasync.hpp" {
  grep -q "^#define HAVE_CXX17 1" "$abs_top_builddir/config.h" ||
    skip "configure found no compiler for C++17"
  cat >words.cc <<'END'
#include <drasync.hpp>
#include <mpi.h>
#include <cstdio>
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    {
        auto [region, hold] = drasync::make_region();
        drasync::vector<drasync::string> words(2, {"word", hold}, hold);
        if (rank == 1)
            std::printf("%zu of %s\n", words.size(), words[1].c_str());
    }
    return MPI_Finalize();
}
END
  "$installed/bin/mpicxx-drasync" -std=c++17 words.cc -o words
  run -0 mpi 2 ./words
  assert_line "2 of word"
}

@test "pkg-config builds a DART program on the installed library" {
  cat >dart.c <<'END'
#include <dash/dart/if/dart.h>
int main(int argc, char **argv)
{
    return dart_init(&argc, &argv) || dart_exit();
}
END
  local prefix flags
  # Where configure was told, not where the prefix was moved to.
  prefix=$(sed -n 's/^prefix=//p' "$installed/lib/pkgconfig/dart-mpi.pc")
  export PKG_CONFIG_PATH=$installed/lib/pkgconfig
  flags=$(pkg-config --define-variable=prefix=/the-prefix --cflags --libs dart-mpi)
  assert_equal "$(xargs -n 1 <<<"$flags" | sort -u)" \
    "$(printf '%s\n' -I/the-prefix/include -L/the-prefix/lib \
      -ldart-mpi -ldrasync | sort -u)"
  "$MPICC" dart.c -o dart "-I$installed/include" "-L$installed/lib" \
    -ldart-mpi -ldrasync
  LD_LIBRARY_PATH=$installed/lib run -0 unsanitized mpi 2 ./dart
}

@test "an installed wrapper is found through PATH and a symbolic link" {
  mkdir bin
  ln -s "$installed/bin/mpicc-drasync" bin/dcc
  PATH=$PWD/bin:$PATH run -0 dcc hello.c -o hello
  run -0 mpi 1 ./hello
  assert_output --partial "0 of 1 on"
}

@test "a wrapper without its libraries says so" {
  mkdir -p bin
  cp "$installed/bin/mpicc-drasync" bin/
  run -1 ./bin/mpicc-drasync hello.c
  assert_output --regexp "^mpicc-drasync: no drasync.h in .*/include$"
}

@test "the installed programs are real ones and find the libraries beside them" {
  local program
  for program in "$installed"/libexec/drasync/* "$installed"/bin/drasync-*; do
    assert_equal "$(head -c 4 "$program")" $'\x7fELF'
    run -0 "$program" --version
    assert_output --regexp "^${program##*/} [0-9.]+\$"
    run -0 ldd "$program"
    refute_output --partial "not found"
    output=$(grep -E "lib(drasync|myrmics|dart-mpi)" <<<"$output" || true)
    [ "$(grep -cvF "$installed/" <<<"${output:-$installed/}")" = 0 ]
  done
}

@test "installed libraries find those beside them" {
  for library in libdrasync_shim.so libdart-mpi.so; do
    run -0 ldd "$installed/lib/$library"
    assert_line --partial "$installed/lib/libdrasync.so"
  done
}
