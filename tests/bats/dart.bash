# For the Bats files of the DART front: `load common` first, then `load dart`.
#
# Each test program runs through the real interface with 1 to 4 units in three
# arrangements, and says "ok" on unit 0 when all units are through.  A file that
# uses units_on_hosts loads dart_hosts instead.

# units_on_a_node PROGRAM ARGUMENTS...
units_on_a_node() {
  local n
  for n in 1 2 3 4; do
    run -0 mpi "$n" "$abs_top_builddir/tests/programs/$1" "${@:2}"
    assert_line "ok"
  done
}

# Every unit is a node of its own: one alone is that anyway.
units_as_nodes() {
  local n
  for n in 2 3 4; do
    DRASYNC_NODE=rank run -0 mpi "$n" "$abs_top_builddir/tests/programs/$1" \
      "${@:2}"
    assert_line "ok"
  done
}

# Units are dealt out to two hosts in turn.
units_on_hosts() {
  needs_hosts
  local n
  for n in 2 3 4; do
    run -0 hosts_run "$n" "$abs_top_builddir/tests/programs/$1" "${@:2}"
    assert_line "ok"
  done
}
