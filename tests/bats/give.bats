#!/usr/bin/env bats
# Regions that ranks give each other: drasync_give and drasync_take.

load common
load hosts

programs=$abs_top_builddir/tests/programs

setup_file() {
  hosts_up
}

teardown_file() {
  hosts_down
}

@test "gifts come in order, with their subregions and data, on a node" {
  for n in 1 2 4; do
    run -0 mpi "$n" "$programs/native_give"
    assert_output "give ok ranks=$n"
  done
}

@test "gifts come in order, with their subregions and data, each rank a node" {
  export DRASYNC_NODE=rank
  for n in 2 4; do
    run -0 mpi "$n" "$programs/native_give"
    assert_output "give ok ranks=$n"
  done
}

@test "gifts come in order, with their subregions and data, on nodes of two ranks" {
  DRASYNC_NODE=2 run -0 mpi 4 "$programs/native_give"
  assert_output "give ok ranks=4"
}

@test "gifts come in order, with their subregions and data, on two hosts" {
  needs_hosts
  for n in 2 4; do
    run -0 hosts_run "$n" "$programs/native_give"
    assert_output "give ok ranks=$n"
  done
}

@test "gifts with DRASYNC_CHECK=1 are no other thread's holds, and a refused one is named" {
  for node in 2 rank; do
    DRASYNC_CHECK=1 DRASYNC_NODE=$node run -0 mpi 2 "$programs/native_give"
    assert_line "give ok ranks=2"
    # It is told of calls that it makes without WRITE, to see them refused.
    refute_output --partial "that another thread took"
    assert_output --partial "called drasync_take for region"
    assert_output --regexp "called drasync_give for region 0x[0-9a-f]+, of which this rank holds a subregion, too"
    assert_output --regexp "called drasync_give for region 0x[0-9a-f]+, of which, or of what is above it, this"
  done
}

@test "a gift that one thread puts back is for another one that waits for it" {
  for node in 2 rank; do
    DRASYNC_NODE=$node run -0 mpi 2 "$programs/native_take_threads"
    assert_output "take threads ok ranks=2"
  done
}

@test "what a rank does not take is nobody's" {
  for node in 2 rank; do
    DRASYNC_NODE=$node run -0 mpi 2 "$programs/native_give_ends" left
    assert_output "rank 0 has it again"
  done
}

@test "a gift that finds no memory goes back until it is taken" {
  DRASYNC_MEMORY=16M DRASYNC_NODE=rank run -0 mpi 2 \
    "$programs/native_give_ends" nomem
  assert_output "nomem ok ranks=2"
}

@test "who waits for a gift of a rank that dies is told" {
  for node in 2 rank; do
    DRASYNC_NODE=$node run mpi_rank_dies 2 "$programs/native_give_ends" giver
    refute [ "$status" -eq 124 ]
    assert_line "rank 1: DRASYNC_EPEER"
  done
}

@test "who gave to a rank that dies is told when it wants the region again" {
  for node in 2 rank; do
    DRASYNC_NODE=$node run mpi_rank_dies 2 "$programs/native_give_ends" taker
    refute [ "$status" -eq 124 ]
    assert_line "rank 0: DRASYNC_EPEER"
  done
}

# waits RANKS HOW...
waits() {
  local ranks=$1
  shift
  run -0 mpi "$ranks" "$programs/native_give_waits" "$@"
  assert_output "give waits ok ranks=$ranks"
}

@test "who is given what it asks for gets both, whoever else wants it" {
  for node in rank 2 shared; do
    for mode in 1 2; do
      DRASYNC_NODE=$node waits 4 acquire $mode
    done
  done
  DRASYNC_NODE=rank waits 3 acquire 2
}

@test "who is given what it waits for a newer version of, or runs on, gets both" {
  for node in rank shared; do
    DRASYNC_NODE=$node waits 2 newer
    DRASYNC_NODE=$node waits 2 run
    DRASYNC_NODE=$node waits 2 run part
  done
  DRASYNC_NODE=2 waits 4 run
}

# below HOW...
below() {
  run -0 mpi 2 "$programs/native_give_below" "$@"
  assert_output "give below ok ranks=2"
}

@test "who is given a region it reads, and then a part, takes both in order" {
  for node in 2 rank; do
    DRASYNC_NODE=$node below gifts
  done
}

@test "who wants what is above a gift gets it, and then the gift" {
  local node how
  for node in 2 rank; do
    for how in acquire newer run two; do
      DRASYNC_NODE=$node below $how
    done
    DRASYNC_NODE=$node below save "$BATS_TEST_TMPDIR/saved"
    rm "$BATS_TEST_TMPDIR/saved"
  done
}

@test "a gift that can be had is taken before one that cannot" {
  for node in 2 rank; do
    DRASYNC_NODE=$node below past
  done
}

@test "who holds another part itself is refused what is above, and keeps the gift" {
  for node in 2 rank; do
    DRASYNC_NODE=$node below own
  done
}

@test "regions whose parts come and go are given round, and their memory is used again" {
  local nodes seed
  for seed in 1 2 3 4; do
    DRASYNC_NODE=2 run -0 mpi 6 "$programs/native_regiven" "$seed"
    assert_line "regiven ok ranks=6"
  done
  for nodes in shared rank; do
    DRASYNC_NODE=$nodes run -0 mpi 4 "$programs/native_regiven" 5
    assert_line "regiven ok ranks=4"
  done
}
