# DART: a unit's own memory.

setup_file() {
  load common
  load dart
  hosts_up
}

teardown_file() {
  hosts_down
}

setup() {
  load common
  load dart
}

@test "a unit's own memory" {
  units_on_a_node dart_memory
}

@test "a unit's own memory, each unit being a node" {
  units_as_nodes dart_memory
}

@test "a unit's own memory, on two hosts" {
  units_on_hosts dart_memory
}
