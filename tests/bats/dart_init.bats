# DART's start and end.

load common
load dart_hosts

@test "DART starts MPI itself, and starts and ends again and again" {
  units_on_a_node dart_init 8
}

@test "the same where each unit is a node" {
  units_as_nodes dart_init 5
}

@test "the same on two hosts" {
  units_on_hosts dart_init 4
}

@test "hundreds of times leave no memory behind" {
  run -0 mpi 1 "$abs_top_builddir/tests/programs/dart_init" 300
  assert_line "ok"
  run -0 mpi 2 "$abs_top_builddir/tests/programs/dart_init" 300
  assert_line "ok"
  DRASYNC_NODE=rank run -0 mpi 2 "$abs_top_builddir/tests/programs/dart_init" 30
  assert_line "ok"
}

@test "a program that has started MPI keeps it, and is told the level it asked for" {
  units_on_a_node dart_init 3 own
  units_as_nodes dart_init 3 own
}

# More units than processors wait in DART rather than in MPI.
@test "a program may leave without dart_exit while a thread of it waits" {
  local units=$(($(nproc) + 1))
  for node in shared rank; do
    DRASYNC_NODE=$node DRASYNC_TEST_SECONDS=30 \
      run mpi $units "$abs_top_builddir/tests/programs/dart_leaves"
    refute [ "$status" -eq 124 ]
    assert_line "leaving"
  done
}

@test "a program may leave a waiting thread behind on two hosts" {
  needs_hosts
  DRASYNC_TEST_SECONDS=30 \
    run hosts_run 2 "$abs_top_builddir/tests/programs/dart_leaves"
  refute [ "$status" -eq 124 ]
  assert_line "leaving"
}
