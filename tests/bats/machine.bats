#!/usr/bin/env bats
#
# Machines that are not as those the library was made on.

load common

setup_file() {
  export program=$abs_top_builddir/tests/programs/first_use
  export other=$BATS_FILE_TMPDIR/libother.so
  "${CC:-cc}" -D_GNU_SOURCE -shared -fPIC -o "$other" \
    "$abs_top_srcdir/tests/programs/other_machine.c" -ldl
}

# on_other N NAME=VALUE PROGRAM...: a job there.
on_other() {
  local ranks=$1
  shift
  mpi "$ranks" env LD_PRELOAD="${preload%"$shim"}$other" "$@"
}

@test "pages of another size than 4 KiB are refused at start, and named" {
  local bytes
  for bytes in 16384 65536; do
    run on_other 2 OTHER_PAGE_BYTES=$bytes "$program"
    refute [ "$status" -eq 0 ]
    refute [ "$status" -eq 124 ]
    assert_output --partial "pages of memory have $bytes bytes here"
    assert_output --partial "DRASYNC_ESTART"
    assert_equal "$(grep -c "pages of memory have" <<<"$output")" 1
  done
}

@test "one rank with other pages is enough" {
  run mpi 1 "$program" : -n 1 \
    env LD_PRELOAD="${preload%"$shim"}$other" OTHER_PAGE_BYTES=65536 "$program"
  refute [ "$status" -eq 0 ]
  refute [ "$status" -eq 124 ]
  assert_output --partial "rank 1 ("
  assert_output --partial "pages of memory have 65536 bytes here"
}

@test "a first call finds MPI by either name of its library" {
  local name
  for name in libmpich.so.12 libmpi.so.12; do
    run -0 on_other 2 OTHER_MPI_NAME=$name "$program"
    assert_line "first use: rank 1 of 2, bad 0"
  done
}

@test "without MPI a first call names the libraries it looked for" {
  [[ ${DRASYNC_SANITIZERS:-} != *thread* ]] ||
    skip "ThreadSanitizer's dlopen() comes before the test's"
  # Not by mpirun, which once lost the line: there is no MPI to start.
  run env LD_PRELOAD="${preload%"$shim"}$other" OTHER_MPI_NAME=none "$program"
  refute [ "$status" -eq 0 ]
  assert_output --partial \
    "neither libmpich.so.12 nor libmpi.so.12 can be loaded"
  assert_output --partial "LD_LIBRARY_PATH"
}
