# Jobs over several hosts: network namespaces with names of their own.

setup_file() {
  export DRASYNC_CLUSTER=drat
  load common
  if [ "$(id -u)" != 0 ]; then
    skip "network namespaces need root"
  fi
  if ! ip netns add drat-probe 2>/dev/null; then
    skip "this machine does not allow network namespaces"
  fi
  ip netns del drat-probe
  "$abs_top_srcdir/scripts/cluster" down
  "$abs_top_srcdir/scripts/cluster" up 2 3>&-
}

teardown_file() {
  [ "$(id -u)" != 0 ] || "$abs_top_srcdir/scripts/cluster" down
}

setup() {
  load common
  delaunay=$abs_top_builddir/programs/delaunay/.libs/delaunay
  barnes_hut=$abs_top_builddir/programs/barnes_hut/.libs/barnes_hut
}

# on_hosts RANKS PROGRAM...: ranks are dealt out to the hosts in turn.
on_hosts() {
  timeout -k 5 60 "$abs_top_srcdir/scripts/cluster" run \
    -genv LD_LIBRARY_PATH "$libs" -genv LD_PRELOAD "${hosts_preload-$preload}" \
    -n "$@" </dev/null 3>&-
}

# The hash in a result line.
hash_of() {
  sed -n 's/.*hash=\([0-9a-f]*\).*/\1/p'
}

@test "the hosts of the cluster are nodes of their own" {
  run -0 on_hosts 4 hostname
  assert_line drat1
  assert_line drat2
}

@test "Delaunay preloaded gives the same hash on two hosts as on one" {
  one=$(mpi_preloaded 4 "${delaunay}_myrmics" "$data/cities.csv" | hash_of)
  run -0 on_hosts 4 "${delaunay}_myrmics" "$data/cities.csv" --verify
  assert_output --partial "verified=yes"
  [ "$(hash_of <<<"$output")" = "$one" ]
}

@test "Barnes-Hut preloaded gives the same hash on two hosts as on one" {
  one=$(mpi_preloaded 4 "${barnes_hut}_myrmics" "$data/solar-system.csv" \
    --steps 3 | hash_of)
  run -0 on_hosts 4 "${barnes_hut}_myrmics" "$data/solar-system.csv" --steps 3
  [ "$(hash_of <<<"$output")" = "$one" ]
}
