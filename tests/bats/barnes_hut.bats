#!/usr/bin/env bats
#
# Barnes-Hut by itself: on the plain message-passing baseline, where one rank
# more than there are workers serves the allocations.

load common
export LD_LIBRARY_PATH=$libs

program=$abs_top_builddir/programs/barnes_hut/.libs/barnes_hut_myrmics

# job WORKERS ARGUMENTS...
job() {
  local workers=$1
  shift
  mpi $((workers + 1)) "$program" "$@"
}

# hash WORKERS ARGUMENTS...: of that job's result.
hash() {
  job "$@" | sed -n 's/.* hash=\([0-9a-f]*\) .*/\1/p'
}

setup() {
  bodies=$BATS_TEST_TMPDIR/bodies.csv
}

# refused REGEXP: three workers do not take $bodies, and one says why.
refused() {
  run -2 job 3 "$bodies"
  assert_output --regexp "$1"
  assert [ "$(grep -c "bodies.csv" <<<"$output")" -eq 1 ]
}

@test "the solar system's forces are right for 1, 2, 3, 4 and 8 workers" {
  local workers steps
  for workers in 1 2 3 4 8; do
    steps=$((workers == 3 ? 20 : 5))
    run -0 job $workers "$data/solar-system.csv" --steps $steps --theta 0.5 --verify
    assert_line --index -1 --regexp "^barnes_hut bodies=7107 steps=$steps\
 energy_drift=[0-9]\.[0-9]{3}e-0[7-9] force_error=[0-9.]+e-0[3-9]\
 hash=[0-9a-f]{16} seconds=[0-9.]+ workers=$workers\$"
  done
}

@test "a Plummer sphere's forces are right" {
  run -0 job 3 --plummer 2000 --steps 10 --verify
  assert_line --index -1 --regexp \
    "bodies=2000 steps=10 energy_drift=[0-9.]+e-0[4-9] force_error=[0-9.]+e-03"
}

@test "a run gives the same bits again, with more schedulers too" {
  local first
  first=$(hash 3 --plummer 1000 --seed 5)
  assert [ -n "$first" ]
  assert_equal "$(hash 3 --plummer 1000 --seed 5)" "$first"
  # One rank more, and one scheduler more: again three workers.
  assert_equal "$(MYRMICS_SCHEDULERS=2 hash 4 --plummer 1000 --seed 5)" "$first"
  refute [ "$(hash 3 --plummer 1000 --seed 6)" = "$first" ]
}

@test "more workers than bodies" {
  run -0 job 4 --plummer 2 --verify --steps 3
  assert_line --partial "bodies=2 steps=3"
}

@test "verification that fails is exit status 1" {
  run -1 job 1 --plummer 3000 --theta 1 --steps 0 --verify
  assert_line --partial "force_error=1"
  assert_line --partial "the force error is over 0.01"
}

@test "without --verify forces are unchecked" {
  run -0 job 1 --plummer 100 --steps 1
  assert_line --partial "force_error=unchecked"
}

@test "input that is missing, empty, truncated, not numbers, NaN" {
  refused "bodies.csv: cannot open"
  : >"$bodies"
  refused "bodies.csv:1: the file is empty"
  printf 'mass,x,y,z,vx,vy,vz\n1,0,0,0,0,0,0\n2,1,1' >"$bodies"
  refused "bodies.csv:3: .*truncated"
  printf '1,0,0,0,0,0,0\n2,1,1\n' >"$bodies"
  refused "bodies.csv:2: 3 fields where 7 are expected"
  printf '1,0,0,0,0,0,0\n1,0,zero,0,0,0,0\n' >"$bodies"
  refused "bodies.csv:2: field 3 is not a number: 'zero'"
  printf '1,0,0,0,0,0,0\n1,0,nan,0,0,0,0\n' >"$bodies"
  refused "bodies.csv:2: field 3 is not a finite number: 'nan'"
  printf '1,0,0,0,0,0,0\n-1,0,5,0,0,0,0\n' >"$bodies"
  refused "bodies.csv:2: the mass is negative: -1"
}

@test "wrong command lines" {
  # Without mpirun, which may not survive ranks that end before it is ready.
  run -2 "$program"
  assert_output --partial "no file and no --plummer"
  run -2 "$program" --plummer 0
  assert_output --partial "not a number of bodies: 0"
  run -2 "$program" --plummer 5 --theta 1.5
  assert_output --partial "not an opening angle from 0 to 1: 1.5"
  run -2 "$program" --plummer 5 file
  assert_output --partial "both --plummer and a file: file"
  run -2 "$program" --plumber 5
  assert_output --partial "not an option, or without its value: --plumber"
  run -0 "$program" --version
  assert_output --regexp "^barnes_hut_myrmics [0-9]"
  run -0 "$program" --help
  assert_output --partial "root of the mean square"
}
