# Barnes-Hut gives the same bits in the form by hand as on DRASync.

load common
app=barnes_hut
load app

rank_counts="1 2 3 4 8"

result_line() { # FORM RANKS
  echo "^$app bodies=[0-9]+ steps=[0-9]+ energy_drift=[^ ]+ force_error=[^ ]+\
 hash=([0-9a-f]{16}) seconds=[0-9.]+ workers=$2\$"
}

@test "both forms move the solar system alike, with forces that are right" {
  rank_counts="1 2 4 8" forms_agree "$data/solar-system.csv" --steps 5
  rank_counts=3 forms_agree "$data/solar-system.csv" --steps 10 --verify
}

@test "bodies that change workers: the forms agree" {
  forms_agree --plummer 300 --steps 100 --dt 0.05
}

@test "more workers than bodies: the forms agree" {
  forms_agree --plummer 2 --steps 5
}

@test "without an opening angle every tree goes whole" {
  forms_agree --plummer 500 --steps 3 --theta 0
}

@test "bodies in one place, which no tree can part" {
  local i bodies=$BATS_TEST_TMPDIR/bodies.csv
  for ((i = 0; i < 60; i++)); do
    echo "1,$((i % 3)),1,1,0,0,0"
  done >"$bodies"
  forms_agree "$bodies" --steps 5 --softening 0.1
}

@test "the forms agree where each rank is a node" {
  export DRASYNC_NODE=rank
  forms_agree --plummer 1000 --steps 5
}

@test "the forms agree on two hosts" {
  forms_agree_on_hosts --plummer 1000 --steps 5
}

@test "the form by hand agrees on two hosts" {
  by_hand_on_hosts --plummer 1000 --steps 5
}

@test "input that is missing or wrong is refused in a line" {
  local name bodies=$BATS_TEST_TMPDIR/bodies.csv
  printf '1,0,0,0,0,0,0\n1,0,zero,0,0,0,0\n' >"$bodies"
  for name in mpi native; do
    run -2 mpi 3 "$(form $name)" "$bodies"
    assert_output \
      "barnes_hut_$name: $bodies:2: field 3 is not a number: 'zero'"
  done
}

@test "wrong arguments are refused in a line" {
  refused "no file and no --plummer"
  refused "not a number of bodies: 0" --plummer 0
  refused "not an opening angle from 0 to 1: 1.5" --plummer 5 --theta 1.5
  refused "both --plummer and a file: file" --plummer 5 file
  refused "not an option, or without its value: --plumber" --plumber 5
}
