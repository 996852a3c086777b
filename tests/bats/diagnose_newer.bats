#!/usr/bin/env bats
#
# What is said about jobs whose ranks wait for newer versions.

load common
load diagnose

setup_file() {
  export program=$abs_top_builddir/tests/programs/stuck_newer
}

setup() {
  export over=$BATS_TEST_TMPDIR/over DRASYNC_STALL_S=1
}

# --- A wait that lasts --------------------------------------------------------

# The line of a rank that waits for what is newer.
newer() {
  echo "drasync:   rank $1 (HOST, process P) waits for a version newer than 1, for READ, of region ADDRESS \"tree\" since T s, in not_written (stuck_newer.c:LINE)"
}

@test "who waits for a newer version is told which there is, who holds it, or what the others do" {
  all_hang_until "shared rank" "the others:" mpi 2 "$program" newer "$over"
  for node in shared rank; do
    said_by $node
    [ "$status" -eq 0 ]
    same "$head
$(newer 1)
drasync:     nobody holds it for WRITE now, and version 1 is its newest
drasync:   who waits for a newer version waits for any rank to write; the others:
drasync:     rank 0 (HOST, process P) computes"
  done
  all_hang_until "shared rank" "its newest" mpi 2 "$program" newer-held "$over"
  for node in shared rank; do
    said_by $node
    [ "$status" -eq 0 ]
    assert_output --partial "rank 0 (HOST, process P) holds it for WRITE"
    assert_output --regexp "version [12] is its newest, or being written"
    refute_output --partial "the others"
  done
}

@test "of many ranks those that do the same are one line, and who waits is in none" {
  all_hang_until "shared 3" "the others:" mpi 9 "$program" newer "$over"
  for node in shared 3; do
    said_by $node
    [ "$status" -eq 0 ]
    same "$head
$(newer 8)
drasync:     nobody holds it for WRITE now, and version 1 is its newest
drasync:   who waits for a newer version waits for any rank to write; the others:
drasync:     rank 0 (HOST, process P) computes
drasync:     ranks 1-7 (7 of them): each is inside MPI_Barrier"
  done
}

@test "a job of which no rank computes is said to be" {
  all_hang_until "shared rank" "none ever will" \
    mpi 3 "$program" newer-receive "$over"
  for node in shared rank; do
    said_by $node
    [ "$status" -eq 0 ]
    same "$head
$(newer 2)
drasync:     nobody holds it for WRITE now, and version 1 is its newest
drasync:   who waits for a newer version waits for any rank to write; the others:
drasync:     rank 0 (HOST, process P) is inside MPI_Recv
drasync:     rank 1 (HOST, process P) is inside MPI_Barrier
drasync:   no rank computes: unless a limit of time or another thread lets one go on, none ever will"
  done
}

# --- All ranks wait -----------------------------------------------------------

# ThreadSanitizer has a thread of its own in each process, which might be the
# program's.
needs_one_thread() {
  case ${DRASYNC_SANITIZERS:-} in
  *thread*) skip "ThreadSanitizer's thread might write" ;;
  esac
}

# What is said of rank $1, which waits until somebody writes region $2.
waits_for_newer() {
  echo "drasync:   rank $1 (HOST, process P) waits for a version newer than 1, for READ, of region ADDRESS \"s$2\" since T s, in standstill (stuck_newer.c:LINE), called from main (stuck_newer.c:LINE)
drasync:     nobody holds it for WRITE now, and version 1 is its newest"
}

all3="drasync: rank N (HOST): deadlock: each of all 3 ranks waits until another one writes, or goes on:"
ended="drasync:   the job ends; with DRASYNC_DEADLOCK=error the last of these acquires fails instead"

@test "a job all of whose ranks wait for newer versions ends with a report" {
  needs_one_thread
  export DRASYNC_STALL_S=0
  for node in shared rank 2; do
    DRASYNC_NODE=$node run mpi 3 "$program" all-plain
    assert_failure
    refute [ "$status" -eq 124 ]
    output=$(grep '^drasync:' <<<"$output" | masked)
    same "$all3
$(waits_for_newer 2 0)
$(waits_for_newer 0 1)
$(waits_for_newer 1 2)
$ended"
  done
}

@test "so does one whose ranks wait for the first of several" {
  needs_one_thread
  export DRASYNC_STALL_S=0
  for node in shared rank 2; do
    DRASYNC_NODE=$node run mpi 3 "$program" all-any
    assert_failure
    refute [ "$status" -eq 124 ]
    assert_output --partial "deadlock: each of all 3 ranks waits"
    assert_output --regexp "rank 0 .* waits in drasync_wait_any for one of 2\
 requests, the first for a version newer than 1, for READ of region\
 0x[0-9a-f]* \"s1\" since"
    assert_output --partial "nobody holds it for WRITE now, and version 1 is"
    # One of the requests fails.
    DRASYNC_NODE=$node DRASYNC_DEADLOCK=error run -0 mpi 3 "$program" all-any
    assert_line "rank 0: DRASYNC_OK"
    assert_line "rank 1: DRASYNC_OK"
    assert_line "rank 2: DRASYNC_EDEADLK"
  done
}

@test "so does one that has functions registered, and whose runs are done" {
  needs_one_thread
  export DRASYNC_STALL_S=0
  for node in shared rank 2; do
    DRASYNC_NODE=$node run mpi 3 "$program" all-ran
    assert_failure
    refute [ "$status" -eq 124 ]
    assert_output --partial "deadlock: each of all 3 ranks waits"
  done
}

@test "with DRASYNC_DEADLOCK=error the last of them fails, and the others go on" {
  needs_one_thread
  export DRASYNC_STALL_S=0 DRASYNC_DEADLOCK=error
  for node in shared rank; do
    DRASYNC_NODE=$node run -0 mpi 3 "$program" all-plain
    assert_line "rank 0: DRASYNC_OK"
    assert_line "rank 1: DRASYNC_OK"
    assert_line "rank 2: DRASYNC_EDEADLK"
    refute_output --partial "the job ends"
  done
}

@test "so does one of whose ranks one has come to its end, or holds what another wants" {
  needs_one_thread
  export DRASYNC_STALL_S=0
  for node in shared rank; do
    DRASYNC_NODE=$node run mpi 2 "$program" all-finalize
    assert_failure
    refute [ "$status" -eq 124 ]
    assert_output --partial "deadlock: each of all 2 ranks waits"
    assert_output --partial "rank 0 is in MPI_Finalize"
    DRASYNC_NODE=$node run mpi 2 "$program" all-held
    assert_failure
    refute [ "$status" -eq 124 ]
    assert_output --partial "deadlock: each of all 2 ranks waits"
    assert_output --regexp "rank 1 .* waits for WRITE of region 0x[0-9a-f]* \"s0\""
    assert_output --regexp "rank 0 .* waits for a version newer than 1"
  done
}

@test "one whose other ranks are inside MPI does with DRASYNC_CHECK=deadlock" {
  needs_one_thread
  export DRASYNC_STALL_S=0
  for node in shared rank; do
    DRASYNC_CHECK=deadlock DRASYNC_NODE=$node run mpi 2 "$program" all-recv
    assert_failure
    refute [ "$status" -eq 124 ]
    assert_output --partial "deadlock: each of all 2 ranks waits"
    assert_output --partial "is inside MPI_Recv"
    assert_output --partial "rank 1 has not sent it that message, with tag 7"
  done
}

@test "a limit of time, another thread, or a function that runs lets them go on" {
  export DRASYNC_STALL_S=0
  # A function runs by itself on other nodes only.
  local jobs=({shared,rank}-{timed,thread,any-thread} rank-run)
  for how in "${jobs[@]}"; do
    DRASYNC_NODE=${how%%-*} beside $how mpi 3 "$program" all-${how#*-}
  done
  for how in "${jobs[@]}"; do
    ended $how 0
    refute_output --partial "deadlock"
    assert_line "rank 1: DRASYNC_OK"
  done
}

@test "of waits that all begin at once one fails, with one report" {
  needs_one_thread
  export DRASYNC_STALL_S=0 DRASYNC_DEADLOCK=error
  for node in shared rank; do
    DRASYNC_NODE=$node run -0 mpi 3 "$program" all-at-once
    assert_equal "$(grep -c "deadlock: each of all 3 ranks" <<<"$output")" 8
    assert_equal "$(grep -c "DRASYNC_EDEADLK" <<<"$output")" 8
    for time in {0..7}; do
      assert_output --partial "time $time: DRASYNC_EDEADLK"
    done
  done
}
