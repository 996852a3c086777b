# DART's teams.

load common
load dart_hosts

@test "teams of any units, under any team, by several threads; wrong calls" {
  units_on_a_node dart_team
  units_as_nodes dart_team
}

@test "the same on two hosts" {
  units_on_hosts dart_team
}

@test "10,000 teams: the last costs as few calls of MPI as the first" {
  run -0 mpi 1 "$abs_top_builddir/tests/programs/dart_teams" 10000
  assert_line "ok"
  run -0 mpi 2 "$abs_top_builddir/tests/programs/dart_teams" 10000
  assert_line "ok"
}

@test "teams of many units and nodes take few communicators of MPI" {
  units_on_a_node dart_teams 400
  units_as_nodes dart_teams 400
}

@test "threads use teams that share a communicator, in any order" {
  units_on_a_node dart_teams threads
  units_as_nodes dart_teams threads
}

@test "what was put into a team's memory is there before its end; types outlive their parts" {
  units_on_a_node dart_destroyed
  units_as_nodes dart_destroyed
  DRASYNC_RMA=messages units_on_a_node dart_destroyed
  DRASYNC_RMA=messages units_as_nodes dart_destroyed
}
