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

# On one host UCX needs no network; but it opens every device that it has seen,
# and a bridge of another test's cluster may be gone by then: MPI_Init fails.
export UCX_NET_DEVICES=lo

# MPI_Init asks hwloc for all devices of the host, a sixth of what a start costs,
# and no test is about them.  One of hwloc's libraries, libpciaccess, also hides
# its leaks from AddressSanitizer: it is gone when they are looked for, and cannot
# be named.
export HWLOC_COMPONENTS="${HWLOC_COMPONENTS:--linuxio,-pci}"

# What LD_PRELOAD must name: in a sanitizer's build its runtime comes first, or
# it refuses to start in programs that are not built with it.
preload=$shim
case ${DRASYNC_SANITIZERS:-} in
*address*)
  preload=$("${CC:-cc}" -print-file-name=libasan.so):$shim
  # Leaks are errors, but for what MPI and the libraries below it keep.
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

# make_in_build ARGUMENTS...: one at a time, and without the variables that would
# tie this make to the one that runs the tests.
make_in_build() {
  flock "$abs_top_builddir/config.status" \
    env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s -C "$abs_top_builddir" \
    "$@" 3>&-
}

# needs_wire_paged: skip the test unless the build knows DRASYNC_WIRE=paged.
needs_wire_paged() {
  grep -q '^#define WIRE_PAGED 1' "$abs_top_builddir/config.h" ||
    skip "built without --enable-wire-paged"
}

# leaks_of_others: from here on programs run that have the sanitizer's runtime
# preloaded but are not ours, mpirun and shells among them: their leaks are not
# ours to report.
leaks_of_others() {
  case ${DRASYNC_SANITIZERS:-} in
  *address*) export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" ;;
  esac
}

# unsanitized COMMAND...: of a program that is not built with the sanitizer that
# our libraries are built with.
unsanitized() {
  leaks_of_others
  LD_PRELOAD=${preload%"$shim"} "$@" 3>&-
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

# beside NAME COMMAND...: start a job and go on, for jobs that mostly wait and need
# not do so one after the other.
declare -gA beside_as=()
beside() {
  local name=$1
  shift
  : >"$BATS_TEST_TMPDIR/beside.$name" # not what one before it said
  "$@" >"$BATS_TEST_TMPDIR/beside.$name" 2>&1 3>&- &
  beside_as[$name]=$!
}

# both COMMAND...: start that job on one node, named shared, and with a node for each
# rank, named rank.
both() {
  local node
  for node in shared rank; do
    DRASYNC_NODE=$node beside $node "$@"
  done
}

# ended NAME [STATUS]: it has, with STATUS if that is given; its status and what it
# said are there as after `run`.
ended() {
  status=0
  wait "${beside_as[$1]}" || status=$?
  output=$(<"$BATS_TEST_TMPDIR/beside.$1")
  mapfile -t lines <<<"$output"
  [ $# -eq 1 ] || [ "$status" -eq "$2" ] || fail "status $status: $output"
}

# await PROCESS COMMAND...: wait until COMMAND succeeds; an error if PROCESS has
# ended before it did.
await() {
  local process=$1 over
  shift
  while :; do
    over=false
    kill -0 "$process" 2>/dev/null || over=true
    ! "$@" || return 0
    ! $over || return 1
    sleep 0.1
  done
}

# mpi_rank_dies N PROGRAM ARGUMENTS...: a job in which a rank dies or leaves and
# the launcher does nothing: its own children, shells, stay until all N ranks
# are gone, so that the others can tell.  Prints what each rank said, on stdout
# and stderr, then what mpirun said; from files, as mpirun loses now and then
# what is said just before the end.  Returns mpirun's status.  All ranks must
# end within 60 seconds: after `run` comes `refute [ "$status" -eq 124 ]`.
mpi_rank_dies() {
  local ranks=$1 dir result=0
  shift
  dir=$(mktemp -d "$BATS_TEST_TMPDIR/dies.XXXXXX") || return
  DRASYNC_TEST_SECONDS=60 mpi "$ranks" sh -c '
    dir=$1 ranks=$2
    shift 2
    "$@" >"$dir/said.$PMI_RANK" 2>&1
    : >"$dir/over.$PMI_RANK"
    while [ $(ls "$dir"/over.* | wc -l) -lt $ranks ]; do sleep 0.1; done' \
    sh "$dir" "$ranks" "$@" >"$dir/mpirun" 2>&1 || result=$?
  cat "$dir"/said.* "$dir/mpirun"
  return "$result"
}
