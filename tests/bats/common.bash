# Loaded by every Bats file: `load common`.
#
# Make check sets abs_top_builddir, abs_top_srcdir, MPICC, MPIRUN ...; without
# them (bats started by hand) the source tree or $DRASYNC_BUILD serves.

bats_require_minimum_version 1.5.0
export BATS_LIB_PATH="${BATS_LIB_PATH:-/usr/lib/bats}"
bats_load_library bats-support
bats_load_library bats-assert

: "${abs_top_srcdir:=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}"
: "${abs_top_builddir:=${DRASYNC_BUILD:-$abs_top_srcdir}}"
: "${MPICC:=mpicc}" "${MPICXX:=mpicxx}" "${MPIFORT:=mpifort}"
: "${MPIRUN:=mpirun}"
export abs_top_srcdir abs_top_builddir MPICC MPICXX MPIFORT MPIRUN

# What the build made: libraries and real programs, not libtool's scripts.
libs=$abs_top_builddir/.libs
shim=$libs/libdrasync_shim.so
data=$abs_top_srcdir/data
export LD_LIBRARY_PATH=$libs

# What LD_PRELOAD must name: in a sanitizer's build its runtime comes first, or
# it refuses to start in programs that are not built with it.
preload=$shim
case ${DRASYNC_SANITIZERS:-} in
*address*)
  preload=$("${CC:-cc}" -print-file-name=libasan.so):$shim
  # Leaks are errors, but for what MPI and the libraries below it keep.  One of
  # them, libpciaccess, is gone with hwloc's part for it when leaks are looked
  # for, and cannot be named.
  export HWLOC_COMPONENTS="${HWLOC_COMPONENTS:--pci}"
  export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=1"
  export LSAN_OPTIONS="${LSAN_OPTIONS:-suppressions=$abs_top_srcdir/tests/\
sanitizers/lsan.supp:print_suppressions=0}"
  ;;
*thread*)
  preload=$("${CC:-cc}" -print-file-name=libtsan.so):$shim
  # UCX's hooks call locks in threads that ThreadSanitizer has let go of.
  export UCX_MEM_EVENTS=no
  ;;
esac

# A missing mpirun is a failure, not a skip.
command -v "$MPIRUN" >/dev/null || {
  echo "$MPIRUN not found (Debian: apt-get install mpich)" >&2
  return 1
}

# leaks_of_others: from here on programs run that have the sanitizer's runtime
# preloaded but are not ours, mpirun and shells among them: their leaks are not
# ours to report.
leaks_of_others() {
  case ${DRASYNC_SANITIZERS:-} in
  *address*) export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" ;;
  esac
}

# mpi N PROGRAM ARGUMENTS...: run a job, at most DRASYNC_TEST_SECONDS (120).
# Bats waits for whoever holds its descriptor 3, so no job gets it.
mpi() {
  local ranks=$1
  shift
  timeout -k 5 "${DRASYNC_TEST_SECONDS:-120}" \
    "$MPIRUN" -n "$ranks" "$@" </dev/null 3>&-
}

# The same with the shim preloaded, as a user would: into mpirun and all below.
mpi_preloaded() {
  local ranks=$1
  shift
  leaks_of_others
  LD_PRELOAD=$preload timeout -k 5 "${DRASYNC_TEST_SECONDS:-120}" \
    "$MPIRUN" -n "$ranks" "$@" </dev/null 3>&-
}
