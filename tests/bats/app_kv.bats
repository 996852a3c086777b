# The key-value store gives the same answers in all forms.

load common
app=kv
load app

@test "single updates end with the same store in both forms" {
  forms_agree --tiny --single
}

@test "batches end with the same store in both forms" {
  forms_agree --tiny --batch 100
}

@test "the size of a batch does not change the answer" {
  run -0 mpi 2 "$(form mpi)" --tiny --batch 7
  answer_of mpi 2
  expected=$answer
  for batch in 1 1000 5000; do
    run -0 mpi 2 "$(form native)" --tiny --batch "$batch"
    form_answers "$expected" native 2
  done
}

@test "keys drawn by Zipf's law end with the same store in both forms" {
  forms_agree --tiny --single --skew 1.2
  forms_agree --tiny --batch 300 --skew 0.99
}

@test "the forms agree where each rank is a node" {
  export DRASYNC_NODE=rank
  forms_agree --tiny --single
  forms_agree --tiny --batch 100
}

@test "the forms agree on two hosts" {
  forms_agree_on_hosts --tiny --single
  forms_agree_on_hosts --tiny --batch 100 --skew 0.99
}

# run_agrees ARGUMENTS...: the form that sends updates to the shards.
run_agrees() {
  local n expected
  for n in 1 2 3 4; do
    run -0 mpi "$n" "$(form mpi)" "$@"
    answer_of mpi "$n"
    expected=$answer
    run -0 mpi "$n" "$(form run)" "$@"
    form_answers "$expected" run "$n"
  done
}

@test "updates that go to the shards end with the same store" {
  run_agrees --tiny --single
  run_agrees --tiny --batch 1000 --skew 0.99
  export DRASYNC_NODE=rank
  run_agrees --tiny --single --skew 1.2
  run_agrees --tiny --batch 1000
}

@test "updates that go to the shards of two hosts end with the same store" {
  needs_hosts
  for n in 2 4; do
    for way in --single "--batch 1000"; do
      run -0 mpi "$n" "$(form mpi)" --tiny $way
      answer_of mpi "$n"
      expected=$answer
      run -0 hosts_run "$n" "$(form run)" --tiny $way
      form_answers "$expected" run "$n"
    done
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
  refused "--batch takes a number from 1 to 100000000: 0" --batch 0
  refused "--updates takes a number from 1 to 100000000: 0" --updates 0
  refused "--keys takes a number from 1 to 100000000: many" --keys many
  refused "--seed takes a number: x" --seed x
  refused "--skew takes a number from 0 to 5: x" --skew x
  refused "--runs takes a number from 2 to 1000: 1" --runs 1
  refused "not an option, or without its value: --keys" --keys
  refused "not an option: more" more
}
