#!/usr/bin/env bats
# What the scripts share: finding what is missing, and counting test cases.

load common

setup() {
  export DRASYNC_BUILD=$BATS_TEST_TMPDIR/build
  mkdir "$DRASYNC_BUILD"
}

in_setup() {
  bash -c '. "$abs_top_srcdir/scripts/setup.bash"; "$@"' "$0" "$@"
}

# A .trs file as Automake's drivers write it: NAME RESULT...
trs() {
  local name=$1 result global=PASS
  shift
  for result in "$@"; do
    echo ":test-result: $result"
    [ "$result" = PASS ] || global=FAIL
  done >"$DRASYNC_BUILD/$name.trs"
  cat >>"$DRASYNC_BUILD/$name.trs" <<END
:global-test-result: $global
:recheck: no
:copy-in-global-log: no
END
}

@test "the count is of cases, over all files" {
  trs one PASS PASS SKIP
  trs two PASS XFAIL
  run -0 in_setup count_tests 0
  assert_output "4 passed, 0 failed, 1 skipped"
}

@test "failed cases count once, though their program's status is an error" {
  trs one PASS FAIL FAIL ERROR
  trs two PASS XPASS
  run -1 in_setup count_tests 2
  assert_output "2 passed, 3 failed, 0 skipped"
}

@test "a program that ends with an error and no failed case is a failure" {
  trs one PASS PASS ERROR
  run -1 in_setup count_tests 2
  assert_output "2 passed, 1 failed, 0 skipped"
}

@test "a make check that fails before the tests is a failure" {
  echo "make: *** No rule" >"$DRASYNC_BUILD/check.log"
  run -1 in_setup count_tests 2
  assert_line --index 0 "make: *** No rule"
  assert_line --index 1 "0 passed, 1 failed, 0 skipped"
}

@test "no tests at all are a failure" {
  run -1 in_setup count_tests 0
  assert_output "0 passed, 0 failed, 0 skipped"
}

@test "what is missing is named, with the packages that give it" {
  mkdir "$BATS_TEST_TMPDIR/bin"
  printf '#!/bin/sh\necho "$0 $*" >>"%s"\n' "$BATS_TEST_TMPDIR/calls" \
    >"$BATS_TEST_TMPDIR/bin/apt-get"
  printf '#!/bin/sh\necho 0\n' >"$BATS_TEST_TMPDIR/bin/id"
  chmod +x "$BATS_TEST_TMPDIR/bin/"*
  PATH=$BATS_TEST_TMPDIR/bin:$PATH run -0 in_setup install_missing \
    "a thing|false|thing-dev" "a shell|true|bash" "its tool|false|thing-dev" \
    "another|have no-such-program|other"
  assert_line "Missing here: a thing its tool another"
  assert_line "Installing:   thing-dev other"
  run -0 cat "$BATS_TEST_TMPDIR/calls"
  assert_line --partial "install thing-dev other"
}

@test "nothing is installed where nothing is missing" {
  run -0 in_setup install_missing "a shell|have bash|bash"
  assert_output ""
}

@test "without root and sudo, the command to run as root is printed" {
  mkdir "$BATS_TEST_TMPDIR/bin"
  ln -s "$(type -P bash)" "$(type -P dirname)" \
    "$(type -P true)" "$BATS_TEST_TMPDIR/bin/"
  ln -s "$(type -P true)" "$BATS_TEST_TMPDIR/bin/apt-get"
  printf '#!%s\necho 1000\n' "$(type -P bash)" >"$BATS_TEST_TMPDIR/bin/id"
  chmod +x "$BATS_TEST_TMPDIR/bin/id"
  PATH=$BATS_TEST_TMPDIR/bin run -1 in_setup install_missing \
    "a thing|false|thing-dev"
  assert_line --partial "as root, first: apt-get install thing-dev"
}

@test "check-sanitizers refuses what it does not know" {
  run -1 "$abs_top_srcdir/scripts/check-sanitizers" other
  assert_output "check-sanitizers: no sanitizer other: asan, ubsan or tsan"
}

@test "scripts say how they are used, and refuse what they do not know" {
  scripts=$abs_top_srcdir/scripts
  for script in quickstart check check-sanitizers cluster bench figures \
    sweep-seeds regenerate-scenarios upm-guest upm-figures; do
    run -0 "$scripts/$script" --help
    assert_line --index 0 --regexp "^Usage: scripts/$script"
  done
  for script in quickstart check check-sanitizers bench figures upm-guest \
    upm-figures; do
    run ! "$scripts/$script" --no-such-option
    assert_output --regexp "^$script: .*--no-such-option"
    assert [ "${#lines[@]}" -eq 1 ]
  done
  run ! "$scripts/regenerate-scenarios" "$BATS_TEST_TMPDIR"
  assert_output "regenerate-scenarios: no $BATS_TEST_TMPDIR/sim/simulate: \
make sim/simulate there first"
  run -0 ls "$DRASYNC_BUILD"
  assert_output ""
}

@test "a build that was configured otherwise, or not to its end, is seen" {
  cd "$DRASYNC_BUILD"
  printf '#!/bin/sh\nmkdir -p .; touch Makefile libtool; chmod +x libtool\n' \
    >"$BATS_TEST_TMPDIR/configure"
  chmod +x "$BATS_TEST_TMPDIR/configure"
  printf '#!/bin/sh\necho "%s"\n' "'MPICC=x' '--enable-asan'" >config.status
  chmod +x config.status
  touch Makefile
  configured_as() {
    bash -c '. "$abs_top_srcdir/scripts/setup.bash"
      top=$BATS_TEST_TMPDIR; configure_build "$@"' "$0" "$@"
  }
  # There is no libtool, which configure makes last.
  run -0 configured_as
  assert_output "Configuring in $DRASYNC_BUILD"
  run -0 configured_as --enable-asan
  assert_output ""
  run -1 configured_as --enable-tsan
  assert_output --partial "is configured without --enable-tsan: remove it"
}
