#!/usr/bin/env bats
# drasync.hpp: guards, errors, and containers in regions.

load common
load hosts

programs=$abs_top_builddir/tests/programs

setup_file() {
  grep -q "^#define HAVE_CXX17 1" "$abs_top_builddir/config.h" || return 0
  hosts_up
}

teardown_file() {
  [ ! -e "$BATS_FILE_TMPDIR/no-hosts" ] || return 0
  ! grep -q "^#define HAVE_CXX17 1" "$abs_top_builddir/config.h" || hosts_down
}

setup() {
  grep -q "^#define HAVE_CXX17 1" "$abs_top_builddir/config.h" ||
    skip "configure found no compiler for C++17"
}

@test "guards take and give back holds as std::unique_lock and std::shared_lock do" {
  local nodes
  for nodes in 64 rank; do
    export DRASYNC_NODE=$nodes
    run -0 mpi 1 "$programs/cxx_guards"
    assert_output "guards ok ranks=1"
    run -0 mpi 4 "$programs/cxx_guards"
    assert_output "guards ok ranks=4"
  done
}

@test "references are counted over ranks and nodes, and end their regions" {
  run -0 mpi 1 "$programs/cxx_refs"
  assert_output "refs ok ranks=1"
  run -0 mpi 4 "$programs/cxx_refs"
  assert_output "refs ok ranks=4"
  DRASYNC_NODE=rank run -0 mpi 3 "$programs/cxx_refs"
  assert_output "refs ok ranks=3"
}

# Rank 0's lines say what it tried in vain.
calls() { # RANKS
  run -0 mpi "$1" "$programs/cxx_calls" "$BATS_TEST_TMPDIR/saved"
  assert_line "calls ok ranks=$1"
}

@test "regions are given, named, saved and linked, and functions run where they are" {
  calls 1
  calls 4
  DRASYNC_NODE=rank calls 3
  DRASYNC_NODE=2 calls 4
}

@test "the same between hosts" {
  needs_hosts
  run -0 hosts_run 4 "$programs/cxx_calls" "$BATS_TEST_TMPDIR/saved"
  assert_line "calls ok ranks=4"
}

@test "an exception that is no error of DRASync's ends the program where the function ran" {
  leaks_of_others
  DRASYNC_NODE=rank run mpi 2 "$programs/cxx_calls" "$BATS_TEST_TMPDIR/saved" wrong
  assert [ "$status" -ne 0 ] && assert [ "$status" -ne 124 ]
  assert_output --partial "an error of the program's own"
}

@test "the allocator takes memory from its region and hands itself to elements" {
  run -0 mpi 1 "$programs/cxx_allocator"
  assert_output "allocator ok ranks=1"
  DRASYNC_NODE=rank run -0 mpi 2 "$programs/cxx_allocator"
  assert_output "allocator ok ranks=2"
}

@test "containers that ranks of a node change in turns are what they should be" {
  run -0 mpi 1 "$programs/cxx_containers" 10 1
  assert_output "containers ok ranks=1"
  run -0 mpi 4 "$programs/cxx_containers" 40 2
  assert_output "containers ok ranks=4"
}

@test "containers that nodes change in turns are what they should be" {
  DRASYNC_NODE=rank run -0 mpi 3 "$programs/cxx_containers" 40 3
  assert_output "containers ok ranks=3"
  DRASYNC_NODE=2 run -0 mpi 4 "$programs/cxx_containers" 40 4
  assert_output "containers ok ranks=4"
}

@test "containers that hosts change in turns are what they should be" {
  needs_hosts
  run -0 hosts_run 4 "$programs/cxx_containers" 20 5
  assert_line "containers ok ranks=4"
}

# A job that std::terminate() ends, and the sanitizers' reports beside it.
terminates() { # RANKS WHAT
  leaks_of_others
  run mpi "$1" "$programs/cxx_allocator" "$2"
  assert [ "$status" -ne 0 ] && assert [ "$status" -ne 124 ]
}

@test "a container that is destroyed without WRITE ends the job with a line" {
  terminates 1 unheld
  assert_line --regexp \
    "^drasync::allocator: 0x[0-9a-f]+ is not given back: this rank does not hold"
}

@test "memory that is given back twice ends the job with a line" {
  terminates 1 twice
  assert_line --regexp \
    "^drasync::allocator: 0x[0-9a-f]+ is not given back: no object that is allocated starts"
}

@test "an exception that nobody catches says what was wrong" {
  terminates 1 uncaught
  assert_output --regexp "drasync::allocator of region 0x[0-9a-f]+: this rank has no hold on the region, and WRITE is needed"
}

@test "a region that another rank holds outlives its unique_region, with a line" {
  leaks_of_others
  run -0 mpi 2 "$programs/cxx_allocator" busy
  assert_line --regexp \
    "^drasync::unique_region: region 0x[0-9a-f]+ is not deleted: another rank holds"
  assert_line "busy ok ranks=2"
}
