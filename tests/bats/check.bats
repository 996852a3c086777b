# Checked mode: what is said of each mistake is the text in tests/reports, where
# addresses, threads, hosts and lines of programs are masked.  To write those
# anew, DRASYNC_TEST_WRITE_REPORTS=1; read them before they are committed.

load common
load hosts
load check

setup() {
  export DRASYNC_CHECK=access
}

# ends MISTAKE [REPORT]: that ends a job of two ranks, with this report.
ends() {
  run mpi 2 "$programs/check_wrong" "$1"
  assert_failure
  is_reported "${2:-$1}"
}

@test "to read without a hold is reported, and ends the job" {
  ends none
}

@test "to write without a hold, too, with who holds the region and took it where" {
  ends held
}

@test "to write under READ is reported with where that was taken" {
  ends read_write
}

@test "a touch after release is reported with where that was" {
  ends released
}

@test "a touch after delete is reported with where that was" {
  ends deleted
}

@test "a touch of what is in no region is reported" {
  ends nowhere
}

@test "what is below a hold may be touched, and no more when that is released" {
  ends below
}

@test "each rank of a node, and each thread, has the holds of its rank" {
  ends other_thread
}

@test "every rank is a node: the owner is asked where the region was taken" {
  export DRASYNC_NODE=rank
  ends held held_nodes
  ends released released_nodes
  ends deleted deleted_nodes
  ends read_write read_write_nodes
}

@test "a touch by MPI is reported to the end, also if the owner cannot be asked" {
  for node in shared rank; do
    DRASYNC_NODE=$node run mpi 2 "$programs/check_wrong" received
    assert_failure
    assert_line --partial ' wrote to 0x'
    assert_line --regexp '#[0-9]+ main at .*check_wrong.c:'
    assert_line 'the job ends with this; DRASYNC_CHECK_ACTION=continue goes on'
  done
}

@test "two hosts: the owner is asked where the region was taken" {
  needs_hosts
  for mistake in held released deleted; do
    run hosts_run 2 "$programs/check_wrong" $mistake
    assert_failure
    is_reported ${mistake}_nodes
  done
}

@test "the program's own SIGSEGV handler has what is not ours" {
  ends handler
  assert_line "the program's handler had its fault"
}

@test "a handler that was there before the start, too" {
  ends handler_before
  assert_line "the program's handler had its fault"
}

@test "a handler that is for one fault only has one, and then the process ends" {
  DRASYNC_CHECK=access run mpi 1 "$programs/check_wrong" handler_once
  refute [ "$status" -eq 0 ]
  refute [ "$status" -eq 124 ]
  [ "$(grep -c "the program's handler had its fault" <<<"$output")" -eq 1 ]
}

@test "DRASYNC_CHECK_ACTION=continue goes on, and reports a place once" {
  export DRASYNC_CHECK_ACTION=continue
  run -0 mpi 2 "$programs/check_wrong" twice
  is_reported twice
}

@test "WRITE under READ, and a delete of what others hold, name those holds" {
  DRASYNC_CHECK=access run -0 mpi 1 "$programs/check_wrong" upgrade
  is_reported upgrade
  DRASYNC_CHECK=access run -0 mpi 2 "$programs/check_wrong" busy
  is_reported busy
  DRASYNC_CHECK=access run -0 mpi 2 "$programs/check_wrong" busy_below
  is_reported busy_below
}

@test "a rank that did not answer in time is asked again, and answers" {
  DRASYNC_CHECK=access run -0 mpi 2 "$programs/check_late"
  assert_line "late ok ranks=2"
  [ "$(grep -c "did not say in time where it took it" <<<"$output")" -eq 1 ]
  [ "$(grep -c "taken for READ by its thread" <<<"$output")" -eq 1 ]
  assert_line --regexp '#0 take at .*check_late.c:[0-9]+'
}

@test "leaks: holds and regions that are left at the end, by who made them" {
  # One rank: of several, none waits for the others' lines.
  DRASYNC_CHECK=leaks run -0 mpi 1 "$programs/check_left" leaks
  is_reported leaks
  DRASYNC_CHECK=leaks run -0 mpi 1 "$programs/check_wrong" first
  is_reported first
  DRASYNC_CHECK=leaks run -0 mpi 1 "$programs/check_left" many
  assert_line --regexp "^4 not released, the first of region .* for READ by"
  assert_line "and 2 more of regions that this rank holds more than 4 times"
  DRASYNC_CHECK=leaks run -0 mpi 1 "$programs/check_left" places
  assert_line --regexp "^and [78] of 7 more places$"
  DRASYNC_CHECK=leaks run -0 mpi 1 "$programs/check_left" turns
  [ "$(grep -c "^2 not released, the first of .* for READ" <<<"$output")" -eq 2 ]
  DRASYNC_CHECK=leaks run -0 mpi 2 "$programs/check_left" tidy
  assert_output "over"
}

@test "leaks: what is managed ends by itself, and is not told of" {
  for DRASYNC_NODE in shared rank; do
    export DRASYNC_NODE
    DRASYNC_CHECK=leaks run -0 mpi 2 "$programs/check_left" managed
    assert_line --regexp "#0 forget at .*check_left.c:[0-9]+"
    [ "$(grep -c "^1 not deleted, the first region" <<<"$output")" -eq 2 ]
  done
}

@test "leaks: a hold that was never released, though another rank deletes its region" {
  for node in shared rank; do
    DRASYNC_NODE=$node DRASYNC_CHECK=leaks run -0 mpi 2 \
      "$programs/check_left" forgotten
    assert_line --partial "holds that were not released are left at the end"
    assert_line --regexp "1 not released, the first of .*, taken for READ"
  done
}

@test "C++: lines are the program's, not of the header, and names are readable" {
  local put='#0 shop::shelf<int>::put at .*cxx_wrong.cc:[0-9]+'
  [ -x "$programs/cxx_wrong" ] || skip "there is no compiler of C++17"
  local forget='#0 forget at .*cxx_wrong.cc:[0-9]+'

  DRASYNC_CHECK=access run mpi 1 "$programs/cxx_wrong" write
  assert_failure
  # Where it wrote, and where it took the hold.
  [ "$(grep -cE "$put" <<<"$output")" = 2 ]
  refute_output --partial ".hpp"
  DRASYNC_CHECK=access run mpi 1 "$programs/cxx_wrong" inlined
  assert_failure
  # Below the container's own, where that was not inlined.
  assert_line --regexp "#[01] fill at .*cxx_wrong.cc:[0-9]+"
  assert_line --regexp "#[12] fill_all at .*cxx_wrong.cc:[0-9]+"
  DRASYNC_CHECK=leaks run -0 mpi 1 "$programs/cxx_wrong" leak
  assert_output --regexp "$forget"
  refute_output --partial ".hpp"
  DRASYNC_STALL_S=1 DRASYNC_TEST_SECONDS=4 run mpi 2 "$programs/cxx_wrong" wait
  assert_output --regexp "waits for WRITE of .*, in main \(cxx_wrong.cc:[0-9]+\)"
  refute_output --partial ".hpp"
}

@test "leaks: a request that nobody waited for, by who asked" {
  for DRASYNC_NODE in shared rank; do
    export DRASYNC_NODE
    DRASYNC_CHECK=leaks run -0 mpi 2 "$programs/check_left" requests
    is_reported requests_left
  done
}

@test "leaks: what was given to a rank and not taken, by whom" {
  for DRASYNC_NODE in shared rank; do
    export DRASYNC_NODE
    DRASYNC_CHECK=leaks run -0 mpi 2 "$programs/check_left" given
    assert_line --regexp "rank 1 \(.*\): DRASYNC_CHECK: 1 region given to this\
 rank was not taken, the first 0x[0-9a-f]+ by rank 0 with tag 7"
  done
}

# is_told MISTAKE: that the rest of the job goes on, with this report.
is_told() {
  run -0 mpi 2 "$programs/check_wrong" "$1"
  assert_line over
  is_reported "${2:-$1}"
}

@test "a handle of a deleted region is named, though its address was free since" {
  for DRASYNC_CHECK in access leaks; do
    export DRASYNC_CHECK
    is_told stale
    assert_line DRASYNC_ENOREGION
    run mpi 2 "$programs/check_wrong" stale_there
    assert_failure
    assert_line --regexp "acquire_region\(0x[0-9a-f]+\) in take \
\(check_wrong.c:[0-9]+\): this region was deleted: do not use its handle after \
that \(DRASYNC_ENOREGION\)"
  done
  DRASYNC_CHECK=access DRASYNC_NODE=rank is_told stale
}

@test "a copy of a finished request is named, with the call that ended it" {
  is_told finished
  assert_line DRASYNC_EINVAL
}

@test "a release of what another thread took, or nobody, is named" {
  is_told wrong_release
  assert_line DRASYNC_ENOTHELD
}

@test "threads that are told of at once do not wait for each other" {
  DRASYNC_CHECK=1 run -0 mpi 1 "$programs/check_threads"
  assert_line --partial "that another thread took"
  assert_line "check_threads ok ranks=1"
}

@test "to allocate or free without WRITE is named" {
  is_told unheld
  assert_line DRASYNC_ENOTHELD
}

@test "what is no handle of a region is named, with the call" {
  is_told no_handle
  assert_line DRASYNC_ENOREGION
}

@test "what is to be freed and is no object is named, with what it is" {
  # A sanitizer has its own heap and stack, of which less is known.
  if [ "${DRASYNC_SANITIZERS:-}" ]; then
    run -0 mpi 2 "$programs/check_wrong" no_object
    assert_line --regexp "called drasync_free for 0x[0-9a-f]+, byte 16 of the object of"
    return
  fi
  is_told no_object
  assert_line DRASYNC_ENOOBJECT
  assert_line DRASYNC_EFREED
  assert_line DRASYNC_EALIGN
  DRASYNC_CHECK=access,objects run -0 mpi 2 "$programs/check_wrong" no_object_all
  assert_line over
  is_reported no_object_all
}

@test "references to what is not managed, and names and files of no region" {
  export DRASYNC_CHECK=access DRASYNC_CHECK_ACTION=continue
  run -0 mpi 2 "$programs/check_refer"
  assert_line over
  is_reported refer
  run -0 mpi 2 "$programs/check_refer" given
  assert_line over
  is_reported given
}

@test "a touch by a function, on a thread of DRASync's own, is reported" {
  DRASYNC_CHECK=access DRASYNC_NODE=rank run mpi 2 "$programs/check_refer" \
    function
  assert_failure
  is_reported function
}

@test "a call of Fig. 1 that ends the job is named, with its place" {
  run mpi 2 "$programs/check_wrong" ralloc
  assert_failure
  assert_line --regexp "called ralloc for region 0x[0-9a-f]+, which this\
 rank does not hold"
  assert_line --regexp "#0 allocate_unheld at .*check_wrong.c:[0-9]+"
  assert_line --regexp "ralloc\(0x[0-9a-f]+\) in allocate_unheld \
\(check_wrong.c:[0-9]+\): this rank has no hold"
}

@test "a system call is told EFAULT where the rank has no hold" {
  run -0 mpi 2 "$programs/check_wrong" system_call
  assert_line "read: Bad address"
  assert_line "read under a hold: 4 bytes"
}

@test "DRASYNC_MYRMICS=move: a touch of what was sent names both places" {
  export DRASYNC_MYRMICS=move
  for what in touch touch_by_call; do
    for node in shared rank; do
      DRASYNC_NODE=$node run mpi_preloaded 3 "$abs_top_builddir/myrmics_move" \
        $what
      assert_failure
      is_reported myrmics_${what}_$node
    done
  done
}

@test "DRASYNC_MYRMICS=move: so does one of what was never received" {
  DRASYNC_MYRMICS=move run mpi_preloaded 3 "$abs_top_builddir/myrmics_move" \
    touch_foreign
  assert_failure
  is_reported myrmics_touch_foreign
}

@test "programs that do nothing wrong run as without checks" {
  for node in shared rank; do
    DRASYNC_NODE=$node run -0 mpi 4 "$programs/native_inplace"
    refute_output --partial "DRASYNC_CHECK"
    DRASYNC_NODE=$node run -0 mpi 4 "$programs/native_random" 7 200
    refute_output --partial "DRASYNC_CHECK"
    DRASYNC_NODE=$node run -0 mpi 2 "$programs/native_reuse"
    refute_output --partial "DRASYNC_CHECK"
  done
}

@test "the applications give the same result, in both forms" {
  local delaunay="$abs_top_builddir/programs/delaunay" one checked
  local barnes_hut="$abs_top_builddir/programs/barnes_hut"
  hash_of() { sed -n 's/.*hash=\([0-9a-f]*\).*/\1/p' <<<"$output"; }
  for program in "$delaunay/delaunay_native --random 20000" \
    "$barnes_hut/barnes_hut_native --plummer 2000 --steps 2" \
    "$delaunay/delaunay_myrmics --random 20000"; do
    for mode in copy move; do
      export DRASYNC_MYRMICS=$mode
      DRASYNC_CHECK=0 run -0 mpi_preloaded 4 $program
      one=$(hash_of)
      run -0 mpi_preloaded 4 $program
      refute_output --partial "DRASYNC_CHECK"
      [ -n "$one" ] && [ "$(hash_of)" = "$one" ]
    done
  done
}
