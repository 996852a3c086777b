# The octree exchange gives the same answers in both forms.

load common
app=octree
load app

@test "all trees have the same field in both forms" {
  forms_agree --tiny
}

@test "one point a rank, and trees of several pieces, are exchanged" {
  forms_agree --points 1 --steps 2 --runs 2
  forms_agree --points 20000 --steps 2 --runs 2
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
  by_hand_on_hosts --points 20000 --steps 2 --runs 2
}

@test "wrong arguments are refused in a line" {
  refused "--points takes a number from 1 to 10000000: 0" --points 0
  refused "--steps takes a number from 1 to 1000000: many" --steps many
  refused "--opening takes a number up to 10000: 10001" --opening 10001
  refused "--runs takes a number from 2 to 1000: 1" --runs 1
  refused "not an option, or without its value: --no-such" --no-such
  refused "not an option: more" more
}
