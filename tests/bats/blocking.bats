#!/usr/bin/env bats
#
# MPI's calls that wait do what they did, whoever serves other nodes meanwhile.

load common
load hosts

setup_file() {
  export program=$abs_top_builddir/tests/programs/blocking
  hosts_up
}

teardown_file() {
  hosts_down
}

@test "calls that wait give data, statuses and errors where each rank is a node" {
  DRASYNC_NODE=rank run -0 mpi 4 "$program"
  assert_output "blocking ok ranks=4"
}

@test "calls that wait do so where only some ranks lead a node" {
  DRASYNC_NODE=2 run -0 mpi 4 "$program"
  assert_output "blocking ok ranks=4"
}

@test "calls that wait are MPI's own on one node" {
  run -0 mpi 2 "$program"
  assert_output "blocking ok ranks=2"
}

@test "calls that wait do so where ranks outnumber processors" {
  local ranks=$((2 * ($(nproc --all) + 1)))
  [ "$ranks" -le 34 ] || skip "$ranks ranks would be needed here"
  run -0 mpi "$ranks" "$program"
  assert_output "blocking ok ranks=$ranks"
  run -0 mpi_preloaded "$ranks" "$program"
  assert_output "blocking ok ranks=$ranks"
}

@test "calls that wait do so without a progress thread's time" {
  DRASYNC_NODE=rank DRASYNC_PROGRESS=spin run -0 mpi 2 "$program"
  assert_output "blocking ok ranks=2"
}

@test "calls that wait do so under preload" {
  DRASYNC_NODE=rank run -0 mpi_preloaded 4 "$program"
  assert_output "blocking ok ranks=4"
}

@test "calls that wait do so between hosts" {
  needs_hosts
  run -0 hosts_run 2 "$program"
  assert_output "blocking ok ranks=2"
  DRASYNC_NODE=2 run -0 hosts_run 4 "$program"
  assert_output "blocking ok ranks=4"
}

@test "a thread that waits in MPI does not keep another from ending DRASync" {
  local program=$abs_top_builddir/tests/programs/blocking_finalize node

  # Whether the thread waits already when the other one ends it is chance.
  for node in shared rank rank rank; do
    DRASYNC_NODE=$node run -0 mpi 2 "$program"
    assert_output "blocking_finalize ok"
  done
}

# with_tool TEST: TEST LIBRARIES, with the tool in each order of libraries to preload.
with_tool() {
  local tool=$BATS_TEST_TMPDIR/libtool.so
  run -0 "$MPICC" -shared -fPIC -o "$tool" \
    "$abs_top_srcdir/tests/programs/blocking_tool.c"
  "$1" "${preload%"$shim"}$tool"
  "$1" "${preload%"$shim"}$tool:$shim"
  "$1" "$preload:$tool"
}

# A tool's calls, with the libraries preloaded in an order.
tool_sees() {
  DRASYNC_NODE=rank run -0 mpi 2 env LD_PRELOAD="$1" "$program"
  assert_line "blocking ok ranks=2"
  assert_line --regexp "^tool: [57] received, 4 barriers$"
}

@test "a tool sees the calls that the program makes, above and below us" {
  with_tool tool_sees
}

# Of two ranks only one has the tool, in an order of libraries.
tool_in_one() {
  local -a tool=(env LD_PRELOAD="$1" "$program")
  export DRASYNC_NODE=rank DRASYNC_TEST_SECONDS=60
  run -0 mpi 1 "${tool[@]}" : -n 1 "$program"
  assert_line "blocking ok ranks=2"
  assert_line --regexp "^tool: [57] received, 4 barriers$"
  run -0 mpi 1 "$program" : -n 1 "${tool[@]}"
  assert_line "blocking ok ranks=2"
  assert_line --regexp "^tool: [57] received, 4 barriers$"
}

@test "ranks with a tool and ranks without one meet in collectives" {
  with_tool tool_in_one
}

@test "errors, many requests and large counts are as with MPI's own calls" {
  local node
  for node in shared rank; do
    DRASYNC_NODE=$node run -0 mpi 2 \
      "$abs_top_builddir/tests/programs/blocking_alike"
    assert_line "blocking_alike ok ranks=2"
  done
}

@test "MPI_Sendrecv with a wrong argument returns its error, as MPI's own does" {
  DRASYNC_NODE=rank run -0 mpi 2 \
    "$abs_top_builddir/tests/programs/sendrecv_error"
  assert_line "rank 0: error"
  assert_line "rank 1: error"
}
