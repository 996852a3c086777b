# DRASYNC_RECORD: what is written down of a run.

setup() {
  load common
  record=$libs/libdrasync_record.so
  delaunay=$abs_top_builddir/programs/delaunay/.libs/delaunay
  barnes_hut=$abs_top_builddir/programs/barnes_hut/.libs/barnes_hut
  cd "$BATS_TEST_TMPDIR"
}

# The MPI calls come by a library before ours; a sanitizer's stays the first.
recorded() {
  preload="${preload/$shim/$record $shim}" DRASYNC_RECORD=run \
    mpi_preloaded "$@"
}

# lines LETTER FILE: how many
lines_of() {
  grep -c "^$1 " "$2" || true
}

@test "a Myrmics program's sends, receives and MPI messages are recorded" {
  run -0 recorded 4 "${delaunay}_myrmics" --random 5000
  for rank in 0 1 2 3; do
    run -0 head -n 1 "run.$rank"
    assert_output "drasync-record 1 rank $rank of 4 node 0"
    assert_equal "$(lines_of E "run.$rank")" 1
  done
  assert_equal "$(lines_of S run.0)" 3
  assert_equal "$(lines_of R run.0)" 3
  assert_equal "$(lines_of s run.0)" 3
  assert_equal "$(lines_of r run.3)" 1
  # What 3 sent is what 0 got from 3.
  sent=$(awk '$1 == "S" { print $4, $6 }' run.3)
  got=$(awk '$1 == "R" && $5 == 3 { print $4, $6 }' run.0)
  assert_equal "$sent" "$got"
}

@test "of a send is recorded whether the same was sent before" {
  run -0 recorded 4 "$abs_top_builddir/myrmics_everybody" 20000 4
  # To worker 1 twice, to 2 once, to 3 twice; three of the rounds change it.
  run -0 awk '$1 == "S" { printf "%s ", $7 }' run.0
  assert_output "0 1 2 2 2 0 1 2 2 2 0 1 2 2 2 0 1 2 2 2 "
  # Too little to be worth it.
  run -0 recorded 4 "$abs_top_builddir/myrmics_everybody" 1000 1
  run -0 awk '$1 == "S" { printf "%s ", $7 }' run.0
  assert_output "0 0 0 0 0 "
}

@test "a native program's regions and holds are recorded" {
  preload="${preload/$shim/$record}" DRASYNC_RECORD=run run -0 mpi_preloaded 2 \
    "${barnes_hut}_native" --plummer 500 --steps 2
  for rank in 0 1; do
    # All that is acquired or made is released; it ends with what is left.
    assert [ "$(lines_of A "run.$rank")" -gt 10 ]
    assert [ "$(lines_of N "run.$rank")" -ge 4 ]
    assert [ "$(lines_of b "run.$rank")" -gt 4 ]
    assert_equal "$(lines_of M "run.$rank")" 4
  done
}

@test "regions that come and go are recorded, each of them" {
  preload="${preload/$shim/$record}" DRASYNC_RECORD=run run -0 mpi_preloaded 1 \
    "$abs_top_builddir/tests/programs/native_recycle"
  assert [ "$(lines_of D run.0)" -ge 90000 ]
  # Made before it is deleted, and deleted before it is made again.
  run -0 awk '$1 == "N" { if (made[$4]++) exit 1 }
    $1 == "D" { if (!made[$4]--) exit 1 }' run.0
}

@test "a run whose regions are deleted by other ranks, and come again, is replayed" {
  preload="${preload/$shim/$record}" DRASYNC_RECORD=run run -0 mpi_preloaded 3 \
    "$abs_top_builddir/tests/programs/record_handles"
  assert_equal "$(grep -c ^drasync-record run.0)" 1
  assert [ -e child ] && assert [ ! -s child ]
  # The same address, of many regions.
  run -0 awk '$1 == "N" { split($4, of, "."); lives[of[1]]++ }
    END { for (a in lives) if (lives[a] > most) most = lives[a]; print most }' \
    run.0 run.1 run.2
  assert [ "$output" -ge 20 ]
  for per_node in 3 1; do
    for cores in 3 1; do
      run -0 "$abs_top_builddir/sim/simulate" replay run \
        --per-node "$per_node" --cores "$cores"
    done
  done
}

@test "a region is read before another rank takes and deletes it, near or far" {
  # Rank 1 has the region at hand; rank 0, which asks sooner, gets it later.
  printf '%s\n' "drasync-record 1 rank 0 of 2 node 0" \
    "A 50000 60000 16777216.1 1" "L 1000 100 16777216.1 1" "E 100 0 1" >run.0
  printf '%s\n' "drasync-record 1 rank 1 of 2 node 1" \
    "N 1000 100 16777216.1 0" "L 100 100 16777216.1 2" \
    "A 52000 80000 16777216.1 2" "D 1000 100 16777216.1" "E 100 0 1" >run.1
  for per_node in 2 1; do
    run -0 "$abs_top_builddir/sim/simulate" replay run --per-node "$per_node" \
      --cores 2
  done
}

@test "a collective call of all ranks is a barrier, one of some is none" {
  preload="${preload/$shim/$record}" DRASYNC_RECORD=run run -0 mpi_preloaded 2 \
    "$abs_top_builddir/tests/programs/record_collectives"
  for rank in 0 1; do
    assert_equal "$(lines_of b "run.$rank")" 15
  done
  run -0 "$abs_top_builddir/sim/simulate" replay run --per-node 1
}

@test "a run whose ranks wait for what is newer is replayed" {
  octree=$abs_top_builddir/programs/octree/.libs/octree_native
  preload="${preload/$shim/$record}" DRASYNC_RECORD=run run -0 mpi_preloaded 3 \
    "$octree" --tiny
  # 2 runs of 3 steps, in which each looks at two others' trees.
  assert_equal "$(awk '$1 == "A" && NF == 7' run.1 | wc -l)" 12
  # What it got somebody has left.
  got=$(awk '$1 == "A" && NF == 7 { print $4, $7 }' run.1 | sort -u)
  left=$(awk '$1 == "L" && NF == 5 { print $4, $5 }' run.0 run.2 | sort -u)
  assert_equal "$(comm -23 <(echo "$got") <(echo "$left"))" ''
  for options in '' '--per-node 1' '--per-node 1 --ahead off'; do
    run -0 "$abs_top_builddir/sim/simulate" replay run $options
  done
}

@test "on the baseline the same is recorded, with each request, and what they cost" {
  preload="${preload/$shim/$record}" DRASYNC_RECORD=run run -0 mpi_preloaded 5 \
    "${delaunay}_myrmics" --random 5000
  assert_output --partial "workers=4"
  for rank in 0 1 2 3; do
    run -0 head -n 1 "run.$rank"
    assert_output "drasync-record 1 rank $rank of 4 node 0"
    assert [ "$(lines_of Q "run.$rank")" -gt 2 ]
    assert_equal "$(lines_of E "run.$rank")" 1
  done
  assert_equal "$(lines_of S run.0)" 3
  assert_equal "$(lines_of R run.0)" 3
  assert_equal "$(lines_of r run.3)" 1
  # As many as were made, and each send asks where the data is.
  run -0 awk '/^Q/ { n++; q += $6 } END { print n - q, q }' run.[0-3]
  counts=$output
  run -0 awk '/^requests/ { n = $2 } /^queries/ { print n, $2 }' run.4
  assert_output "$counts"
  run -0 awk '/^queries/ { print $2 }' run.4
  assert_output 6
}

@test "lines have their numbers, and allocations are counted" {
  run -0 recorded 1 "${delaunay}_myrmics" --random 5000
  run grep -vE '^(a( [0-9]+){4}|[NAM]( [0-9]+){4}|[SRsrQ]( [0-9]+){5}|[DLPUE]( [0-9]+){3}|[Bb]( [0-9]+){2})$' run.0
  assert_output "drasync-record 1 rank 0 of 1 node 0"
  run -0 awk '$1 == "a" { n += $4 } END { print (n > 100000) }' run.0
  assert_output 1
}

@test "many more ranks than cores are recorded, to the end" {
  run -0 recorded 48 "${barnes_hut}_myrmics" --plummer 200 --steps 1
  assert_output --partial "workers=48"
  run -0 grep -lc "^E " run.*
  assert_equal "${#lines[@]}" 48
  # Everybody had a tree of everybody, twice, and the bodies four times.
  for rank in 0 20 47; do
    assert_equal "$(lines_of R "run.$rank")" $((6 * 47))
  done
}

@test "without DRASYNC_RECORD nothing is written" {
  preload="${preload/$shim/$record $shim}" run -0 mpi_preloaded 2 "${barnes_hut}_myrmics" \
    --plummer 100 --steps 1
  run -0 ls
  assert_output ""
}

@test "a file that cannot be written is an error that names it" {
  DRASYNC_RECORD=/nowhere/run run ! mpi_preloaded 1 "${delaunay}_myrmics" \
    --random 100
  assert_output --partial "DRASYNC_RECORD: cannot write /nowhere/run.0"
}

@test "a record is its user's only, also where a file was there before" {
  touch run.0
  chmod 666 run.0
  printf 'older and longer than the record\n%.0s' {1..1000} >run.0
  preload="${preload/$shim/$record}" DRASYNC_RECORD=run run -0 mpi_preloaded 2 \
    "${barnes_hut}_native" --plummer 500 --steps 2
  run -0 stat -c %a run.0 run.1
  assert_output $'600\n600'
  run -0 tail -n 1 run.0
  assert_output --regexp '^E '
}
