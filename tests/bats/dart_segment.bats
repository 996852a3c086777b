# DART: allocations of a team.

load common
load dart_hosts

@test "allocations of a team" {
  units_on_a_node dart_segment
}

@test "allocations of a team, each unit being a node" {
  units_as_nodes dart_segment
}

@test "allocations of a team, on two hosts" {
  units_on_hosts dart_segment
}
