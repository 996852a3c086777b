# Locks of DART's teams.

setup() {
  load common
  load dart
}

@test "units and their threads have a lock one at a time, in order" {
  units_on_a_node dart_lock "$BATS_TEST_TMPDIR/shared"
}

@test "locks where each unit is a node" {
  units_as_nodes dart_lock "$BATS_TEST_TMPDIR/shared"
}
