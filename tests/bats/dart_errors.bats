# DART: errors that the headers name and no other test provokes.

load common
load dart

@test "wrong pointers, registrations, messages and scopes" {
  units_on_a_node dart_errors
}

@test "the same where each unit is a node" {
  units_as_nodes dart_errors
}
