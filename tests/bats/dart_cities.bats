# The example of the DART interface, on real data.

load common
load dart_hosts

setup_file() {
  hosts_up
  fullest_box >"$BATS_FILE_TMPDIR/fullest"
}

setup() {
  program=$abs_top_builddir/programs/dart/.libs/cities_dart
}

# As awk counts them: fullest_box prints COUNT LONGITUDE LATITUDE.
fullest_box() {
  awk -F, '!/^#/ && $1 + 0 == $1 && $2 + 0 == $2 {
      row = int(($2 + 90) / 10)
      box = int(($1 + 180) / 10) % 36 + 36 * (row < 18 ? row : 17)
      count[box]++
    }
    END {
      for (box = 0; box < 648; box++)
        if (count[box] > count[best]) best = box
      print count[best], best % 36 * 10 - 180, int(best / 36) * 10 - 90
    }' "$data/cities.csv"
}

counted() {
  local fullest longitude latitude
  read -r fullest longitude latitude <"$BATS_FILE_TMPDIR/fullest"
  assert_output --partial "cities=234799 fullest=$fullest longitude=$longitude latitude=$latitude "
}

@test "cities in boxes are counted by any number of units" {
  for n in 1 2 3 4 7; do
    run -0 mpi $n "$program" "$data/cities.csv"
    counted
  done
}

@test "cities in boxes are counted where each unit is a node" {
  for n in 2 3; do
    DRASYNC_NODE=rank run -0 mpi $n "$program" "$data/cities.csv"
    counted
  done
}

@test "cities in boxes are counted on two hosts" {
  needs_hosts
  run -0 hosts_run 4 "$program" "$data/cities.csv"
  counted
}

@test "the example compiles as its first lines say" {
  cd "$BATS_TEST_TMPDIR"
  run -0 "$abs_top_builddir/mpicc-drasync" --dart -O2 \
    "$abs_top_srcdir/programs/dart/cities_dart.c" -o cities_dart
  run -0 mpi 2 ./cities_dart "$data/cities.csv"
  counted
}

@test "the example says what it wants" {
  run -2 "$program"
  assert_output --partial "Usage: mpirun -n UNITS cities_dart FILE.csv"
  run -2 "$program" "$BATS_TEST_TMPDIR/none.csv"
  assert_output --partial "none.csv: No such file"
}
