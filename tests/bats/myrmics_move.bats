#!/usr/bin/env bats
# DRASYNC_MYRMICS=move: sends hand regions over instead of copying them.

load common

setup() {
  export DRASYNC_MYRMICS=move
}

# refused SCENARIO TEXT: the job ends with a line that names the mode.
refused() {
  run mpi_preloaded 3 "$abs_top_builddir/myrmics_move" "$1"
  assert_failure
  assert_output --regexp \
    "Core 2: Error: DRASYNC_MYRMICS=move: .*$2.* \[.*myrmics_move\.c:[0-9]+\]"
}

@test "a region and its subregion go round all workers" {
  for workers in 1 2 4; do
    run -0 mpi_preloaded $workers "$abs_top_builddir/myrmics_move" round_trip
    assert_output "ok round_trip"
  done
  DRASYNC_NODE=rank run -0 mpi_preloaded 3 \
    "$abs_top_builddir/myrmics_move" round_trip
  assert_output "ok round_trip"
}

@test "subregions are lent out one by one" {
  run -0 mpi_preloaded 4 "$abs_top_builddir/myrmics_move" part_away
  assert_output "ok part_away"
  DRASYNC_NODE=rank run -0 mpi_preloaded 3 \
    "$abs_top_builddir/myrmics_move" part_away
  assert_output "ok part_away"
}

# runs WORKERS SCENARIO: on one node, and with a node for each worker.
runs() {
  run -0 mpi_preloaded "$1" "$abs_top_builddir/myrmics_move" "$2"
  assert_output "ok $2"
  DRASYNC_NODE=rank run -0 mpi_preloaded "$1" \
    "$abs_top_builddir/myrmics_move" "$2"
  assert_output "ok $2"
}

@test "what a worker owns below a region goes along, whoever made it" {
  runs 3 grandchild
}

@test "a parent can be freed after its subregion, whoever freed that" {
  runs 3 child_freed
}

@test "a region lives on when the old parent of its number is freed" {
  runs 3 number_again_unknown
  runs 3 number_again_known
  # Only the node that a number came from gives it out again.
  run -0 mpi_preloaded 2 "$abs_top_builddir/myrmics_move" number_again_own
  assert_output "ok number_again_own"
}

@test "a subregion that stays away for a while is below its parent again" {
  runs 2 kept_below
}

@test "what the mode cannot carry is refused, and the line names the mode" {
  refused alloc_elsewhere "belongs to worker 0, to which it was sent at"
  refused send_twice "belongs to worker 0"
  refused free_elsewhere "belongs to worker 0"
  refused send_root "region ID 0"
  refused child_away "below region ID [0-9]+, belongs to worker 0, to which it was sent at .*: it has to come back first"
}

@test "who uses another worker's region is told whose it is and what to do, on a node or between them" {
  local how="by sys_send\(\) and received by sys_recv\(\) first"
  for DRASYNC_NODE in shared rank; do
    export DRASYNC_NODE
    for what in "allocate 0" "send 0" "free 0" "sent_on 1"; do
      run mpi_preloaded 3 "$abs_top_builddir/myrmics_foreign" "${what% *}"
      assert_failure
      assert_output --regexp "Core 2: Error: DRASYNC_MYRMICS=move: region ID\
 [0-9]+ belongs to worker ${what#* }: it .*$how \[.*myrmics_foreign\.c:[0-9]+\]"
    done
    run mpi_preloaded 3 "$abs_top_builddir/myrmics_foreign" on_its_way
    assert_failure
    assert_output --regexp "Core 2: Error: .* belongs to another worker, which has not received it yet, or .*$how"
    refused alloc_elsewhere "belongs to worker 0, to which it was sent at .*$how"
  done
}

@test "with checking on, nothing is said of a program that touches what is its" {
  export DRASYNC_CHECK=1
  runs 3 round_trip
  runs 3 part_away
  runs 3 child_freed
  runs 2 freed_elsewhere
}
