# DART's collective calls, reductions and messages, and its data types.

setup() {
  load common
  load dart
}

@test "every type by every operation, data to and from everybody, wrong calls" {
  units_on_a_node dart_collective
  units_as_nodes dart_collective
}
