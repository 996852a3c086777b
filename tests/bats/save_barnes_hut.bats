#!/usr/bin/env bats
# Barnes-Hut with --save: killed with -9 half way and started again, on other
# numbers of ranks and hosts, it ends with the hash of an undisturbed run.

load common
app=barnes_hut
load app

setup() {
  grep -q '^#define HAVE_XXHASH 1' "$abs_top_builddir/config.h" ||
    skip "built without xxHash"
  program=$(form native)
  dir=$BATS_TEST_TMPDIR
  state=$dir/state
  bodies=(--plummer 200 --dt 0.05)
}

# The result line of the last job, whose last line on stdout it is; and the hash
# in it.
result() {
  grep "^barnes_hut bodies=" <<<"$output"
}

result_of() { # RANKS
  [[ $(result) =~ \ hash=([0-9a-f]{16})\ .*\ workers=$1$ ]]
  echo "${BASH_REMATCH[1]}"
}

# undisturbed RANKS ARGUMENTS...: sets `expected`, the hash of that job.
undisturbed() {
  run -0 mpi "$1" "$program" "${@:2}"
  expected=$(result_of "$1")
}

# processes_of_job: its ranks, and all that started them, by the file that they
# were told to save to.
processes_of_job() {
  local file pid
  for file in $(grep -lzF -- "$state" /proc/[0-9]*/cmdline 2>/dev/null); do
    pid=${file#/proc/}
    pid=${pid%/cmdline}
    [ "$pid" = "$BASHPID" ] || echo "$pid"
  done
}

ranks_of_job() {
  local pid
  for pid in $(processes_of_job); do
    [ ! "/proc/$pid/exe" -ef "$program" ] || echo "$pid"
  done
}

saved_again() {
  [ "$(grep -c "saved step" "$dir/said")" -ge 4 ]
}

# killed rank|job RUN RANKS: that job, which would not end for a long time, is
# killed with -9 after it has saved: one of its ranks, or all and the launcher.
# Sets `step`, the last that it said was saved.
killed() {
  local job
  : >"$dir/said"
  "$2" "$3" "$program" "${bodies[@]}" --steps 100000000 --save "$state" \
    --save-steps 5 >"$dir/said" 2>&1 3>&- &
  job=$!
  await "$job" saved_again
  case $1 in
  rank) kill -KILL $(ranks_of_job | tail -n 1) ;;
  job) kill -KILL $(processes_of_job) 2>/dev/null || true ;;
  esac
  run ! wait "$job"
  run ! grep "hash=" "$dir/said"
  step=$(sed -n 's/^barnes_hut_native: saved step \([0-9]*\)$/\1/p' \
    "$dir/said" | tail -n 1)
}

# went_on FROM: in the last job, after that step or the next one that it saves.
went_on() {
  local from
  assert_regex "$1" "goes on after step [0-9]+ of "
  from=${1##*after step }
  from=${from%% of *}
  assert [ "$from" -ge "$2" ]
}

@test "killed, it goes on with other ranks and nodes to the same hash" {
  local first hash
  killed rank mpi 3
  first=$step
  DRASYNC_NODE=rank killed job mpi 2
  went_on "$(cat "$dir/said")" "$first"
  assert [ "$step" -gt "$first" ]
  DRASYNC_NODE=2 run -0 mpi 5 "$program" "${bodies[@]}" --steps $((step + 23)) \
    --save "$state"
  went_on "$output" "$step"
  hash=$(result_of 5)
  undisturbed 3 "${bodies[@]}" --steps $((step + 23))
  assert_equal "$hash" "$expected"
}

@test "killed, it goes on with other hosts to the same hash" {
  needs_hosts
  local first hash
  killed job mpi 3
  first=$step
  killed rank hosts_run 2
  went_on "$(cat "$dir/said")" "$first"
  killed job hosts_run 4
  run -0 hosts_run 2 "$program" "${bodies[@]}" --steps $((step + 23)) \
    --save "$state"
  went_on "$output" "$step"
  hash=$(result_of 2)
  undisturbed 3 "${bodies[@]}" --steps $((step + 23))
  assert_equal "$hash" "$expected"
}

@test "what the file has is all that counts: energies, forces, step 0 too" {
  local n=3 steps last
  bodies=("$data/solar-system.csv" --verify)
  for steps in 0 3 6; do
    run -0 mpi $n "$program" "${bodies[@]}" --steps $steps --save "$state"
    [ $steps = 0 ] ||
      assert_output --partial "goes on after step $((steps - 3))"
    n=$((n - 1))
  done
  last=$(result)
  run -0 mpi 3 "$program" "${bodies[@]}" --steps 6
  assert_equal "${last% seconds=*}" \
    "$(result | sed 's/ seconds=.*//')"
}

@test "what has been done is not done again, and saved every so many steps" {
  run -0 mpi 2 "$program" "${bodies[@]}" --steps 14 --save "$state" \
    --save-steps 6
  said=$(grep -o "saved step.*" <<<"$output")
  assert_equal "$said" "$(printf 'saved step %d\n' 0 6 12 14)"
  hash=$(result_of 2)
  run -0 mpi 3 "$program" "${bodies[@]}" --steps 14 --save "$state"
  assert_line "barnes_hut_native: goes on after step 14 of 14"
  assert_equal "$(result_of 3)" "$hash"
  undisturbed 2 "${bodies[@]}" --steps 14
  assert_equal "$hash" "$expected"
}

@test "so many parts give the answer of as many workers" {
  undisturbed 4 "${bodies[@]}" --steps 30
  for n in 1 3 6; do
    run -0 mpi "$n" "$program" "${bodies[@]}" --steps 30 --parts 4
    assert_equal "$(result_of "$n")" "$expected"
  done
}

# not_taken MESSAGE ARGUMENTS...: by a run with --save, which says why in its
# last line, and leaves the file as it is.
not_taken() {
  cp "$state" "$dir/before"
  run -2 mpi 2 "$program" "${@:2}" --save "$state"
  assert_equal "${lines[-1]}" "barnes_hut_native: $1"
  cmp "$state" "$dir/before"
}

@test "checked mode has nothing to say about it" {
  export DRASYNC_CHECK=all
  run -0 mpi 3 "$program" "${bodies[@]}" --steps 10 --save "$state"
  hash=$(result_of 3)
  rm "$state"
  run -0 mpi 3 "$program" "${bodies[@]}" --steps 5 --save "$state"
  DRASYNC_NODE=rank run -0 mpi 2 "$program" "${bodies[@]}" --steps 10 \
    --save "$state"
  assert_equal "${#lines[@]}" 3
  assert_equal "$(result_of 2)" "$hash"
  DRASYNC_NODE=2 run -2 mpi 3 "$program" --plummer 5 --save "$state"
  assert_equal "${#lines[@]}" 1
}

@test "a file of another simulation is refused, and it is said what differs" {
  run -0 mpi 2 "$program" --plummer 50 --steps 8 --save "$state"
  other="$state is of another simulation:"
  not_taken "$other its number of bodies is 50 there, 51 in this run" \
    --plummer 51
  not_taken "$other --seed is 1 there, 2 in this run" --plummer 50 --seed 2
  not_taken "$other --dt is 0.01 there, 0.02 in this run" --plummer 50 --dt 0.02
  not_taken "$other --theta is 0.5 there, 0.4 in this run" \
    --plummer 50 --theta 0.4
  not_taken "$other --softening is 0.05 there, 0 in this run" \
    --plummer 50 --softening 0
  not_taken "$other --verify is not given there, given in this run" \
    --plummer 50 --verify
  not_taken "$other --parts is 2 there, 3 in this run" --plummer 50 --parts 3
  not_taken "$state is after step 8, and --steps is 7" --plummer 50 --steps 7
  not_taken "$other its bodies are a Plummer sphere there, from a file in this\
 run" "$data/solar-system.csv"
}

@test "a file of other input of the same name is refused, a copy is not" {
  local csv=$dir/bodies.csv
  printf '1,0,0,0,0,0,0\n1,1,0,0,0,0.01,0\n' >"$csv"
  run -0 mpi 2 "$program" "$csv" --steps 3 --save "$state"
  cp "$csv" "$dir/copy.csv"
  run -0 mpi 2 "$program" "$dir/copy.csv" --steps 6 --save "$state"
  assert_line "barnes_hut_native: goes on after step 3 of 6"
  touch -r "$csv" "$dir/time"
  sed -i 's/0.01/0.02/' "$csv"
  touch -r "$dir/time" "$csv"
  not_taken "$state is of another simulation: its bodies began with other\
 numbers there, those of the input in this run" "$csv"
}

@test "what is no file of this program's is refused" {
  run -0 mpi 1 "$abs_top_builddir/tests/programs/save_steps" "$state" 7
  not_taken "$state was saved by another program or version" --plummer 50
  rm "$state"
  run -0 mpi 2 "$program" --plummer 50 --save "$state"
  printf x | dd of="$state" bs=1 seek=200 conv=notrunc status=none
  cp "$state" "$dir/before"
  run -2 mpi 2 "$program" --plummer 50 --save "$state"
  assert_line --partial "$state: it is damaged"
  cmp "$state" "$dir/before"
}

@test "where nothing can be saved it is said at once, not after the steps" {
  run -2 mpi 2 "$program" --plummer 50 --steps 100000000 \
    --save "$dir/none/state"
  assert_line --partial "No such file or directory"
  refute_line --partial "hash="
}

@test "only the form that saves has the options, and they are checked" {
  run -0 mpi 1 "$program" --help
  assert_line --partial "--save FILE"
  run -2 mpi 1 "$program" --plummer 5 --save ""
  assert_output "barnes_hut_native: no name of a file to save to (see --help)"
  run -2 mpi 1 "$program" --plummer 5 --save-steps 0
  assert_output --partial "not a number of steps between saves: 0"
  run -2 mpi 1 "$program" --plummer 5 --parts 65537
  assert_output --partial "not a number of parts from 1 to 65536: 65537"
  for name in mpi myrmics; do
    run -2 mpi 1 "$(form $name)" --plummer 5 --save "$state"
    assert_output --partial "not an option, or without its value: --save"
    run -0 mpi 1 "$(form $name)" --help
    refute_line --partial "--save"
  done
}
