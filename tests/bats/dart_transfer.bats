# DART: put and get.

load common
load dart_hosts

@test "put and get in all forms and shapes" {
  units_on_a_node dart_transfer
}

@test "put and get, each unit being a node" {
  units_as_nodes dart_transfer
}

@test "put and get, on two hosts" {
  units_on_hosts dart_transfer
}

@test "put and get by messages, each unit being a node" {
  DRASYNC_RMA=messages units_as_nodes dart_transfer
}

@test "put and get by MPI's one-sided operations, on two hosts" {
  DRASYNC_RMA=mpi units_on_hosts dart_transfer
}

@test "put and get, two nodes of two units" {
  DRASYNC_NODE=2 run -0 mpi 4 "$abs_top_builddir/tests/programs/dart_transfer"
  assert_line "ok"
}

# puts_and_waits HOW...
puts_and_waits() {
  DRASYNC_NODE=2 DRASYNC_RMA=messages run -0 mpi 4 \
    "$abs_top_builddir/tests/programs/dart_idle" "$@"
  assert_line "ok"
}

@test "a unit that waits for another one goes on with its own large puts" {
  puts_and_waits
}

@test "and so does one that waits for a lock, on its node and on another" {
  puts_and_waits lock 0
  puts_and_waits lock 2
}

@test "or tries to have one, or asks for a word again and again" {
  puts_and_waits try 0
  puts_and_waits word 0
  puts_and_waits word 2
  puts_and_waits swap 0
}
