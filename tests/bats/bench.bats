# The benchmarks' runner, with tiny sizes; nothing is asserted about times.

setup() {
  load common
  bench=$abs_top_srcdir/scripts/bench
  export DRASYNC_BUILD=$abs_top_builddir
  number='[0-9.]+(e[-+][0-9]+)?'
}

# Make needs seconds to find out that all is built.
bench() {
  timeout -k 5 180 "$bench" --no-build "$@" </dev/null 3>&-
}

@test "a benchmark prints one line: ratio, both sides, unit and runs" {
  run -0 timeout -k 5 180 "$bench" --tiny hold_local </dev/null 3>&-
  assert_equal "${#lines[@]}" 1
  assert_line --regexp \
    "^hold_local ratio=$number ours=$number theirs=$number unit=ns runs=1 "
}

@test "a benchmark whose measurements are processes of their own prints it too" {
  run -0 bench --tiny --runs 3 alloc_fresh
  assert_line --regexp "^alloc_fresh ratio=$number .* runs=3 "
}

@test "a benchmark of several rivals prints the strongest, then the others" {
  run -0 bench --tiny free_bulk
  assert_line --regexp "^free_bulk ratio=$number .* rival=(malloc|mimalloc|jemalloc) "
  for rival in malloc mimalloc jemalloc; do
    [[ $output == *" rival=$rival "* ]] ||
      assert_line --regexp " ratio_$rival=($number|skipped)"
  done
}

@test "a rival that is not installed is left out" {
  # It believes that it has preloaded it.
  run -77 env LD_PRELOAD="libmimalloc.so.2.none" \
    "$abs_top_builddir/benchmarks/free_bulk" --tiny --side mimalloc
  assert_line --regexp "^free_bulk skipped: (libmimalloc.so.2 not found |the sanitizer)"
}

@test "a benchmark without a rival prints a figure and no ratio" {
  run -0 bench --tiny manager_messages
  assert_line --regexp \
    "^manager_messages ours=$number unit=B/message runs=1 ours_iqr=0 .*target=40MB$"
  refute_output --partial ratio
}

@test "a benchmark of several ways prints the worst, with the ratio of each" {
  run -0 bench --tiny handover_contended
  assert_equal "${#lines[@]}" 1
  assert_line --regexp "^handover_contended ratio=$number .*unit=1/s runs=1 "
  assert_line --regexp "ratio_2x1=$number ratio_4x1=$number .*target=0.95,mpi:3$"
  if [ "$(nproc)" -gt 1 ]; then
    assert_line --regexp " line_ns=[0-9]+ line_ns_after=[0-9]+ target=0.95,mpi:3$"
  fi
}

# prints_rivals ROW RIVAL...: one of them makes the line, the others have fields.
prints_rivals() {
  local row=$1 rival
  shift
  run -0 bench --tiny "$row"
  [[ $output != *" skipped: "* ]] || return 0
  assert_line --regexp "^$row ratio=$number .* rival=($(tr " " "|" <<<"$*")) .*target="
  for rival in "$@"; do
    [[ $output == *" rival=$rival "* ]] ||
      assert_line --regexp " ratio_$rival=$number theirs_$rival=$number "
  done
}

@test "rows about objects are compared with other ways to count their uses" {
  prints_rivals objects_rate hybrid naive mutex suppressed nothing
  assert_line --regexp " hybrid_naive_1=$number hybrid_naive_n=$number "
}

@test "the row about cycles of objects says how many linger" {
  [[ ${DRASYNC_SANITIZERS:-} != *thread* ]] ||
    skip "the paper's cycle takes minutes under ThreadSanitizer"
  run -0 bench --tiny objects_cycle
  [[ $output == *" skipped: "* ]] ||
    assert_line --regexp "^objects_cycle ratio=$number .* lingers=$number "
}

@test "the row about regions that end by themselves has each of its cases" {
  run -0 bench --tiny region_collect
  assert_line --regexp "^region_collect ratio=$number .* ratio_end=$number .*\
 ratio_circles=$number ours_circles=$number .* ratio_read=$number "
}

@test "rows about threads of a rank are of one thread and of two" {
  run -0 bench --tiny read_threads
  [[ $output == *" skipped: "* ]] ||
    assert_line --regexp "^read_threads ratio=$number .* rival=(urcu|rwlock) .*\
scale=$number ratio_one=$number .* ratio_two=$number "
  [[ $output == *" rival=urcu "* || $output == *" skipped: "* ]] ||
    assert_line --regexp " ratio_urcu=($number|skipped)"
  run -0 bench --tiny iacquire_threads
  [[ $output == *" skipped: "* ]] ||
    assert_line --regexp \
      "^iacquire_threads ours=$number unit=ns .* threads=$number ranks=$number "
}

@test "rows on a node are compared with a shared window, then with messages" {
  prints_rivals handover_small token ticket mcs send
  prints_rivals handover_big token ticket mcs send
  prints_rivals handover_contended ticket mcs mpi
  prints_rivals tree_transfer offsets rebuild window
  prints_rivals dart_lock ticket mcs mpi
  prints_rivals dart_lock_contended ticket mcs mpi
}

@test "rows between hosts are compared with messages in pieces, and with long ones" {
  prints_rivals wire_bandwidth pieces send
  prints_rivals wire_many pieces send
  prints_rivals read_shared pieces bcast
  prints_rivals tree_wire offsets rebuild
}

@test "an exchange with neighbours is compared with no hints, and with messages" {
  prints_rivals ahead_halo off mpi
}

@test "rows about ranks that compute are compared with asynchronous progress" {
  prints_rivals wire_busy async plain
  prints_rivals dart_busy_node async plain
  prints_rivals dart_busy_wire async plain
}

@test "rows about C++ maps are compared with packing by hand, and with cereal" {
  local row
  grep -q "^#define HAVE_CXX17 1" "$abs_top_builddir/config.h" ||
    skip "configure found no compiler for C++17"
  for row in map_transfer map_wire; do
    if grep -q "^#define HAVE_CEREAL_CEREAL_HPP 1" "$abs_top_builddir/config.h"; then
      prints_rivals "$row" pack cereal
    else
      run -0 bench --tiny "$row"
      [[ $output != *" skipped: "* ]] || continue
      assert_line --regexp "^$row ratio=$number .* rival=pack .*ratio_cereal=skipped "
    fi
  done
}

@test "rows about new and small regions between hosts have each of their cases" {
  local row case cases
  for row in "ahead_pair read_64K read_1M read_16M write_1M write_16M" \
    "ahead_mpi read_64K read_1M read_16M" "ahead_wrong random shot" \
    "ahead_auto read_64K read_1M read_16M write_1M write_16M" \
    "wire_again 64 64K 1M" "wire_changed 16K 256K 1M" \
    "wire_write turns fro asker_0.1 asker_1 asker_10 owner_0.1 owner_1 owner_10" \
    "wire_newer ball swap_64 swap_8K swap_256K" \
    "wire_new 1K 1M read_1K read_1M" "wire_delete 1K 1M read_1K read_1M"; do
    read -r row cases <<<"$row"
    run -0 bench --tiny "$row"
    [[ $output != *" skipped: "* ]] || continue
    for case in $cases; do
      assert_line --regexp \
        "^$row ratio=$number .* ratio_$case=$number ours_$case=$number theirs_$case="
    done
  done
}

@test "token_place reads before and after the region moved" {
  run -0 bench --tiny token_place
  [[ $output == *" skipped: "* ]] ||
    assert_line --regexp "^token_place ratio=$number ours=$number theirs=$number "
}

@test "fair prints the least share and the longest wait of eight ranks" {
  run -0 timeout -k 5 100 "$abs_top_builddir/benchmarks/fair" --tiny \
    --launch "${MPIRUN:-mpirun} -n 8" </dev/null 3>&-
  assert_output --regexp \
    "^fair ours=$number unit=share runs=1 ours_iqr=0 wait=$number wait_us=$number$"
}

@test "--json writes the results and the machine's facts" {
  run -0 bench --tiny --json "$BATS_TEST_TMPDIR/out.json" hold_local alloc_small
  run -0 perl -MJSON::PP -0777 -ne '
    my $all = decode_json($_);
    print "$_->{name} ", $_->{ratio} > 0 ? "ratio" : "none", "\n"
      for @{$all->{results}};
    print "rival $_->{rival}, target $_->{target}\n"
      for grep { $_->{rival} } @{$all->{results}};
    print "fact $_\n" for grep { $all->{machine}{$_} }
      qw(cpu cores kernel mpi commit);' "$BATS_TEST_TMPDIR/out.json"
  assert_line "hold_local ratio"
  assert_line "alloc_small ratio"
  assert_line --regexp "^rival [a-z]+, target mimalloc:1.5,malloc:3$"
  for fact in cpu cores kernel mpi commit; do
    assert_line "fact $fact"
  done
}

@test "each benchmark on the list is a program with --help and --version" {
  run -0 bench --list
  for name in $(awk '{print $1}' <<<"$output"); do
    run -0 "$abs_top_builddir/benchmarks/$name" --help
    assert_line --partial "Usage: $name "
    run -0 "$abs_top_builddir/benchmarks/$name" --version
    assert_output --regexp "^$name [0-9]"
  done
}

@test "an unknown benchmark or option is an error that says what to do" {
  run -2 bench no_such_row
  assert_output "bench: no benchmark no_such_row (see --list)"
  run -2 bench --no-such-option
  assert_output "bench: unknown option --no-such-option (see --help)"
  run -2 bench --json
  assert_output "bench: --json takes a file (see --help)"
  run -2 "$abs_top_builddir/benchmarks/hold_local" --side both
  assert_output "hold_local: --side takes one of ours, theirs (see --help)"
}
