#!/usr/bin/env bats
#
# What stands in the way of a start, and what is said about it.

load common

setup_file() {
  export probe=$abs_top_builddir/tests/programs/runtime_probe
}

# said TEXT: how many of the lines that ranks said have it.
said() {
  printf '%s\n' "${lines[@]}" | grep -F 'drasync: rank' | grep -cF -- "$1"
}

@test "a variable with a bad value is named once, with what it may be" {
  DRASYNC_NODE=socket run -2 mpi 2 "$probe"
  assert_output --partial \
    "DRASYNC_NODE=socket is not valid: it may be rank, a number of ranks, or"
  DRASYNC_WIRE=page run -2 mpi 2 "$probe"
  assert_output --partial \
    "DRASYNC_WIRE=page is not valid: it may be paged or bulk (default)"
  DRASYNC_SPACE=1X run -2 mpi 3 "$probe"
  assert_equal "$(said 'DRASYNC_SPACE=1X is not valid')" 1
  DRASYNC_SPACE=100M run -2 mpi 1 "$probe"
  assert_output --partial "DRASYNC_SPACE must be a power of two from 64M to 16T"
}

@test "after a refused value, calls say that the library did not start" {
  DRASYNC_NODE=socket run mpi 1 "$abs_top_builddir/tests/programs/native_fig1"
  refute [ "$status" -eq 0 ]
  assert_output --partial "DRASYNC_NODE=socket is not valid"
  assert_output --partial "DRASync could not start"
  refute_output --partial "an argument is not valid"
}

@test "sizes are written with K, M, G, T, as GB and as GiB" {
  for size in 1g 1G 1GB 1GiB 1048576K; do
    DRASYNC_SPACE=$size DRASYNC_MEMORY=$size run -0 mpi 2 "$probe"
    assert_line "probe: done"
  done
}

@test "too little memory to start is refused with the least that does" {
  DRASYNC_MEMORY=1K run -2 mpi 2 "$probe"
  assert_equal "$(said 'DRASYNC_MEMORY=1K is not valid: it may be a size from 16M on')" 1
  refute_output --partial "out of memory"
  DRASYNC_MEMORY=16M run -0 mpi 4 "$probe"
  assert_line "probe: done"
}

@test "a misspelt variable is named once, with the one that is meant" {
  DRASYNC_MEMROY=1G run -0 mpi 3 "$probe"
  assert_equal "$(said 'DRASYNC_MEMROY is not a variable of DRASync and does nothing: is DRASYNC_MEMORY meant?')" 1
  assert_line "probe: done"
}

@test "a value that differs from rank 0's is named with both" {
  run -0 mpi 1 env DRASYNC_SPACE=1G "$probe" : \
    -n 1 env DRASYNC_SPACE=2G "$probe"
  assert_output --partial "rank 1 ("
  assert_output --partial "DRASYNC_SPACE is 2G here and 1G on rank 0"
  assert_line "probe: done"
}
