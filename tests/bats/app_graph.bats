# PageRank and breadth-first search give the same answers in both forms.

load common
app=graph
load app

@test "both forms find the same scores and levels, which are right" {
  forms_agree --tiny --verify
  forms_agree --scale 11 --runs 2 --verify
}

@test "more ranks than some vertices have neighbours" {
  forms_agree --tiny --scale 4 --verify
}

@test "the forms agree where each rank is a node" {
  export DRASYNC_NODE=rank
  forms_agree --tiny --verify
}

@test "messages give what the shared window gives" {
  export MPIR_CVAR_NOLOCAL=1
  forms_agree --tiny --verify
}

@test "the forms agree on two hosts" {
  forms_agree_on_hosts --tiny --verify
}

@test "the answer is the same for any number of ranks" {
  run -0 mpi 1 "$(form mpi)" --tiny
  answer_of mpi 1
  expected=$answer
  for n in 2 3 5; do
    run -0 mpi "$n" "$(form native)" --tiny
    form_answers "$expected" native "$n"
  done
}

@test "PageRank alone, searches alone, and neither" {
  forms_agree --tiny --roots 0
  forms_agree --tiny --iterations 0
  forms_agree --tiny --iterations 0 --roots 0
}

@test "the answer depends on the seed" {
  run -0 mpi 2 "$(form native)" --tiny
  answer_of native 2
  expected=$answer
  run -0 mpi 2 "$(form native)" --tiny --seed 2
  answer_of native 2
  refute [ "$answer" = "$expected" ]
}

@test "wrong arguments are refused in a line" {
  refused "--scale takes a number from 4 to 22: 3" --scale 3
  refused "--iterations takes a number up to 1000: 1001" --iterations 1001
  refused "--roots takes a number up to 64: x" --roots x
  refused "--seed takes a number: -1" --seed -1
  refused "--runs takes a number from 2 to 1000: 1" --runs 1
  refused "not an option, or without its value: --scale" --scale
  refused "not an option: more" more
}
