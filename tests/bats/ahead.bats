#!/usr/bin/env bats
# What ranks ask ahead with drasync_ahead(), and every value of DRASYNC_AHEAD.

load common
load hosts

programs=$abs_top_builddir/tests/programs

setup_file() {
  hosts_up
}

teardown_file() {
  hosts_down
}

setup() {
  export DRASYNC_NODE=rank
}

@test "an acquire of what came ahead sends no message" {
  DRASYNC_AHEAD=token run -0 mpi 2 "$programs/native_ahead" free
  assert_output "free ok ranks=2"
}

@test "an acquire of what came ahead sends no message, on two hosts" {
  needs_hosts
  DRASYNC_AHEAD=token run -0 hosts_run 2 "$programs/native_ahead" free
  assert_output "free ok ranks=2"
}

@test "who is told of a write by a message sees it, whatever was asked ahead" {
  for ahead in off data token auto; do
    DRASYNC_AHEAD=$ahead run -0 mpi 4 "$programs/native_ahead" told 1000
    assert_output "told ok ranks=4"
    DRASYNC_AHEAD=$ahead DRASYNC_NODE=2 \
      run -0 mpi 4 "$programs/native_ahead" told 500
    assert_output "told ok ranks=4"
  done
}

@test "who is told of a write by a message sees it, on two hosts" {
  needs_hosts
  for ahead in data token auto; do
    DRASYNC_AHEAD=$ahead run -0 hosts_run 4 "$programs/native_ahead" told 1000
    assert_output "told ok ranks=4"
  done
}

@test "a delete does not fail for what was asked ahead" {
  for ahead in data token auto; do
    DRASYNC_AHEAD=$ahead run -0 mpi 3 "$programs/native_ahead" deleted
    assert_output "deleted ok ranks=3"
  done
}

@test "where there is no memory for what is asked ahead, programs go on" {
  for ahead in data token auto; do
    DRASYNC_AHEAD=$ahead DRASYNC_MEMORY=16M \
      run -0 mpi 3 "$programs/native_ahead" memory
    assert_output "memory ok ranks=3"
    DRASYNC_AHEAD=$ahead DRASYNC_MEMORY=16M \
      run -0 mpi 4 "$programs/native_ahead" memory
    assert_output "memory ok ranks=4"
  done
}

@test "where there is no memory for a second copy, a writer waits for a sending" {
  for ahead in data token auto; do
    DRASYNC_AHEAD=$ahead DRASYNC_MEMORY=16M DRASYNC_TEST_SECONDS=400 \
      run -0 mpi 2 "$programs/native_ahead" sent
    assert_output "sent ok ranks=2"
  done
}

@test "drasync_ahead refuses what is no region and no mode" {
  for ahead in off data token auto; do
    DRASYNC_AHEAD=$ahead run -0 mpi 2 "$programs/native_ahead" wrong
    assert_output "wrong ok ranks=2"
    DRASYNC_AHEAD=$ahead DRASYNC_CHECK=1 \
      run -0 mpi 2 "$programs/native_ahead" wrong
    assert_output --partial "wrong ok ranks=2"
  done
}

@test "who writes what a rank that died had asked ahead is told" {
  DRASYNC_AHEAD=token run mpi_rank_dies 2 "$programs/native_ahead" dies
  refute [ "$status" -eq 124 ]
  assert_line "rank 0: DRASYNC_EPEER"
}

@test "phases that come again find what they acquire here" {
  for ahead in data token; do
    DRASYNC_AHEAD=$ahead run -0 mpi 2 "$programs/native_ahead_learned" phases 1
    assert_output "phases ok ranks=2"
  done
  DRASYNC_AHEAD=token run -0 mpi 2 "$programs/native_ahead_learned" phases 2
  assert_output "phases ok ranks=2"
}

@test "phases that come again find what they acquire here, on two hosts" {
  needs_hosts
  for mode in 1 2; do
    DRASYNC_AHEAD=token run -0 hosts_run 2 "$programs/native_ahead_learned" \
      phases "$mode"
    assert_output "phases ok ranks=2"
  done
}

@test "with DRASYNC_AHEAD=off phases ask nothing" {
  DRASYNC_AHEAD=off DRASYNC_STATS=1 \
    run -0 mpi 2 "$programs/native_ahead_learned" phases 1
  assert_output --regexp "ahead: asked 0 used 0 in vain 0 bytes"
  assert_line "phases ok ranks=2"
}

@test "drasync_phase refuses what is no phase, and one outside an iteration" {
  for ahead in off token auto; do
    DRASYNC_AHEAD=$ahead run -0 mpi 2 "$programs/native_ahead_learned" unphased
    assert_output "unphased ok ranks=2"
    DRASYNC_AHEAD=$ahead DRASYNC_NODE=shared \
      run -0 mpi 2 "$programs/native_ahead_learned" unphased
    assert_output "unphased ok ranks=2"
  done
}

@test "what is READ each time it was written comes by itself" {
  run -0 mpi 2 "$programs/native_ahead_learned" auto
  assert_output "auto ok ranks=2"
}

@test "what is READ each time it was written comes by itself, on two hosts" {
  needs_hosts
  run -0 hosts_run 2 "$programs/native_ahead_learned" auto
  assert_output "auto ok ranks=2"
}

@test "what is READ no more is sent in vain once" {
  run -0 mpi 2 "$programs/native_ahead_learned" unread
  assert_output "unread ok ranks=2"
}

@test "what is READ again and again, and seldom written, needs no message" {
  run -0 mpi 2 "$programs/native_ahead_learned" again
  assert_output "again ok ranks=2"
}

@test "what is READ again and again needs no message, on two hosts" {
  needs_hosts
  run -0 hosts_run 2 "$programs/native_ahead_learned" again
  assert_output "again ok ranks=2"
}

@test "where there is no order, little comes in vain" {
  run -0 mpi 2 "$programs/native_ahead_learned" chance
  assert_output "chance ok ranks=2"
}

@test "DRASYNC_STATS says what was asked ahead, used, and came in vain" {
  DRASYNC_AHEAD=token DRASYNC_STATS=1 \
    run -0 mpi 2 "$programs/native_ahead" free
  assert_output --regexp "ahead: asked 201 used 201 in vain 0 bytes, waited"
}
