# For Bats files about what is installed: `load common` first.  Before any test make
# has installed all into tests/installed of the build tree (Makefile.am).

# installed_at PREFIX: a copy of it, moved there as users may.
installed_at() {
  local wrapper
  wrapper=$(find "$abs_top_builddir/tests/installed" -name mpicc-drasync)
  [ -x "$wrapper" ] || {
    cat "$abs_top_builddir/tests/installed.log" >&2
    echo "nothing is installed: make installed-for-tests in the build tree" >&2
    return 1
  }
  cp -a "${wrapper%/bin/*}" "$1"
}
