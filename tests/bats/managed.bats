#!/usr/bin/env bats
# Regions that end when nobody refers to them.

load common
load hosts

programs=$abs_top_builddir/tests/programs

setup_file() {
  hosts_up
}

teardown_file() {
  hosts_down
}

# ThreadSanitizer's lock-order detector ends a process of which a thread holds
# more than 64 locks, as the one that searches for circles does.
setup() {
  export TSAN_OPTIONS="${TSAN_OPTIONS:-}:detect_deadlocks=0"
}

@test "where a circle ended, the next region is seen as it is" {
  run -0 mpi 2 "$programs/native_circle_again"
  assert_line "circle again ok ranks=2"
}

@test "a circle some of whose regions have subregions ends with them" {
  run -0 mpi 2 "$programs/native_circle_below"
  assert_line "circle below ok ranks=2"
  DRASYNC_NODE=rank run -0 mpi 2 "$programs/native_circle_below"
  assert_line "circle below ok ranks=2"
}

@test "references, weak handles, ends and misuse, on a node" {
  for n in 1 2 4; do
    run -0 mpi "$n" "$programs/native_managed"
    assert_output "managed ok ranks=$n"
    run -0 mpi "$n" "$programs/native_managed_random" 2000
    assert_output "managed_random ok ranks=$n"
  done
}

@test "threads refer to one region, and hold what another one ends, on a node" {
  run -0 mpi 2 "$programs/native_managed_threads"
  assert_output "managed threads ok ranks=2"
  DRASYNC_NODE=rank run -0 mpi 2 "$programs/native_managed_threads"
  assert_output "managed threads ok ranks=2"
}

@test "regions on a manager's addresses are managed at the node that made them" {
  DRASYNC_SPACE=64M DRASYNC_NODE=rank run -0 mpi 3 "$programs/native_managed_far"
  assert_output "managed far ok ranks=3"
}

@test "any call may be a rank's first one on a region that it was given" {
  for form in unref ref weak give on_end link stats delete; do
    run -0 mpi 2 "$programs/native_managed_first" "$form"
    assert_output "$form ok ranks=2"
    DRASYNC_NODE=rank run -0 mpi 2 "$programs/native_managed_first" "$form"
    assert_output "$form ok ranks=2"
  done
}

@test "a weak handle of an earlier job is refused" {
  for node in shared rank; do
    for job in first second; do
      DRASYNC_NODE=$node run -0 mpi 2 "$programs/native_managed_first" handle \
        "$BATS_TEST_TMPDIR/$node"
      assert_output "handle ok ranks=2"
    done
  done
}

@test "references, weak handles, ends and misuse, each rank a node" {
  export DRASYNC_NODE=rank
  for n in 2 3 4; do
    run -0 mpi "$n" "$programs/native_managed"
    assert_output "managed ok ranks=$n"
    run -0 mpi "$n" "$programs/native_managed_random"
    assert_output "managed_random ok ranks=$n"
  done
}

@test "references, weak handles, ends and misuse, on nodes of two ranks" {
  DRASYNC_NODE=2 run -0 mpi 4 "$programs/native_managed"
  assert_output "managed ok ranks=4"
  DRASYNC_NODE=2 run -0 mpi 4 "$programs/native_managed_random"
  assert_output "managed_random ok ranks=4"
}

@test "references, weak handles, ends and misuse, on two hosts" {
  needs_hosts
  for n in 2 4; do
    run -0 hosts_run "$n" "$programs/native_managed"
    assert_output "managed ok ranks=$n"
    run -0 hosts_run "$n" "$programs/native_managed_random"
    assert_output "managed_random ok ranks=$n"
  done
}

@test "circles with parts on several nodes end when nobody refers to or holds one" {
  for what in ring held kept beside random; do
    run -0 mpi 3 "$programs/native_circles" "$what"
    assert_output "$what ok ranks=3"
    for n in 2 4; do
      DRASYNC_NODE=rank run -0 mpi "$n" "$programs/native_circles" "$what"
      assert_output "$what ok ranks=$n"
    done
    DRASYNC_NODE=2 run -0 mpi 4 "$programs/native_circles" "$what"
    assert_output "$what ok ranks=4"
  done
}

@test "circles with parts on two hosts end too" {
  needs_hosts
  for what in ring held kept beside random; do
    run -0 hosts_run 2 "$programs/native_circles" "$what"
    assert_output "$what ok ranks=2"
  done
}

@test "a long chain of regions that end one by one needs no deep stack" {
  run -0 mpi 1 "$programs/native_end_chain"
  assert_output "chain ok ranks=1"
}

@test "a circle has ended after the call that looks for it, whoever looks beside that" {
  DRASYNC_NODE=2 run -0 mpi 4 "$programs/native_circle_soon" 500
  assert_line "circle soon ok ranks=4"
  needs_hosts
  run -0 hosts_run 4 "$programs/native_circle_soon" 500
  assert_line "circle soon ok ranks=4"
}

@test "the home of a managed region dies: who asks it is told" {
  local node
  for node in shared rank; do
    DRASYNC_NODE=$node run mpi_rank_dies 2 "$programs/native_managed_dies"
    refute [ "$status" -eq 124 ]
    assert_line "managed dies ok"
  done
}
