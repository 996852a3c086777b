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

# Every unit is a node of its own.
units_as_nodes() {
  local n
  for n in 1 2 3 4; do
    DRASYNC_NODE=rank run -0 mpi "$n" "$abs_top_builddir/tests/programs/$1" \
      "${@:2}"
    assert_line "ok"
  done
}

# Units are dealt out to two hosts in turn.
units_on_hosts() {
  [ ! -s "$BATS_FILE_TMPDIR/no-hosts" ] ||
    skip "$(cat "$BATS_FILE_TMPDIR/no-hosts")"
  local n
  for n in 2 3 4; do
    run -0 hosts_run "$n" "$abs_top_builddir/tests/programs/$1" "${@:2}"
    assert_line "ok"
  done
}

# hosts_run UNITS PROGRAM ARGUMENTS...: what mpi() is on one host.
hosts_run() {
  hosts_command timeout -k 5 "${DRASYNC_TEST_SECONDS:-120}" \
    "$abs_top_srcdir/scripts/cluster" run \
    -genv LD_LIBRARY_PATH "$LD_LIBRARY_PATH" -n "$@" </dev/null 3>&-
}

# With names of hosts that are this file's in this build alone, so that others
# may run at the same time.
hosts_command() {
  local letters
  letters=$(printf %s "$abs_top_builddir $BATS_TEST_FILENAME" | md5sum |
    tr 0-9 g-p | cut -c1-4)
  DRASYNC_CLUSTER=$letters "$@"
}

# Two hosts, or a reason why there are none in the file no-hosts.
hosts_up() {
  local probe=dart-probe-$$
  if [ "$(id -u)" != 0 ]; then
    echo "network namespaces need root" >"$BATS_FILE_TMPDIR/no-hosts"
  elif ! ip netns add "$probe" 2>/dev/null; then
    echo "this machine does not allow network namespaces" \
      >"$BATS_FILE_TMPDIR/no-hosts"
  else
    ip netns del "$probe"
    hosts_command "$abs_top_srcdir/scripts/cluster" down # a killed run's
    hosts_command "$abs_top_srcdir/scripts/cluster" up 2 3>&-
  fi
}

hosts_down() {
  [ -s "$BATS_FILE_TMPDIR/no-hosts" ] ||
    hosts_command "$abs_top_srcdir/scripts/cluster" down
}
