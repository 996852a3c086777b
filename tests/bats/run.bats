#!/usr/bin/env bats
# Functions that are run where a region is: drasync_run and its like.

load common
load hosts

programs=$abs_top_builddir/tests/programs

setup_file() {
  hosts_up
}

teardown_file() {
  hosts_down
}

@test "functions run in order, answer, allocate and wait, on a node" {
  for n in 1 2 4; do
    run -0 mpi "$n" "$programs/native_run"
    assert_line "run ok ranks=$n"
    assert_line --regexp \
      "^drasync: rank 0 .*: drasync_run: the function is none that drasync_reg"
  done
}

@test "functions run in order, answer, allocate and wait, each rank a node" {
  export DRASYNC_NODE=rank
  for n in 2 4; do
    run -0 mpi "$n" "$programs/native_run"
    assert_line "run ok ranks=$n"
    assert_line --regexp \
      "rank 0 .*runs a function here that this process has not registered"
  done
}

@test "functions run in order, answer, allocate and wait, on nodes of two ranks" {
  DRASYNC_NODE=2 run -0 mpi 4 "$programs/native_run"
  assert_line "run ok ranks=4"
}

@test "functions run in order, answer, allocate and wait, on two hosts" {
  needs_hosts
  for n in 2 4; do
    run -0 hosts_run "$n" "$programs/native_run" --short
    assert_line "run ok ranks=$n"
  done
}

@test "functions that threads run on one region run one at a time" {
  for node in shared rank 2; do
    DRASYNC_NODE=$node run -0 mpi 3 "$programs/native_run_threads"
    assert_output "run_threads ok ranks=3"
  done
}

@test "a rank runs on what it holds, before, meanwhile and after" {
  for node in shared rank 2; do
    DRASYNC_NODE=$node run -0 mpi 3 "$programs/native_run_held"
    assert_output "run held ok ranks=3"
  done
  needs_hosts
  run -0 hosts_run 4 "$programs/native_run_held"
  assert_output "run held ok ranks=4"
}

@test "threads that end, and idle buffers, keep no memory from others" {
  for node in shared rank; do
    DRASYNC_NODE=$node run -0 mpi 2 "$programs/native_run_memory" threads
    assert_output "run memory ok ranks=2"
  done
  # ASan'"'"'s own memory is not in the limit, but the space is small for it.
  DRASYNC_MEMORY=48M run -0 mpi 1 "$programs/native_run_memory" regions
  assert_output "run memory ok ranks=1"
}

@test "what a function may not do is refused with its name" {
  for node in 2 rank; do
    DRASYNC_NODE=$node run -0 mpi 2 "$programs/native_run" --forbidden
    assert_line --partial 'function "misbehave", which drasync_run runs, calls drasync_acquire in '
    assert_line --regexp \
      'calls drasync_acquire in [a-z_]+ \(native_run[a-z_]*\.[ch]:[0-9]+\): it may not wait'
    assert_line --partial 'calls drasync_release in '
    assert_line --partial 'calls drasync_publish in '
    assert_line "run ok ranks=2"
  done
}

@test "who runs on a region whose owner dies is told" {
  for node in 2 rank; do
    for form in run irun ff; do
      DRASYNC_NODE=$node run mpi_rank_dies 2 "$programs/native_run_dies" $form
      refute [ "$status" -eq 124 ]
      assert_line "rank 1: DRASYNC_EPEER"
    done
  done
}

@test "what was not flushed is done in MPI_Finalize, and its error is said" {
  for node in 2 rank; do
    DRASYNC_NODE=$node run -0 mpi 2 "$programs/native_run_dies" left
    assert_line --partial "a function that drasync_run_ff ran returned 5"
    assert_line "rank 0: ran"
  done
}

@test "a function that calls exit ends the job with a line that says so" {
  for node in 2 rank; do
    DRASYNC_NODE=$node run mpi_rank_dies 2 "$programs/native_run_dies" leave
    refute [ "$status" -eq 124 ]
    assert_line --partial "called exit(0) in a function that drasync_run ran"
    refute_output --partial "network between nodes failed"
  done
}

@test "a rank that exits with runs under way does not hang the others" {
  for node in 2 rank; do
    DRASYNC_NODE=$node run mpi_rank_dies 2 "$programs/native_run_dies" exit
    refute [ "$status" -eq 124 ]
  done
}
