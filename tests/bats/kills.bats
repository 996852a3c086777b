#!/usr/bin/env bats
#
# Ranks that are killed: scripts/sweep-kills with few numbers.

load common

setup() {
  [ -z "${DRASYNC_SANITIZERS:-}" ] ||
    skip "a sanitizer's runtime ends processes in its own ways"
  [ "$(uname -m)" = x86_64 ] || skip "tests/programs/kill_at knows only x86-64"
  "$abs_top_builddir/tests/programs/kill_at" libc 0 1 0 0 0 /bin/true ||
    skip "no process may be traced here (ptrace)"
}

# Odd numbers: each function that sweep-kills knows has its turn.
@test "a rank killed at any moment, in any function, ends the job with one line" {
  local jobs status sweeps=()
  # Two sweeps at a time, as ranks of either mostly wait.
  for jobs in "1 12" "13 24"; do
    # shellcheck disable=SC2086 # two numbers
    TMPDIR=$BATS_TEST_TMPDIR "$abs_top_srcdir/scripts/sweep-kills" $jobs \
      "$abs_top_builddir" >"$BATS_TEST_TMPDIR/jobs ${jobs/ / to }" 2>&1 3>&- &
    sweeps+=($!)
  done
  for jobs in "1 to 12" "13 to 24"; do
    status=0
    wait "${sweeps[0]}" || status=$?
    sweeps=("${sweeps[@]:1}")
    output=$(<"$BATS_TEST_TMPDIR/jobs $jobs")
    assert_success
    assert_output --regexp "jobs $jobs: [0-9]+ ranks killed, .* 0 wrong$"
  done
}
