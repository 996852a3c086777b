#!/usr/bin/env bats
#
# What gdb shows of regions, by runtime/diagnose/drasync-gdb.py: of a job that
# hangs, and of a core dump.

load common

setup() {
  command -v gdb >/dev/null || skip "no gdb (Debian: apt-get install gdb)"
  [ -z "${DRASYNC_SANITIZERS:-}" ] || skip "a sanitizer's memory is too large"
  cd "$BATS_TEST_TMPDIR"
  over=$PWD/over stuck=$abs_top_builddir/tests/programs/stuck
  core=$abs_top_builddir/tests/programs/core_dump
}

teardown() {
  : >"${over:-/dev/null}"
  rm -f pid
  wait
}

# in_gdb PROGRAM FILE-OR-PID COMMAND...: what they print.
in_gdb() {
  local commands=() command
  for command in "${@:3}"; do
    commands+=(-ex "$command")
  done
  # Programs of Debian's come with debugging information elsewhere, if at all.
  DEBUGINFOD_URLS='' timeout 60 gdb -q -nx -batch \
    -ex "source $abs_top_srcdir/runtime/diagnose/drasync-gdb.py" \
    "${commands[@]}" "$1" "$2" 2>&1 </dev/null 3>&-
}

# The process of a rank that waits for the region that rank 0 has.
start_stuck() {
  DRASYNC_STALL_S=1 mpi 2 "$stuck" write "$over" >said 2>&1 &
  await $! grep -q "in its queue" said
  pid=$(pgrep -f "^$stuck write $over" | head -1)
}

# may_attach OUTPUT: skip where gdb may not look at processes.
may_attach() {
  [[ $1 != *"ptrace: Operation not permitted"* ]] ||
    skip "gdb may not look at processes"
}

@test "of a job that hangs gdb shows who has a region and who waits" {
  start_stuck
  run in_gdb "$stuck" "$pid" "drasync regions" "print (drasync_region_t)0"
  may_attach "$output"
  assert_line --regexp \
    '^0x[0-9a-f]+ "tree": 4096 B, owned here, rank 0 has WRITE, 1 wait in its tree$'
  assert_line '$1 = NULL'
}

@test "of a core dump it shows a handle, and what a pointer points into" {
  command -v gcore >/dev/null || skip "no gcore (Debian: apt-get install gdb)"
  local node owner
  for node in shared rank; do
    owner="owned here"
    [ $node = shared ] || owner="owned by node 0, as far as known"
    DRASYNC_NODE=$node mpi 2 "$core" stop "$PWD/pid" >said 2>&1 &
    await $! test -s pid
    gcore -o dump "$(cat pid)" >gcore.said 2>&1 3>&- ||
      skip "gcore may not look at processes: $(tail -1 gcore.said)"
    run in_gdb "$core" "dump.$(cat pid)" "frame function main" "print region" \
      "print (drasync_region_t)0x10000" "drasync where words" \
      "drasync where &region"
    assert_line --regexp \
      "^\\\$1 = 0x[0-9a-f]+: 12288 B, $owner, 1 have READ here\$"
    assert_line '$2 = 0x10000 (this node knows no such region)'
    assert_line --regexp \
      "^0x[0-9a-f]+ is 576 B into the 8192 B at 0x[0-9a-f]+ of region 0x[0-9a-f]+: 12288 B"
    assert_line --regexp "^0x[0-9a-f]+ is in no region that this node knows\$"
    rm pid
    wait
  done
}

@test "what it cannot show, and what it does not know, is said" {
  run in_gdb "$(command -v true)" "" "drasync regions"
  assert_line "DRASync does not run in this process"
  run in_gdb "$core" "" "drasync where"
  assert_line "drasync where takes a pointer"
  run in_gdb "$core" "" "drasync regions 1"
  assert_line "drasync regions takes no argument"
}
