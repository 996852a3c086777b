# Reports of checked mode, compared with tests/reports, on a node, nodes and hosts:
# `load common`, `load hosts`, then `load check`.

grep -q '^#define HAVE_LIBDW 1' "$abs_top_builddir/config.h" ||
  fail "built without libdw: reports have no lines (Debian: libdw-dev)"
programs=$abs_top_builddir/tests/programs
reports=$abs_top_srcdir/tests/reports

setup_file() {
  hosts_up
}

teardown_file() {
  hosts_down
}

# What DRASync said, masked; but not what the other ranks say of the network when
# the job has ended, which may come between.
masked() {
  # What a rank prints and what it reports come through different pipes.
  sed -E 's/^(DRASYNC_E[A-Z]+)(drasync: rank)/\1\n\2/' |
    awk '/the network between nodes failed/ { next }
    /^drasync: rank/ { report = 1 }
    /^=====|^over$/ { report = 0 }
    report && !/^DRASYNC_E|^free: / { print }
    /^the job ends/ { exit }' |
    sed -E -e 's/0x[0-9a-f]+/ADDRESS/g' -e 's/thread [0-9]+/thread T/g' \
      -e 's/^(drasync: rank|node) ([0-9]+) \([^)]+\)/\1 \2 (HOST)/' \
      -e 's/region ID [0-9]+/region ID N/' \
      -e 's/ at [^ ]*\/([a-z_0-9]+\.[ch]):[0-9]+/ at \1:LINE/g'
}

# is_reported NAME: $output, masked, is the text of that name.
is_reported() {
  local said
  said=$(masked <<<"$output")
  if [ "${DRASYNC_TEST_WRITE_REPORTS:-}" ]; then
    printf '%s\n' "$said" >"$reports/$1.txt"
  fi
  diff -u "$reports/$1.txt" - <<<"$said"
}
