#!/usr/bin/env bats
#
# What preloading does to programs, and to processes that are no ranks.

load common
leaks_of_others

setup_file() {
  export programs=$abs_top_builddir/tests/programs
}

# A sanitizer's runtime, preloaded with us, does what we must not.
not_with_sanitizer() {
  [ -z "${DRASYNC_SANITIZERS:-}" ] || skip "a sanitizer changes every process"
}

no_files_left() {
  run -0 ls -A /dev/shm
  refute_output --partial drasync
}

@test "a process that is no rank gets no MPI, no thread, no mapping, no output" {
  not_with_sanitizer
  run -0 env LD_PRELOAD="$preload" sh -c '
    cat /proc/self/maps | grep -c -e libmpi -e memfd
    ls /proc/self/task | wc -l'
  assert_output "$(printf '0\n1')"
}

@test "a shell under preload keeps its exit status, output and errno" {
  not_with_sanitizer
  run -3 env LD_PRELOAD="$preload" PMI_RANK=0 PMI_SIZE=1 sh -c 'echo said; exit 3'
  assert_output said
  run -1 env LD_PRELOAD="$preload" cat /nonexistent
  assert_output --partial "No such file or directory"
}

@test "mpirun and its proxies stay as they are" {
  local try
  # Where ranks end at once mpirun itself may die of SIGPIPE (app.bash).
  for try in 1 2; do
    run mpi_preloaded 2 sh -c 'echo rank $PMI_RANK'
    [ "$status" -eq 141 ] || break
  done
  assert_success
  assert_line "rank 0"
  assert_line "rank 1"
  assert_equal "${#lines[@]}" 2
}

@test "a program that never uses regions gets no thread, mapping or descriptor" {
  run -0 mpi 2 "$programs/mpi_start" init
  plain=$(sort <<<"$output")
  run -0 mpi_preloaded 2 "$programs/mpi_start" init
  assert_equal "$(sort <<<"$output")" "$plain"
  assert_output --partial "mappings 0, files 0"
}

@test "such a program keeps the thread level it asked for" {
  for level in 0 1 2 3; do
    run -0 mpi_preloaded 1 "$programs/mpi_start" $level
    assert_line "provided $level"
    assert_line "rank 0: level $level, arguments 2"
  done
}

@test "a program that uses regions is told the level it asked for" {
  for level in 0 1 2 3; do
    run -0 mpi_preloaded 2 "$programs/mpi_start_user" $level
    assert_line "provided $level"
    assert_line "rank 1: level $level, arguments 2"
    assert_output --partial "mappings 3, files 2"
  done
  run -0 mpi_preloaded 2 "$programs/mpi_start_user" init
  assert_line "rank 0: level 0, arguments 2"
}

@test "MPI_Init(NULL, NULL)" {
  for program in mpi_start mpi_start_user; do
    run -0 mpi_preloaded 2 "$programs/$program" null
    assert_line "rank 0: finalized"
    assert_line "rank 1: finalized"
  done
}

@test "several nodes: one more thread each, and the end is in order" {
  run -0 mpi_preloaded 1 "$programs/mpi_start_user" init
  [[ $output =~ threads\ ([0-9]+), ]]
  threads=$((BASH_REMATCH[1] + 1))
  DRASYNC_NODE=rank run -0 mpi_preloaded 3 "$programs/mpi_start_user" init
  for rank in 0 1 2; do
    assert_line --regexp "^rank $rank: threads $threads, mappings"
    assert_line "rank $rank: finalized"
  done
}

@test "a Fortran program on mpi_f08" {
  cd "$BATS_TEST_TMPDIR"
  run -0 "$MPIFORT" -o f08 "$abs_top_srcdir/tests/programs/mpi_f08.f90"
  run -0 mpi_preloaded 2 ./f08
  assert_line "fortran rank 0 level 0"
  assert_line "fortran rank 1 level 0"
  run -0 "$MPIFORT" -o f08_user \
    "$abs_top_srcdir/tests/programs/mpi_f08.f90" \
    -Wl,--no-as-needed -Wl,-u,drasync_version -L"$libs" -ldrasync
  LD_LIBRARY_PATH=$libs run -0 mpi_preloaded 2 ./f08_user
  assert_line "fortran rank 1 level 0"
}

# tool ORDER [NAME=VALUE]: a job with a tool preloaded before or after the shim.
with_tool() {
  run -0 "$MPICC" -shared -fPIC -o "$BATS_TEST_TMPDIR/libtool.so" \
    "$abs_top_srcdir/tests/programs/mpi_tool.c"
  local tool=$BATS_TEST_TMPDIR/libtool.so
  local list=$preload:$tool
  [ "$1" = after ] || list=${preload%"$shim"}$tool:$shim
  shift
  run -0 mpi 2 env "$@" LD_PRELOAD="$list" \
    "$programs/mpi_start_user" init
  assert_equal "$(grep -c '^tool: entered 1$' <<<"$output")" 2
  assert_output --partial "mappings 3, files 2"
  assert_line "rank 0: level 0, arguments 2"
  assert_line "rank 0: finalized"
  DRASYNC_NODE=rank run -0 mpi 2 env "$@" LD_PRELOAD="$list" \
    "$programs/mpi_start_user" 1
  assert_line "provided 1"
  assert_equal "$(grep -c '^tool: entered 1$' <<<"$output")" 2
}

@test "a tool that goes on to PMPI stacks below and above us" {
  with_tool after TOOL=1
  with_tool before TOOL=1
}

@test "a tool that goes on to the next library stacks below and above us" {
  with_tool after TOOL_NEXT=1
  with_tool before TOOL_NEXT=1
}

@test "a child of fork comes and goes" {
  for node in shared rank; do
    DRASYNC_NODE=$node run -0 mpi_preloaded 2 "$programs/mpi_start_user" init \
      fork
    assert_line "rank 0: child ended with 0"
    assert_line "rank 1: child ended with 0"
    assert_line "rank 1: finalized"
  done
}

@test "a program may leave without MPI_Finalize" {
  for node in shared rank; do
    DRASYNC_NODE=$node DRASYNC_TEST_SECONDS=30 \
      run mpi_preloaded 2 "$programs/mpi_start_user" init exit
    refute [ "$status" -eq 124 ]
    no_files_left
  done
}
