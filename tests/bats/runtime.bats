#!/usr/bin/env bats
#
# The runtime below the public calls: start, messages between nodes, end, and
# what goes wrong.

load common

setup_file() {
  export probe=$abs_top_builddir/tests/programs/runtime_probe
}

no_files_left() {
  run -0 ls -A /dev/shm
  refute_output --partial drasync
}

@test "the ranks of one node wake each other" {
  run -0 mpi 4 "$probe"
  assert_line "rank 3 of 4 is 3 of 4 on node 0 of 1"
  assert_line "probe: done"
}

@test "with DRASYNC_NODE=rank every rank is a node, and nodes call each other" {
  DRASYNC_NODE=rank run -0 mpi 3 "$probe" nodes
  assert_line "rank 2 of 3 is 0 of 1 on node 2 of 3"
  assert_line "probe: done"
}

@test "nodes of several ranks, the last one smaller" {
  DRASYNC_NODE=2 run -0 mpi 5 "$probe" nodes
  assert_line "rank 3 of 5 is 1 of 2 on node 1 of 3"
  assert_line "rank 4 of 5 is 0 of 1 on node 2 of 3"
  assert_line "probe: done"
}

# Plain MPI programs do not, nine times out of ten: transport/boot_leave.c.
@test "jobs over TCP come out of MPI_Finalize" {
  export UCX_TLS=tcp,self DRASYNC_TEST_SECONDS=20
  for node in shared rank; do
    for _ in 1 2 3; do
      DRASYNC_NODE=$node run -0 mpi 3 "$probe" pairs
      assert_line "probe: done"
    done
  done
}

@test "DRASYNC_PROGRESS=spin" {
  DRASYNC_NODE=rank DRASYNC_PROGRESS=spin run -0 mpi 2 "$probe" nodes
  assert_line "probe: done"
}

@test "memory files reach the ranks over a socket where /proc is closed" {
  run mpi 3 "$probe" closed 3
  [[ $output != *"no filters for system calls"* ]] ||
    skip "this system has no filters for system calls"
  assert_success
  assert_line "probe: done"
}

@test "an address range that is taken on one rank is avoided by all" {
  DRASYNC_SPACE=64M run -0 mpi 3 "$probe" occupied
  assert_line "probe: done"
}

@test "no address is free: the line of /proc/self/maps that is in the way" {
  DRASYNC_SPACE=64M run -2 mpi 3 "$probe" full
  assert_output --partial "no range of"
  assert_output --regexp "in the way: [0-9a-f]+-[0-9a-f]+ "
  assert_output --partial "DRASYNC_EADDRESS"
}

@test "several nodes need MPI_THREAD_MULTIPLE" {
  DRASYNC_NODE=rank run -2 mpi 2 "$probe" single
  assert_output --partial "MPI gives no MPI_THREAD_MULTIPLE"
  run -0 mpi 2 "$probe" single
  assert_line "probe: done"
}

# The launcher kills the others, unless the dead rank is not its own child.
@test "where nobody has started MPI the runtime does, and ends it at exit" {
  for node in shared rank; do
    DRASYNC_NODE=$node run -0 mpi 2 "$probe" unstarted
    assert_line "unstarted: 0 0"
    assert_line "unstarted: 0 1"
  done
}

@test "ranks that cannot see each other's processes are different nodes" {
  unshare --pid --fork --mount-proc true 2>/dev/null ||
    skip "no right to make a process namespace"
  # MPI itself would take them for one host, and try shared memory.
  UCX_TLS=tcp,self run -0 mpi 1 "$probe" nodes : -n 2 \
    unshare --pid --fork --mount-proc "$probe" nodes
  assert_line "rank 2 of 3 is 0 of 1 on node 2 of 3"
}

@test "a rank killed with -9 ends the job, and nothing is left" {
  for node in shared rank; do
    DRASYNC_NODE=$node DRASYNC_TEST_SECONDS=30 run mpi 3 "$probe" killed
    refute [ "$status" -eq 0 ]
    refute [ "$status" -eq 124 ]
    assert_output --regexp "Killed|SIGNAL: 9"
    no_files_left
  done
}

# -disable-auto-cleanup or not: the launcher's proxy loses a rank that has not
# finalized, and ends the others.
@test "ranks that wait inside MPI for one that was killed end too" {
  export DRASYNC_TEST_SECONDS=30
  for how in -enable-auto-cleanup -disable-auto-cleanup; do
    for node in shared 2 rank; do
      DRASYNC_NODE=$node beside $node mpi 4 "$how" \
        "$probe" receive "$BATS_TEST_TMPDIR"
    done
    for node in shared 2 rank; do
      ended $node
      refute [ "$status" -eq 0 ]
      refute [ "$status" -eq 124 ]
    done
    for _ in $(seq 100); do
      pgrep -f "receive $BATS_TEST_TMPDIR" >/dev/null || break
      sleep 0.1
    done
    run -1 pgrep -f "receive $BATS_TEST_TMPDIR"
    no_files_left
  done
}

@test "where the launcher does nothing, the others say which rank died" {
  for node in shared rank; do
    DRASYNC_NODE=$node run mpi_rank_dies 3 "$probe" killed
    refute [ "$status" -eq 124 ]
    assert_output --regexp "drasync: rank [01] \(.*\): rank 2 \(.*\) died"
    assert_line "rank 0: DRASYNC_EPEER"
    assert_line "rank 1: DRASYNC_EPEER"
    no_files_left
  done
}

@test "ranks that are all inside MPI say which one died, and end" {
  # At once: a rank gives the others seconds to come out of MPI by themselves.
  for node in shared 2 rank; do
    DRASYNC_NODE=$node beside $node mpi_rank_dies 4 "$probe" receive
  done
  for node in shared 2 rank; do
    ended $node
    refute [ "$status" -eq 124 ]
    assert_output --regexp "drasync: rank [0-2] \(.*\): rank 3 \(.*\) died"
  done
  no_files_left
}

@test "a rank that dies with a lock is named on each node, before any error" {
  for node in shared 2; do
    DRASYNC_NODE=$node run mpi_rank_dies 4 "$probe" locked
    refute [ "$status" -eq 124 ]
    for rank in 0 1 2; do assert_line "rank $rank: DRASYNC_EPEER"; done
    assert_output --regexp "drasync: rank [0-2] \(.*\): rank 3 \(.*\) died"
    refute_output --partial "):  (says node"
    refute_output --partial "while it changed shared state"
    no_files_left
  done
}

@test "a rank without a free descriptor takes nobody for dead" {
  leaks_of_others # to look for leaks takes a descriptor
  for node in shared rank; do
    DRASYNC_NODE=$node run -0 mpi 3 "$probe" descriptors
    assert_line "probe: done"
    refute_output --partial died
  done
}

@test "a rank without a free descriptor sees the dead all the same" {
  for node in shared rank; do
    DRASYNC_NODE=$node run mpi_rank_dies 3 "$probe" blind
    refute [ "$status" -eq 124 ]
    assert_output --regexp "drasync: rank [01] \(.*\): rank 2 \(.*\) died"
    assert_line "rank 0: DRASYNC_EPEER"
    assert_line "rank 1: DRASYNC_EPEER"
  done
}
