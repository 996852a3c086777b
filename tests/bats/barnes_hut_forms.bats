#!/usr/bin/env bats
#
# Barnes-Hut gives the same bits in all its forms, for equal numbers of workers.

load common
export LD_LIBRARY_PATH=$libs

myrmics=$abs_top_builddir/programs/barnes_hut/.libs/barnes_hut_myrmics

# The hash in the result line of a job.
hash_of() {
  "$@" | sed -n 's/^barnes_hut .* hash=\([0-9a-f]*\) .*/\1/p'
}

# The baseline's hash; it needs one rank more.
baseline() {
  local workers=$1
  shift
  hash_of mpi $((workers + 1)) "$myrmics" "$@"
}

preloaded() {
  local workers=$1
  shift
  hash_of mpi_preloaded "$workers" "$myrmics" "$@"
}

@test "the solar system: baseline and preload agree for 1, 2, 3, 4, 8 workers" {
  local workers expected
  for workers in 1 2 3 4 8; do
    expected=$(baseline $workers "$data/solar-system.csv")
    assert_regex "$expected" '^[0-9a-f]{16}$'
    assert_equal "$(preloaded $workers "$data/solar-system.csv")" "$expected"
  done
}

@test "many steps with moving bodies: baseline and preload agree" {
  local expected
  expected=$(baseline 3 --plummer 300 --steps 100 --dt 0.05)
  assert_regex "$expected" '^[0-9a-f]{16}$'
  assert_equal "$(preloaded 3 --plummer 300 --steps 100 --dt 0.05)" "$expected"
}
