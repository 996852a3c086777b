#!/usr/bin/env bats
#
# The Delaunay program by itself: on the plain message-passing baseline, where
# one rank more than there are workers serves the allocations.

load common

program=$abs_top_builddir/programs/delaunay/.libs/delaunay_myrmics
cities_hash=1e6bf6513a22c429

# job WORKERS ARGUMENTS...: on the baseline.
job() {
  local workers=$1
  shift
  mpi $((workers + 1)) "$program" "$@"
}

setup() {
  points=$BATS_TEST_TMPDIR/points.csv
}

# Put standard input into the file $points.
input() {
  cat >"$points"
}

@test "one worker triangulates the cities, and verification agrees" {
  run -0 job 1 "$data/cities.csv" --verify
  assert_line --index -1 --regexp "^delaunay points=234799 triangles=469576\
 hull=20 hash=$cities_hash verified=yes seconds=[0-9.]+ workers=1\$"
}

@test "four workers get the same triangles as one" {
  run -0 job 4 "$data/cities.csv" --verify
  assert_line --partial "hash=$cities_hash verified=yes"
}

@test "sixteen workers get the same triangles as one" {
  run -0 job 16 "$data/cities.csv" --verify
  assert_line --partial "hash=$cities_hash verified=yes"
}

@test "random points: another seed is another set, workers do not matter" {
  run -0 job 1 --random 3000 --seed 5
  local one=${output#*hash=}
  run -0 job 4 --random 3000 --seed 5 --verify
  assert_output --partial "hash=${one%% *} verified=yes"
  run -0 job 1 --random 3000 --seed 6
  refute_output --partial "hash=${one%% *}"
}

@test "no, one and two points, and points on one line, have no triangles" {
  run -0 job 1 --random 0 --verify
  assert_output --partial "points=0 triangles=0 hull=0 hash=0000000000000000\
 verified=yes"
  input <<<'1,1'
  run -0 job 4 "$points" --verify
  assert_output --partial "points=1 triangles=0 hull=1"
  printf '1,1\n2,2\n3,3\n2,2\n' | input
  run -0 job 4 "$points" --verify
  assert_line "delaunay_myrmics: 1 of the points are repeated ones"
  assert_output --partial "points=4 triangles=0 hull=3"
}

@test "without --verify the result is unchecked" {
  printf 'x,y\n0,0\n1,0\n0,1\n' | input
  run -0 job 1 "$points"
  assert_output --partial "points=3 triangles=1 hull=3"
  assert_output --partial "verified=unchecked"
}

# refused TEXT: four workers exit with 2 after this one line.
refused() {
  run -2 job 4 "$points" --verify
  assert_output "delaunay_myrmics: $points$1"
}

@test "a file that is missing is named" {
  points=$BATS_TEST_TMPDIR/nowhere.csv
  refused ": cannot open: No such file or directory"
}

@test "an empty file is refused" {
  input </dev/null
  refused ":1: the file is empty"
}

@test "a file with nothing but comments is refused" {
  printf '# nothing\nlon,lat\n' | input
  refused ":3: the file has no line of numbers"
}

@test "a file cut off in the middle of a line is refused, with the line" {
  head -c 1000 "$data/cities.csv" | input
  refused ":46: the last line does not end: the file is truncated"
}

@test "a line with a field missing is refused, with the line" {
  printf 'lon,lat\n1,2\n3\n' | input
  refused ":3: 1 field where 2 are expected"
}

@test "text where a number should be is refused, with the line" {
  printf '1,2\n3,four\n' | input
  refused ":2: field 2 is not a number: 'four'"
}

@test "NaN and infinity are refused, with the line" {
  printf '1,2\nnan,4\n' | input
  refused ":2: field 1 is not a finite number: 'nan'"
  printf '1,2\n5,6\n3,-inf\n' | input
  refused ":3: field 2 is not a finite number: '-inf'"
}

@test "a position out of range is refused, with the line" {
  printf '1,2\n671.08863,-671.08863\n671.08864,0\n' | input
  refused ":3: field 1 is out of range: 671.089, but at most 671.08863 in size\
 is allowed"
}

@test "a number of workers without a quadtree is refused" {
  run -2 job 3 "$data/cities.csv"
  assert_output "delaunay_myrmics: 3 workers: needs 1, 4, 16 or 64, for each\
 level of the quadtree joins four cells"
}

@test "a wrong command line is refused before MPI starts" {
  run -2 "$program"
  assert_output "delaunay_myrmics: no file and no --random (see --help)"
  run -2 "$program" --random many
  assert_output "delaunay_myrmics: not a number of points: many (see --help)"
  run -2 "$program" --colour file.csv
  assert_output --partial "not an option, or without its value: --colour"
  run -2 "$program" --random 5 file.csv
  assert_output --partial "both --random and a file: file.csv"
  run -2 "$program" one.csv two.csv
  assert_output --partial "more than one file: two.csv"
}

@test "--help and --version answer once, also under mpirun" {
  run -0 mpi 2 "$program" --help
  assert_line --index 0 --partial "Usage:"
  assert_equal "$(grep -c Usage <<<"$output")" 1
  run -0 "$program" --version
  assert_output --regexp '^delaunay_myrmics [0-9.]+$'
}
