# DART's groups.

load common
load dart_hosts

@test "groups: members in order, sets of them, parts of them, wrong calls" {
  units_on_a_node dart_group
  units_as_nodes dart_group
  units_on_hosts dart_group
}
