#!/usr/bin/env bats
#
# Programs that do not start MPI themselves, and are not linked to it.

load common

setup_file() {
  export program=$abs_top_builddir/tests/programs/first_use
}

@test "the first call starts MPI, and exit ends it" {
  for node in shared rank; do
    DRASYNC_NODE=$node run -0 mpi 2 "$program"
    assert_line "first use: rank 0 of 2, bad 0"
    assert_line "first use: rank 1 of 2, bad 0"
  done
}

@test "without mpirun it is one rank" {
  run -0 "$program"
  assert_line "first use: rank 0 of 1, bad 0"
}

@test "after drasync_finalize calls say so, and exit still ends MPI" {
  for node in shared rank; do
    DRASYNC_NODE=$node run -0 mpi 2 "$program" finalize
    assert_line "first use: rank 1 of 2, bad 0"
  done
}

@test "a child of fork is told that nothing runs there" {
  for node in shared rank; do
    DRASYNC_NODE=$node run -0 mpi 2 "$program" fork
    assert_line "first use: rank 0 of 2, bad 0"
    assert_line "first use: rank 1 of 2, bad 0"
  done
}

@test "the paper's calls end a child of fork, and not the job" {
  for node in shared rank; do
    DRASYNC_NODE=$node run -0 mpi 2 "$program" fork_fig1
    assert_line "first use: rank 0 of 2, bad 0"
    assert_line "first use: rank 1 of 2, bad 0"
    assert_line --partial "a child of fork: only the process that forked"
  done
}

@test "a rank that fails ends the job with its status" {
  DRASYNC_TEST_SECONDS=30 run mpi 2 "$program" fail
  refute [ "$status" -eq 0 ]
  refute [ "$status" -eq 124 ]
}
