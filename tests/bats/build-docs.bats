#!/usr/bin/env bats
# What the documents say is so.

load common

setup() {
  cd "$BATS_TEST_TMPDIR"
}

# The environment variables that the libraries read: those of the table in
# runtime/options.c that every build has, and what others ask for by name.
variables_read() {
  {
    sed '/^#if/,/^#endif/d' "$abs_top_srcdir/runtime/options.c" |
      grep -oE '^    \{"DRASYNC_[A-Z_]+"'
    grep -rhoE --include='*.c' 'getenv\("(DRASYNC|MYRMICS)_[A-Z]+"' \
      "$abs_top_srcdir"/{memory,transport,runtime,fronts,shim,benchmarks}
  } | sed 's/[^"]*"//; s/"//' | sort -u
}

@test "variables.md has every environment variable, and no other" {
  variables_read >read
  assert [ -s read ]
  sed -n 's/^| `\(\(DRASYNC\|MYRMICS\)_[A-Z_]*\)`.*/\1/p' \
    "$abs_top_srcdir/docs/variables.md" | sort -u >said
  run diff read said
  assert_output ""
}

@test "drasync(7) has every environment variable, and no other" {
  variables_read >read
  sed -n 's/^\.It Ev //p' "$abs_top_srcdir/docs/man/drasync.7" | sort -u >said
  run diff read said
  assert_output ""
}

@test "drasync(3) has every error with its value and text" {
  cat >errors.c <<'END'
#include <drasync.h>
#include <stdio.h>
#define PRINT(name, value, text) printf("%s %d %s\n", #name, value, text);
int main(void)
{
    DRASYNC_ERRORS(PRINT)
    return 0;
}
END
  "${CC:-cc}" -I"$abs_top_srcdir/include" errors.c -o errors
  ./errors >header
  sed -n 's/^\.It Dv \(.*\) Ta \(.*\) Ta \(.*\)/\1 \2 \3/p' \
    "$abs_top_srcdir/docs/man/drasync.3" | sed 's/\\-/-/' >manual
  run diff header manual
  assert_output ""
}

@test "drasync(3) has every call of the header, and no other" {
  sed -n 's/^[a-z].*[ *]\(drasync_[a-z_]*\)(.*/\1/p' \
    "$abs_top_srcdir/include/drasync.h" \
    "$abs_top_srcdir"/include/drasync/*.h | sort -u >header
  sed -n 's/^\.Fn \(drasync_[a-z_]*\) .*/\1/p' \
    "$abs_top_srcdir/docs/man/drasync.3" | sort -u >manual
  run diff header manual
  assert_output ""
}

# The variables that libupm.so reads.
upm_variables_read() {
  grep -oE '^    \{"UPM_[A-Z]+"' "$abs_top_srcdir/upm/options.c" |
    sed 's/[^"]*"//; s/"//' | sort -u
}

@test "variables.md and upmlib(3) have every UPM_ variable, and no other" {
  upm_variables_read >read
  assert [ -s read ]
  sed -n 's/^| `\(UPM_[A-Z_]*\)`.*/\1/p' \
    "$abs_top_srcdir/docs/variables.md" | sort -u >said
  run diff read said
  assert_output ""
  sed -n 's/^\.It Ev //p' "$abs_top_srcdir/docs/man/upmlib.3" | sort -u >said
  run diff read said
  assert_output ""
}

@test "upmlib(3) has every call of the header, and no other" {
  sed -n 's/^[a-z].*[ *]\(upmlib_[a-z_]*\)(.*/\1/p' \
    "$abs_top_srcdir/include/upmlib.h" | sort -u >header
  sed -n 's/^\.Fn \(upmlib_[a-z_]*\) .*/\1/p' \
    "$abs_top_srcdir/docs/man/upmlib.3" | sort -u >manual
  run diff header manual
  assert_output ""
}

# The functions of the DART headers, those with their body there too.
dart_functions() {
  cat "$abs_top_srcdir"/include/dash/dart/if/*.h |
    perl -0pe 's{/\*.*?\*/}{}gs; s/^#(.*\\\n)*.*\n//mg' |
    perl -0ne 'print "$1\n" while
      /^[a-zA-Z][a-zA-Z_ \n]*?\b(dart_[a-z0-9_]+)\s*\([^;{]*\)[^;{]*[;{]/mg' |
    grep -v '^dart_create_' | sort -u
}

@test "dart(7) has every function of the DART headers, and no other" {
  dart_functions >headers
  assert [ "$(wc -l <headers)" -gt 100 ]
  sed -n 's/^\.Fn \(dart_[a-z0-9_]*\)\( ,\)\{0,1\}$/\1/p' \
    "$abs_top_srcdir/docs/man/dart.7" | sort -u >manual
  run diff headers manual
  assert_output ""
}

@test "words that the glossary replaced do not come back" {
  # DART's and MPI's windows, and the linear mapping of all frames, are called
  # that; so only names that had no other use are searched for.
  run git -C "$abs_top_srcdir" grep -nwiE \
    'native_(fast|left|stock|window)\w*|heap_window\w*|replica_(spare|quick|again|lean)\w*|straightens?|straightened|leans' \
    -- '*.c' '*.h' '*.md' '*.mk' ':!tests/bats'
  [ "$status" -ne 128 ] || skip "not in a checkout of git"
  assert_failure 1
  assert_output ""
}

@test "a turn is one of the progress engine, and nothing else" {
  # Outside runtime/messages each line that has the word says whose turn it is.
  run git -C "$abs_top_srcdir" grep -niE \
    -e '(^|[^a-z])turns?([^a-z]|$)' --and --not \
    -e 'with the turns|turns? of the (node.s |leader.s )?engine' --and --not \
    -e 'each_turn|(native_keep|run_serve|run_send|give)_turn' \
    -- ahead fronts lifetime memory protocol runtime save shim transport upm \
    ':!runtime/messages'
  [ "$status" -ne 128 ] || skip "not in a checkout of git"
  assert_failure 1
  assert_output ""
}

@test "the glossary has a row for each term that CONTRIBUTING relies on" {
  for term in 'rank' 'node' 'region' 'lease' 'magazine' 'biased lock' \
    'endpoint' 'quiescence' 'mapping' 'step' 'chore'; do
    run -0 grep -E "^\| ([^|]*, )?$term[ ,|]" \
      "$abs_top_srcdir/docs/architecture.md"
  done
}

@test "prose wraps at 100 columns" {
  run awk '/^```/ { code = !code }
    !code && length($0) > 100 && $0 !~ /^(\||!\[)/ {
      print FILENAME ":" FNR ": " length($0) }' \
    "$abs_top_srcdir"/*.md "$abs_top_srcdir"/docs/*.md
  assert_output ""
}

@test "each source begins with a comment that says what it is" {
  cd "$abs_top_srcdir"
  run -0 find ahead benchmarks fronts lifetime memory programs protocol runtime \
    save shim sim tests transport upm -name '*.c' -o -name '*.cc'
  assert [ "${#lines[@]}" -gt 400 ]
  run bash -c 'for f; do
    head -c 2 "$f" | grep -q "/[*/]" || echo "$f"; done' - "${lines[@]}"
  assert_output ""
}
