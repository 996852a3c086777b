#!/usr/bin/env bats
#
# The Delaunay program on DRASync: the executable made for the baseline, with
# the shim preloaded; the same sources through mpicc-drasync; and the form that
# acquires and releases.  All give the triangles that the baseline gives.

load common

programs=$abs_top_builddir/programs/delaunay/.libs
cities_hash=1e6bf6513a22c429

# The last job printed the triangulation of the cities, by so many workers.
assert_cities() {
  assert_line --index -1 --regexp "^delaunay points=234799 triangles=469576\
 hull=20 hash=$cities_hash verified=yes seconds=[0-9.]+ workers=$1\$"
}

@test "preloaded, one worker gets the triangles of the baseline" {
  run -0 mpi_preloaded 1 "$programs/delaunay_myrmics" "$data/cities.csv" \
    --verify
  assert_cities 1
}

@test "preloaded, four workers get the triangles of the baseline" {
  run -0 mpi_preloaded 4 "$programs/delaunay_myrmics" "$data/cities.csv" \
    --verify
  assert_cities 4
}

@test "preloaded, sixteen workers get the triangles of the baseline" {
  run -0 mpi_preloaded 16 "$programs/delaunay_myrmics" "$data/cities.csv" \
    --verify
  assert_cities 16
}

@test "preloaded, every rank a node of its own" {
  DRASYNC_NODE=rank run -0 mpi_preloaded 4 "$programs/delaunay_myrmics" \
    "$data/cities.csv" --verify
  assert_cities 4
}

@test "preloaded, every rank a node, data in pages as the paper sends them" {
  needs_wire_paged
  DRASYNC_NODE=rank DRASYNC_WIRE=paged run -0 mpi_preloaded 4 \
    "$programs/delaunay_myrmics" "$data/cities.csv" --verify
  assert_cities 4
}

@test "preloaded, sends hand regions over instead of copying" {
  DRASYNC_MYRMICS=move run -0 mpi_preloaded 4 "$programs/delaunay_myrmics" \
    "$data/cities.csv" --verify
  assert_cities 4
}

@test "preloaded, sends hand regions over between nodes" {
  DRASYNC_MYRMICS=move DRASYNC_NODE=rank run -0 mpi_preloaded 4 \
    "$programs/delaunay_myrmics" "$data/cities.csv" --verify
  assert_cities 4
}

@test "preloaded, bad input is still one line and status 2" {
  run -2 mpi_preloaded 4 "$programs/delaunay_myrmics" /nowhere.csv
  assert_output "delaunay_myrmics: /nowhere.csv: cannot open: No such file or\
 directory"
}

@test "built by mpicc-drasync it runs without LD_PRELOAD" {
  unset LD_LIBRARY_PATH
  local sources=("$abs_top_srcdir"/programs/common/*.c)
  local source
  for source in "$abs_top_srcdir"/programs/delaunay/*.c; do
    [[ $source == */main_native.c || $source == */main_mpi.c ]] ||
      sources+=("$source")
  done
  run -0 "$abs_top_builddir/mpicc-drasync" -D_GNU_SOURCE -O2 \
    -I"$abs_top_builddir" "${sources[@]}" -lm \
    -o "$BATS_TEST_TMPDIR/delaunay"
  run -0 mpi 4 "$BATS_TEST_TMPDIR/delaunay" "$data/cities.csv" --verify
  assert_cities 4
}

@test "acquiring and releasing, one rank gets the triangles of the baseline" {
  run -0 mpi 1 "$programs/delaunay_native" "$data/cities.csv" --verify
  assert_cities 1
}

@test "acquiring and releasing, four ranks do" {
  run -0 mpi 4 "$programs/delaunay_native" "$data/cities.csv" --verify
  assert_cities 4
}

@test "acquiring and releasing, sixteen ranks do" {
  run -0 mpi 16 "$programs/delaunay_native" "$data/cities.csv" --verify
  assert_cities 16
}

@test "acquiring and releasing, every rank a node of its own" {
  DRASYNC_NODE=rank run -0 mpi 4 "$programs/delaunay_native" \
    "$data/cities.csv" --verify
  assert_cities 4
}
