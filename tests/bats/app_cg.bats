# Conjugate gradient gives the same answers in both forms.

load common
app=cg
load app

@test "both forms find the same bits" {
  forms_agree --tiny
}

@test "both forms find the same bits when ranks have a row each, or none" {
  forms_agree --tiny --side 1
  forms_agree --tiny --side 2 --seed 5
}

@test "blocks of rows and the last one of them" {
  forms_agree --side 21 --runs 2 --tolerance 1e-2
}

@test "the forms agree where each rank is a node" {
  export DRASYNC_NODE=rank
  forms_agree --tiny --tolerance 1e-3
}

@test "messages give what the shared window gives" {
  export MPIR_CVAR_NOLOCAL=1
  forms_agree --tiny --tolerance 1e-3
}

@test "the forms agree on two hosts" {
  forms_agree_on_hosts --tiny --tolerance 1e-3
}

@test "the solution is that of the equations, by any number of ranks" {
  local n
  for n in 1 3; do
    run -0 mpi "$n" "$(form native)" --tiny --side 12 --tolerance 1e-12
    answer_of native "$n"
    assert_output --regexp " iterations=[1-9][0-9]+ error=[0-9.]+e-(09|1[0-9])$"
  done
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
  refused "--side takes a number from 1 to 1000: 0" --side 0
  refused "--tolerance takes a number from 1e-14 to 1: 2" --tolerance 2
  refused "--seed takes a number: x" --seed x
  refused "--runs takes a number from 2 to 1000: 1" --runs 1
  refused "not an option, or without its value: --side" --side
  refused "not an option: more" more
}
