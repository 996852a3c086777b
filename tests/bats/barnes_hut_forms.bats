#!/usr/bin/env bats
#
# Barnes-Hut gives the same bits in all its forms, for equal numbers of workers.

load common
export LD_LIBRARY_PATH=$libs

myrmics=$abs_top_builddir/programs/barnes_hut/.libs/barnes_hut_myrmics
native=$abs_top_builddir/programs/barnes_hut/.libs/barnes_hut_native

# The hash in the result line of a job.
hash_of() {
  "$@" | sed -n 's/^barnes_hut .* hash=\([0-9a-f]*\) .*/\1/p'
}

# agree WORKERS ARGUMENTS...: all three forms; the baseline needs a rank more.
agree() {
  local workers=$1 expected
  shift
  expected=$(hash_of mpi $((workers + 1)) "$myrmics" "$@")
  assert_regex "$expected" '^[0-9a-f]{16}$'
  assert_equal "preloaded $(hash_of mpi_preloaded "$workers" "$myrmics" "$@")" \
    "preloaded $expected"
  assert_equal "native $(hash_of mpi "$workers" "$native" "$@")" \
    "native $expected"
}

@test "the solar system: all forms agree for 1, 2, 3, 4 and 8 workers" {
  local workers
  for workers in 1 2 3 4 8; do
    agree $workers "$data/solar-system.csv" --steps 5
  done
}

@test "many steps with moving bodies: all forms agree" {
  agree 3 --plummer 300 --steps 100 --dt 0.05
}

@test "more workers than bodies: all forms agree" {
  agree 4 --plummer 2 --steps 5
}

@test "the native form's forces are right" {
  run -0 mpi 4 "$native" "$data/solar-system.csv" --verify
  assert_line --index -1 --regexp "^barnes_hut bodies=7107 steps=20\
 energy_drift=[0-9.]+e-0[7-9] force_error=[0-9.]+e-0[3-9] hash=[0-9a-f]{16}\
 seconds=[0-9.]+ workers=4\$"
}

@test "the native form refuses input that is missing or wrong, in one line" {
  run -2 mpi 3 "$native" "$BATS_TEST_TMPDIR/none.csv"
  assert_output --regexp "^barnes_hut_native: .*none.csv: cannot open: [^:]*$"
  printf '1,0,0,0,0,0,0\n1,0,zero,0,0,0,0\n' >"$BATS_TEST_TMPDIR/bad.csv"
  run -2 mpi 3 "$native" "$BATS_TEST_TMPDIR/bad.csv"
  assert_output --regexp "^.*bad.csv:2: field 3 is not a number: 'zero'$"
}
