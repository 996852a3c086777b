# DART: registered memory.

load common
load dart_hosts

@test "registered memory, private and of regions" {
  units_on_a_node dart_register
}

@test "registered memory, each unit being a node" {
  units_as_nodes dart_register
}

@test "registered memory, on two hosts" {
  units_on_hosts dart_register
}

@test "registered memory where the kernel lets no process copy from another" {
  run mpi 3 "$abs_top_builddir/tests/programs/dart_register" forbidden
  if [[ $output == *"cannot forbid"* ]]; then
    skip "this system has no filters for system calls"
  fi
  assert_success
  assert_line "ok"
}

@test "registered memory, two nodes of two units" {
  DRASYNC_NODE=2 run -0 mpi 4 "$abs_top_builddir/tests/programs/dart_register"
  assert_line "ok"
}
