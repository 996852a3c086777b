#!/usr/bin/env bats
# The examples in README.md compile as printed and do what it says.

load common

setup() {
  cd "$BATS_TEST_TMPDIR"
}

# The examples of README: the Nth block of C, as program NAME.
example() {
  awk -v wanted="$1" '
    /^```c$/ { block++; inside = 1; next }
    /^```/ { inside = 0 }
    inside && block == wanted' "$abs_top_srcdir/README.md" >"$2.c"
  "$abs_top_builddir/mpicc-drasync" -Wall -Wextra -Werror "$2.c" -o "$2"
}

@test "README's example in C++ works as printed" {
  grep -q "^#define HAVE_CXX17 1" "$abs_top_builddir/config.h" ||
    skip "configure found no compiler for C++17"
  awk '/^```c\+\+$/ { inside = 1; next } /^```/ { inside = 0 } inside' \
    "$abs_top_srcdir/README.md" >index.cc
  run -0 "$abs_top_builddir/mpicxx-drasync" -std=c++17 -Wall -Wextra -Werror \
    index.cc -o index
  local nodes
  for nodes in 64 rank; do
    DRASYNC_NODE=$nodes run -0 mpi 2 ./index
    assert_line "rank 0: tree, 2 lines"
    assert_line "rank 1: tree, 2 lines"
    assert_line "rank 0: graph, 1 lines"
  done
}

@test "README's example of the paper's calls works as printed" {
  example 1 list
  run -0 mpi 2 ./list
  assert_line "rank 0: sum 4950"
  assert_line "rank 1: sum 4950"
}

@test "README's example of the prefixed calls works as printed" {
  example 2 tree
  run -0 mpi 2 ./tree
  assert_line "rank 0 had the tree"
  assert_line "rank 1 had the tree"
}
