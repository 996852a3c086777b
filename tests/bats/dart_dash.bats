# DASH's own tests on our library.  DASH is no package of Debian and takes long to
# build, so this is for those who have it: docs/dart.md says how it is built.
#
#     DRASYNC_DASH=PREFIX make check TESTS=tests/bats/dart_dash.bats

setup() {
  load common
  [ -n "${DRASYNC_DASH:-}" ] ||
    skip "DRASYNC_DASH does not name an installation of DASH"
  tests=$DRASYNC_DASH/bin/dash-test-mpi
  export LD_LIBRARY_PATH=$libs:$DRASYNC_DASH/lib
}

# pass FILTER: no test fails for 1 to 4 units, and there are some.
pass() {
  local n
  for n in 1 2 3 4; do
    run -0 mpi $n "$tests" --gtest_filter="$1"
    assert_output --regexp "PASSED.*[1-9][0-9]* tests? passed"
    refute_output --partial "FAILED"
  done
}

@test "DASH's library is ours" {
  run -0 ldd "$tests"
  assert_output --partial "libdart-mpi.so => $libs/"
}

@test "DASH's tests of DART and of threads" {
  pass 'DART*:Thread*'
}

@test "DASH's tests of DART and of threads, where each unit is a node" {
  DRASYNC_NODE=rank pass 'DART*:Thread*'
}

@test "DASH's tests of memory, containers and algorithms" {
  export DRASYNC_TEST_SECONDS=600
  pass '-DART*:Thread*'
}
