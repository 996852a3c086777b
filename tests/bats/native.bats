#!/usr/bin/env bats
# The API of drasync.h, on one node and on several.

load common

programs=$abs_top_builddir/tests/programs

@test "every misuse gives its error, on one rank" {
  run -0 mpi 1 "$programs/native_contract"
  assert_line "contract ok ranks=1"
}

@test "every misuse gives its error, on 2 and 4 ranks of a node" {
  run -0 mpi 2 "$programs/native_contract"
  assert_line "contract ok ranks=2"
  run -0 mpi 4 "$programs/native_contract"
  assert_line "contract ok ranks=4"
}

@test "every misuse gives its error, on 2, 3 and 4 nodes" {
  export DRASYNC_NODE=rank
  run -0 mpi 2 "$programs/native_contract"
  assert_line "contract ok ranks=2"
  # With 3 the upper half of the space is reached.
  run -0 mpi 3 "$programs/native_contract"
  assert_line "contract ok ranks=3"
  run -0 mpi 4 "$programs/native_contract"
  assert_line "contract ok ranks=4"
}

@test "lists, subtrees, pinned readers, deletion, reuse and threads on one node" {
  run -0 mpi 1 "$programs/native_stories"
  assert_line "stories ok ranks=1"
  run -0 mpi 4 "$programs/native_stories"
  assert_line "stories ok ranks=4"
}

@test "lists, subtrees, pinned readers, deletion, reuse and threads on four nodes" {
  DRASYNC_NODE=rank run -0 mpi 4 "$programs/native_stories"
  assert_line "stories ok ranks=4"
}

@test "a random program sees what its oracle allows, 4 and 8 ranks of a node" {
  run -0 mpi 4 "$programs/native_random" 500 1
  assert_line "random ok ranks=4"
  run -0 mpi 8 "$programs/native_random" 250 2
  assert_line "random ok ranks=8"
}

@test "a random program sees what its oracle allows, on 4 and 8 nodes" {
  export DRASYNC_NODE=rank
  run -0 mpi 4 "$programs/native_random" 200 3
  assert_line "random ok ranks=4"
  run -0 mpi 8 "$programs/native_random" 100 4
  assert_line "random ok ranks=8"
}

@test "random gifts, deletes and visits lose no write, on one node and several" {
  run -0 mpi 4 "$programs/native_parcels" 1000 1
  assert_line "parcels ok ranks=4"
  DRASYNC_NODE=2 run -0 mpi 4 "$programs/native_parcels" 1000 2
  assert_line "parcels ok ranks=4"
  refute_output --partial "overwritten"
  DRASYNC_NODE=rank run -0 mpi 3 "$programs/native_parcels" 1000 3
  assert_line "parcels ok ranks=3"
  refute_output --partial "overwritten"
}

@test "a region on addresses from the manager is found by every node" {
  export DRASYNC_SPACE=64M DRASYNC_NODE=rank
  run -0 mpi 3 "$programs/native_chunks"
  assert_line "chunks ok ranks=3"
  # The last of 9 nodes has another manager than node 0.
  run -0 mpi 9 "$programs/native_chunks"
  assert_line "chunks ok ranks=9"
}

@test "DRASYNC_WIRE=paged: the same results on 2 and 4 nodes, a page at a time" {
  needs_wire_paged
  export DRASYNC_NODE=rank DRASYNC_WIRE=paged
  run -0 mpi 4 "$programs/native_stories"
  assert_line "stories ok ranks=4"
  run -0 mpi 4 "$programs/native_random" 200 3
  assert_line "random ok ranks=4"
  run -0 mpi 2 "$programs/native_contract"
  assert_line "contract ok ranks=2"
}

@test "subregions come and go below roots that others read, one node and several" {
  run -0 mpi 4 "$programs/native_churn" 100 1
  assert_line "churn ok ranks=4"
  DRASYNC_NODE=2 run -0 mpi 4 "$programs/native_churn" 40 2
  assert_line "churn ok ranks=4"
  DRASYNC_NODE=rank run -0 mpi 4 "$programs/native_churn" 40 3
  assert_line "churn ok ranks=4"
}

@test "what is read again is right, and only what changed is sent" {
  local nodes
  for nodes in shared 2; do
    DRASYNC_NODE=$nodes run -0 mpi 4 "$programs/native_reread"
    assert_line "reread ok ranks=4"
  done
  grep -q "define HAVE_XXHASH" "$abs_top_builddir/config.h" ||
    skip "without xxHash, all of it is sent"
  DRASYNC_NODE=rank run -0 mpi 4 "$programs/native_reread" less
  assert_line "reread ok ranks=4"
}

@test "parts are written in order while others read the whole: nobody waits for ever" {
  local nodes ranks
  for nodes in shared 2 3 rank; do
    for ranks in 4 6; do
      DRASYNC_NODE=$nodes run -0 mpi $ranks "$programs/native_ordered" 1
      assert_line "ordered ok ranks=$ranks"
    done
  done
}

@test "large objects come and go, older versions are read, and nothing freed is sent" {
  local nodes seed
  for nodes in shared 2 rank; do
    for seed in 1 2; do
      DRASYNC_NODE=$nodes run -0 mpi 4 "$programs/native_shrink" "$seed"
      assert_line "shrink ok ranks=4"
    done
  done
  DRASYNC_NODE=rank run -0 mpi 4 "$programs/native_shrink" 3 less
  assert_line "shrink ok ranks=4"
}

@test "of what changes a little, words travel, and are right" {
  local nodes seed ahead
  for nodes in rank 2; do
    for seed in 1 2 3; do
      DRASYNC_NODE=$nodes run -0 mpi 4 "$programs/native_diff" "$seed"
      assert_line "diff ok ranks=4"
    done
  done
  DRASYNC_NODE=rank run -0 mpi 2 "$programs/native_diff" 4
  for ahead in off data; do
    DRASYNC_AHEAD=$ahead DRASYNC_NODE=rank run -0 mpi 3 \
      "$programs/native_diff" 5
  done
  # Too little memory for twins of all of it.
  DRASYNC_MEMORY=16M DRASYNC_NODE=rank run -0 mpi 3 "$programs/native_diff" \
    6 scarce
}

@test "what is done for other nodes leaves no vector register half in use" {
  grep -q "define HAVE_XXHASH_DISPATCH" "$abs_top_builddir/config.h" ||
    skip "without xxHash's dispatcher no code for AVX runs"
  "$programs/native_registers" "does it tell?" ||
    skip "this processor does not say whether upper halves are in use"
  DRASYNC_NODE=rank run -0 mpi 2 "$programs/native_registers"
  assert_output "registers ok ranks=2"
}

@test "no step hashes or copies more than a piece of a region under a lock" {
  grep -q "define HAVE_XXHASH_DISPATCH" "$abs_top_builddir/config.h" ||
    skip "without xxHash's dispatcher its calls cannot be counted"
  DRASYNC_NODE=2 run -0 mpi 4 "$programs/native_pieces"
  assert_line "pieces ok ranks=4"
}

@test "readers of one region are served by each other, and see what was written" {
  local fanout
  for fanout in 1 2 3; do
    DRASYNC_FANOUT=$fanout DRASYNC_NODE=rank run -0 mpi 6 "$programs/native_crowd"
    assert_line "crowd ok ranks=6"
  done
  DRASYNC_FANOUT=2 DRASYNC_NODE=2 run -0 mpi 8 "$programs/native_crowd"
  assert_line "crowd ok ranks=8"
}

@test "what comes again comes to where it was, unless that is being read" {
  DRASYNC_NODE=2 run -0 mpi 4 "$programs/native_inplace"
  assert_line "inplace ok ranks=4"
}

@test "memory runs out: an error at the call, and all goes on" {
  # What is short differs: data, records of control memory, or both.
  for DRASYNC_MEMORY in 48M 64M 100M; do
    export DRASYNC_MEMORY
    run -0 mpi 2 "$programs/native_exhaust" memory
    assert_line "exhaust ok ranks=2"
    DRASYNC_NODE=rank run -0 mpi 2 "$programs/native_exhaust" memory
    assert_line "exhaust ok ranks=2"
  done
}

@test "what was freed serves other sizes and regions before memory runs out" {
  export DRASYNC_MEMORY=64M
  run -0 mpi 1 "$programs/native_freed"
  assert_line "freed ok ranks=1"
  run -0 mpi 3 "$programs/native_freed"
  assert_line "freed ok ranks=3"
  DRASYNC_NODE=rank run -0 mpi 2 "$programs/native_freed"
  assert_line "freed ok ranks=2"
  DRASYNC_CHECK=access run -0 mpi 2 "$programs/native_freed"
  assert_line "freed ok ranks=2"
}

@test "a region that grows into the last of the memory takes all, in few extents" {
  DRASYNC_NODE=rank DRASYNC_MEMORY=64M run -0 mpi 2 "$programs/native_room"
  assert_line "room ok ranks=2"
}

@test "more data than a node has memory goes through it, copies and owned" {
  DRASYNC_NODE=rank DRASYNC_MEMORY=64M run -0 mpi 4 "$programs/native_beyond"
  assert_line "beyond ok ranks=4"
}

@test "short memory: what was evicted is deleted, what could not be shown is no version" {
  DRASYNC_NODE=rank DRASYNC_MEMORY=32M run -0 mpi 2 \
    "$programs/native_evicted" deleted
  assert_output "evicted ok ranks=2"
  DRASYNC_MEMORY=64M run -0 mpi 2 "$programs/native_evicted" newer
  assert_output "evicted ok ranks=2"
}

@test "a region that is deleted while it gets a name has none" {
  for node in shared rank; do
    DRASYNC_NODE=$node run -0 mpi 2 "$programs/native_names"
    assert_output "names ok ranks=2"
  done
}

@test "a new region at the address of one that others still wait for is found" {
  DRASYNC_NODE=2 run -0 mpi 4 "$programs/native_next"
  assert_line "next ok ranks=4"
}

@test "what all have released is deleted, whatever its readers have not said yet" {
  export DRASYNC_AHEAD=off
  DRASYNC_NODE=2 run -0 mpi 3 "$programs/native_delete_after"
  assert_line "delete after ok ranks=3"
  DRASYNC_NODE=3 run -0 mpi 6 "$programs/native_delete_after"
  assert_line "delete after ok ranks=6"
}

@test "who gives up meets the end of what was asked for" {
  run -0 mpi 4 "$programs/native_timed_out"
  assert_line "timed out ok ranks=4"
}

@test "a READ of more regions than a message takes" {
  DRASYNC_NODE=rank run -0 mpi 3 "$programs/native_portions"
  assert_line "portions ok ranks=3"
  for blocks in 1 4 8; do
    DRASYNC_NODE=rank DRASYNC_MEMORY=64M \
      run -0 mpi 2 "$programs/native_portions" $blocks
    assert_line "portions ok ranks=2"
  done
}

# Each refused request is an error at the call, or the job ends and says why.
without_memory() { # RANK
  local n=1 last
  export DRASYNC_NODE=rank
  # The program stands between a sanitizer and the dynamic linker.
  leaks_of_others
  while true; do
    run mpi 2 "$programs/native_nomem" "$1" "$n"
    [ "$status" != 0 ] || break
    [ "$status" = 3 ] || fail "$output"
    assert_output --regexp $'(^|\n)drasync: rank [01] .*memory'
    last=$(sed -n 's/^refusing //p' <<<"$output" | tail -n 1)
    n=$((${last:-$n} + 1))
    [ "$n" -lt 1000 ]
  done
  assert_line "nomem ok ranks=2"
  [ "$n" -gt 1 ]
}

@test "the owner of a region has no memory" {
  without_memory 0
}

@test "who asks for a region has no memory" {
  without_memory 1
}

@test "addresses run out: an error at the call, and all goes on" {
  export DRASYNC_SPACE=64M
  run -0 mpi 2 "$programs/native_exhaust" space
  assert_line "exhaust ok ranks=2"
  DRASYNC_NODE=rank run -0 mpi 2 "$programs/native_exhaust" space
  assert_line "exhaust ok ranks=2"
}

@test "the calls of Fig. 1 do what they do, and end the job on a mistake" {
  run -0 mpi 2 "$programs/native_fig1"
  assert_output --partial "fig1 ok"
  run mpi 1 "$programs/native_fig1" bad
  assert_failure
  assert_output --partial "release_region("
  assert_output --partial "DRASYNC_ENOTHELD"
}

@test "threads and ranks allocate in one region, on one node and on several" {
  run -0 mpi 1 "$programs/native_magazines"
  assert_line "magazines ok ranks=1"
  run -0 mpi 3 "$programs/native_magazines"
  assert_line "magazines ok ranks=3"
  DRASYNC_NODE=rank run -0 mpi 3 "$programs/native_magazines"
  assert_line "magazines ok ranks=3"
}

@test "regions come and go where others were, on one node and on several" {
  run -0 mpi 1 "$programs/native_reuse"
  assert_line "reuse ok ranks=1"
  run -0 mpi 3 "$programs/native_reuse"
  assert_line "reuse ok ranks=3"
  DRASYNC_NODE=rank run -0 mpi 3 "$programs/native_reuse"
  assert_line "reuse ok ranks=3"
}

@test "small objects fill the memory, and it comes back" {
  DRASYNC_MEMORY=64M run -0 mpi 1 "$programs/native_magazines" memory
  assert_line "magazines ok ranks=1"
}

@test "a release ends in an error if a thread cannot be kept from allocating" {
  export DRASYNC_TEST_SECONDS=30
  run mpi 1 "$programs/native_revoked" filtered
  assert_failure
  assert_line "release: DRASYNC_EPEER"
  assert_output --partial "the system refuses membarrier()"
  run mpi 1 "$programs/native_revoked" ended
  assert_failure
  assert_line "release: DRASYNC_EPEER"
  assert_output --regexp "thread [0-9]+ of rank 0 has ended while it allocated"
}

@test "a rank killed while it allocates ends the job" {
  for node in shared rank; do
    DRASYNC_NODE=$node DRASYNC_TEST_SECONDS=30 run mpi 2 \
      "$programs/native_magazines" killed
    refute [ "$status" -eq 0 ]
    refute [ "$status" -eq 124 ]
    assert_output --regexp "Killed|SIGNAL: 9"
  done
}

@test "ranks of a node pass a hold to each other, whatever comes in between" {
  for ranks in 1 2 3 4; do
    run -0 mpi $ranks "$programs/native_lease" $ranks
    assert_line "fast ok ranks=$ranks"
  done
  DRASYNC_NODE=2 run -0 mpi 4 "$programs/native_lease" 5
  assert_line "fast ok ranks=4"
}

@test "a thread knows the leases of hundreds of regions, and allocates under them" {
  run -0 mpi 1 "$programs/native_known"
  assert_line "known ok ranks=1"
}

@test "a thread that slept for all of a slot's tickets takes no other's lease" {
  run -0 mpi 1 "$programs/native_ticket"
  assert_line "ticket ok ranks=1"
}

@test "a rank killed with a hold that it left, has or waits for ends the job" {
  for when in free held waiting; do
    run mpi_rank_dies 2 "$programs/native_lease" $when
    refute [ "$status" -eq 124 ]
    assert_output --regexp "drasync: rank 0 \(.*\): rank 1 \(.*\) died"
    assert_line "rank 0: DRASYNC_EPEER"
  done
}

@test "requests above and below each other, at once, end as one after the other" {
  for node in shared 2 rank; do
    DRASYNC_NODE=$node run -0 mpi 4 "$programs/native_overlap" 300 1
    assert_line "overlap ok ranks=4"
  done
}

@test "a request that has ended, or that another thread waits for, is refused" {
  for node in "" rank; do
    for n in 2 3; do
      DRASYNC_NODE=$node run -0 mpi "$n" "$programs/native_requests"
      assert_output "requests ok ranks=$n"
    done
  done
  DRASYNC_NODE=2 run -0 mpi 3 "$programs/native_requests"
  assert_output "requests ok ranks=3"
}

@test "who asks a dead rank for its hold again and again is told" {
  for node in shared rank; do
    for way in try handed read below timed test wait delete lookup; do
      DRASYNC_NODE=$node run mpi_rank_dies 3 "$programs/native_refused" $way
      refute [ "$status" -eq 124 ]
      assert_output --regexp "drasync: rank [01] \(.*\): rank 2 \(.*\) died"
      assert_line --regexp "rank [01]: DRASYNC_EPEER"
      refute_line --regexp "rank [01]: DRASYNC_E[^P]"
    done
  done
}

@test "regions come and go while others ask for them" {
  for ranks in 1 2 4; do
    run -0 mpi $ranks "$programs/native_recycle"
    assert_line "stock ok ranks=$ranks"
  done
  DRASYNC_NODE=rank run -0 mpi 2 "$programs/native_recycle"
  assert_line "stock ok ranks=2"
  # Objects are aligned to 64 bytes then.
  DRASYNC_MYRMICS=move DRASYNC_SPACE=256M run -0 mpi 2 "$programs/native_recycle"
  assert_line "stock ok ranks=2"
}

@test "a release gives back what its thread took last, in any order of two threads" {
  for node in "" rank; do
    DRASYNC_NODE=$node run -0 mpi 2 "$programs/native_threads" orders 4
    assert_output "orders ok ranks=2"
    # Each is known to have its own.
    DRASYNC_CHECK=1 DRASYNC_NODE=$node run -0 mpi 2 \
      "$programs/native_threads" orders 3
    # It is also told of the release too many that each order ends with.
    assert_line "orders ok ranks=2"
  done
}

@test "threads hand holds over, end with them, and wait for each other's requests" {
  for node in "" rank; do
    DRASYNC_NODE=$node run -0 mpi 2 "$programs/native_threads" stories
    assert_output "stories ok ranks=2"
  done
}

@test "threads of a rank that read at once see one version, and leave no hold" {
  run -0 mpi 1 "$programs/native_readers" 2000
  assert_output "readers ok ranks=1"
  for node in "" rank; do
    DRASYNC_NODE=$node run -0 mpi 2 "$programs/native_readers" 300
    assert_output "readers ok ranks=2"
  done
  DRASYNC_NODE=2 run -0 mpi 4 "$programs/native_readers" 300
  assert_output "readers ok ranks=4"
}

@test "threads that take a mutex inside of their holds see what others of the rank wrote" {
  for node in 64 rank; do
    DRASYNC_NODE=$node run -0 mpi 3 "$programs/native_inside"
    assert_output "inside ok ranks=3"
  done
}

@test "who waits for a region gets it when the last part of it is given back" {
  for node in "" 64 rank; do
    for ranks in 2 3; do
      DRASYNC_TEST_SECONDS=60 DRASYNC_NODE=$node run -0 mpi $ranks \
        "$programs/native_siblings" $ranks
      assert_output "siblings ok ranks=$ranks"
    done
  done
}

@test "what is read below a request that was granted is as new as that" {
  for node in "" 64 rank; do
    DRASYNC_NODE=$node run -0 mpi 2 "$programs/native_covered" below_request
    assert_output "covered ok ranks=2"
  done
}

@test "a release below WRITE gives READ back, not what a request has got" {
  for node in 64 rank; do
    DRASYNC_NODE=$node run -0 mpi 2 "$programs/native_covered" before_request
    assert_output "covered ok ranks=2"
  done
}

@test "who asks twice has both holds, and keeps one above what is still held" {
  for node in 64 rank; do
    DRASYNC_TEST_SECONDS=60 DRASYNC_NODE=$node run -0 mpi 3 \
      "$programs/native_covered" above_left
    assert_output "covered ok ranks=3"
  done
}

@test "no write is lost when a thread of each rank writes and another reads" {
  for node in "" rank; do
    DRASYNC_NODE=$node run -0 mpi 2 "$programs/native_threads" writers 200
    assert_output "writers ok ranks=2"
  done
}

@test "no write is lost when a reader ends while a writer's thread copies" {
  run -0 mpi 2 "$programs/native_split"
  assert_output "split ok ranks=2"
}

@test "with checking on, a thread that gives back another's hold is told" {
  run -0 mpi 1 "$programs/native_threads" others
  assert_output "others ok ranks=1"
  DRASYNC_CHECK=1 run -0 mpi 1 "$programs/native_threads" others
  assert_line --regexp "DRASYNC_CHECK: thread [0-9]+ that has no hold of\
 region 0x[0-9a-f]+ of its own gives back one for WRITE that another thread took"
  assert_line --regexp "DRASYNC_CHECK: thread [0-9]+ that has no hold of\
 region 0x[0-9a-f]+ of its own gives back one for READ that another thread took"
  assert_line "others ok ranks=1"
  # Not with ownership of Myrmics regions, which is the worker's.
  DRASYNC_MYRMICS=move DRASYNC_CHECK=1 run -0 mpi 1 \
    "$programs/native_threads" others
  assert_output "others ok ranks=1"
}

@test "what is newer is refused while a thread of the rank has it, as WRITE is" {
  for node in shared 2 rank; do
    for n in 1 2 4; do
      DRASYNC_NODE=$node run -0 mpi "$n" "$programs/native_newer_threads"
      assert_output "newer_threads ok ranks=$n"
    done
  done
}

@test "a rank waits for what another one writes, on a node and between nodes" {
  for ranks in 2 3 4 8; do
    run -0 mpi $ranks "$programs/native_newer" 20 $ranks
    assert_line "newer ok ranks=$ranks"
    DRASYNC_NODE=rank run -0 mpi $ranks "$programs/native_newer" 10 $ranks
    assert_line "newer ok ranks=$ranks"
  done
  DRASYNC_NODE=2 run -0 mpi 4 "$programs/native_newer" 20 9
  assert_line "newer ok ranks=4"
  DRASYNC_DEADLOCK=error run -0 mpi 2 "$programs/native_newer" ring
  assert_line "newer ok ranks=2"
  DRASYNC_DEADLOCK=error DRASYNC_NODE=rank run -0 mpi 4 \
    "$programs/native_newer" ring
  assert_line "newer ok ranks=4"
  # Copies are dropped while somebody waits.
  DRASYNC_NODE=rank DRASYNC_MEMORY=64M run -0 mpi 3 "$programs/native_newer" 20 8
  assert_line "newer ok ranks=3"
}
