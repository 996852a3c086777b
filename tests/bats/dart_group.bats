# DART's groups.

setup() {
  load common
  load dart
}

@test "groups: members in order, sets of them, parts of them, wrong calls" {
  units_on_a_node dart_group
}
