# DART's groups.

setup() {
  load common
  load dart
}

setup_file() {
  load common
  load dart
  hosts_up
}

teardown_file() {
  load common
  load dart
  hosts_down
}

@test "groups: members in order, sets of them, parts of them, wrong calls" {
  units_on_a_node dart_group
  units_as_nodes dart_group
  units_on_hosts dart_group
}
