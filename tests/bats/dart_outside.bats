# Calls of the DART interface before dart_init() and after dart_exit(), and the
# end that needs neither.

setup() {
  load common
  load dart
  program=$abs_top_builddir/tests/programs/dart_outside
}

@test "every call before dart_init or after dart_exit says that DART does not run" {
  units_on_a_node dart_outside
}

@test "every call outside says so, each unit being a node" {
  units_as_nodes dart_outside
}

@test "dart_abort ends the job with the status it is given" {
  run -7 mpi 3 "$program" 7
  run -9 mpi 1 "$program" 9 before
}
