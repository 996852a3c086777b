#!/usr/bin/env bats
# Holds of the API's regions: of ranks, threads and requests.

load common

programs=$abs_top_builddir/tests/programs

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

@test "of several requests the first that is done is had first" {
  for ranks in 2 3 4; do
    for node in shared 2 rank; do
      DRASYNC_NODE=$node run -0 mpi $ranks "$programs/native_any" 20
      assert_output "native_any ok ranks=$ranks"
    done
  done
}

@test "requests that a rank leaves behind keep nobody from the regions" {
  for node in shared rank; do
    DRASYNC_NODE=$node DRASYNC_STALL_S=5 run -0 mpi 3 "$programs/native_any" leave
    assert_output ""
  done
}

@test "a wait behind an earlier request of its rank ends with the region" {
  run -0 mpi 2 "$programs/native_deleted_part"
  assert_output "deleted_part ok ranks=2"
}
