#!/usr/bin/env bats
#
# What is said about jobs that hang.

load common
load diagnose_hosts

# --- A wait that lasts --------------------------------------------------------

@test "one report says who waits for which region, who holds it and what that rank does" {
  hangs_until "in its queue" mpi 2 "$program" write "$over"
  [ "$status" -eq 0 ]
  same "$head
drasync:   rank 1 (HOST, process P) waits for WRITE of region ADDRESS \"tree\" since T s, in take (stuck.c:LINE), called from kept (stuck.c:LINE), called from main (stuck.c:LINE)
drasync:     rank 0 (HOST, process P) holds it for WRITE, since when is not noted (DRASYNC_CHECK=1 notes it), and computes
drasync:     in its queue on node 0: rank 1 for WRITE"
}

@test "with DRASYNC_CHECK=1 it says since when and where the hold was taken" {
  DRASYNC_CHECK=1 hangs_until "in its queue" mpi 2 "$program" write "$over"
  [ "$status" -eq 0 ]
  same "$head
drasync:   rank 1 (HOST, process P) waits for WRITE of region ADDRESS \"tree\" since T s, in take (stuck.c:LINE), called from kept (stuck.c:LINE), called from main (stuck.c:LINE)
drasync:     rank 0 (HOST, process P) holds it for WRITE since T s, taken in take (stuck.c:LINE), and computes
drasync:     in its queue on node 0: rank 1 for WRITE"
}

@test "since when a region that was given is held, and where it was taken, is said" {
  all_hang_until "shared rank" "in its queue" mpi 2 "${program}_gift" kept "$over"
  for node in shared rank; do
    said_by $node
    [ "$status" -eq 0 ]
    run -0 grep "^drasync:     rank 0" <<<"$output"
    assert_output --partial "holds it for WRITE since T s, taken in kept \
(stuck_gift.c:LINE)"
  done
}

@test "a rank that is inside MPI is said to be, and for whom it waits there" {
  all_hang_until "shared rank" "in its queue" mpi 3 "$program" receive "$over"
  for node in shared rank; do
    said_by $node
    [ "$status" -eq 0 ]
    run -0 grep "holds it" <<<"$output"
    assert_output --partial "rank 0 (HOST, process P) holds it for WRITE"
    assert_output --partial "and is inside MPI_Recv from rank 2"
  done
}

@test "a rank that waits itself is said to, and for what" {
  DRASYNC_CHECK=1 all_hang_until "shared rank" "\"b\".*since" \
    mpi 3 "$program" chain "$over"
  for node in shared rank; do
    said_by $node
    [ "$status" -eq 0 ]
    run -0 grep "^drasync:     rank 0" <<<"$output"
    assert_output --partial "holds it for WRITE since T s, taken in take \
(stuck.c:LINE), and waits for WRITE of region ADDRESS \"b\" since T s, in take"
  done
}

@test "a hold of a subregion in the way of the whole is named" {
  all_hang_until "shared rank" "in its queue" mpi 2 "$program" below "$over"
  for node in shared rank; do
    said_by $node
    [ "$status" -eq 0 ]
    assert_equal "$(sed -n 3p <<<"$output")" \
      "drasync:     rank 0 (HOST, process P) holds region ADDRESS \"child\", of the same tree, for WRITE since T s, taken in take (stuck.c:LINE), and computes"
  done
}

@test "with DRASYNC_CHECK=1 a hold of who made the region has its place too" {
  DRASYNC_CHECK=1 all_hang_until "shared rank" "in its queue" \
    mpi 2 "$program" made "$over"
  for node in shared rank; do
    said_by $node
    [ "$status" -eq 0 ]
    assert_equal "$(sed -n 3p <<<"$output")" \
      "drasync:     rank 0 (HOST, process P) holds region ADDRESS \"tree\", of the same tree, for WRITE since T s, taken in made (stuck.c:LINE), and computes"
  done
}

@test "many ranks that wait at one place are one line" {
  all_hang_until "shared 3" "in its queue" mpi 9 "$program" read "$over"
  for node in shared 3; do
    said_by $node
    [ "$status" -eq 0 ]
    assert_equal "$(grep -c "a wait lasts" <<<"$output")" 1
    run -0 grep "wait for READ" <<<"$output"
    assert_output --partial "(8 of them) wait for READ of region ADDRESS \"tree\""
    assert_output --partial "ranks 1-8"
  done
}

@test "a function that waits for its region says who holds it" {
  all_hang_until "shared rank" "computes" mpi 2 "${program}_run" run "$over"
  for node in shared rank; do
    said_by $node
    [ "$status" -eq 0 ]
    assert_output --regexp \
      "rank 1 \(HOST, process P\) waits (in drasync_run, for WRITE, on|for WRITE of) region ADDRESS \"tree\""
    assert_output --partial "rank 0 (HOST, process P) holds it for WRITE"
  done
}

@test "so does who waits for what it collected, or began" {
  local jobs=({shared,rank}.{flush,wait,other}) job
  for job in "${jobs[@]}"; do
    DRASYNC_NODE=${job%.*} beside $job mpi 2 "${program}_run" run-${job#*.} "$over"
  done
  hang_until "computes" "${jobs[@]}"
  for job in "${jobs[@]}"; do
    said_by $job
    [ "$status" -eq 0 ]
    assert_output --regexp "rank 1 \(HOST, process P\) waits (for functions that it ran, on|in drasync_run, for WRITE, on|for WRITE of) region ADDRESS \"tree\""
    assert_output --partial "rank 0 (HOST, process P) holds it for WRITE"
  done
}

@test "who waits for one of several requests is told how many, and the first" {
  all_hang_until "shared rank" "drasync_wait_any" \
    mpi 2 "${program}_run" run-any "$over"
  for node in shared rank; do
    said_by $node
    [ "$status" -eq 0 ]
    assert_output --partial "rank 1 (HOST, process P) waits in drasync_wait_any\
 for one of 2 requests, the first for READ of region ADDRESS"
  done
}

@test "a function waits for READ of the rank that would run it, too" {
  DRASYNC_NODE=rank hangs_until "computes" \
    mpi 2 "${program}_run" run-reads "$over"
  [ "$status" -eq 0 ]
  assert_output --regexp "rank 0 \(HOST, process P\) holds it for READ since T s, taken in runs \(stuck_run\.c:LINE\)"
}

@test "in a queue functions of other nodes are no ranks" {
  DRASYNC_NODE=rank hangs_until "in its queue" mpi 3 "${program}_run" run "$over"
  [ "$status" -eq 0 ]
  run -0 grep "in its queue" <<<"$output"
  assert_output --regexp \
    "on node 0: a function of drasync_run for WRITE(, a function of drasync_run for WRITE)?$"
}

@test "a name that nobody publishes is named" {
  hangs_until "nobody has published" mpi 2 "$program" name "$over"
  [ "$status" -eq 0 ]
  same "$head
drasync:   rank 1 (HOST, process P) waits in drasync_lookup for the name \"nothing\" since T s, in unnamed (stuck.c:LINE)
drasync:     nobody has published it"
}

# gift_is_missed WHAT FUNCTION LINES: rank 1 waits in FUNCTION of `stuck_gift WHAT`
# for a gift, and LINES are said of that.
gift_is_missed() {
  all_hang_until "shared rank" "in drasync_take" mpi 2 "${program}_gift" "$1" "$over"
  for node in shared rank; do
    said_by $node
    [ "$status" -eq 0 ]
    same "$head
drasync:   rank 1 (HOST, process P) waits in drasync_take for what rank 0 gives with tag 7 since T s, in $2 (stuck_gift.c:LINE)
$3drasync:     rank 0 (HOST, process P) computes"
  done
}

@test "a region that nobody gives is waited for by name of the giver" {
  gift_is_missed give not_given ""
}

@test "a region that is given with another tag than is waited for is named" {
  gift_is_missed tag other_tag \
    "drasync:     what rank 0 gave to rank 1 with tag 8 is there, and not taken
"
}

# asked_for WHAT CALL RANK: rank 1 waits in CALL of `stuck_asked WHAT` until the node
# of rank RANK answers, which is stopped.
asked_for() {
  DRASYNC_NODE=rank hangs_until "do not answer" \
    mpi 3 "${program}_asked" "$1" "$over"
  [ "$status" -eq 0 ]
  assert_output --regexp "rank 1 \(HOST, process P\) waits in $2 of region ADDRESS( \"tree\")? for rank $3 to answer since T s, in asked \(stuck_asked\.c:LINE\), called from main"
  assert_output --partial "drasync:     rank $3: its node does not answer"
  assert_output --partial "drasync:   1 of 3 nodes do not answer, the first that of rank $3"
}

@test "a call that only waits for another node's answer is named, and who is asked" {
  asked_for weak-lock drasync_weak_lock 2
  assert_output --partial 'region ADDRESS "tree" for'
  asked_for give drasync_ref_give 2
  asked_for publish drasync_publish 0
}

@test "so is a deletion that waits for the node that has the region" {
  DRASYNC_NODE=rank hangs_until "do not answer" \
    mpi 3 "${program}_asked" delete "$over"
  [ "$status" -eq 0 ]
  same "$head
drasync:   rank 1 (HOST, process P) waits in delete_region of region ADDRESS \"tree\" since T s, in asked (stuck_asked.c:LINE), called from main (stuck_asked.c:LINE)
drasync:     the node that has it does not answer, or it is on its way between nodes
drasync:   1 of 3 nodes do not answer, the first that of rank 2"
}

@test "DRASYNC_STALL_S=0 says nothing" {
  DRASYNC_STALL_S=0 hangs_until "rank 0 took it" \
    mpi 2 "$program" write "$over"
  [ "$status" -eq 0 ]
  same ""
}

@test "a wait whose holder died ends with a line that says so" {
  run mpi_rank_dies 2 "$program" dies
  assert_failure
  refute [ "$status" -eq 124 ]
  assert_output --partial "rank 0"
  assert_output --partial "died"
}

@test "the report of a job on two hosts names both" {
  needs_hosts
  hangs_until "in its queue" hosts_run 2 "$program" write "$over"
  [ "$status" -eq 0 ]
  assert_equal "$(grep -c "a wait lasts" <<<"$output")" 1
  run -0 grep "process P" <<<"$output"
  assert_line --index 0 --partial "rank 1 ("
  assert_line --index 0 --partial "waits for WRITE of region ADDRESS \"tree\""
  assert_line --index 1 --partial "rank 0 ("
  assert_line --index 1 --partial "holds it for WRITE"
}

@test "Myrmics programs are told what sys_recv and sys_barrier wait for" {
  for mode in copy move; do
    DRASYNC_MYRMICS=$mode beside $mode \
      mpi_preloaded 2 "$abs_top_builddir/myrmics_stuck" recv "$over"
  done
  hang_until "computes" copy move
  for mode in copy move; do
    said_by $mode
    [ "$status" -eq 0 ]
    same "$head
drasync:   rank 1 (HOST, process P) waits in sys_recv for what rank 0 sends since T s, in receive (myrmics_stuck.c:LINE), called from main (myrmics_stuck.c:LINE)
drasync:     rank 0 (HOST, process P) computes"
  done
  DRASYNC_NODE=rank hangs_until "sys_barrier" \
    mpi_preloaded 2 "$abs_top_builddir/myrmics_stuck" barrier "$over"
  [ "$status" -eq 0 ]
  assert_output --partial "rank 1 (HOST, process P) waits in sys_barrier"
}

@test "Myrmics programs on two hosts are told too" {
  needs_hosts
  leaks_of_others
  hangs_until "computes" hosts_run 2 -genv LD_PRELOAD "$preload" \
    "$abs_top_builddir/myrmics_stuck" recv "$over"
  [ "$status" -eq 0 ]
  assert_output --partial "waits in sys_recv for what rank 0 sends"
}

# --- Rings --------------------------------------------------------------------

# ring_of RANKS MODE: the report of a ring that the last rank closes.
ring_of() {
  local i next text="drasync: rank N (HOST): deadlock: $1 ranks wait for each other in a ring:"
  for ((i = $1 - 1; ; i = next)); do
    next=$(((i + 1) % $1))
    text+="
drasync:   rank $i (HOST, process P) waits for $([ $i = $(($1 - 1)) ] &&
      echo "$2" || echo WRITE) of region ADDRESS \"r$next\" since T s, in ring (stuck.c:LINE), called from main (stuck.c:LINE)
drasync:     rank $next (HOST, process P) holds it for WRITE since T s, taken in take (stuck.c:LINE)"
    [ $next != $(($1 - 1)) ] || break
  done
  echo "$text"
}

@test "a ring of waits ends the job with a report of all in it" {
  export DRASYNC_STALL_S=0 DRASYNC_CHECK=1
  for node in shared rank 2; do
    for mode in "ring WRITE" "ring-read READ"; do
      DRASYNC_NODE=$node run mpi 3 "$program" ${mode% *}
      assert_failure
      refute [ "$status" -eq 124 ]
      output=$(grep '^drasync:' <<<"$output" | masked)
      same "$(ring_of 3 ${mode#* })
drasync:   the job ends; with DRASYNC_DEADLOCK=error the last of these acquires fails instead"
    done
  done
}

@test "a ring is found after a function had to wait for a copy" {
  DRASYNC_NODE=2 DRASYNC_STALL_S=0 DRASYNC_DEADLOCK=error DRASYNC_TEST_SECONDS=30 \
    run -0 mpi 3 "$abs_top_builddir/tests/programs/stuck_after"
  assert_line "stuck after ok ranks=3"
}

@test "DRASYNC_DEADLOCK=error lets the acquire fail that closed the ring" {
  export DRASYNC_STALL_S=0 DRASYNC_DEADLOCK=error DRASYNC_CHECK=1
  for node in shared rank; do
    DRASYNC_NODE=$node run -0 mpi 3 "$program" ring
    assert_line "rank 0: DRASYNC_OK"
    assert_line "rank 1: DRASYNC_OK"
    assert_line "rank 2: DRASYNC_EDEADLK"
    output=$(grep '^drasync:' <<<"$output" | masked)
    same "$(ring_of 3 WRITE)"
  done
}

@test "of a ring that all close at once one acquire fails, with one report" {
  export DRASYNC_STALL_S=0 DRASYNC_DEADLOCK=error
  for node in shared rank; do
    DRASYNC_NODE=$node run -0 mpi 3 "$program" rings
    assert_equal "$(grep -c "deadlock: 3 ranks wait" <<<"$output")" 8
    assert_equal "$(grep -c "DRASYNC_EDEADLK" <<<"$output")" 8
    for ring in {0..7}; do
      assert_output --partial "of ring $ring: DRASYNC_EDEADLK"
    done
  done
}

@test "a ring through a region that is being taken part by part is found" {
  export DRASYNC_STALL_S=0 DRASYNC_DEADLOCK=error
  for node in shared rank; do
    for mode in "parts WRITE" "parts-read READ"; do
      DRASYNC_NODE=$node DRASYNC_TEST_SECONDS=30 run -0 mpi 2 "$program" ${mode% *}
      assert_output --partial "deadlock: 2 ranks wait for each other in a ring:"
      assert_output --regexp "rank 0 \(.*\) is taking it for ${mode#* }"
    done
  done
}

@test "leases close rings as other holds do" {
  DRASYNC_STALL_S=0 DRASYNC_DEADLOCK=error run -0 mpi 2 "$program" ring
  assert_line "rank 0: DRASYNC_OK"
  assert_line "rank 1: DRASYNC_EDEADLK"
}

@test "a ring between hosts is found" {
  needs_hosts
  export DRASYNC_STALL_S=0
  run hosts_run 4 -genv DRASYNC_NODE rank "$program" ring
  assert_failure
  refute [ "$status" -eq 124 ]
  assert_output --partial "deadlock: 4 ranks wait for each other in a ring:"
}

@test "a wait with a limit of time makes no ring" {
  DRASYNC_STALL_S=0 both mpi 2 "$program" no-ring
  for node in shared rank; do
    ended $node 0
    assert_line "rank 0: DRASYNC_OK"
    assert_line "rank 1: DRASYNC_EAGAIN"
    refute_output --partial "deadlock"
  done
}

@test "a rank whose other thread gives back the hold makes no ring" {
  DRASYNC_STALL_S=0 both mpi 2 "$program" threads
  for node in shared rank; do
    ended $node 0
    refute_output --partial "deadlock"
  done
}

@test "DRASYNC_DEADLOCK=off leaves rings to the report of what lasts" {
  DRASYNC_DEADLOCK=off DRASYNC_TEST_SECONDS=5 run mpi 2 "$program" ring
  assert_equal "$status" 124
  assert_output --partial "a wait lasts"
  refute_output --partial "deadlock"
}

# --- A signal -----------------------------------------------------------------

rank_1_waits() {
  # shellcheck disable=SC2046 # several
  "$abs_top_builddir/drasync-ps" $(pgrep -f "^$program write $over") \
    2>/dev/null | grep -q "waits for WRITE"
}

# Rank 1 of the job $pid waits: send $signal to the process whose command line begins
# with $whom, and wait for what is said.
ask_by_signal() {
  await "$pid" rank_1_waits
  kill -"$signal" "$(pgrep -f "^$whom .*write $over" | head -1)"
  await "$pid" grep -q "in its queue" "$BATS_TEST_TMPDIR/said"
}

# Once, for all nodes, what each does, and who has what rank 1 waits for.
is_asked() {
  [ "$status" -eq 0 ]
  assert_equal "$(grep -c "a signal asks what the job does" <<<"$output")" 1
  assert_output --partial "computes"
  assert_output --partial "rank 0 for WRITE of region ADDRESS \"tree\""
  assert_output --partial "drasync: what ranks wait for:
drasync:   rank 1 (HOST, process P) waits for WRITE of region ADDRESS \"tree\" since T s, in take (stuck.c:LINE)"
  assert_output --partial \
    "rank 0 (HOST, process P) holds it for WRITE"
}

@test "a signal to a rank prints what all nodes do" {
  export DRASYNC_STALL_S=0 signal=USR2 whom=$program
  for node in shared rank; do
    DRASYNC_NODE=$node while_it_hangs=ask_by_signal \
      hangs_until "rank 0 took it" mpi 2 "$program" write "$over"
    is_asked
  done
  assert_output --partial "node 0 of 2"
  assert_output --partial "node 1 of 2"
}

@test "a signal that mpirun hands on does, once" {
  export DRASYNC_STALL_S=0 DRASYNC_REPORT_SIGNAL=USR1 signal=USR1 whom=$MPIRUN
  for node in shared rank; do
    DRASYNC_NODE=$node while_it_hangs=ask_by_signal \
      hangs_until "rank 0 took it" mpi 2 "$program" write "$over"
    is_asked
  done
}

@test "DRASYNC_REPORT_SIGNAL=off leaves the signal alone, and so does a handler" {
  DRASYNC_REPORT_SIGNAL=off run mpi 2 "$program" signal
  assert_failure
  run -0 mpi 2 "$program" signal-own
  assert_line "rank 0: handled"
  refute_output --partial "a signal asks"
}

# --- Statistics ---------------------------------------------------------------

@test "DRASYNC_STATS=waits says where each rank waited, and for what" {
  export DRASYNC_STATS=waits
  all_hang_until "shared rank" "in its queue" mpi 2 "$program" write "$over"
  for node in shared rank; do
    said_by $node
    [ "$status" -eq 0 ]
    assert_output --regexp "waits: [0-9]{3,}\.[0-9] ms, once, for WRITE in take \(stuck\.c:LINE\); the longest [0-9]{3,}\.[0-9] ms \(region ADDRESS\)"
  done
  rm "$over"
  DRASYNC_NODE=rank beside flush mpi 2 "${program}_run" run-flush "$over"
  DRASYNC_NODE=rank beside give mpi 2 "${program}_gift" give "$over"
  hang_until "computes" flush give
  said_by flush
  assert_output --regexp "waits: [0-9]{3,}\.[0-9] ms, once, for drasync_run in runs \(stuck_run\.c:LINE\)"
  said_by give
  assert_output --regexp "waits: [0-9]{3,}\.[0-9] ms, (once|2 times), for drasync_take in not_given \(stuck_gift\.c:LINE\)"
}

@test "DRASYNC_STATS=waits counts round trips for references, by their calls" {
  DRASYNC_NODE=rank DRASYNC_STATS=waits run -0 mpi 3 "${program}_asked" trips
  output=$(masked <<<"$output")
  for call in drasync_weak_lock drasync_ref_give drasync_delete; do
    assert_output --regexp "waits: [0-9.]+ ms, [0-9]+ times, for $call in trips \(stuck_asked\.c:LINE\); the longest [0-9.]+ ms \(region ADDRESS\)"
  done
}
