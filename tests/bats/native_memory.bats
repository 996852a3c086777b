#!/usr/bin/env bats
# Memory of the API's regions: what comes, goes and runs out.

load common

programs=$abs_top_builddir/tests/programs

@test "memory runs out: an error at the call, and all goes on" {
  # What is short differs: data, records of control memory, or both.
  for DRASYNC_MEMORY in 48M 64M 100M; do
    export DRASYNC_MEMORY
    run -0 mpi 2 "$programs/native_exhaust" memory
    assert_line "exhaust ok ranks=2"
    DRASYNC_NODE=rank run -0 mpi 2 "$programs/native_exhaust" memory
    assert_line "exhaust ok ranks=2"
  done
}

@test "what was freed serves other sizes and regions before memory runs out" {
  export DRASYNC_MEMORY=64M
  run -0 mpi 1 "$programs/native_freed"
  assert_line "freed ok ranks=1"
  run -0 mpi 3 "$programs/native_freed"
  assert_line "freed ok ranks=3"
  DRASYNC_NODE=rank run -0 mpi 2 "$programs/native_freed"
  assert_line "freed ok ranks=2"
  DRASYNC_CHECK=access run -0 mpi 2 "$programs/native_freed"
  assert_line "freed ok ranks=2"
}

@test "a region that grows into the last of the memory takes all, in few extents" {
  DRASYNC_NODE=rank DRASYNC_MEMORY=64M run -0 mpi 2 "$programs/native_room"
  assert_line "room ok ranks=2"
}

@test "more data than a node has memory goes through it, copies and owned" {
  DRASYNC_NODE=rank DRASYNC_MEMORY=64M run -0 mpi 4 "$programs/native_beyond"
  assert_line "beyond ok ranks=4"
}

@test "a network adapter's registrations end with the frames they hold" {
  export DRASYNC_MEMORY=256M
  DRASYNC_NODE=rank run mpi 2 "$programs/native_adapter"
  [ "$status" -ne 77 ] || skip "this MPI has no UCX, or it tells no memory events"
  assert_success
  assert_line "adapter ok ranks=2"
  DRASYNC_NODE=2 run -0 mpi 4 "$programs/native_adapter"
  assert_line "adapter ok ranks=4"
}

@test "short memory: what was evicted is deleted, what could not be shown is no version" {
  DRASYNC_NODE=rank DRASYNC_MEMORY=32M run -0 mpi 2 \
    "$programs/native_evicted" deleted
  assert_output "evicted ok ranks=2"
  DRASYNC_MEMORY=64M run -0 mpi 2 "$programs/native_evicted" newer
  assert_output "evicted ok ranks=2"
}

@test "checked mode: what waits in quarantine is given up where memory is short" {
  for checks in 1 all; do
    DRASYNC_CHECK=$checks DRASYNC_NODE=rank DRASYNC_MEMORY=64M run -0 mpi 2 \
      "$programs/native_evicted" checked
    assert_output "evicted ok ranks=2"
  done
}

# Each refused request is an error at the call, or the job ends and says why.
without_memory() { # RANK
  local n=1 last
  export DRASYNC_NODE=rank
  # The program stands between a sanitizer and the dynamic linker.
  leaks_of_others
  while true; do
    run mpi 2 "$programs/native_nomem" "$1" "$n"
    [ "$status" != 0 ] || break
    [ "$status" = 3 ] || fail "$output"
    assert_output --regexp $'(^|\n)drasync: rank [01] .*memory'
    last=$(sed -n 's/^refusing //p' <<<"$output" | tail -n 1)
    n=$((${last:-$n} + 1))
    [ "$n" -lt 1000 ]
  done
  assert_line "nomem ok ranks=2"
  [ "$n" -gt 1 ]
}

@test "the owner of a region has no memory" {
  without_memory 0
}

@test "who asks for a region has no memory" {
  without_memory 1
}

@test "addresses run out: an error at the call, and all goes on" {
  export DRASYNC_SPACE=64M
  run -0 mpi 2 "$programs/native_exhaust" space
  assert_line "exhaust ok ranks=2"
  DRASYNC_NODE=rank run -0 mpi 2 "$programs/native_exhaust" space
  assert_line "exhaust ok ranks=2"
}

@test "threads and ranks allocate in one region, on one node and on several" {
  run -0 mpi 1 "$programs/native_magazines"
  assert_line "magazines ok ranks=1"
  run -0 mpi 3 "$programs/native_magazines"
  assert_line "magazines ok ranks=3"
  DRASYNC_NODE=rank run -0 mpi 3 "$programs/native_magazines"
  assert_line "magazines ok ranks=3"
}

@test "regions come and go where others were, on one node and on several" {
  run -0 mpi 1 "$programs/native_reuse"
  assert_line "reuse ok ranks=1"
  run -0 mpi 3 "$programs/native_reuse"
  assert_line "reuse ok ranks=3"
  DRASYNC_NODE=rank run -0 mpi 3 "$programs/native_reuse"
  assert_line "reuse ok ranks=3"
}

@test "small objects fill the memory, and it comes back" {
  DRASYNC_MEMORY=64M run -0 mpi 1 "$programs/native_magazines" memory
  assert_line "magazines ok ranks=1"
}

@test "a release ends in an error if a thread cannot be kept from allocating" {
  export DRASYNC_TEST_SECONDS=30
  run mpi 1 "$programs/native_revoked" filtered
  assert_failure
  assert_line "release: DRASYNC_EPEER"
  assert_output --partial "the system refuses membarrier()"
  run mpi 1 "$programs/native_revoked" ended
  assert_failure
  assert_line "release: DRASYNC_EPEER"
  assert_output --regexp "thread [0-9]+ of rank 0 has ended while it allocated"
}

@test "a rank killed while it allocates ends the job" {
  for node in shared rank; do
    DRASYNC_NODE=$node DRASYNC_TEST_SECONDS=30 run mpi 2 \
      "$programs/native_magazines" killed
    refute [ "$status" -eq 0 ]
    refute [ "$status" -eq 124 ]
    assert_output --regexp "Killed|SIGNAL: 9"
  done
}

@test "a region made of one that was split twice has all that is written to it" {
  run -0 mpi 2 "$programs/native_recycled_split"
  assert_output "recycled_split ok ranks=2"
}

@test "a dead region's lines are written where they are its own" {
  run -0 mpi 3 "$programs/native_dead_lines"
  assert_output "dead_lines ok ranks=3"
}
