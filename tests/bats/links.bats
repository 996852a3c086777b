#!/usr/bin/env bats
#
# A link between two hosts that is cut: for good, and for a moment.

load common
load hosts

setup_file() { hosts_up; }

teardown_file() { hosts_down; }

setup() {
  needs_hosts
  cluster=$abs_top_srcdir/scripts/cluster
  turns=$BATS_TEST_TMPDIR/turns said=$BATS_TEST_TMPDIR/said
  : >"$turns"
  export DRASYNC_STALL_S=0
}

teardown() {
  rm -f "$turns"
}

# Start a job whose ranks take turns, and wait until they do.
take_turns() {
  hosts_run 2 "$abs_top_builddir/tests/programs/link_turns" "$turns" \
    >"$said" 2>&1 &
  job=$!
  wait_for_turns
}

# stop_job|continue_job: the ranks, not what started them.
stop_job() { pkill -STOP "$@" -f "^[^ ]*/link_turns $turns"; }
continue_job() { pkill -CONT -f "^[^ ]*/link_turns $turns"; }

# All that was sent has been acknowledged, on both hosts.
nothing_on_its_way() {
  local host sockets
  for host in 1 2; do
    sockets=$(hosts_command "$cluster" exec "$host" ss -Htn) || return
    awk '$3 > 0 { waits = 1 } END { exit waits || !NR }' <<<"$sockets" || return
  done
}

wait_for_turns() {
  : >"$turns"
  await "$job" test -s "$turns" || {
    cat "$said"
    return 1
  }
}

ends_with_line() {
  refute wait "$job"
  hosts_command "$cluster" mend 1 2
  run cat "$said"
  assert_output --regexp "drasync: rank [01] \([a-z]+[12]\): host [a-z]+[12] has \
acknowledged nothing that was sent to it from [a-z]+[12] for 2 s \(DRASYNC_LINK_S\): \
the link between them is cut, or that host is off"
}

@test "a link that stays cut ends the job, with a line that names both hosts" {
  DRASYNC_LINK_S=2 take_turns
  hosts_command "$cluster" cut 1 2
  ends_with_line
}

@test "also one that is cut while nothing is on its way" {
  DRASYNC_LINK_S=2 take_turns
  stop_job
  await "$job" nothing_on_its_way
  hosts_command "$cluster" cut 1 2
  continue_job
  ends_with_line
}

@test "one that is cut for a moment changes nothing" {
  DRASYNC_LINK_S=60 take_turns
  hosts_command "$cluster" cut 1 2
  sleep 1 # the moment
  hosts_command "$cluster" mend 1 2
  wait_for_turns
  rm "$turns"
  wait "$job"
  run cat "$said"
  assert_output "turns ok ranks=2"
}

@test "a rank that is stopped for longer is no cut link" {
  DRASYNC_LINK_S=1 take_turns
  stop_job -o
  sleep 3 # longer than DRASYNC_LINK_S
  continue_job
  wait_for_turns
  rm "$turns"
  wait "$job"
  run cat "$said"
  assert_output "turns ok ranks=2"
}
