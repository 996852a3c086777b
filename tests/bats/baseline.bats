#!/usr/bin/env bats
# The message-passing baseline: what legacy programs count on, and its errors.

load common

semantics=$abs_top_builddir/myrmics_semantics

# fails SCENARIO WORDS...: the job ends, and says where and what.
fails() {
  local scenario=$1
  shift
  run mpi 3 "$semantics" "$scenario"
  assert_failure
  refute_output --partial "ok $scenario"
  assert_output --regexp \
    "Core 1: Error: .*$*.* \[.*myrmics_errors\.c:[0-9]+\]"
}

@test "region data behaves as legacy programs expect, for 1 to 8 workers" {
  local workers steps
  for workers in 1 2 3 4 8; do
    # Each is a request or two to a scheduler, which serves one at a time.
    steps=$((workers == 2 ? 20000 : 2000))
    run -0 mpi $((workers + 1)) "$semantics" steps=$steps all
    assert_line "ok relay"
    assert_line "ok info"
  done
}

@test "the same with three schedulers in a tree" {
  run -0 env MYRMICS_SCHEDULERS=3 timeout 120 "$MPIRUN" -n 6 \
    "$semantics" steps=2000 all 3>&-
  assert_line "ok many_regions"
  assert_line "ok info"
}

@test "freeing what is out of range, misaligned, not allocated" {
  fails free_out_of_range "out of range"
  fails free_misaligned "misaligned"
  fails free_not_allocated "not allocated"
  fails free_twice "not allocated"
}

@test "region numbers that do not exist" {
  fails alloc_bad_region "Invalid region ID 123456"
  fails ralloc_bad_parent "Invalid region ID"
  fails region_one "Invalid region ID 1"
  fails rfree_twice "Invalid region ID"
  fails rfree_root "Invalid region ID 0"
  fails subregion_gone "Invalid region ID"
  fails send_freed "Invalid region ID"
  fails realloc_bad_region "Invalid region ID"
}

@test "sends and receives that cannot be" {
  fails send_bad_worker "worker"
  fails recv_bad_worker "worker"
  fails recv_other_region "sent region"
}

@test "wrong arguments of sys_balloc and sys_realloc" {
  fails balloc_no_size "size"
  fails balloc_one "objects"
  fails balloc_no_array "array"
  fails realloc_not_allocated "not allocated"
}

@test "MYRMICS_SPACE takes sizes as DRASync's variables do" {
  for size in 1G 1g 1GB 1GiB 1048576kB; do
    run -0 env MYRMICS_SPACE=$size timeout 60 "$MPIRUN" -n 2 "$semantics" \
      balloc 3>&-
    assert_line "ok balloc"
  done
  for size in 1GG 1iB "1 G" 99999999999T; do
    run env MYRMICS_SPACE="$size" timeout 60 "$MPIRUN" -n 2 "$semantics" \
      balloc 3>&-
    assert_failure
    assert_output --partial "MYRMICS_SPACE must be a size"
  done
}

@test "running out of memory" {
  fails out_of_memory "[Oo]ut of memory"
  run env MYRMICS_SPACE=4M timeout 60 "$MPIRUN" -n 2 "$semantics" balloc large \
    3>&-
  assert_failure
  assert_line "ok balloc"
  assert_output --regexp "Core 0: Error: Out of memory: 67108864 bytes"
}

@test "the program's own errors end the job" {
  fails user_error "the program says 42"
  fails user_assert "me < 0"
  fails user_abort ""
}

@test "too few ranks is one clear line" {
  run mpi 1 "$semantics" root
  assert_failure
  assert_output --partial \
    "libmyrmics: 1 scheduler and a worker need at least 2 ranks; this job has 1"
  run env MYRMICS_SCHEDULERS=x timeout 60 "$MPIRUN" -n 2 "$semantics" root 3>&-
  assert_failure
  assert_output --partial "MYRMICS_SCHEDULERS must be a number"
}

@test "data that nobody receives does not keep a job from ending" {
  run -0 mpi 4 "$abs_top_builddir/myrmics_ends" unreceived
  assert_output "3 workers"
}

@test "a program that does not start MPI, and one that uses no regions" {
  run -0 mpi 3 "$abs_top_builddir/myrmics_ends" uninitialised
  assert_output "2 workers"
  run -0 mpi 2 "$abs_top_builddir/myrmics_ends" unused
  assert_line "rank 0"
  assert_line "rank 1"
}
