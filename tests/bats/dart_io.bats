# Files of a team, with parallel HDF5 where that is installed.

setup() {
  load common
  load dart
}

@test "without HDF5 in the program it says so" {
  units_on_a_node dart_io
}

@test "all units of a team write and read an HDF5 file together" {
  local package=hdf5-mpich
  pkg-config --exists "$package" ||
    skip "no HDF5 that uses MPICH (Debian: libhdf5-mpich-dev)"
  # Words, not one argument: compiler options.
  local options=($(pkg-config --cflags --libs "$package"))
  run -0 "$abs_top_builddir/mpicc-drasync" --dart -O2 \
    -o "$BATS_TEST_TMPDIR/dart_hdf5" \
    "$abs_top_srcdir/tests/programs/dart_hdf5.c" "${options[@]}"
  local n
  for n in 1 2 3 4; do
    run -0 mpi "$n" "$BATS_TEST_TMPDIR/dart_hdf5" "$BATS_TEST_TMPDIR/file"
    assert_line "ok"
    DRASYNC_NODE=rank run -0 mpi "$n" "$BATS_TEST_TMPDIR/dart_hdf5" \
      "$BATS_TEST_TMPDIR/file"
    assert_line "ok"
  done
}
