# DART: transfers of more than 32 bits can count.

load common

setup() {
  export DRASYNC_TEST_SECONDS=400 # some 30 where nothing else runs
  local free needed=8
  [[ ${DRASYNC_SANITIZERS:-} != *thread* ]] || needed=40 # its shadow too
  free=$(awk '/MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo)
  [ "$free" -ge "$needed" ] ||
    skip "needs $needed GiB of free memory, there are $free"
}

@test "one transfer of more bytes and elements than 32 bits can count" {
  run -0 mpi 2 "$abs_top_builddir/tests/programs/dart_large" 4 private
  assert_line "ok"
}

@test "one transfer of more bytes than an int can count, between nodes" {
  DRASYNC_NODE=rank run -0 mpi 2 "$abs_top_builddir/tests/programs/dart_large" \
    2 refused
  assert_line "ok"
}
