# Two hosts for a Bats file: `load common` first, then `load hosts`; hosts_up in
# setup_file, hosts_down in teardown_file.

# hosts_run RANKS PROGRAM ARGUMENTS...: what mpi() is on one host.
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
  DRASYNC_CLUSTER=$letters env -u UCX_NET_DEVICES "$@"
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

# Skip the test that calls this where there are none.
needs_hosts() {
  [ ! -s "$BATS_FILE_TMPDIR/no-hosts" ] ||
    skip "$(cat "$BATS_FILE_TMPDIR/no-hosts")"
}
