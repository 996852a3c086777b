#!/usr/bin/env bats
#
# What a user reads says what is, and what to do.

load common

setup_file() {
  export mistakes=$abs_top_builddir/tests/programs/mistakes
  export probe=$abs_top_builddir/tests/programs/runtime_probe
}

# mistake WHAT: a job of one rank that ends with a line; sets region, below and
# object to what it had.  In $output calls are without their place, which is in
# $place.
mistake() {
  run mpi 1 "$mistakes" "$1"
  refute [ "$status" -eq 0 ]
  refute [ "$status" -eq 124 ]
  read -r _ region _ below _ object \
    < <(grep '^region ' <<<"$output") || fail "$output"
  place=$(sed -nE 's/.*\) in ([a-z]+ \(mistakes\.c:[0-9]+\)): .*/\1/p' \
    <<<"$output")
  output=${output/) in "$place": /): }
}

@test "a call that ends the job is named with its function, file and line" {
  for what in read twice null choice; do
    mistake "$what"
    assert [ -n "$place" ]
  done
}

@test "a hold that is too little: which there is, and which is needed" {
  mistake read
  assert_output --partial "ralloc($region): this rank holds the region for \
READ, and WRITE is needed: release it, then acquire it for WRITE \
(DRASYNC_ENOTHELD)"
  mistake none
  assert_output --partial "ralloc($below): this rank has no hold on the region, \
and WRITE is needed: acquire it for WRITE first (DRASYNC_ENOTHELD)"
}

@test "an ancestor after a region below it: which one is held" {
  mistake order
  assert_output --partial "acquire_region($region): this rank holds region \
$below, a subregion of the one it asks for, for READ: release that first, since \
ancestors come first (DRASYNC_EORDER)"
  DRASYNC_CHECK=access mistake order
  assert_output --regexp "called acquire_region for region $region, of which \
this rank holds a subregion
it was called here:
    #0 [a-z]+ at [^ ]*mistakes.c:[0-9]+
.*this rank took subregion $below, by thread [0-9]+:
    #0 [a-z]+ at [^ ]*mistakes.c:[0-9]+
"
}

@test "a release without a hold: there is none, or another region's covers it" {
  mistake twice
  assert_output --partial "release_region($region): this rank has no hold on \
this region to give back: each release ends one acquire, or the hold of \
new_region (DRASYNC_ENOTHELD)"
  mistake covered
  assert_output --partial "release_region($below): this rank took no hold on \
this region itself: that of region $region, above it, covers it, so release \
that (DRASYNC_ENOTHELD)"
}

@test "an address that is no region: what it is instead" {
  mistake null
  assert_output --partial "acquire_region(): NULL is no region: pass what \
new_region or new_subregion gave (DRASYNC_ENOREGION)"
  mistake outside
  assert_output --regexp "acquire_region\(0x[0-9a-f]+\): no region has this \
address, which is outside of those for regions \(0x[0-9a-f]+ to \
0x[0-9a-f]+\): pass what new_region or new_subregion gave"
  mistake inside
  assert_output --partial "acquire_region($object): this address lies inside \
of region $region, and is not its handle: pass $region (DRASYNC_ENOREGION)"
  mistake deleted
  assert_output --partial "acquire_region($region): no region has this \
address: it was deleted, or there never was one (DRASYNC_ENOREGION)"
}

@test "a choice that is neither READ nor WRITE" {
  mistake choice
  assert_output --partial "acquire_region($region, 7): the choice is READ (1) \
or WRITE (2) (DRASYNC_EINVAL)"
}

@test "no memory: how much is used, of how much, and what sets that" {
  DRASYNC_MEMORY=64M mistake memory
  assert_output --regexp "ralloc\($region\): out of memory: this node's \
regions have [0-9]+ MiB of 64 MiB, which is DRASYNC_MEMORY; raise that, delete \
regions, or run on more nodes \(DRASYNC_ENOMEM\)"
}

@test "no addresses: how many there are, and what sets that" {
  DRASYNC_SPACE=64M DRASYNC_MEMORY=1G mistake memory
  assert_output --partial "ralloc($region): out of region addresses: \
DRASYNC_SPACE is 64 MiB; raise it, or delete regions (DRASYNC_ENOSPACE)"
}

@test "a call after the end, or in a child of fork, is told which it is" {
  run -0 mpi 1 "$mistakes" finalized
  assert_line "DRASync is not running in this process any more: MPI_Finalize \
or drasync_finalize was called; make this call before it"
  run -0 mpi 1 "$mistakes" child
  assert_line "DRASync is not running in this process, a child of fork: only \
the process that forked may call it"
}

@test "a call of MPI that failed is named, with what MPI says of it" {
  DRASYNC_NODE=rank run -2 mpi 2 "$probe" exhausted
  assert_output --partial "cannot start: MPI_Comm_idup failed: "
  # On one node nobody needs one.
  run -0 mpi 2 "$probe" exhausted
  assert_line "probe: done"
}

@test "an internal error says so, with the version and what a report needs" {
  DRASYNC_NODE=rank run mpi 2 "$probe" broken
  refute [ "$status" -eq 124 ]
  assert_output --regexp "drasync: rank [01] \(.*\): internal error, please \
report: node 0 sent a message of unknown kind 31 \[DRASync [0-9.]+; with this \
line, the command, the DRASYNC_\* variables, the output of mpichversion, and \
how often it happens\]"
}

@test "a heap that the program wrote over is named, once" {
  run -1 mpi 1 "$mistakes" overwritten
  assert_line --regexp "region 0x[0-9a-f]+: its heap was overwritten, most likely by a write outside of an object"
  [ "$(grep -c "its heap was overwritten" <<<"$output")" -eq 1 ]
}
