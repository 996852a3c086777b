# DART: transfers to other nodes of units that lead no node.

load common
load dart_hosts

@test "units of two hosts, whatever they lead, put and get" {
  units_on_hosts dart_far
}

@test "the same by MPI's one-sided operations" {
  DRASYNC_RMA=mpi units_on_hosts dart_far
}

@test "the same on one host, in nodes of two units" {
  DRASYNC_NODE=2 DRASYNC_RMA=messages \
    run -0 mpi 4 "$abs_top_builddir/tests/programs/dart_far"
  assert_line "ok"
}

@test "MPI_Finalize comes while transfers are under way" {
  units_on_hosts dart_far left
  DRASYNC_NODE=2 DRASYNC_RMA=messages \
    run -0 mpi 4 "$abs_top_builddir/tests/programs/dart_far" left
  assert_line "ok"
}

@test "a unit is killed while others wait for its memory" {
  DRASYNC_NODE=2 DRASYNC_RMA=messages \
    run mpi_rank_dies 4 "$abs_top_builddir/tests/programs/dart_far" killed
  refute [ "$status" -eq 124 ]
  assert_output --regexp "drasync: rank . \(.*\): rank 0 \(.*\) died"
  assert_line "told 1"
  assert_line "told 2"
  assert_line "told 3"
}
