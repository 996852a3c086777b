# Locks of DART's teams.

load common
load dart_hosts

@test "units and their threads have a lock one at a time, in order" {
  units_on_a_node dart_lock "$BATS_TEST_TMPDIR/shared"
}

@test "locks where each unit is a node" {
  units_as_nodes dart_lock "$BATS_TEST_TMPDIR/shared"
}

@test "locks where nodes have several units" {
  DRASYNC_NODE=2 run -0 mpi 4 "$abs_top_builddir/tests/programs/dart_lock" \
    "$BATS_TEST_TMPDIR/shared"
  assert_line "ok"
}

@test "locks between hosts" {
  units_on_hosts dart_lock "$BATS_TEST_TMPDIR/shared"
}

@test "a try for a lock that was given back has it" {
  units_on_a_node dart_lock_try
  units_as_nodes dart_lock_try
  DRASYNC_NODE=2 run -0 mpi 4 "$abs_top_builddir/tests/programs/dart_lock_try"
  assert_line "ok"
}

@test "tries between hosts" {
  units_on_hosts dart_lock_try
}

@test "locks of some of the units, and what becomes of them with their team" {
  units_on_a_node dart_lock_teams "$BATS_TEST_TMPDIR/shared"
  units_as_nodes dart_lock_teams "$BATS_TEST_TMPDIR/shared"
}

@test "locks of some of the units between hosts" {
  units_on_hosts dart_lock_teams "$BATS_TEST_TMPDIR/shared"
}

@test "the 10,000th lock costs what the first one did" {
  run -0 mpi 4 "$abs_top_builddir/tests/programs/dart_lock_teams" \
    "$BATS_TEST_TMPDIR/shared" many
  assert_line "ok"
}

# The first unit that gives up may end the other before it does.
unit_dies() {
  local shared=$BATS_TEST_TMPDIR/$1.shared
  run mpi_rank_dies 3 "$abs_top_builddir/tests/programs/dart_lock_teams" \
    "$shared" "$1"
  refute [ "$status" -eq 124 ]
  assert_output --regexp "drasync: rank . \(.*\): rank 2 \(.*\) died"
  run cat "$shared".?
  assert_line 999
}

@test "a unit killed with a lock ends the others' waiting for it, and trying" {
  unit_dies killed
  unit_dies tried
}

@test "a unit killed with a lock, where each is a node" {
  export DRASYNC_NODE=rank
  unit_dies killed
  unit_dies tried
}
