#!/usr/bin/env bats
#
# What stands in the way of a start, and what is said about it: variables,
# limits of the system, ranks that die.

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
  DRASYNC_RMA=page run -2 mpi 2 "$probe"
  assert_output --partial \
    "DRASYNC_RMA=page is not valid: it may be mpi, messages or auto (default)"
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

@test "a limit of file size or address space is named once, and what to do" {
  run -2 limited -f 100000
  assert_equal "$(said 'the limit of file size (ulimit -f, now 97 MiB) is below')" 1
  assert_output --partial "lift it (ulimit -f unlimited)"
  refute_output --partial "DRASYNC_SPACE"
  # On one rank only; a smaller space has room.
  run -2 mpi 1 "$probe" : -n 1 bash -c 'ulimit -f 4000000; exec "$@"' bash "$probe"
  assert_equal "$(said 'rank 1 (')" 1
  assert_output --partial "or set DRASYNC_SPACE=1024M or less"
  DRASYNC_SPACE=1024M run -0 limited -f 4000000
  assert_line "probe: done"
}

# A sanitizer's own memory does not fit into such a limit.
@test "a limit of address space is named" {
  [ -z "${DRASYNC_SANITIZERS:-}" ] || skip "a sanitizer needs more addresses"
  run -2 limited -v 100000000
  assert_equal "$(said 'the limit of address space (ulimit -v, now 95 GiB) is')" 1
}

# limited OPTION LIMIT: the probe on two ranks, under a limit of bash's ulimit.
limited() {
  mpi 2 bash -c 'ulimit "$1" "$2"; exec "$3"' bash "$1" "$2" "$probe"
}

@test "out of descriptors at the start is said as that" {
  # MPI needs more and fewer itself: find where MPI starts and we do not.
  local found=0
  for files in $(seq 20 2 60); do
    DRASYNC_NODE=rank run limited -n "$files"
    refute [ "$status" -eq 124 ]
    refute_output --partial "out of memory"
    [ "$status" -ne 0 ] || break # more are no fewer
    [ "$status" -eq 2 ] || continue
    assert_output --partial "Too many open files"
    assert_output --partial "ulimit -n, now $files"
    found=1
  done
  assert_equal "$found" 1
}

# Where a rank dies is a system call of its own that kills it.
@test "a rank that dies during the start ends the others, who say which" {
  for node in shared rank; do
    for where in "0 files" "0 map" "2 map"; do
      # shellcheck disable=SC2086
      DRASYNC_NODE=$node run mpi_rank_dies 3 "$probe" dies $where
      [[ $output != *"no filters for system calls"* ]] ||
        skip "this system has no filters for system calls"
      refute [ "$status" -eq 0 ]
      refute [ "$status" -eq 124 ]
      assert_output --regexp \
        "rank [012] \(.*\): rank ${where%% *} \(.*\) died during the start"
    done
  done
}

# Or that refuses it, as a container's filter may.
@test "what the system refuses one rank ends the start on all, which say so" {
  for node in shared rank; do
    for where in "0 files" "0 map" "2 map"; do
      # shellcheck disable=SC2086
      DRASYNC_NODE=$node run mpi 3 "$probe" refused $where
      [[ $output != *"no filters for system calls"* ]] ||
        skip "this system has no filters for system calls"
      assert_equal "$status" 2
      assert_equal "$(said 'cannot start: ')" 1
      assert_output --partial "allow the call in the container or sandbox"
      assert_equal "$(grep -c '^start: DRASYNC_ESTART' <<<"$output")" 3
    done
  done
}

@test "ranks that come to the page late, or over a socket, meet all the same" {
  # The leader makes the page while others look for it: as many as there are.
  run -0 mpi 16 "$probe"
  assert_line "probe: done"
  DRASYNC_NODE=3 run mpi 8 "$probe" closed 3
  [[ $output != *"no filters for system calls"* ]] ||
    skip "this system has no filters for system calls"
  assert_success
  assert_line "probe: done"
  run mpi 3 "$probe" closed 3 files
  assert_equal "$status" 2
}
