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
