# DART's start and end.

setup() {
  load common
  load dart
}

@test "DART starts MPI itself, and starts and ends hundreds of times" {
  units_on_a_node dart_init
}

@test "the same where each unit is a node" {
  units_as_nodes dart_init
}

@test "a program that has started MPI keeps it, and is told the level it asked for" {
  units_on_a_node dart_init own
  units_as_nodes dart_init own
}
