#!/usr/bin/env bats
# UPMlib where there are several NUMA nodes: in the guest of scripts/upm-guest.

setup_file() {
  load common
  guest=$abs_top_srcdir/scripts/upm-guest
  export guest DRASYNC_BUILD=$abs_top_builddir
  "$guest" --check >"$BATS_FILE_TMPDIR/missing" 2>&1 || return 0
  cd "$BATS_FILE_TMPDIR"
  "${MPIFORT}" -O2 -fopenmp "$abs_top_srcdir/upm/upmlib.f90" \
    "$abs_top_srcdir/tests/programs/upm_fortran.f90" -o upm_fortran \
    -L"$libs" -lupm
}

setup() {
  load common
  cd "$BATS_FILE_TMPDIR"
  [ ! -s missing ] || skip "$(cat missing)"
  [ -z "${DRASYNC_SANITIZERS:-}" ] ||
    skip "a sanitizer's shadow does not fit into the guest"
}

# in_guest NODES: all programs of the test, with counts.
in_guest() {
  "$guest" --nodes "$1" --counts "counts.$1" --seconds 300 \
    --file "$libs/libupm.so" \
    --file "$abs_top_builddir/tests/programs/upm_plain" --file upm_fortran \
    --env OMP_NUM_THREADS=2 --env OMP_PROC_BIND=true \
    "$abs_top_builddir/tests/programs/upm_guest" /lib/upm_fortran \
    +/lib/upm_plain </dev/null 3>&-
}

# Line $1 of the plugin's counts for $2 nodes: the share of remote accesses.
remote() {
  sed -n "s/^$1 .*remote \([0-9]*\)\..*%$/\1/p" "counts.$2"
}

@test "pages go to their nodes, by all engines, from C, Fortran and preloaded" {
  run in_guest 2
  assert_success
  assert_line "# 2 nodes"
  refute_line --regexp "^not ok"
  # By the accesses that the processors made: one iteration to learn, then none
  # that is remote.
  assert_equal "$(remote "iteration 1" 2)" 50
  assert_equal "$(remote "iteration 2" 2)" 0
  assert_equal "$(remote "iteration 6" 2)" 0
  run -0 tail -n 1 counts.2
  assert_output "pages 256 of 256 at home"
}

@test "upm-guest says what it does not understand" {
  run -125 "$guest" --nodes two true
  assert_output --partial "two is no number"
  run -125 "$guest" --no-such-option
  assert_output --partial "unknown option"
  run -125 "$guest"
  assert_output --partial "what program?"
  run -125 "$guest" no-such-program
  assert_output --partial "no program no-such-program"
}
