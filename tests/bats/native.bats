#!/usr/bin/env bats
# The API of drasync.h, on one node and on several.

load common

programs=$abs_top_builddir/tests/programs

@test "every misuse gives its error, on one rank" {
  run -0 mpi 1 "$programs/native_contract"
  assert_line "contract ok ranks=1"
}

@test "every misuse gives its error, on 2 and 4 ranks of a node" {
  run -0 mpi 2 "$programs/native_contract"
  assert_line "contract ok ranks=2"
  run -0 mpi 4 "$programs/native_contract"
  assert_line "contract ok ranks=4"
}

@test "lists, subtrees, pinned readers, deletion, reuse and threads on one node" {
  run -0 mpi 1 "$programs/native_stories"
  assert_line "stories ok ranks=1"
  run -0 mpi 4 "$programs/native_stories"
  assert_line "stories ok ranks=4"
}
