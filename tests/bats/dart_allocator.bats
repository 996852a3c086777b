# DART: pools of a team.

load common
load dart_hosts

@test "pools of a team" {
  units_on_a_node dart_allocator
}

@test "pools of a team, each unit being a node" {
  units_as_nodes dart_allocator
}

@test "pools of a team, on two hosts" {
  units_on_hosts dart_allocator
}
