# scripts/mpich-refcount; it builds no MPICH here.

setup() {
  load common
  script=$abs_top_srcdir/scripts/mpich-refcount
  work=$BATS_TEST_TMPDIR
}

@test "without a source it says where one comes from, and runs the installed MPI" {
  run -0 timeout 200 "$script" --threads 1 "$work/dir" 3>&-
  assert_line --partial "no source tree of MPICH given"
  assert_line --partial "https://www.mpich.org/static/downloads/"
  assert_line --regexp "^installed threads=1 predefined=[0-9.e-]+ derived=[0-9.e-]+ unit=M/s$"
}

@test "a tree that is no MPICH, or lacks an option, is refused" {
  run -1 "$script" "$work/dir" "$work"
  assert_output --partial "no source of MPICH in $work"
  touch "$work/configure.ac"
  run -1 "$script" "$work/dir" "$work"
  assert_output --partial "run its autogen.sh first"
  printf '#!/bin/sh\n# --enable-refcount --enable-thread-cs\n' >"$work/configure"
  chmod +x "$work/configure"
  run -1 "$script" "$work/dir" "$work"
  assert_output --partial "this MPICH has no --enable-predefined-refcount"
}

@test "both are configured by options alone" {
  touch "$work/configure.ac"
  cat >"$work/configure" <<'SH'
#!/bin/sh
# --enable-predefined-refcount --enable-refcount --enable-thread-cs
echo "$@" >options
SH
  chmod +x "$work/configure"
  run -0 "$script" --configure-only "$work/dir" "$work"
  run -0 cat "$work/dir/naive-build/options"
  assert_output --partial "--enable-refcount=lock-free"
  assert_output --partial "--enable-predefined-refcount=yes"
  run -0 cat "$work/dir/suppressed-build/options"
  assert_output --partial "--enable-predefined-refcount=no"
}

@test "mistakes on the command line are told" {
  run -2 "$script"
  assert_output --partial "a directory to build in is needed"
  run -2 "$script" --threads many "$work/dir"
  assert_output --partial "--threads takes a number"
}
