#!/usr/bin/env bats
# One-sided access: runtime/rma.h.

load common
load dart_hosts

programs=$abs_top_builddir/tests/programs

# on_all PROGRAM ARGUMENTS...: on one node, and each rank a node.
on_all() {
  local n
  for n in 1 2 4; do
    run -0 mpi "$n" "$programs/$1" "${@:2}"
    assert_line --regexp " ok ranks=$n\$"
    [ "$n" -gt 1 ] || continue # a node anyway
    DRASYNC_NODE=rank run -0 mpi "$n" "$programs/$1" "${@:2}"
    assert_line --regexp " ok ranks=$n\$"
  done
}

@test "a place is where a rank sees its memory, whichever frames those are" {
  on_all rma_places
}

@test "everybody changes, reads and writes everybody's memory" {
  on_all rma_remote
}

@test "private memory where the kernel lets no process copy from another" {
  run mpi 3 "$programs/rma_remote" forbidden
  if [[ $output == *"cannot forbid"* ]]; then
    skip "this system has no filters for system calls"
  fi
  assert_success
  assert_line "remote ok ranks=3"
}

@test "one-sided operations of MPI reach a rank that makes no MPI calls" {
  on_all rma_awake
}

@test "several threads of each rank use the memory of all" {
  on_all rma_others threads
}

@test "a rank starts other programs while others use its memory" {
  local n
  for n in 2 3; do
    run -0 mpi "$n" "$programs/rma_others" children
    assert_line "children ok ranks=$n"
    DRASYNC_NODE=rank run -0 mpi "$n" "$programs/rma_others" children
    assert_line "children ok ranks=$n"
  done
}

# rank_ends HOW ERROR: the last rank does, and the others get the error.  The
# first that gives up may end the other before it says so.
rank_ends() {
  run mpi_rank_dies 3 "$programs/rma_others" "$1"
  refute [ "$status" -eq 124 ]
  assert_output --regexp "rank [01]: $2"
}

@test "a rank leaves while others use its memory" {
  rank_ends exits DRASYNC_EINVAL
}

# Its node is alone, so it is dead when it does not answer any more.
@test "a rank leaves while others use its memory, where each is a node" {
  export DRASYNC_NODE=rank
  rank_ends exits "DRASYNC_(EINVAL|EPEER)"
}

@test "a rank is killed while others use its memory" {
  rank_ends dies DRASYNC_EPEER
}

@test "a rank is killed while others use its memory, where each is a node" {
  export DRASYNC_NODE=rank
  rank_ends dies DRASYNC_EPEER
}

@test "one-sided access between hosts" {
  needs_hosts
  local program
  for program in rma_places rma_remote rma_awake "rma_others threads" \
    "rma_others children"; do
    # shellcheck disable=SC2086 # a program and its argument
    run -0 hosts_run 4 "$programs"/$program
    assert_line --regexp " ok ranks=4\$"
  done
}

@test "MPI runs over sockets where its messages do, whoever else has some" {
  needs_hosts
  run -0 hosts_run 2 "$programs/rma_sockets"
  assert_line "MPI runs over sockets"
  UCX_TLS=sm,self run -0 hosts_run 2 "$programs/rma_sockets"
  assert_line "MPI runs over something else"
}
