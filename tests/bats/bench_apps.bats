# The runner of applications in two forms, with tiny sizes; nothing is asserted
# about times.

setup() {
  load common
  bench=$abs_top_srcdir/scripts/bench
  # Beside bench.bats.
  export DRASYNC_BUILD=$abs_top_builddir DRASYNC_CLUSTER=apps
  number='[0-9.]+(e[-+][0-9]+)?'
}

bench_apps() {
  timeout -k 5 100 "$bench" --apps "$@" </dev/null 3>&-
}

# A tree of its own, with an application whose programs are scripts.
fake_tree() {
  bench=$BATS_TEST_TMPDIR/tree/scripts/bench
  export DRASYNC_BUILD=$BATS_TEST_TMPDIR/tree/build
  mkdir -p "${bench%/*}" "$DRASYNC_BUILD/programs/fake" \
    "$BATS_TEST_TMPDIR/tree/programs/fake"
  cp "$abs_top_srcdir/scripts/"{bench,bench-apps.bash} "${bench%/*}"
  cp "$abs_top_srcdir/configure.ac" "$BATS_TEST_TMPDIR/tree"
  sed -i 's,^apps=(,&"fake|fake/fake|--some|--tiny",; s/^app_ways=.*/app_ways=(2x1)/' \
    "${bench%/*}/bench-apps.bash"
  echo 'bench-programs:' >"$DRASYNC_BUILD/Makefile"
  printf '/* A\n * comment. */\n\nint main(void) // no code\n{\n}\n' \
    >"$BATS_TEST_TMPDIR/tree/programs/fake/fake_mpi.c"
  echo 'int one, two;' >"$BATS_TEST_TMPDIR/tree/programs/fake/fake_native.c"
  printf '#!/bin/sh\nshift 2\nexec "$@"\n' >"$BATS_TEST_TMPDIR/mpirun"
  chmod +x "$BATS_TEST_TMPDIR/mpirun"
  export MPIRUN=$BATS_TEST_TMPDIR/mpirun
}

# fake_form FORM COMMAND: what the form's program does.
fake_form() {
  printf '#!/bin/sh\n%s\n' "$2" >"$DRASYNC_BUILD/programs/fake/fake_$1"
  chmod +x "$DRASYNC_BUILD/programs/fake/fake_$1"
}

@test "an application prints a line for a node and each number of hosts" {
  run -0 bench_apps --tiny --runs 1 pipeline
  assert_line --regexp "^pipeline 2x1 ratio=$number ours=$number theirs=$number\
 unit=ms runs=1 ours_iqr=0 theirs_iqr=0 lines_native=[0-9]+ lines_mpi=[0-9]+$"
  assert_line --regexp "^pipeline 2x2 (ratio=$number .*|skipped: .*)$"
  assert_line --regexp "^pipeline 4x4 (ratio=$number .*|skipped: .*)$"
}

@test "the ratio is that of the medians, and lines are counted without comments" {
  fake_tree
  fake_form native 'echo "fake_native answer=0123456789abcdef seconds=0.5 ranks=2 $*"'
  fake_form mpi 'echo "fake_mpi answer=0123456789abcdef seconds=1.5 ranks=2 $*"'
  run -0 bench_apps --runs 3 fake
  assert_output "fake 2x1 ratio=3 ours=500 theirs=1500 unit=ms runs=3\
 ours_iqr=0 theirs_iqr=0 lines_native=1 lines_mpi=3"
}

@test "a form may print its hash and seconds among other results" {
  fake_tree
  fake_form native 'echo "fake size=3 hash=0123456789abcdef x=1 seconds=2 workers=2"'
  fake_form mpi 'echo "fake size=3 hash=0123456789abcdef x=1 seconds=1 workers=2"'
  run -0 bench_apps --runs 1 fake
  assert_output --partial "fake 2x1 ratio=0.5 ours=2000 theirs=1000 "
}

@test "a file of data/ is found in the source tree" {
  fake_tree
  sed -i 's/|--some|/|data\/some.csv|/' "${bench%/*}/bench-apps.bash"
  for form in native mpi; do
    fake_form $form "[ \"\$1\" = \"$BATS_TEST_TMPDIR/tree/data/some.csv\" ] &&
      echo fake_$form answer=0123456789abcdef seconds=1 ranks=2 more"
  done
  run -0 bench_apps --runs 1 fake
  assert_output --partial "fake 2x1 ratio=1 "
}

@test "--json writes the results of applications with their way" {
  fake_tree
  fake_form native 'echo "fake_native answer=0123456789abcdef seconds=0.5 ranks=2 $*"'
  fake_form mpi 'echo "fake_mpi answer=0123456789abcdef seconds=1.5 ranks=2 $*"'
  run -0 bench_apps --json "$BATS_TEST_TMPDIR/out.json" fake
  run -0 perl -MJSON::PP -0777 -ne '
    print "$_->{name} $_->{way} $_->{ratio} $_->{lines_mpi}\n"
      for @{decode_json($_)->{results}};' "$BATS_TEST_TMPDIR/out.json"
  assert_output "fake 2x1 3 3"
}

@test "forms whose answers differ are an error that shows them" {
  fake_tree
  fake_form native 'echo "fake_native answer=0123456789abcdef seconds=1 ranks=2 $*"'
  fake_form mpi 'echo "fake_mpi answer=0123456789abcdee seconds=1 ranks=2 $*"'
  run -1 bench_apps --runs 1 fake
  assert_output --regexp "^bench: fake 2x1: answers differ: 0123456789abcde[ef],\
 0123456789abcde[ef]$"
}

@test "a form that fails or prints no result is an error that says which" {
  fake_tree
  fake_form native 'echo "fake_native answer=0123456789abcdef seconds=1 ranks=2 $*"'
  fake_form mpi 'echo "out of luck" >&2; exit 3'
  run -1 bench_apps --runs 1 fake
  assert_line "out of luck"
  assert_line --regexp "^bench: fake 2x1: failed with status 3: .*/fake_mpi --some$"
  fake_form mpi 'echo "no answer"'
  run -1 bench_apps --runs 1 fake
  assert_output --regexp "^bench: fake 2x1: no result line: .*/fake_mpi --some$"
}

@test "a way that fails does not keep the others from being run" {
  fake_tree
  sed -i 's/^app_ways=.*/app_ways=(2x1 1x1)/' "${bench%/*}/bench-apps.bash"
  fake_form native 'echo "fake_native answer=0123456789abcdef seconds=1 ranks=2 $*"'
  fake_form mpi '[ -e "$DRASYNC_BUILD/ran" ] || { : >"$DRASYNC_BUILD/ran"; exit 3; }
    echo "fake_mpi answer=0123456789abcdef seconds=1 ranks=2 $*"'
  run -1 bench_apps --runs 1 fake
  assert_line --regexp "^bench: fake 2x1: failed with status 3: "
  assert_line --partial "fake 1x1 ratio=1 "
}

@test "each application on the list has both its programs" {
  run -0 bench_apps --list
  for program in $(sed 's,.*: programs/\([^ ]*\)_\([a-z]*\) and .*,\1:\2,' \
    <<<"$output"); do
    ours=${program#*:}
    program=${program%:*}
    for form in "$ours" mpi; do
      run -0 "$abs_top_builddir/programs/${program}_$form" --help
      assert_line --regexp \
        "Usage: mpirun -n (RANKS|WORKERS) ${program##*/}_$form "
    done
  done
}

@test "an unknown application is an error that says what to do" {
  run -2 bench_apps no_such_app
  assert_output "bench: no application no_such_app (see --apps --list)"
}
