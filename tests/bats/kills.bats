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
  TMPDIR=$BATS_TEST_TMPDIR run -0 "$abs_top_srcdir/scripts/sweep-kills" 1 24 \
    "$abs_top_builddir" 3>&-
  assert_line --regexp "^jobs 1 to 24: [0-9]+ ranks killed, .* 0 wrong$"
}
