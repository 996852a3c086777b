# The pipeline of lists gives the same answers in both forms.

load common
app=pipeline
load app

@test "the same lists are consumed in both forms" {
  forms_agree --tiny
}

@test "lists of one item, and fewer lists than are under way, are consumed" {
  forms_agree --lists 3 --items 1 --runs 3
}

@test "the forms agree where each rank is a node" {
  export DRASYNC_NODE=rank
  forms_agree --tiny
}

@test "the forms agree on two hosts" {
  forms_agree_on_hosts --tiny
}

@test "wrong arguments are refused in a line" {
  refused "--lists takes a number from 1 to 1000000: 0" --lists 0
  refused "--items takes a number from 1 to 1000000: many" --items many
  refused "--seed takes a number: x" --seed x
  refused "--runs takes a number from 2 to 1000: 1" --runs 1
  refused "not an option, or without its value: --no-such" --no-such
  refused "not an option: more" more
}
