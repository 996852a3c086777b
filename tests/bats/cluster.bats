# Jobs over several hosts: network namespaces with names of their own, two of
# them and four.

setup_file() {
  load common
  if [ "$(id -u)" != 0 ]; then
    skip "network namespaces need root"
  fi
  if ! ip netns add drat-probe 2>/dev/null; then
    skip "this machine does not allow network namespaces"
  fi
  ip netns del drat-probe
  local hosts
  for hosts in 2 4; do
    cluster "$hosts" down
    cluster "$hosts" up "$hosts" 3>&-
  done
}

teardown_file() {
  [ "$(id -u)" = 0 ] || return 0
  cluster 2 down
  cluster 4 down
}

setup() {
  load common
  leaks_of_others
  delaunay=$abs_top_builddir/programs/delaunay/.libs/delaunay
  barnes_hut=$abs_top_builddir/programs/barnes_hut/.libs/barnes_hut
}

# The prefix of the names of so many hosts.
names_of() {
  [ "$1" = 2 ] && echo drat || echo dras
}

# cluster HOSTS COMMAND...
cluster() {
  DRASYNC_CLUSTER=$(names_of "$1") "$abs_top_srcdir/scripts/cluster" "${@:2}"
}

# on_hosts HOSTS RANKS PROGRAM...: ranks are dealt out to the hosts in turn.
on_hosts() {
  DRASYNC_CLUSTER=$(names_of "$1") timeout -k 5 60 env -u UCX_NET_DEVICES \
    "$abs_top_srcdir/scripts/cluster" run \
    -genv LD_LIBRARY_PATH "$libs" -genv LD_PRELOAD "$preload" \
    -n "${@:2}" </dev/null 3>&-
}

# The hash in a result line.
hash_of() {
  sed -n 's/.*hash=\([0-9a-f]*\).*/\1/p'
}

# same_as_on_one HOSTS RANKS PROGRAM...: the result is that of one host.
same_as_on_one() {
  local one
  one=$(mpi_preloaded "${@:2}" | hash_of)
  [ -n "$one" ]
  run -0 on_hosts "$@"
  assert_equal "$(hash_of <<<"$output")" "$one"
}

@test "the hosts of a cluster are nodes of their own" {
  run -0 on_hosts 2 4 hostname
  assert_line drat1
  assert_line drat2
  run -0 on_hosts 4 4 hostname
  assert_line dras1
  assert_line dras4
}

@test "a cluster that comes up beside a job says nothing in it" {
  # What another one's `ip netns add` leaves for a moment: a name, no namespace.
  touch /run/netns/drau1
  run on_hosts 2 2 hostname
  rm /run/netns/drau1
  assert_success
  assert_equal "${#lines[@]}" 2
}

@test "READs of more regions than a message takes, on four hosts" {
  run -0 on_hosts 4 4 "$abs_top_builddir/tests/programs/native_portions"
  assert_line "portions ok ranks=4"
}

@test "between hosts 64 KiB go at once, unless the user says otherwise" {
  local at_once=$abs_top_builddir/tests/programs/native_at_once
  [ -z "$(ls /sys/class/infiniband 2>/dev/null)" ] ||
    skip "this host has RDMA devices, over which UCX is left alone"
  mpichversion | grep -q ch4:ucx || skip "this MPI does not run over UCX"
  run -0 on_hosts 2 4 "$at_once"
  assert_line "at once ok ranks=4"
  run -0 grep -c 'threshold 65536$' <<<"$output"
  assert_output 4
  UCX_RNDV_THRESH=auto run -0 on_hosts 2 2 "$at_once"
  assert_line "at once ok ranks=2"
  assert_line "rank 1: threshold auto"
  # Packets are as long as the user's limit allows.
  UCX_RNDV_THRESH=20000 run -0 on_hosts 2 2 "$at_once"
  assert_line "at once ok ranks=2"
  run -0 mpi_preloaded 2 "$at_once"
  assert_line "rank 1: threshold unset"
}

@test "Delaunay with the Myrmics calls on two hosts is as on one" {
  same_as_on_one 2 4 "${delaunay}_myrmics" "$data/cities.csv" --verify
  assert_output --partial "verified=yes"
}

@test "Delaunay with the calls of DRASync on two hosts is as on one" {
  same_as_on_one 2 4 "${delaunay}_native" --random 20000 --verify
  assert_output --partial "verified=yes"
}

@test "Barnes-Hut with the Myrmics calls on two hosts is as on one" {
  same_as_on_one 2 4 "${barnes_hut}_myrmics" "$data/solar-system.csv" --steps 3
}

@test "Barnes-Hut with the calls of DRASync on two hosts is as on one" {
  same_as_on_one 2 4 "${barnes_hut}_native" --plummer 500 --steps 3
}

@test "Delaunay with the Myrmics calls on four hosts is as on one" {
  same_as_on_one 4 16 "${delaunay}_myrmics" --random 2000 --verify
  assert_output --partial "verified=yes"
}

@test "Delaunay with the calls of DRASync on four hosts is as on one" {
  same_as_on_one 4 16 "${delaunay}_native" --random 2000 --verify
  assert_output --partial "verified=yes"
}

@test "Barnes-Hut with the Myrmics calls on four hosts is as on one" {
  same_as_on_one 4 8 "${barnes_hut}_myrmics" --plummer 500 --steps 2
}

@test "Barnes-Hut with the calls of DRASync on four hosts is as on one" {
  same_as_on_one 4 8 "${barnes_hut}_native" --plummer 500 --steps 2
}
