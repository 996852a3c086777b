#!/usr/bin/env bats
#
# What drasync-ps shows of jobs that hang.

load common
load diagnose

setup() {
  export program=$abs_top_builddir/tests/programs/stuck
  export ps=$abs_top_builddir/.libs/drasync-ps
  export over=$BATS_TEST_TMPDIR/over DRASYNC_STALL_S=1
}

look() {
  leaks_of_others # LeakSanitizer's own thread dies in it
  "$ps" "$(pgrep -f "$program write $over" | head -1)" >"$BATS_TEST_TMPDIR/ps"
  "$ps" --json --all >"$BATS_TEST_TMPDIR/json"
}

@test "drasync-ps shows ranks, waits, holds and regions of a job that hangs" {
  DRASYNC_CHECK=1 while_it_hangs=look hangs_until "in its queue" \
    mpi 2 "$program" write "$over"
  [ "$status" -eq 0 ]
  run -0 masked <"$BATS_TEST_TMPDIR/ps"
  assert_line --index 0 --regexp "^node 0 of 1 on HOST: 2 ranks of [a-z-]*stuck, 1 regions, memory "
  assert_line --index 1 --regexp "rank +process +acquires +waited +releases +what it does"
  assert_line --index 2 --regexp "^ +0 +[0-9]+ .* computes$"
  assert_line --index 3 --regexp "^ +1 +[0-9]+ .* waits for WRITE of region ADDRESS \"tree\" since T s, in take \(stuck.c:LINE\)"
  assert_line --index 4 "holds:"
  assert_line --index 5 "  rank 0 for WRITE of region ADDRESS \"tree\" since T s, taken in take (stuck.c:LINE)"
  assert_line --index 6 "regions, the largest first:"
  assert_line --index 7 "  region ADDRESS \"tree\": 4096 B, version 2, 1 requests wait in its tree"
}

@test "drasync-ps --json is JSON with the same in it" {
  DRASYNC_CHECK=1 while_it_hangs=look hangs_until "in its queue" \
    mpi 2 "$program" write "$over"
  run -0 python3 - "$BATS_TEST_TMPDIR/json" <<'PYTHON'
import json, sys
nodes = json.load(open(sys.argv[1]))["nodes"]
# Other jobs of the host are in it too, such as those of tests beside this one.
for node in nodes:
    for hold in node["holds"]:
        waits = [w for r in node["ranks"] for w in r["waits"]]
        if hold.get("name") == "tree" and "at" in hold and waits:
            print(hold["mode"], hold["at"].split()[0], waits[0]["mode"],
                  waits[0]["name"], node["program"])
PYTHON
  assert_line --regexp "^WRITE take WRITE tree [a-z-]*stuck$"
}

look_newer() {
  leaks_of_others # as above
  "$ps" "$(pgrep -f "$program newer $over" | head -1)" >"$BATS_TEST_TMPDIR/ps"
  "$ps" --json --all >"$BATS_TEST_TMPDIR/json"
}

@test "of a wait for a newer version both say which one the rank knows" {
  program+=_newer
  while_it_hangs=look_newer hangs_until "the others:" \
    mpi 2 "$program" newer "$over"
  [ "$status" -eq 0 ]
  run -0 masked <"$BATS_TEST_TMPDIR/ps"
  assert_output --regexp "waits for a version newer than 1, for READ, of region ADDRESS \"tree\" since T s, in not_written"
  assert_output --regexp "\"tree\": 4096 B, version 1$"
  run -0 grep -o '"for": "newer".*"newer_than": 1, "stack"' "$BATS_TEST_TMPDIR/json"
}

look_asked() {
  leaks_of_others # as above
  "$ps" "$(pgrep -f "$program weak-lock $over" | head -1)" \
    >"$BATS_TEST_TMPDIR/ps"
  "$ps" --json --all >"$BATS_TEST_TMPDIR/json"
}

@test "of a wait for another node's answer both say in which call, and whose" {
  program+=_asked
  DRASYNC_NODE=rank while_it_hangs=look_asked hangs_until "do not answer" \
    mpi 3 "$program" weak-lock "$over"
  [ "$status" -eq 0 ]
  run -0 masked <"$BATS_TEST_TMPDIR/ps"
  assert_output --regexp "waits in drasync_weak_lock of region ADDRESS for rank 2 to answer since T s, in asked"
  run -0 grep -o '"for": "answer".*"call": "drasync_weak_lock", "region": "0x[0-9a-f]*", "from": 2, "stack"' \
    "$BATS_TEST_TMPDIR/json"
}

@test "drasync-ps refuses what it does not know" {
  run -2 "$ps" --nothing
  assert_output --partial "Usage: drasync-ps"
  run -2 "$ps" 12x
  assert_output --partial "12x is no process number"
  run -1 "$ps" $$
  assert_output --partial "is no DRASync job"
  run -0 "$ps" --version
  assert_output --regexp "^drasync-ps [0-9.]+$"
}

@test "drasync-ps lists READ holds that are used, and none that was given back" {
  run -0 mpi 2 "$abs_top_builddir/tests/programs/ps_readers" "$ps"
  assert_output "ps ok ranks=2"
}
