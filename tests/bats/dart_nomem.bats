# DART: calls without memory.

load common
load dart

# The programs look for leaks of ours themselves, and stand between a sanitizer
# and the dynamic linker, whose memory it would know.
leaks_of_others

@test "a collective call without memory on one unit fails on all, and leaves nothing" {
  units_on_a_node dart_nomem collective
}

@test "the same where each unit is a node" {
  units_as_nodes dart_nomem collective
}

@test "threads of two units without memory, each with its team, do not wait in a ring" {
  units_on_a_node dart_nomem threads
  units_as_nodes dart_nomem threads
}

@test "dart_init without memory on one unit fails on all, and works the next time" {
  units_on_a_node dart_nomem restart
  units_as_nodes dart_nomem restart
}

# N and the unit: in the first dart_init of a process the N-th request fails.
start_refused() {
  run -0 mpi 2 "$abs_top_builddir/tests/programs/dart_nomem" start "$@"
  refute_output --partial Assertion
}

@test "the first dart_init of a process, too: nobody waits for the one without memory" {
  local n
  for n in 1 2 3 4 5 6 7 8 16 40 55 70 500; do
    start_refused "$n" 0
    start_refused "$n" 1
    DRASYNC_NODE=rank start_refused "$n" 0
    DRASYNC_NODE=rank start_refused "$n" 1
  done
  assert_line "no request"
}

@test "calls that a unit makes for itself, without memory: groups, types, trees" {
  units_on_a_node dart_nomem_alone
}

@test "transfers, atomic operations and locks without memory" {
  units_on_a_node dart_nomem_far
}

@test "transfers between nodes that cannot begin without memory say so, and can later" {
  units_as_nodes dart_nomem_far begin
}

@test "a test that failed without memory does not say later that a put is there" {
  DRASYNC_RMA=messages units_as_nodes dart_nomem_far stopped
}

@test "memory to which a unit cannot complete what it has put stays, on all units" {
  units_on_a_node dart_nomem_far ended
  units_as_nodes dart_nomem_far ended
}

# Now and then the request that fails is one of the network, which the unit's thread
# drives while it waits: that ends the job, which says so.
@test "the same where all goes by messages, or the job ends" {
  local n try
  export DRASYNC_NODE=rank DRASYNC_RMA=messages
  for n in 2 3 4; do
    for try in 1 2 3 4 5 6; do
      run mpi "$n" "$abs_top_builddir/tests/programs/dart_nomem_far" ended
      [ "$status" -ne 0 ] || break
      assert_output --partial "the network between nodes failed: out of memory"
    done
    assert_line "ok"
  done
}

@test "a node whose memory is used up says so, and works when some is given back" {
  DRASYNC_MEMORY=64M units_on_a_node dart_nomem full
  DRASYNC_MEMORY=64M units_as_nodes dart_nomem full
}
