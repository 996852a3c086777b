#!/usr/bin/env bats
# Who includes whom is as CONTRIBUTING.md's table of folders says.

load common

# A tree of its own, with the real table.
setup() {
  cd "$BATS_TEST_TMPDIR"
  mkdir -p tree/{memory,runtime/native,runtime/replica,fresh}
  cp "$abs_top_srcdir/CONTRIBUTING.md" tree
  touch tree/memory/space.h tree/runtime/wait.h tree/runtime/native/state.h
}

check_includes() {
  run "$abs_top_srcdir/scripts/check-includes" "$@"
}

@test "every include of this tree is one that the table allows" {
  check_includes
  assert_success
  assert_output ""
}

@test "what the table allows is not complained of" {
  printf '#include <stdio.h>\n#include "memory/space.h"\n' >tree/runtime/a.c
  printf '#include "runtime/native/state.h"\n' >tree/runtime/native/a.c
  check_includes tree
  assert_success
  assert_output ""
}

@test "an include upwards is named with file, line and rule" {
  printf '\n#include "runtime/wait.h"\n' >tree/memory/a.c
  check_includes tree
  assert_failure 1
  assert_output \
    'memory/a.c:2: files of `memory/` may not include runtime/wait.h'
}

@test "another folder's state.h is refused" {
  printf '#include "runtime/native/state.h"\n' >tree/runtime/replica/a.c
  check_includes tree
  assert_failure 1
  assert_output \
    "runtime/replica/a.c:1: runtime/native/state.h is private to its folder"
}

@test "MPI's header is refused where the table does not name it" {
  printf '#include <mpi.h>\n' >tree/runtime/a.c
  check_includes tree
  assert_failure 1
  assert_output 'runtime/a.c:1: files of `runtime/` may not include <mpi.h>'
}

@test "a folder without a row, and a header that is not there, are named" {
  touch tree/fresh/a.c
  printf '#include "memory/gone.h"\n' >tree/memory/a.c
  check_includes tree
  assert_failure 1
  assert_line "fresh/a.c:0: its folder has no row in CONTRIBUTING.md"
  assert_line 'memory/a.c:1: there is no "memory/gone.h" in this tree'
}

@test "three files that include each other are named, two are not" {
  printf '#include "runtime/b.h"\n' >tree/runtime/a.c
  printf '#include "runtime/a.h"\n' >tree/runtime/b.c
  touch tree/runtime/a.h tree/runtime/b.h tree/runtime/c.h
  check_includes tree
  assert_success
  printf '#include "runtime/c.h"\n' >tree/runtime/b.h
  printf '#include "runtime/a.h"\n' >tree/runtime/c.c
  check_includes tree
  assert_failure 1
  assert_output \
    "runtime/: 3 files include each other: runtime/a runtime/b runtime/c"
}
