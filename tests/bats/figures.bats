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
  timeout -k 5 120 "$figures" --tiny --no-hosts --out "$out" </dev/null 3>&-
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
  assert_output 6
  run -0 grep -c "myrmics --.*; commit .*, limit 300 s" "$out/summary.md"
  assert_output 2
  run -0 grep -c "^one,--per-node 1 --together --latency " "$out/costs.csv"
  assert_output 1
  run -0 grep -c "^storm," "$out/workloads.csv"
  assert_output 3
}

@test "figures goes on where it ended, and leaves what is not run again" {
  command -v gnuplot >/dev/null || skip "gnuplot not found (Debian: gnuplot-nox)"
  [ "$preload" = "$shim" ] ||
    skip "it preloads itself, and a sanitizer's library would have to come first"
  mkdir -p "$out/parts"
  echo "hosts,--latency 77" >"$out/costs.csv"
  echo "barnes_hut_8k,1,drasync,1,simulated,9.000,1.000,9,0,0" >"$out/parts/barnes_hut_8k.figures"
  echo "commit before, limit 1 s" >"$out/parts/barnes_hut_8k.made"
  timeout -k 5 120 "$figures" --tiny --no-hosts --only delaunay_100k --out "$out" </dev/null 3>&-
  # What hosts cost was measured by another run; the other problem has its rows.
  run -0 cut -d, -f1 "$out/costs.csv"
  assert_output "$(printf '%s\n' hosts local one)"
  run -0 grep -c "^barnes_hut_8k," "$out/figures.csv"
  assert_output 1
  run -0 grep "plummer" "$out/summary.md"
  assert_output --partial "; commit before, limit 1 s"
  # Once more: what is complete stays as it is, what is missing is made of the
  # records that are there.
  echo "delaunay_100k,1,drasync,1,simulated,8.000,1.000,8,0,0" >"$out/parts/delaunay_100k.figures"
  rm "$out/parts/barnes_hut_8k.made" "$out/records/delaunay_100k.baseline.1.0"
  cp "$out/costs.csv" "$out/costs.before"
  timeout -k 5 120 "$figures" --tiny --no-measure --resume --out "$out" </dev/null 3>&-
  run -0 grep -c "^delaunay_100k," "$out/figures.csv"
  assert_output 1
  run -0 grep -c "^barnes_hut_8k,1,drasync,4,simulated," "$out/figures.csv"
  assert_output 1
  assert [ ! -e "$out/records/delaunay_100k.baseline.1.0" ]
  run -0 diff "$out/costs.before" "$out/costs.csv"
}

# Those of the documents, drawn once for this file, in $out.
draw_documents() {
  command -v gnuplot >/dev/null || skip "gnuplot not found (Debian: gnuplot-nox)"
  out=$BATS_FILE_TMPDIR/documents
  [ ! -d "$out" ] || return 0
  mkdir "$out"
  cp "$abs_top_srcdir"/docs/figures/{*.csv,apps.txt} "$out"
  DRASYNC_BUILD=$BATS_TEST_TMPDIR/none "$figures" --draw "$out" \
    >"$out/said" 2>&1
}

@test "figures draws again from CSVs alone, without a build" {
  draw_documents
  run -0 cat "$out/said"
  assert_output ""
  for plot in "$abs_top_srcdir"/docs/figures/*.svg; do
    run -0 head -c 200 "$out/${plot##*/}"
    assert_output --partial "<svg"
  done
  run -1 "$figures" --draw "$BATS_TEST_TMPDIR"
  assert_output --partial "no figures.csv and validation.csv in $BATS_TEST_TMPDIR"
}

@test "plots are dashed where they are simulated, and colours mean systems" {
  draw_documents
  # DRASync's, in every plot.
  blue="stroke='rgb\( *0, 114, 178\)'"
  # In gnuplot's SVG a curve is a group with its title, then its paths.
  curve() { # TITLE FILE
    sed -n "/<title>$1<\/title>/,/<title>/p" "$out/$2.svg" | grep "stroke='rgb"
  }
  run -0 curve "DRASync (simulated)" barnes_hut_8k
  assert_output --regexp "$blue.*stroke-dasharray"
  run -0 curve "DRASync (measured)" measured
  assert_output --regexp "$blue"
  refute_output --partial "stroke-dasharray"
  # Dashes are the grid's there, and nothing says simulated.
  run ! grep "simulated" "$out/measured.svg"
  run ! grep "stroke='[^g].*stroke-dasharray" "$out/measured.svg"
  for plot in "$out"/workloads_*.svg; do
    run -0 grep -c "<text.*hot (simulated)" "$plot"
  done
}

@test "a wrong option of figures is an error that says what to do" {
  run -2 "$figures" --no-such-option
  assert_output "figures: unknown option --no-such-option (see --help)"
  run -2 "$figures" --limit soon
  assert_output "figures: --limit takes seconds (see --help)"
  run -0 "$figures" --help
  assert_line --partial "--quick"
  assert_line --partial "--draw"
}
