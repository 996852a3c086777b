#!/usr/bin/env bats
# The examples in README.md and docs/ compile as printed and do what they say.

load common

setup() {
  cd "$BATS_TEST_TMPDIR"
}

# The Nth block of LANGUAGE in FILE.
block() { # FILE N LANGUAGE
  awk -v wanted="$2" -v begin="\`\`\`$3" '
    $0 == begin { block++; inside = 1; next }
    /^```/ { inside = 0 }
    inside && block == wanted' "$abs_top_srcdir/$1"
}

# The examples of FILE: its Nth block of C, as program NAME.
example() { # FILE N NAME
  block "$1" "$2" c >"$3.c"
  "$abs_top_builddir/mpicc-drasync" -Wall -Wextra -Werror "$3.c" -o "$3"
}

# The same of docs/cxx.md: cxx_example N NAME.
cxx_example() {
  grep -q "^#define HAVE_CXX17 1" "$abs_top_builddir/config.h" ||
    skip "configure found no compiler for C++17"
  block docs/cxx.md "$1" c++ >"$2.cc"
  run -0 "$abs_top_builddir/mpicxx-drasync" -std=c++17 -Wall -Wextra -Werror \
    "$2.cc" -o "$2"
}

@test "the functions of docs/cxx.md run as printed" {
  cxx_example 3 bank
  local nodes
  for nodes in 64 rank; do
    DRASYNC_NODE=$nodes run -0 mpi 2 ./bank
    assert_line "rank 0: 300 cents"
    assert_line "rank 1: 300 cents"
  done
}

@test "the example of docs/cxx.md works as printed" {
  cxx_example 1 index
  local nodes
  for nodes in 64 rank; do
    DRASYNC_NODE=$nodes run -0 mpi 2 ./index
    assert_line "rank 0: tree, 2 lines"
    assert_line "rank 1: tree, 2 lines"
    assert_line "rank 0: graph, 1 lines"
  done
}

@test "README's first program works as printed" {
  example README.md 1 list
  run -0 mpi 2 ./list
  assert_line "rank 0: sum 4950"
  assert_line "rank 1: sum 4950"
}

@test "the example of error codes in docs/guide.md works as printed" {
  example docs/guide.md 1 tree
  run -0 mpi 2 ./tree
  assert_line "rank 0 had the tree"
  assert_line "rank 1 had the tree"
}

@test "the ball of docs/guide.md goes to and fro, on a node and between two" {
  example docs/guide.md 4 ball
  run -0 mpi 2 ./ball
  assert_output "rank 1 hit it last"
  DRASYNC_NODE=rank run -0 mpi 3 ./ball
  assert_output "rank 1 hit it last"
}

@test "the mesh of docs/tutorial.md has one result for any nodes, and nothing to check" {
  example docs/tutorial.md 1 mesh
  run -0 mpi 3 ./mesh
  local expected=$output
  assert_output --regexp "^3 ranks: sum [0-9.]+$"
  DRASYNC_NODE=rank run -0 mpi 3 ./mesh
  assert_output "$expected"
  DRASYNC_CHECK=all run -0 mpi 3 ./mesh
  assert_output "$expected"
}

@test "the ring of docs/managed.md ends by itself, on a node and on several" {
  example docs/managed.md 1 ring
  local nodes
  for nodes in 64 rank; do
    DRASYNC_NODE=$nodes run -0 mpi 3 ./ring
    assert_line "rank 0: sum 3"
    assert_line "rank 2: sum 3"
    assert_line "all have ended"
  done
}
