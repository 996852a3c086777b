# DART: a unit's own memory.

load common
load dart_hosts

@test "a unit's own memory" {
  units_on_a_node dart_memory
}

@test "a unit's own memory, each unit being a node" {
  units_as_nodes dart_memory
}

@test "a unit's own memory, on two hosts" {
  units_on_hosts dart_memory
}
