#!/usr/bin/env bats
#
# Programs in which MPI stands before DRASync in the order of libraries, so that
# MPI_Init is MPI's own and the library does not start there.

load common

setup_file() {
  export program=$abs_top_builddir/tests/programs/link_order
}

@test "the program of these tests has MPI first" {
  run -0 readelf -dW "$program"
  assert_output --regexp "NEEDED[^
]*libmpi.*NEEDED[^
]*libdrasync"
}

@test "the first call says that MPI_Init was not seen, and what to do" {
  DRASYNC_TEST_SECONDS=30 run mpi 2 "$program" call
  refute [ "$status" -eq 124 ]
  assert_line "use: rank 0 DRASYNC_ENOTREADY"
  assert_line --regexp "drasync: rank 0 .*: MPI_Init was not DRASync's"
  assert_line --regexp "drasync: rank 1 .*: MPI_Init was not DRASync's"
  assert_output --partial "mpicc-drasync"
  assert_output --partial "drasync_init"
  # Once each, though each calls twice.
  assert_equal "$(grep -c "MPI_Init was not DRASync's" <<<"$output")" 2
}

@test "the calls of Fig. 1 end the job there" {
  DRASYNC_TEST_SECONDS=30 run mpi 2 "$program" fig1
  refute [ "$status" -eq 0 ]
  refute [ "$status" -eq 124 ]
  assert_output --partial "MPI_Init was not DRASync's"
}

@test "with drasync_init on all ranks such a program runs" {
  run -0 mpi 2 "$program" init
  assert_line "init: rank 1 DRASYNC_OK"
  assert_line "use: rank 0 DRASYNC_OK"
  assert_line "use: rank 1 DRASYNC_OK"
}

@test "one rank alone needs nobody" {
  run -0 mpi 1 "$program" call
  assert_line "use: rank 0 DRASYNC_OK"
}
