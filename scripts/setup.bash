# Sourced by quickstart, check and check-sanitizers: what a fresh machine needs
# before it can build, and the build.  Sourcing it says "Usage: $usage" where the
# script's first argument is --help.
#
# Sets top (the source tree) and build (the build tree: ./build, or
# $DRASYNC_BUILD); leaves the caller's directory alone.

set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
build=${DRASYNC_BUILD:-$top/build}
[[ $build = /* ]] || build=$PWD/$build

say() { printf '%s\n' "$@"; }
die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

case ${1:-} in
--help | -h)
  say "Usage: scripts/${usage:?}"
  exit
  ;;
esac

have() { command -v "$1" >/dev/null 2>&1; }
have_bats_library() { [ -f "${BATS_LIB_PATH:-/usr/lib/bats}/$1/load.bash" ]; }
have_unwind() { have pkg-config && pkg-config --exists libunwind; }
have_hwloc() { have pkg-config && pkg-config --exists 'hwloc >= 2.0'; }
have_xxhash() { have cc && echo "#include <xxhash.h>" | cc -E - >/dev/null 2>&1; }
have_zstd() { have pkg-config && pkg-config --exists 'libzstd >= 1.4.0'; }
have_libdw() { have cc && echo "#include <elfutils/libdwfl.h>" | cc -E - >/dev/null 2>&1; }
# That of Open MPI knows no -compile-info.
have_mpicc() { have mpicc.mpich || mpicc -compile-info >/dev/null 2>&1; }
have_mpirun() { have mpirun.mpich || mpirun -info >/dev/null 2>&1; }
have_fortran() { have mpifort && mpifort -show >/dev/null 2>&1 && have gfortran; }

# What is needed, how to see that it is there, and the package that gives it.
needed_to_build=(
  "make|have make|build-essential"
  "a C compiler|have cc|build-essential"
  "autoconf|have autoreconf|autoconf"
  "automake|have automake|automake"
  "libtool|have libtoolize|libtool"
  "pkg-config|have pkg-config|pkg-config"
  "mpicc|have_mpicc|libmpich-dev"
  "mpirun|have_mpirun|mpich"
  "libunwind|have_unwind|libunwind-dev"
  "hwloc|have_hwloc|libhwloc-dev"
  "xxhash|have_xxhash|libxxhash-dev"
  "libdw|have_libdw|libdw-dev"
  "zstd|have_zstd|libzstd-dev"
)
needed_to_check=(
  "a C++ compiler|have c++|build-essential"
  "mpifort|have_fortran|gfortran"
  "bats|have bats|bats"
  "bats-support|have_bats_library bats-support|bats-support"
  "bats-assert|have_bats_library bats-assert|bats-assert"
  "ip|have ip|iproute2"
  "gnuplot|have gnuplot|gnuplot-nox"
  "gdb|have gdb|gdb"
)

# install_missing ENTRY...: say what is missing, and install it.
install_missing() {
  local entry what test package missing=() packages=() as_root=()
  for entry in "$@"; do
    IFS='|' read -r what test package <<<"$entry"
    $test || {
      missing+=("$what")
      [[ " ${packages[*]} " == *" $package "* ]] || packages+=("$package")
    }
  done
  [ ${#packages[@]} -gt 0 ] || return 0

  say "Missing here: ${missing[*]}"
  have apt-get || die "install these first: ${missing[*]} (no apt-get here)"
  if [ "$(id -u)" -ne 0 ]; then
    have sudo || die "as root, first: apt-get install ${packages[*]}"
    as_root=(sudo)
  fi
  say "Installing:   ${packages[*]}"
  "${as_root[@]}" apt-get -q update </dev/null >/dev/null ||
    say "apt-get update failed; trying with the package lists that are here"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -q -y --no-install-recommends install "${packages[@]}" \
    </dev/null >/dev/null || die "apt-get could not install ${packages[*]}"
}

# logged LOG COMMAND...: run it quietly; if it fails, show the end of LOG.
logged() {
  local log=$1
  shift
  "$@" >"$log" 2>&1 </dev/null || {
    tail -n 30 "$log" >&2
    die "failed: $* (all of it in $log)"
  }
}

# configure_build [OPTION...]: configure $build unless it is, so far as to the
# last thing that configure makes.
configure_build() {
  local options=("$@") option
  if [ -f "$build/Makefile" ] && [ -x "$build/libtool" ]; then
    for option in "$@"; do
      "$build/config.status" --config | grep -qF -e "$option" ||
        die "$build is configured without $option: remove it, or set DRASYNC_BUILD"
    done
    return
  fi
  say "Configuring in $build"
  # Where several MPIs are installed, Debian's mpicc may be another one.
  ! have mpicc.mpich || options+=(MPICC=mpicc.mpich)
  # Left alone, configure goes on in bash, for its $LINENO; and so does libtool,
  # which runs for each object and program.  Debian's /bin/sh starts faster.
  (cd "$build" && logged "$build/configure.log" env \
    CONFIG_SHELL="${CONFIG_SHELL:-/bin/sh}" "$top/configure" "${options[@]}")
}

# build_all [CONFIGURE OPTION...]: configure $build unless it is, and make.
build_all() {
  mkdir -p "$build"
  if [ ! -x "$top/configure" ]; then
    say "Making configure"
    logged "$build/autogen.log" "$top/autogen.sh"
  fi
  configure_build "$@"
  say "Building"
  logged "$build/make.log" make -j "$(nproc)" -C "$build"
}

# The value of variable $1 in the build's Makefile.
configured() { sed -n "s|^$1 = ||p" "$build/Makefile"; }

# check_all [ARGUMENT OF MAKE...]: build what the tests of $build need on all
# cores, and run them, one at a time unless an argument says otherwise, showing
# each as it ends; then the logs of those that failed, then the count.
check_all() {
  local log=$build/check.log status
  say "Building the tests"
  logged "$build/make-check.log" make -j "$(nproc)" -C "$build" check TESTS=
  find "$build" -name '*.trs' -delete
  say "Testing"
  set +e
  make -C "$build" check "$@" </dev/null 2>&1 | tee "$log" |
    grep -E --line-buffered '^(PASS|FAIL|SKIP|XFAIL|XPASS|ERROR): '
  status=${PIPESTATUS[0]}
  set -e
  show_failures
  count_tests "$status"
}

# What failed cases say, without the others; or the log's end.
show_failures() {
  local trs
  while IFS= read -r trs; do
    say "--- ${trs%.trs}.log"
    awk '
      /^ok / { failed = 0 }
      /^not ok / { failed = 1 }
      failed && shown++ < 100 { print }
      shown == 101 { print "(more of it in " FILENAME ")"; shown++ }
      { last[NR % 60] = $0 }
      END {
        for (i = NR - 59; !shown && i <= NR; i++)
          if (i > 0) print last[i % 60]
      }' "${trs%.trs}.log"
  done < <(find "$build" -name '*.trs' \
    -exec grep -lE '^:test-result: (FAIL|XPASS|ERROR)' {} +)
}

# Automake leaves a NAME.trs per test, with a line per case.  The error that it
# adds when a test exits with failure says nothing new where a case failed.
count_tests() {
  local make_status=$1 passed failed skipped
  read -r passed failed skipped < <(
    find "$build" -name '*.trs' -exec cat {} + | awk '
      /^:test-result: (PASS|XFAIL)/ { passed++ }
      /^:test-result: SKIP/ { skipped++ }
      /^:test-result: (FAIL|XPASS)/ { failed++; here++ }
      /^:test-result: ERROR/ && !here { failed++ }
      /^:copy-in-global-log:/ { here = 0 }
      END { printf "%d %d %d\n", passed, failed, skipped }'
  )
  if [ "$make_status" -ne 0 ] && [ "$failed" -eq 0 ]; then
    tail -n 30 "$build/check.log"
    failed=1
  fi
  say "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}
