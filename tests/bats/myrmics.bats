#!/usr/bin/env bats
# Unchanged Myrmics programs under the preload library.

load common

semantics=$abs_top_builddir/myrmics_semantics

# What the scenarios are, but for those that end in an error.
good=(root shared subregion_by_other freed_by_other region_freed both_write
  cross many_sends relay to_all come_and_go realloc_moves realloc_told
  free_then_rfree zero churn large many_regions balloc info)

all_good() {
  local scenario
  for scenario in "${good[@]}"; do
    assert_line "ok $scenario"
  done
}

# fails SCENARIO WORDS: the job ends, and says where and what.
fails() {
  run mpi_preloaded 2 "$semantics" "$1"
  assert_failure
  refute_output --partial "ok $1"
  assert_output --regexp \
    "Core 1: Error: .*$2.* \[.*myrmics_errors\.c:[0-9]+\]"
}

@test "regions behave as Myrmics programs expect, for 1 to 8 workers" {
  local workers
  for workers in 1 3 4 8; do
    run -0 mpi_preloaded $workers "$semantics" all
    all_good
  done
}

@test "the same with every rank a node of its own" {
  local workers
  export DRASYNC_NODE=rank
  for workers in 1 2 4; do
    run -0 mpi_preloaded $workers "$semantics" all
    all_good
  done
}

@test "freeing what is out of range, misaligned, not allocated" {
  fails free_out_of_range "out of range"
  fails free_misaligned "misaligned"
  fails free_not_allocated "not allocated"
  fails free_twice "not allocated"
  fails free_twice_later "not allocated"
}

@test "region numbers that do not exist" {
  fails alloc_bad_region "Invalid region ID 123456"
  fails ralloc_bad_parent "Invalid region ID"
  fails region_one "Invalid region ID 1"
  fails rfree_root "Invalid region ID 0"
  fails realloc_bad_region "Invalid region ID"
}

@test "region numbers that do not exist, when they are another node's" {
  export DRASYNC_NODE=rank
  fails alloc_bad_region "Invalid region ID 123456"
}

@test "region numbers that were freed already: so it says, and where" {
  local node freed="Region ID [0-9]+ was freed already"
  for node in shared rank; do
    export DRASYNC_NODE=$node DRASYNC_MYRMICS=copy
    fails rfree_twice "$freed, at [^ ]*myrmics_errors\.c:[0-9]+"
    fails send_freed "$freed, at [^ ]*myrmics_errors\.c:[0-9]+"
    fails subregion_gone "$freed"
    DRASYNC_MYRMICS=move
    fails rfree_twice "$freed, at [^ ]*myrmics_errors\.c:[0-9]+"
    fails subregion_gone "$freed, at [^ ]*myrmics_errors\.c:[0-9]+"
  done
  export DRASYNC_NODE=shared DRASYNC_MYRMICS=copy
  fails rfree_by_two "$freed, by worker 0"
}

@test "sends and receives that cannot be" {
  fails send_bad_worker "worker"
  fails recv_bad_worker "worker"
  fails recv_other_region "sent region"
}

@test "no object, no pointer: sys_alloc(0) and sys_free(NULL)" {
  for DRASYNC_MYRMICS in copy move; do
    export DRASYNC_MYRMICS
    fails free_null "Pointer \(nil\) is out of range"
    fails alloc_none_bad_region "Invalid region ID 123456"
  done
}

@test "wrong arguments of sys_balloc and sys_realloc" {
  fails balloc_no_size "size"
  fails balloc_one "objects"
  fails balloc_no_array "array"
  fails realloc_not_allocated "not allocated"
}

@test "running out of memory is an error at the call" {
  fails out_of_memory "Out of memory"
  export DRASYNC_MEMORY=32M
  run mpi_preloaded 1 "$semantics" balloc large
  assert_failure
  assert_line "ok balloc"
  assert_output --regexp "Core 0: Error: Out of memory"
}

@test "it says how much there was, and which variable gives more" {
  export DRASYNC_MEMORY=32M
  for DRASYNC_MYRMICS in copy move; do
    export DRASYNC_MYRMICS
    fails no_memory_left "Out of memory: 100000 bytes in region ID [0-9]+: \
this node's regions have [0-9]+ MiB of 32 MiB, which is DRASYNC_MEMORY"
  done
}

@test "the program's own errors end the job" {
  fails user_error "the program says 42"
  fails user_assert "me < 0"
  fails user_abort ""
}

# random WORKERS PROGRAM SEED SIZE: the same hash on the baseline, on one node,
# with every rank a node, and with two ranks to a node.
random() {
  local expected workers=$1 program=$abs_top_builddir/myrmics_$2
  shift 2
  run -0 mpi $((workers + 1)) "$program" "$@"
  expected=${lines[-1]}
  [[ $expected == *ok ]]
  run -0 mpi_preloaded "$workers" "$program" "$@"
  assert_line --index -1 "$expected"
  DRASYNC_NODE=rank run -0 mpi_preloaded "$workers" "$program" "$@"
  assert_line --index -1 "$expected"
  DRASYNC_NODE=2 run -0 mpi_preloaded "$workers" "$program" "$@"
  assert_line --index -1 "$expected"
}

@test "random programs behave as on the baseline, 4 workers" {
  random 4 random 11 12
  random 4 random 12 12
}

@test "random programs behave as on the baseline, 8 workers" {
  random 8 random 13 8
}

@test "regions that go from worker to worker behave as on the baseline" {
  random 4 handover 1 300
  random 4 handover 2 300
  random 4 handover 5 300
}

@test "random programs in a small address space ask for more addresses" {
  export DRASYNC_SPACE=64M
  random 4 random 5 12
}

@test "task calls are refused" {
  run mpi_preloaded 2 "$abs_top_builddir/myrmics_move" spawn
  assert_failure
  assert_output --partial "Core 1: Error: sys_spawn is not supported"
  run mpi_preloaded 2 "$abs_top_builddir/myrmics_move" wait_on
  assert_failure
  assert_output --partial "sys_wait_on is not supported"
  assert_output --partial "[task.c:7]"
}

@test "ten thousand regions sent in one go" {
  run -0 mpi_preloaded 2 "$abs_top_builddir/myrmics_large" regions 10000
  assert_output "ok regions"
  DRASYNC_NODE=rank run -0 mpi_preloaded 2 \
    "$abs_top_builddir/myrmics_large" regions 10000
  assert_output "ok regions"
}

@test "what a thread keeps at hand is there for others when it has ended" {
  run -0 mpi_preloaded 1 "$abs_top_builddir/myrmics_threads"
  assert_output "ok 1 workers"
  DRASYNC_NODE=rank run -0 mpi_preloaded 2 "$abs_top_builddir/myrmics_threads"
  assert_output "ok 2 workers"
}

@test "threads of a worker receive what one or several others send, each version once" {
  for node in shared rank; do
    DRASYNC_NODE=$node run -0 mpi_preloaded 3 \
      "$abs_top_builddir/myrmics_receivers"
    assert_output "ok 3 workers"
  done
}

@test "a worker sees no page that was a region's which is gone" {
  run -0 mpi_preloaded 2 "$abs_top_builddir/myrmics_tail"
  assert_line "rank 0: 0 wrong"
}

@test "small versions for which a receiver has no memory end the job" {
  DRASYNC_NODE=rank DRASYNC_MEMORY=128M DRASYNC_TEST_SECONDS=60 \
    run mpi_preloaded 2 "$abs_top_builddir/myrmics_full"
  refute [ "$status" -eq 124 ]
  refute_line --regexp "rank 1: [1-9][0-9]* wrong"
  if [ "$status" -eq 0 ]; then # the receiver was as fast as the sender
    assert_line "rank 1: 0 wrong"
  else
    assert_output --regexp "bytes that worker 0 sent cannot be kept: "
  fi
}

@test "what is freed while it is received is written by nobody" {
  DRASYNC_MEMORY=256M run -0 mpi_preloaded 3 "$abs_top_builddir/myrmics_freed"
  assert_line "rank 2: 0 wrong"
}

@test "threads allocate and free at the same time, and others with them" {
  run -0 mpi_preloaded 1 "$abs_top_builddir/myrmics_together" 3
  assert_output "ok 1 workers"
  run -0 mpi_preloaded 3 "$abs_top_builddir/myrmics_together" 3
  assert_output "ok 3 workers"
  DRASYNC_NODE=rank run -0 mpi_preloaded 2 \
    "$abs_top_builddir/myrmics_together" 3
  assert_output "ok 2 workers"
}

@test "what everybody is sent is each one's own" {
  local bytes
  for bytes in 64 20000 1048576; do
    run -0 mpi_preloaded 4 "$abs_top_builddir/myrmics_everybody" $bytes 20
    assert_output "ok 20 rounds"
    DRASYNC_NODE=rank run -0 mpi_preloaded 3 \
      "$abs_top_builddir/myrmics_everybody" $bytes 20
    assert_output "ok 20 rounds"
    DRASYNC_NODE=2 run -0 mpi_preloaded 6 \
      "$abs_top_builddir/myrmics_everybody" $bytes 20
    assert_output "ok 20 rounds"
  done
}

@test "what several workers of a node are sent goes to that node once" {
  DRASYNC_NODE=3 DRASYNC_STATS=1 run -0 mpi_preloaded 6 \
    "$abs_top_builddir/myrmics_everybody" 1048576 5
  assert_line "ok 5 rounds"
  # Five times, to three workers, two of them twice; the last is as it was.
  local sent
  sent=$(sed -n 's/.*node 0:.* bytes sent \([0-9]*\) .*/\1/p' <<<"$output" |
    head -n 1)
  assert_equal "$sent" $((4 * 1048576))
}

@test "sends that nobody receives end in an error when memory is used up" {
  export DRASYNC_MEMORY=64M
  run mpi_preloaded 2 "$abs_top_builddir/myrmics_large" flood 4
  assert_failure
  assert_output --regexp "Core 0: Error: Out of memory: 4194304 bytes in region"
  DRASYNC_NODE=rank run mpi_preloaded 2 \
    "$abs_top_builddir/myrmics_large" flood 4
  assert_failure
  assert_output --regexp "out of memory|Out of memory"
}

@test "a worker that is killed does not leave the others waiting" {
  export DRASYNC_TEST_SECONDS=30
  local how
  for how in 0 1; do
    run mpi_preloaded 3 "$abs_top_builddir/myrmics_large" killed $how
    assert_failure
    [ "$status" -ne 124 ]
    refute_output --partial "ok killed"
  done
}
