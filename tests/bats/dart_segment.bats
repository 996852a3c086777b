# DART: allocations of a team.

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

@test "allocations of a team" {
  units_on_a_node dart_segment
}

@test "allocations of a team, each unit being a node" {
  units_as_nodes dart_segment
}

@test "allocations of a team, on two hosts" {
  units_on_hosts dart_segment
}
