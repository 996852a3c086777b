# DART's collective calls, reductions and messages, and its data types.

load common
load dart_hosts

@test "every type by every operation, data to and from everybody, wrong calls" {
  units_on_a_node dart_collective
  units_as_nodes dart_collective
}

@test "the same on two hosts" {
  units_on_hosts dart_collective
}
