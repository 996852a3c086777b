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

@test "a region that is deleted while it gets a name has none" {
  for node in shared rank; do
    DRASYNC_NODE=$node run -0 mpi 2 "$programs/native_names"
    assert_output "names ok ranks=2"
  done
}

@test "a name ends with its region, and only who had one is told of to rank 0" {
  DRASYNC_NODE=rank run -0 mpi 3 "$programs/native_names" homes
  assert_output "names ok ranks=3"
  DRASYNC_SPACE=64M DRASYNC_NODE=rank run -0 mpi 3 "$programs/native_names" chunk
  assert_output "names ok ranks=3"
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

@test "the calls of Fig. 1 do what they do, and end the job on a mistake" {
  run -0 mpi 2 "$programs/native_fig1"
  assert_output --partial "fig1 ok"
  run mpi 1 "$programs/native_fig1" bad
  assert_failure
  assert_output --partial "release_region("
  assert_output --partial "DRASYNC_ENOTHELD"
}
