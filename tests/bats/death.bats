#!/usr/bin/env bats
#
# DRASYNC_ON_DEATH=continue: a rank dies, and the others go on.

load common

program=$abs_top_builddir/tests/programs/native_death
previous=$abs_top_builddir/tests/programs/native_previous

setup_file() {
  export DRASYNC_ON_DEATH=continue
}

# goes_on STORY [RANK]: in a job of three ranks RANK dies, and the others tell, of
# $program.
goes_on() {
  local story=$1 dead=${2:-2} rank
  run mpi_rank_dies 3 "$program" "$story" "$dead"
  refute [ "$status" -eq 124 ]
  assert_output --regexp \
    "drasync: rank [012] \(.*\): rank $dead \(.*\) (died|left without MPI_Final\
ize); DRASYNC_ON_DEATH=continue: the others go on"
  for rank in 0 1 2; do
    [ "$rank" -eq "$dead" ] || assert_line "rank $rank: $story ok"
  done
}

# or_ends STORY RANK: the same of a rank that is killed wherever it is; if it has a
# lock then, perhaps one that nobody else asks for, the job ends.
or_ends() {
  run mpi_rank_dies 3 "$program" "$1" "$2"
  refute [ "$status" -eq 124 ]
  if [[ $output != *"DRASYNC_ON_DEATH=continue does not go on"* ]]; then
    assert_output --partial "the others go on"
    assert_line "rank $((($2 + 1) % 3)): $1 ok"
    assert_line "rank $((($2 + 2) % 3)): $1 ok"
  fi
}

@test "what a dead rank was writing is lost, and all else is there" {
  for dead in 0 1 2; do goes_on written "$dead"; done
  goes_on made
}

@test "who waits for what a dead rank was writing is told" {
  goes_on awaited
}

@test "a hold that the dead rank had left is there, one that it took again lost" {
  goes_on free
  goes_on held
}

@test "READ holds of a dead rank end, also those of several threads" {
  goes_on read
}

@test "what a dead rank was saving can be deleted" {
  goes_on saves
  rm -f /dev/shm/drasync_death.saved*
}

@test "requests of a dead rank are dropped, in a queue and in a word" {
  goes_on queued
  or_ends waits 2
}

@test "what was given to a dead rank is there, and what it gave can be taken" {
  goes_on given
  goes_on gave
  goes_on back
}

@test "a rank that exits without MPI_Finalize has died" {
  goes_on leaves
  goes_on leaves_in
}

@test "ranks that are in MPI_Finalize already come out of it" {
  for dead in 0 2; do goes_on finalized "$dead"; done
}

@test "after the leader another one dies, and the last one goes on" {
  for dead in 0 1; do
    # The second one may die while a thread of it buries the first: then once more.
    for _ in 1 2 3 4 5; do
      run mpi_rank_dies 3 "$program" next "$dead"
      refute [ "$status" -eq 124 ]
      [[ $output == *"does not go on"* ]] || break
    done
    assert_line "rank $((1 - dead)): next ok"
    [ "$(grep -c "the others go on" <<<"$output")" -eq 2 ]
  done
}

# The first one's death may find the other one at the work that it makes.
@test "two ranks die at once, and one would have been told of the other" {
  for dead in 0 3; do
    run mpi_rank_dies 4 "$program" both "$dead"
    refute [ "$status" -eq 124 ]
    if [[ $output != *"does not go on"* ]]; then
      assert_line "rank $(((dead + 1) % 4)): both ok"
      assert_line "rank $(((dead + 2) % 4)): both ok"
      [ "$(grep -c "the others go on" <<<"$output")" -eq 2 ]
    fi
  done
}

@test "killed at any instruction, either the others go on or the job ends" {
  for program in "$program" "$previous"; do
    for dead in 0 1 2 0 1 2; do or_ends middle "$dead"; done
  done
}

@test "a region that recovers is as before the hold of the rank that died" {
  program=$previous
  for dead in 0 1 2; do goes_on changed "$dead"; done
  goes_on awaited
}

@test "a region recovers beside its readers, and only if it was told to" {
  program=$previous
  goes_on beside
  goes_on partly
}

@test "without a death a region that recovers is like others" {
  run mpi_rank_dies 3 "$previous" orderly
  for rank in 0 1; do assert_line "rank $rank: orderly ok"; done
}

@test "a rank that dies with a lock ends the job, with a line that says why" {
  run mpi_rank_dies 3 "$abs_top_builddir/tests/programs/runtime_probe" locked
  refute [ "$status" -eq 124 ]
  assert_output --regexp "rank 2 \(.*\) died inside a call, with a lock"
  for rank in 0 1; do assert_line "rank $rank: DRASYNC_EPEER"; done
}

@test "without the variable, or with several nodes, the job ends as ever" {
  DRASYNC_ON_DEATH=end run mpi_rank_dies 2 "$program" free
  refute [ "$status" -eq 124 ]
  assert_line --regexp "rank 1 \([^)]*\) died$"
  refute_output --partial "ok"
  DRASYNC_NODE=rank run mpi_rank_dies 2 "$program" free
  refute [ "$status" -eq 124 ]
  assert_output --regexp \
    "rank 1 \(.*\) died; DRASYNC_ON_DEATH=continue goes on with ranks of one"
  refute_output --partial "ok"
}

@test "where ranks make DART's calls the job ends" {
  run mpi_rank_dies 4 "$abs_top_builddir/tests/programs/dart_far" killed
  refute [ "$status" -eq 124 ]
  assert_output --partial "does not go on in a job that makes DART's calls"
}

@test "where ranks make Myrmics' calls the job ends" {
  leaks_of_others
  LD_PRELOAD=$preload run mpi_rank_dies 3 "$abs_top_builddir/myrmics_large" \
    killed 0
  refute [ "$status" -eq 124 ]
  assert_output --partial "does not go on in a job that makes Myrmics' calls"
}

# As docs/reliability.md has it.
@test "Hydra lets the others live, with a shell between" {
  [ -z "${DRASYNC_SANITIZERS:-}" ] || leaks_of_others
  for dead in 0 1 2; do
    run mpi 3 -disable-auto-cleanup sh -c 'trap : USR1; "$@"; exit $?' sh \
      "$program" written "$dead"
    refute [ "$status" -eq 124 ]
    assert_line "rank $(((dead + 1) % 3)): written ok"
    assert_line "rank $(((dead + 2) % 3)): written ok"
  done
}

@test "a rank that begins to end has died, before its process is gone" {
  DRASYNC_ON_DEATH=end run mpi_rank_dies 2 "$abs_top_builddir/tests/programs/\
dying"
  refute [ "$status" -eq 124 ]
  [[ $output != *"no ptrace"* ]] || skip "ptrace is not allowed here"
  assert_line "told in time"
  assert_line --regexp "rank 1 \(.*\) died$"
}

@test "behind a rank that left without MPI_Finalize the next one is watched" {
  unset DRASYNC_ON_DEATH
  run mpi_rank_dies 3 "$abs_top_builddir/tests/programs/watched"
  refute [ "$status" -eq 124 ]
  assert_line --regexp "rank 2 \(.*\) died"
}
