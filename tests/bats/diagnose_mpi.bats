#!/usr/bin/env bats
#
# What is said about rings of waits some of which are inside MPI.

load common
load diagnose_hosts

# ends_inside HOW RANKS TEXT: the job ends, on one node and with a node for each
# rank, with this report between the waits for the region.
ends_inside() {
  local node
  DRASYNC_STALL_S=0 DRASYNC_CHECK=deadlock all_hang_until "shared rank" \
    "the job ends" mpi "$2" "$program" "mpi-$1" "$over"
  for node in shared rank; do
    said_by $node
    [ "$status" -ne 0 ]
    same "drasync: rank N (HOST): deadlock: $2 ranks wait for each other in a ring:
drasync:   rank $(($2 - 1)) (HOST, process P) waits for WRITE of region ADDRESS \"tree\" since T s, in take (stuck.c:LINE), called from inside (stuck.c:LINE), called from main (stuck.c:LINE)
drasync:     rank 0 (HOST, process P) holds it for WRITE since T s, taken in take (stuck.c:LINE)
$3
drasync:   the job ends; with DRASYNC_DEADLOCK=error the last of these acquires fails instead"
  done
}

# Rank $1 is inside $2, and rank $3 has not done $4.
link() {
  echo "drasync:   rank $1 (HOST, process P) is inside $2, in inside (stuck.c:LINE)
drasync:     rank $3 has not $4"
}

@test "a ring through a message that was not sent ends the job with a report of all in it" {
  ends_inside recv 2 "$(link 0 MPI_Recv 1 "sent it that message, with tag 7")"
  ends_inside wait 3 "$(link 0 MPI_Wait 1 "sent it that message, with tag 7")
$(link 1 MPI_Wait 2 "sent it that message, with tag 7")"
  ends_inside waitall 2 "$(link 0 MPI_Waitall 1 "sent it that message, with tag 7")"
  ends_inside sendrecv 2 "$(link 0 MPI_Sendrecv 1 "sent it that message, with tag 7")"
}

@test "so does one through a collective call that a rank has not come to" {
  ends_inside barrier 2 "$(link 0 MPI_Barrier 1 "come to that call")"
  ends_inside bcast 2 "$(link 0 MPI_Bcast 1 "come to that call")"
  ends_inside reduce 2 "$(link 0 MPI_Reduce 1 "come to that call")"
}

@test "a ring through MPI between hosts is found" {
  needs_hosts
  DRASYNC_STALL_S=0 DRASYNC_CHECK=deadlock hangs_until "the job ends" \
    hosts_run 2 "$program" mpi-recv "$over"
  [ "$status" -ne 0 ]
  assert_output --partial "rank 1 has not sent it that message, with tag 7"
}

@test "messages that were sent, may come from anybody, or are not counted make no ring" {
  export DRASYNC_STALL_S=2 DRASYNC_CHECK=deadlock
  for how in sent any comm; do
    all_hang_until "shared rank" "in its queue" \
      mpi 3 "$program" none-$how "$over"
    for node in shared rank; do
      said_by $node
      [ "$status" -eq 0 ]
      refute_output --partial deadlock
    done
  done
}

@test "programs that use MPI much see no ring, and lose nothing" {
  for DRASYNC_NODE in shared rank; do
    export DRASYNC_NODE
    DRASYNC_CHECK=deadlock run -0 mpi 4 \
      "$abs_top_builddir/tests/programs/blocking"
    assert_output "blocking ok ranks=4"
    DRASYNC_CHECK=deadlock run -0 mpi_preloaded 4 \
      "$abs_top_builddir/programs/graph/graph_native"
    refute_output --partial deadlock
  done
}
