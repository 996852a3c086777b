# DART: many transfers at a time.

load common
load dart_hosts

@test "thousands of transfers under way, by several threads" {
  run -0 mpi 2 "$abs_top_builddir/tests/programs/dart_pipeline"
  assert_line "ok"
}

@test "thousands of transfers under way between nodes, by messages" {
  DRASYNC_NODE=rank DRASYNC_RMA=messages \
    run -0 mpi 3 "$abs_top_builddir/tests/programs/dart_pipeline"
  assert_line "ok"
}

@test "thousands of transfers under way between nodes, by MPI's operations" {
  DRASYNC_NODE=rank DRASYNC_RMA=mpi \
    run -0 mpi 2 "$abs_top_builddir/tests/programs/dart_pipeline"
  assert_line "ok"
}

@test "thousands of transfers under way between hosts" {
  needs_hosts
  run -0 hosts_run 4 "$abs_top_builddir/tests/programs/dart_pipeline"
  assert_line "ok"
}
