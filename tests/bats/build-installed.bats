#!/usr/bin/env bats
# What make install puts where, and make uninstall takes back.

load common

setup() {
  cd "$BATS_TEST_TMPDIR"
}

@test "make installs nothing into a directory with spaces, and says why" {
  local where
  for where in DESTDIR prefix; do
    run -2 make_in_build install "$where=$PWD/a place"
    assert_output --partial "cannot install into a directory whose name has"
    assert_output --partial "$where=\"$PWD/a place\""
    assert [ ! -e "$PWD/a place" ]
  done
}

files_of_ours() {
  find "$1" -name '*drasync*' -o -name 'dash*' -o -not -type d
}

@test "make uninstall takes back what make install put there" {
  local dest=$BATS_TEST_TMPDIR/dest
  cp -a "$abs_top_builddir/tests/installed" "$dest"
  run -0 files_of_ours "$dest"
  assert_line --partial /libdart-mpi.so
  run -0 make_in_build uninstall DESTDIR="$dest"
  run -0 files_of_ours "$dest"
  assert_output ""
}
