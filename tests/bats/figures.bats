# scripts/figures, with tiny problems; nothing is asserted about times.

setup() {
  load common
  export DRASYNC_BUILD=$abs_top_builddir
  figures=$abs_top_srcdir/scripts/figures
  out=$BATS_TEST_TMPDIR/out
}

@test "figures writes CSV, plots and a summary" {
  command -v gnuplot >/dev/null || skip "gnuplot not found (Debian: gnuplot-nox)"
  [ "$preload" = "$shim" ] ||
    skip "it preloads itself, and a sanitizer's library would have to come first"
  timeout -k 5 110 "$figures" --tiny --no-hosts --out "$out" </dev/null 3>&-
  run -0 head -n 1 "$out/figures.csv"
  assert_output "problem,hosts,system,workers,source,seconds,speedup,computation,communication,idle"
  for system in drasync drasync-one baseline-one baseline-mult; do
    run -0 grep -c "^delaunay_100k,1,$system,4,simulated," "$out/figures.csv"
    assert_output 1
  done
  for plot in delaunay_100k barnes_hut_8k workloads_messages_per_operation; do
    run -0 head -c 200 "$out/$plot.svg"
    assert_output --partial "<svg"
    [ -s "$out/$plot.png" ]
  done
  run -0 grep -c "^## " "$out/summary.md"
  assert_output 5
  run -0 grep -c "^one,--per-node 1 --together --latency " "$out/costs.csv"
  assert_output 1
  run -0 grep -c "^storm," "$out/workloads.csv"
  assert_output 3
}

@test "a wrong option of figures is an error that says what to do" {
  run -2 "$figures" --no-such-option
  assert_output "figures: unknown option --no-such-option (see --help)"
  run -2 "$figures" --limit soon
  assert_output "figures: --limit takes seconds (see --help)"
  run -0 "$figures" --help
  assert_line --partial "--quick"
}
