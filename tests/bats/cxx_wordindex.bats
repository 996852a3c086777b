# The example of drasync.hpp.

load common

wordindex=$abs_top_builddir/programs/wordindex/.libs/wordindex

setup() {
  grep -q "^#define HAVE_CXX17 1" "$abs_top_builddir/config.h" ||
    skip "configure found no compiler for C++17"
  cd "$BATS_TEST_TMPDIR"
  printf 'A tree is a graph;\na Graph is not a tree.\n' >one
  printf 'Counterrevolutionaries count a tree.\n' >two
  printf 'Counterrevolutionaries and graphs\n\ngraph' >three
}

expect() {
  assert_output "9 words
a 5, first one:1
graph 3, first one:1
tree 3, first one:1
counterrevolutionaries 2, first two:1
is 2, first one:1"
}

@test "wordindex finds the same words on any number of ranks and nodes" {
  local ranks nodes
  for nodes in 64 rank; do
    export DRASYNC_NODE=$nodes
    for ranks in 1 2 4; do
      run -0 mpi $ranks "$wordindex" --top 5 one two three
      expect
    done
  done
}

@test "wordindex counts as grep does" {
  local text=$abs_top_srcdir/COPYING word=software
  run -0 mpi 3 "$wordindex" --top 1000 "$text" one "$text"
  assert_line --regexp \
    "^$word $((2 * $(grep -oiw "$word" "$text" | wc -l))), first $text:"
}

@test "wordindex says what is wrong" {
  run -2 "$wordindex"
  assert_line --partial "Usage: wordindex"
  run -2 "$wordindex" --top 0 one
  assert_line --partial "Usage: wordindex"
  run -0 "$wordindex" --help
  assert_line --partial "Usage: wordindex"
  run -0 "$wordindex" --version
  assert_output --regexp "^wordindex [0-9]"
  leaks_of_others
  run mpi 2 "$wordindex" one none
  assert_failure
  assert_line "wordindex: cannot read none"
}
