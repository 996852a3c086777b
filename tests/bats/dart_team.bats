# DART's teams.

setup() {
  load common
  load dart
}

@test "teams of any units, under any team, by several threads; wrong calls" {
  units_on_a_node dart_team
  units_as_nodes dart_team
}

@test "10,000 teams share communicators, and the last costs what the first does" {
  run -0 mpi 2 "$abs_top_builddir/tests/programs/dart_team" many
  assert_line "ok"
}
