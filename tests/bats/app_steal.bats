# Work stealing gives the same answers in both forms.

load common
app=steal
load app

@test "all nodes of the tree are visited once in both forms" {
  forms_agree --tiny
}

@test "trees without anything to steal, and with much, are searched" {
  forms_agree --roots 1 --runs 3
  forms_agree --roots 3000 --grain 0 --runs 3
}

@test "the forms agree where each rank is a node" {
  export DRASYNC_NODE=rank
  forms_agree --tiny
}

@test "the forms agree on two hosts" {
  forms_agree_on_hosts --tiny
}

@test "the form by hand agrees on two hosts, where it sends messages" {
  by_hand_on_hosts --tiny
  by_hand_on_hosts --roots 3000 --grain 0 --runs 3
}

@test "wrong arguments are refused in a line" {
  refused "--roots takes a number from 1 to 100000000: 0" --roots 0
  refused "--grain takes a number up to 1000000: 1000001" --grain 1000001
  refused "--seed takes a number: -1" --seed -1
  refused "--runs takes a number from 2 to 1000: 1" --runs 1
  refused "not an option, or without its value: --no-such" --no-such
  refused "not an option: more" more
}
