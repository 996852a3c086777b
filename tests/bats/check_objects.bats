# Checked mode, DRASYNC_CHECK=objects: what is said of each mistake is the text in
# tests/reports (check.bats says how to write those anew).

load common
load hosts
load check

setup() {
  export DRASYNC_CHECK=objects
}

# AddressSanitizer sees most bad writes when they happen, by what the library has
# marked; then it reports them.
in_asan() { [[ ${DRASYNC_SANITIZERS:-} == *address* ]]; }

# is_found NAME: the report is that text, or the sanitizer's.
is_found() {
  if in_asan && [[ $output == *"AddressSanitizer: use-after-poison"* ]]; then
    return 0
  fi
  is_reported "$1"
}

# ends MISTAKE: that ends a job of two ranks, with this report, whatever a node
# is.
ends() {
  for DRASYNC_NODE in shared rank; do
    export DRASYNC_NODE
    run mpi 2 "$programs/check_objects" "$1"
    assert_failure
    is_found "objects_$1"
  done
}

# The report calls the region what the Myrmics program calls it.
is_numbered() {
  local rid
  rid=$(sed -n 's/^the region is //p' <<<"$output")
  [ "$rid" ]
  in_asan || assert_line "region ID $rid"
}

@test "a write past an object's end is found when that is freed" {
  ends past_free
  ends large
}

@test "and when its region, or one above, is released" {
  ends past_release
  ends below
}

@test "and when its region is deleted, or given" {
  ends past_delete
  ends past_give
}

@test "and at the end, where the region is held until then" {
  ends past_left
  ends below_left
  for DRASYNC_NODE in shared rank; do
    export DRASYNC_NODE
    run -0 mpi 2 "$programs/check_objects" tidy_left
    assert_output over
  done
}

@test "one that reaches far is found, too" {
  ends far_past
  ends in_front
}

@test "a write after free is found at release, and when memory is used again" {
  ends freed_release
  ends freed_leaves
  ends realloc
}

@test "an object that is freed twice is reported with the first time" {
  ends twice
}

@test "two hosts: the rank that allocated is asked where" {
  needs_hosts
  for mistake in past_free freed_release twice; do
    run hosts_run 2 "$programs/check_objects" $mistake
    assert_failure
    is_found objects_$mistake
  done
}

@test "DRASYNC_CHECK_ACTION=continue goes on, and reports each once" {
  ! in_asan || skip "AddressSanitizer ends the job at the first bad write"
  export DRASYNC_CHECK_ACTION=continue
  for DRASYNC_NODE in shared rank; do
    export DRASYNC_NODE
    run -0 mpi 2 "$programs/check_objects" all
    is_reported objects_all
    assert_line "free: DRASYNC_EFREED"
    assert_line over
  done
}

@test "what was freed and waits is not in use" {
  for DRASYNC_CHECK in 0 objects; do
    export DRASYNC_CHECK
    run -0 mpi 1 "$programs/check_objects" use
    assert_line "one in use"
    assert_line "none in use"
  done
}

@test "Myrmics programs: the same at sys_free, sys_send and sys_rfree" {
  for DRASYNC_MYRMICS in copy move; do
    for DRASYNC_NODE in shared rank; do
      export DRASYNC_MYRMICS DRASYNC_NODE
      for mistake in past_free past_delete freed twice; do
        run mpi_preloaded 2 "$abs_top_builddir/myrmics_objects" $mistake
        assert_failure
        is_found objects_myrmics_$mistake
        is_numbered
      done
      run mpi_preloaded 2 "$abs_top_builddir/myrmics_objects" past_send
      assert_failure
      is_found objects_myrmics_past_send_$DRASYNC_MYRMICS
    done
  done
}

@test "Myrmics programs: an object that two workers free names both" {
  for DRASYNC_NODE in shared rank; do
    export DRASYNC_NODE
    run mpi_preloaded 2 "$abs_top_builddir/myrmics_objects" by_two
    assert_failure
    is_reported objects_myrmics_by_two
    is_numbered
  done
}

@test "Myrmics programs: a region that is left is one, and no hold besides" {
  DRASYNC_MYRMICS=move DRASYNC_CHECK=leaks run -0 mpi_preloaded 1 \
    "$abs_top_builddir/myrmics_objects" left
  assert_output --regexp "1 not deleted, the first region ID [0-9]+, made by"
  refute_output --partial "not released"
}

@test "programs that do nothing wrong run as without checks" {
  for DRASYNC_NODE in shared rank; do
    export DRASYNC_NODE
    for DRASYNC_CHECK in objects access,objects; do
      export DRASYNC_CHECK
      run -0 mpi 3 "$programs/check_objects" tidy
      assert_output over
      run -0 mpi_preloaded 3 "$abs_top_builddir/myrmics_objects" tidy
      assert_output over
    done
    run -0 mpi 4 "$programs/native_random" 7 200
    # It tries to delete what others may hold, and is told who does.
    output=$(grep -v 'called drasync_delete for region .*, which another rank holds' \
      <<<"$output" || true)
    refute_output --partial "DRASYNC_CHECK"
  done
}

@test "the applications give the same result, in both forms" {
  local delaunay="$abs_top_builddir/programs/delaunay" one
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

@test "what is loaded from a file is used as it was, with and without checks" {
  local file=$BATS_TEST_TMPDIR/objects.saved
  run -0 mpi 1 "$programs/check_objects" save "$file"
  for DRASYNC_CHECK in objects 0; do
    export DRASYNC_CHECK
    run -0 mpi 1 "$programs/check_objects" load "$file"
    assert_line over
    refute_output --partial "DRASYNC_CHECK"
  done
}

@test "a program built with AddressSanitizer is told at the instruction" {
  [ -z "${DRASYNC_SANITIZERS:-}" ] || skip "the library is built with a sanitizer"
  local program=$BATS_TEST_TMPDIR/check_marks
  run -0 "$MPICC" -g -fsanitize=address -I"$abs_top_srcdir/include" \
    -I"$abs_top_builddir/include" -o "$program" \
    "$abs_top_srcdir/tests/programs/check_marks.c" -L"$libs" -ldrasync
  export ASAN_OPTIONS=detect_leaks=0
  for DRASYNC_NODE in shared rank; do
    export DRASYNC_NODE
    run -0 mpi 3 "$program" none
    assert_output over
    for how in past freed; do
      run mpi 3 "$program" $how
      assert_failure
      assert_output --partial "AddressSanitizer: use-after-poison"
      assert_output --regexp "READ of size 1 .*"
      assert_output --partial "in go_wrong"
    done
  done
}
