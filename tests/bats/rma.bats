#!/usr/bin/env bats
# One-sided access: runtime/rma.h.

load common

programs=$abs_top_builddir/tests/programs

# on_all PROGRAM ARGUMENTS...: on one node, and each rank a node.
on_all() {
  local n
  for n in 1 2 4; do
    run -0 mpi "$n" "$programs/$1" "${@:2}"
    assert_line --regexp " ok ranks=$n\$"
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
