# DART: calls without memory.

load common
load dart

@test "a collective call without memory on one unit fails on all, and leaves nothing" {
  units_on_a_node dart_nomem collective
}

@test "the same where each unit is a node" {
  units_as_nodes dart_nomem collective
}

@test "dart_init without memory on one unit fails on all, and works the next time" {
  units_on_a_node dart_nomem restart
  units_as_nodes dart_nomem restart
}
