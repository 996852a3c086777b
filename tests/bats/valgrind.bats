#!/usr/bin/env bats
# Programs under valgrind's memcheck, which finds nothing of ours.  What it says
# of libunwind, which only asks whether memory is there, is passed over.

load common

barnes_hut=$abs_top_builddir/programs/barnes_hut/.libs

setup() {
  command -v valgrind >/dev/null || skip "valgrind is not installed"
  [ -z "${DRASYNC_SANITIZERS:-}" ] ||
    skip "programs of sanitizers do not run under valgrind"
  memcheck=(valgrind --error-exitcode=9
    --suppressions="$abs_top_srcdir/tests/sanitizers/valgrind.supp")
  logs=$BATS_TEST_TMPDIR/logs
  mkdir "$logs"
}

# As far as the build knows of valgrind.
needs_headers() {
  grep -q '^#define HAVE_VALGRIND 1' "$abs_top_builddir/config.h" ||
    skip "built without valgrind's headers"
}

# hash_of COMMAND...: in the result line of that job.
hash_of() {
  "$@" | sed -n 's/^barnes_hut .* hash=\([0-9a-f]*\) .*/\1/p'
}

# under RUN RANKS OPTION PROGRAM ARGUMENTS...: a job by RUN, under valgrind with
# that option, ends with 0 and the hash it has without, and valgrind has counted
# no errors in any rank.  Its memory has a limit, as it may want all there is.
under() {
  local expected log
  expected=$(hash_of "$1" "$2" "${@:4}")
  assert_regex "$expected" '^[0-9a-f]{16}$'
  rm -f "$logs"/*
  ulimit -v 60000000
  run -0 "$1" "$2" "${memcheck[@]}" "$3" --log-file="$logs/%p" "${@:4}"
  assert_line --partial "hash=$expected"
  for log in "$logs"/*; do
    assert_regex "$(tail -n 1 "$log")" "ERROR SUMMARY: 0 errors from"
  done
}

# ranks N: so many processes of the program were there, and not its launchers'.
ranks() {
  assert_equal "$(grep -l "Command: $barnes_hut" "$logs"/* | wc -l)" "$1"
}

@test "a native program has no errors in 16 GiB of addresses" {
  DRASYNC_SPACE=16G under mpi 2 --leak-check=no \
    "$barnes_hut/barnes_hut_native" --plummer 50 --steps 2
  ranks 2
}

@test "a native program has lost nothing, in a space that can be searched" {
  DRASYNC_SPACE=64M under mpi 2 --leak-check=full \
    "$barnes_hut/barnes_hut_native" --plummer 50 --steps 2
  ranks 2
}

@test "a Myrmics program that is preloaded has no errors" {
  DRASYNC_SPACE=64M under mpi_preloaded 2 --leak-check=full \
    "$barnes_hut/barnes_hut_myrmics" --plummer 50 --steps 2
  ranks 2
}

@test "in the default space it is said what to set, and memcheck does not try" {
  needs_headers
  run mpi 2 "${memcheck[@]}" --leak-check=no "$barnes_hut/barnes_hut_native" \
    --plummer 50
  assert_failure
  refute [ "$status" -eq 124 ]
  assert_output --partial "set DRASYNC_SPACE=16G"
  refute_output --partial "hash="
}

@test "with DRASYNC_CHECK=objects reads of what is no object's are errors" {
  needs_headers
  local program=$BATS_TEST_TMPDIR/check_marks
  run -0 "$MPICC" -g -I"$abs_top_srcdir/include" \
    -I"$abs_top_builddir/include" -o "$program" \
    "$abs_top_srcdir/tests/programs/check_marks.c" -L"$libs" -ldrasync
  export DRASYNC_SPACE=64M DRASYNC_CHECK=objects
  run -0 mpi 2 "${memcheck[@]}" --leak-check=no "$program" none
  assert_line over
  run mpi 2 "${memcheck[@]}" --leak-check=no "$program" past
  assert_failure
  assert_output --partial "Invalid read of size 1"
  assert_output --partial "go_wrong (check_marks.c:"
}
