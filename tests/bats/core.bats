#!/usr/bin/env bats
#
# What core dumps show of regions.

load common

setup() {
  program=$abs_top_builddir/tests/programs/core_dump
  [ -z "${DRASYNC_SANITIZERS:-}" ] || skip "a sanitizer's memory is too large"
  cd "$BATS_TEST_TMPDIR"
}

# shows DUMP: does it have what is in the region, where the program said?
shows() {
  "$program" find "$1" "$(sed -n 's/^words at //p' said)"
}

# kernel_shows VALUE: the same of a dump by the kernel, with DRASYNC_CORE=VALUE.
kernel_shows() {
  rm -f core*
  DRASYNC_CORE=$1 mpi 2 "$program" die >said 2>&1 && return 2
  local dumps=(core*)
  [ -s "${dumps[0]}" ] || return 3
  shows "${dumps[0]}"
}

@test "the kernel's core dump has what is in a region, on a rank that read it" {
  pattern=$(cat /proc/sys/kernel/core_pattern)
  [ "${pattern#[|/]}" = "$pattern" ] ||
    skip "core dumps go to $pattern, not to the folder of the program"
  [ "$(ulimit -H -c)" = unlimited ] || skip "core dumps are limited (ulimit -c)"
  for node in shared rank; do
    export DRASYNC_NODE=$node
    run -0 kernel_shows small
    run -0 kernel_shows regions
    run -1 kernel_shows none
  done
}

@test "so has one that gdb makes of a running rank" {
  command -v gcore >/dev/null || skip "no gcore (Debian: apt-get install gdb)"
  mpi 2 "$program" stop "$PWD/pid" >said 2>&1 &
  await $! test -s pid
  gcore -o dump "$(cat pid)" >gcore.said 2>&1 3>&- ||
    skip "gcore may not look at processes: $(tail -1 gcore.said)"
  run -0 shows "dump.$(cat pid)"
  rm pid
  wait
}
