# Triangulation gives the same triangles in the form by hand as on DRASync.

load common
app=delaunay
load app

rank_counts="1 2 4 8"

result_line() { # FORM RANKS
  echo "^$app points=[0-9]+ triangles=[0-9]+ hull=[0-9]+ hash=([0-9a-f]{16})\
 verified=(yes|unchecked) seconds=[0-9.]+ workers=$2\$"
}

@test "both forms find the same triangles of the cities, which are right" {
  forms_agree "$data/cities.csv" --verify
}

@test "two levels of joins, with one leaf a rank and with two" {
  rank_counts="8 16" forms_agree --random 20000 --verify
}

@test "fewer points than cells, and none" {
  forms_agree --random 3 --verify
  forms_agree --random 0 --verify
}

@test "points on one line, which all wait, and repeated ones" {
  local i points=$BATS_TEST_TMPDIR/line.csv
  for ((i = 0; i < 3000; i++)); do echo "$((i % 500)),1"; done >"$points"
  for n in 2 4; do
    for name in mpi native; do
      run -0 mpi "$n" "$(form $name)" "$points" --verify
      assert_line --partial "points=3000 triangles=0 "
      assert_line "delaunay_$name: 2500 of the points are repeated ones"
    done
  done
}

@test "the forms agree where each rank is a node" {
  export DRASYNC_NODE=rank
  forms_agree --random 20000 --verify
}

@test "messages give what the shared window gives" {
  export MPIR_CVAR_NOLOCAL=1
  rank_counts="2 4 8 16" forms_agree --random 50000 --verify
}

@test "the forms agree on two hosts" {
  forms_agree_on_hosts --random 50000 --verify
}

@test "the form by hand agrees on two hosts, where it sends messages" {
  by_hand_on_hosts --random 50000 --verify
}

@test "a number of workers without a quadtree is refused" {
  for name in mpi native; do
    run -2 mpi 3 "$(form $name)" --random 10
    assert_output "delaunay_$name: 3 workers: needs 1, 2, 4, 8, 16, 32 or 64,\
 for each level of the quadtree joins four cells"
  done
}

@test "input that is missing or wrong is refused in a line" {
  local points=$BATS_TEST_TMPDIR/points.csv
  printf '1,2\n3,four\n' >"$points"
  for name in mpi native; do
    for n in 1 2 4; do
      run -2 mpi "$n" "$(form $name)" "$points"
      assert_output \
        "delaunay_$name: $points:2: field 2 is not a number: 'four'"
    done
  done
}

@test "wrong arguments are refused in a line" {
  refused "no file and no --random"
  refused "not a number of points: many" --random many
  refused "not an option, or without its value: --colour" --colour
  refused "both --random and a file: file.csv" --random 5 file.csv
}
