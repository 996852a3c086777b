# Checked mode, DRASYNC_CHECK=pointers: what is said of each mistake is the text
# in tests/reports (check.bats says how to write those anew).

load common
load hosts
load check

setup() {
  export DRASYNC_CHECK=pointers
}

# ends MISTAKE: that ends a job of two ranks, with this report, whatever a node
# is.
ends() {
  for DRASYNC_NODE in shared rank; do
    export DRASYNC_NODE
    run mpi 2 "$programs/check_pointers" "$1"
    assert_failure
    is_told "pointers_$1"
  done
}

# is_told NAME: the report is that text.  A sanitizer has its own heap and stack,
# of which less is known.
is_told() {
  if [ "${DRASYNC_SANITIZERS:-}" ]; then
    assert_line --partial "other ranks do not have that there"
  else
    is_reported "$1"
  fi
}

@test "a pointer to what malloc gave is found when the region is released" {
  ends heap
}

@test "and when it is given to a rank" {
  ends give
}

@test "a pointer to the stack, a variable or a function is found" {
  ends stack
  ends variable
  ends zero
  ends function
}

@test "a root that other ranks do not have is found" {
  ends root
}

@test "pointers into regions, and numbers, are not taken for others" {
  run -0 mpi 2 "$programs/check_pointers" right
  assert_output over
}

@test "with DRASYNC_CHECK_ACTION=continue a place is told of once" {
  export DRASYNC_CHECK_ACTION=continue
  run -0 mpi 2 "$programs/check_pointers" heap
  assert_line over
  [ "$(grep -c "has at byte" <<<"$output")" = 1 ]
}

@test "it is not looked at if that is not said: a rank may have its own pointers" {
  for DRASYNC_CHECK in objects all; do
    export DRASYNC_CHECK
    run -0 mpi 2 "$programs/check_pointers" heap
    assert_output over
  done
}

@test "Myrmics programs: a pointer to the heap is found at sys_send" {
  for DRASYNC_MYRMICS in copy move; do
    for DRASYNC_NODE in shared rank; do
      export DRASYNC_MYRMICS DRASYNC_NODE
      run mpi_preloaded 2 "$abs_top_builddir/myrmics_objects" points_out
      assert_failure
      is_told pointers_myrmics_$DRASYNC_MYRMICS
    done
  done
}
