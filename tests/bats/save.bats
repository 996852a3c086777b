#!/usr/bin/env bats
# Regions that are saved to files and loaded: drasync_save, drasync_load,
# drasync-file.

load common
load hosts

programs=$abs_top_builddir/tests/programs
tool=$abs_top_builddir/drasync-file

setup_file() {
  hosts_up
}

teardown_file() {
  hosts_down
}

setup() {
  grep -q '^#define HAVE_XXHASH 1' "$abs_top_builddir/config.h" ||
    skip "built without xxHash"
  dir=$BATS_TEST_TMPDIR
}

# save_by RANKS: a tree that each of them made a part of; its hash.
save_by() {
  run -0 mpi "$1" "$programs/save_tree" save "$dir/tree" 1
  assert_line "save ok ranks=$1"
  hash=${lines[0]}
  [[ $hash == hash=* ]]
}

# load_by RANKS [LOADER]: it is the same tree, and they go on with it.
load_by() {
  run -0 mpi "$1" "$programs/save_tree" load "$dir/tree" "${2:-0}"
  assert_line "$hash"
  assert_line "load ok ranks=$1"
}

@test "what three ranks of a node made is loaded by one, two and four" {
  save_by 3
  load_by 1
  load_by 2 1
  load_by 4
}

@test "what three nodes made is loaded by one, two and four" {
  DRASYNC_NODE=rank save_by 3
  load_by 1
  DRASYNC_NODE=rank load_by 2
  DRASYNC_NODE=rank load_by 4 3
  DRASYNC_NODE=2 load_by 4 2
}

@test "what one host saved is loaded by two" {
  needs_hosts
  save_by 3
  run -0 hosts_run 4 "$programs/save_tree" load "$dir/tree" 3
  assert_line "$hash"
  assert_line "load ok ranks=4"
}

@test "of ranks that load one file at once, one has it at most" {
  DRASYNC_NODE=rank save_by 3
  DRASYNC_NODE=rank run -0 mpi 3 "$programs/save_tree" race "$dir/tree"
  assert_line "race ok ranks=3"
}

@test "where lanes are short, other numbers of nodes get the addresses, too" {
  export DRASYNC_SPACE=64M
  save_by 4
  DRASYNC_NODE=rank load_by 3 1
}

@test "checked mode has nothing to say about saving and loading" {
  export DRASYNC_CHECK=access
  save_by 2
  DRASYNC_NODE=rank load_by 2 1
}

@test "all ranks, and two threads of each, may save at once" {
  run -0 mpi 2 "$programs/save_tree" each "$dir/each"
  assert_output "each ok ranks=2"
  DRASYNC_NODE=rank run -0 mpi 2 "$programs/save_tree" each "$dir/far"
  assert_line "each ok ranks=2"
}

@test "what is saved while others write is one version" {
  run -0 mpi 2 "$programs/save_tree" busy "$dir/busy"
  assert_line "busy ok ranks=2"
  DRASYNC_NODE=rank run -0 mpi 3 "$programs/save_tree" busy "$dir/busy"
  assert_line "busy ok ranks=3"
}

@test "a thread saves what another one of its rank writes, and neither is refused" {
  run -0 mpi 2 "$programs/save_threads" "$dir/file"
  assert_output "threads ok ranks=2"
  DRASYNC_NODE=rank run -0 mpi 2 "$programs/save_threads" "$dir/file"
  assert_output "threads ok ranks=2"
}

@test "ranks of a node save a region at once, and each what it wrote before" {
  for nodes in shared rank; do
    DRASYNC_NODE=$nodes run -0 mpi 2 "$programs/save_ranks" at_once "$dir"
    # Between nodes the addresses are not free at once, which load says.
    assert_line "at_once ok ranks=2"
    refute [ "$(grep -c "cannot load" <<<"$output")" -gt 1 ]
  done
}

@test "a handle of what is loaded and deleted in turns by two nodes is told" {
  for nodes in 2 rank; do
    DRASYNC_NODE=$nodes run -0 mpi 3 "$programs/save_ranks" turns "$dir"
    assert_line "turns ok ranks=3"
  done
}

@test "a region without objects, and ten thousand small ones" {
  run -0 mpi 1 "$programs/save_tree" empty "$dir/empty"
  run -0 mpi 1 "$programs/save_tree" many "$dir/many" 10000
  assert_output "many ok ranks=1"
}

# refused FILE ERROR TEXT: loading it gives ERROR, and the line on stderr says
# TEXT.
refused() {
  run -0 mpi 1 "$programs/save_disk" refused "$1" "$2"
  assert_line "load gave $2"
  assert_output --partial "$3"
}

@test "a file that is not as it was written is refused, and said why" {
  # The second node's addresses lie far behind the first one's.
  DRASYNC_NODE=rank save_by 2
  head -c 50000 "$dir/tree" >"$dir/cut"
  refused "$dir/cut" DRASYNC_EFORMAT "it is cut: it ends after 50000 bytes"
  cp "$dir/tree" "$dir/altered"
  printf x | dd of="$dir/altered" bs=1 seek=50000 conv=notrunc status=none
  refused "$dir/altered" DRASYNC_EFORMAT "the checksum of block"
  cp "$dir/tree" "$dir/newer"
  printf '\7' | dd of="$dir/newer" bs=1 seek=8 conv=notrunc status=none
  refused "$dir/newer" DRASYNC_EFORMAT "its format has version 7"
  refused "$BATS_TEST_FILENAME" DRASYNC_EFORMAT "it is no file of saved regions"
  refused "$dir/none" DRASYNC_EFILE "No such file"
  DRASYNC_SPACE=64M refused "$dir/tree" DRASYNC_ETAKEN \
    "is outside of this job's space"
}

@test "a limit of file size loses neither the file before nor the job" {
  run -0 mpi 1 "$programs/save_disk" keeps "$dir/tree"
  assert_line --partial "File too large"
  assert_line "keeps ok ranks=1"
  run -0 ls "$dir"
  assert_output tree
  run -0 "$tool" "$dir/tree"
}

@test "a full disk loses neither the file before nor the job" {
  mkdir "$dir/small"
  mount -t tmpfs -o size=1m none "$dir/small" 2>/dev/null ||
    skip "this machine does not allow mounting a small file system"
  save_by 1
  cp "$dir/tree" "$dir/small/"
  run mpi 1 "$programs/save_disk" fails "$dir/small/tree" DRASYNC_EFILE
  left=$(ls "$dir/small")
  cmp "$dir/tree" "$dir/small/tree" && same=yes
  umount "$dir/small"
  assert_success
  assert_line --partial "No space left on device"
  assert_line "fails ok ranks=1"
  assert_equal "$left" tree
  assert_equal "$same" yes
}

@test "a folder that is not there, or a name that is a folder's, is an error" {
  run -0 mpi 1 "$programs/save_disk" fails "$dir/none/tree" DRASYNC_EFILE
  assert_line --partial "No such file or directory"
  mkdir "$dir/folder"
  run -0 mpi 1 "$programs/save_disk" fails "$dir/folder" DRASYNC_EFILE
  assert_line --partial "Is a directory"
  run -0 ls "$dir"
  assert_output folder
}

@test "a rank that dies while it saves leaves the file before, and a named part" {
  save_by 1
  cp "$dir/tree" "$dir/before"
  mpi 1 "$programs/save_disk" again "$dir/other" >"$dir/said" 2>&1 &
  job=$!
  # Stopped in the middle of a save, it is killed; between two, or where only the
  # name is to change, it goes on.
  for ((part = 0; part == 0; )); do
    kill -0 "$job"
    for file in "$dir"/other.saving-*; do
      [ -e "$file" ] || continue
      pid=${file%-*}
      pid=${pid##*-}
      kill -STOP "$pid"
      if [ -e "$file" ] && ! "$tool" "$file" >/dev/null 2>&1; then
        cp "$dir/other" "$dir/before" 2>/dev/null || rm -f "$dir/before"
        kill -KILL "$pid"
        part=1
      else
        kill -CONT "$pid"
      fi
    done
  done
  wait "$job" || true
  run ls "$dir"
  assert_line --regexp '^other\.saving-.*-[0-9]+-0$'
  [ ! -e "$dir/before" ] || cmp "$dir/before" "$dir/other"
  run -1 "$tool" "$dir"/other.saving-*
  assert_output --partial "WRONG"
  # Who saves there next removes it, and no other file.
  left=$(basename "$dir"/other.saving-*)
  host=${left#other.saving-}
  host=${host%-*-*}
  others=("other.saving-$host-$$-0" "other.saving-$host-1x-0"
    "other.saving-elsewhere-999999999-0" "others.saving-$host-999999999-0"
    "other.saving-$host-999999999-1")
  (cd "$dir" && touch "${others[@]}")
  exec 5<"$dir/other.saving-$host-999999999-1"
  flock 5
  run -0 mpi 1 "$programs/save_disk" fails "$dir/other" DRASYNC_OK
  exec 5<&-
  run -0 ls "$dir"
  refute_line "$left"
  for file in "${others[@]}"; do
    assert_line "$file"
  done
}

@test "a job that was killed goes on, on other numbers of ranks, to the same end" {
  run -0 mpi 3 "$programs/save_steps" "$dir/whole" 60
  hash=${lines[0]}
  [[ $hash == hash* ]]
  run ! mpi 3 "$programs/save_steps" "$dir/killed" 60 25
  refute_line --partial hash
  DRASYNC_NODE=rank run ! mpi 2 "$programs/save_steps" "$dir/killed" 60 45
  assert_line --regexp "^goes on after step 2[1-4]$"
  run -0 mpi 4 "$programs/save_steps" "$dir/killed" 60
  assert_line --regexp "^goes on after step 4[2-4]$"
  assert_line "$hash"
}

@test "a job that was killed goes on, on other numbers of hosts, to the same end" {
  needs_hosts
  run -0 mpi 3 "$programs/save_steps" "$dir/whole" 60
  hash=${lines[0]}
  [[ $hash == hash* ]]
  run ! mpi 3 "$programs/save_steps" "$dir/killed" 60 25
  run ! hosts_run 2 "$programs/save_steps" "$dir/killed" 60 45
  assert_line --regexp "^goes on after step 2[1-4]$"
  run -0 hosts_run 4 "$programs/save_steps" "$dir/killed" 60
  assert_line --regexp "^goes on after step 4[2-4]$"
  assert_line "$hash"
}

@test "with DRASYNC_SAVE named regions are saved by themselves" {
  for node in shared rank; do
    mkdir "$dir/$node"
    DRASYNC_NODE=$node DRASYNC_SAVE=$dir/$node,1 beside $node mpi 2 \
      "$programs/save_tree" by_itself "$dir/$node/by%2Fitself.saved"
  done
  for node in shared rank; do
    ended $node 0
    assert_line "by_itself ok ranks=2"
    run -0 "$tool" "$dir/$node/by%2Fitself.saved"
  done
  DRASYNC_SAVE=$dir run ! mpi 1 "$programs/save_tree" empty "$dir/empty"
  assert_output --partial "DRASYNC_SAVE=$dir is not valid: it may be a folder"
  DRASYNC_SAVE=$dir/none,600 run -0 mpi 1 "$programs/save_tree" empty "$dir/empty"
  assert_output --partial "DRASYNC_SAVE: $dir/none: No such file or directory; until"
  touch "$dir/file"
  DRASYNC_SAVE=$dir/file,600 run -0 mpi 1 "$programs/save_tree" empty "$dir/empty"
  assert_output --partial "DRASYNC_SAVE: $dir/file: "
}

@test "DRASYNC_SAVE waits for who holds a region, also if that is rank 0" {
  for node in shared rank; do
    mkdir -p "$dir/held.$node"
    DRASYNC_NODE=$node DRASYNC_SAVE=$dir/held.$node,1 beside $node mpi 2 \
      "$programs/save_held" by_time "$dir/held.$node/held.saved"
  done
  for node in shared rank; do
    ended $node 0
    assert_output "held ok ranks=2"
  done
}

@test "who saves beside a delete is said to" {
  DRASYNC_CHECK=access run -0 mpi 2 "$programs/save_held" read "$dir/read"
  assert_line --partial "called drasync_delete for region"
  assert_line "rank 0 saves it"
}

@test "a ring through drasync_save ends the job with a report" {
  for ring in ring pinned; do
    both mpi 2 "$programs/save_held" "$ring"
    for node in shared rank; do
      ended $node
      refute [ "$status" -eq 0 ]
      refute [ "$status" -eq 124 ]
      assert_line --partial "rank 0"
      assert_output --regexp "deadlock|wait for each other"
    done
  done
}

@test "DRASYNC_SAVE waits for a part without keeping ranks from the others" {
  mkdir -p "$dir/beside"
  DRASYNC_SAVE=$dir/beside,1 run -0 mpi 1 "$programs/save_held" beside
  assert_line "held ok ranks=1"
}

@test "DRASYNC_SAVE gets a tree whose parts ranks hold most of the time" {
  mkdir -p "$dir/turns"
  DRASYNC_SAVE=$dir/turns,1 run -0 mpi 4 "$programs/save_held" turns \
    "$dir/turns/tree.saved"
  assert_line "held ok ranks=4"
}

@test "a region with thousands of names is saved with all of them" {
  for node in shared rank; do
    DRASYNC_NODE=$node run -0 mpi 2 "$programs/save_held" names "$dir/names"
    run -0 "$tool" "$dir/names"
    assert_line --partial "1 with 16000 names"
  done
}

@test "drasync-file says what is in a file, and whether it is right" {
  save_by 2
  run -0 "$tool" --lines 2 "$dir/tree"
  assert_line --index 0 "$dir/tree: all checksums are right"
  assert_line --regexp '^  saved     2[0-9-]*T[0-9:]*Z by DRASync [0-9.]+$'
  assert_line "  regions   11 with 2 names"
  assert_line --regexp '^  0x[0-9a-f]+ +- +[0-9]+ +[0-9]+ +tree$'
  assert_line "  ... and 9 more (--lines 0: all)"
  run -0 "$tool" --json "$dir/tree"
  assert_line --partial '"right": true, "why": null'
  assert_line --regexp '"parent": "0x[0-9a-f]+", .*"names": \["third list"\]'
  cp "$dir/tree" "$dir/"$'h\xc3\xa9\xe9"'
  "$tool" --json "$dir/"$'h\xc3\xa9\xe9"' >"$dir/json"
  run -0 python3 -c 'import json, sys
print(ascii(json.load(open(sys.argv[1], encoding="utf-8"))[0]["path"][-4:]))' \
    "$dir/json"
  assert_output "'h\\xe9\\xe9\"'"
  printf x >>"$dir/tree"
  run -1 "$tool" "$dir/tree" "$BATS_TEST_FILENAME"
  assert_line --partial "WRONG: it is damaged: there is something behind its end"
  assert_line "$BATS_TEST_FILENAME: WRONG: it is no file of saved regions"
  run -2 "$tool" "$dir/none"
  assert_output --partial "No such file or directory"
  run -2 "$tool"
  run -2 "$tool" --lines x "$dir/tree"
  run -0 "$tool" --version
}
