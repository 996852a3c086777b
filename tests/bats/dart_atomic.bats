# DART: atomic operations.

load common
load dart_hosts

@test "atomic operations of all types, by all units and threads" {
  units_on_a_node dart_atomic
}

@test "atomic operations, each unit being a node" {
  units_as_nodes dart_atomic
}

@test "atomic operations, on two hosts" {
  units_on_hosts dart_atomic
}

@test "atomic operations, two nodes of two units" {
  DRASYNC_NODE=2 run -0 mpi 4 "$abs_top_builddir/tests/programs/dart_atomic"
  assert_line "ok"
}
