#!/usr/bin/env bats
#
# The libraries loaded at run time (dlopen), as Python and plug-ins do.

load common

# The loader has some hundred bytes left for the thread-local storage of
# libraries that come later and whose code expects it at a fixed place.
TLS_BYTES_MAX=256

setup_file() {
  export program=$abs_top_builddir/tests/programs/loaded
}

setup() {
  [ -z "${DRASYNC_SANITIZERS:-}" ] ||
    skip "sanitizers keep more for each thread, and must be there first"
}

tls_bytes() {
  local size
  size=$(readelf -lW "$1" | awk '$1 == "TLS" { print $6 }')
  echo $((${size:-0}))
}

@test "no library has more thread-local storage than the loader has left" {
  local library
  for library in "$libs"/lib*.so; do
    echo "$library: $(tls_bytes "$library") bytes"
    [ "$(tls_bytes "$library")" -le "$TLS_BYTES_MAX" ]
  done
}

@test "a program that was linked to none of them loads them all" {
  run -0 mpi 2 "$program" "$libs/libdrasync.so" "$libs/libdrasync_shim.so" \
    "$libs/libdrasync_record.so" "$libs/libdart-mpi.so" "$libs/libmyrmics.so"
  assert_line --partial "loaded 5, bad 0"
}

@test "Python loads the library and makes a region" {
  command -v python3 >/dev/null || skip "python3 is not there"
  run -0 mpi 2 python3 -c '
import ctypes, sys
drasync = ctypes.CDLL(sys.argv[1])
region, thing = ctypes.c_void_p(), ctypes.c_void_p()
assert drasync.drasync_init() == 0
assert drasync.drasync_new_region(ctypes.byref(region)) == 0
assert drasync.drasync_alloc(region, ctypes.c_size_t(100),
                             ctypes.byref(thing)) == 0
assert drasync.drasync_release(region) == 0
assert drasync.drasync_finalize() == 0
print("a region from Python")' "$libs/libdrasync.so"
  assert_output --partial "a region from Python"
}

@test "a preloaded library finds an MPI that a plug-in loaded for itself" {
  command -v python3 >/dev/null || skip "python3 is not there"
  preload="${preload/$shim/$libs/libdrasync_record.so $shim}" \
    run -0 mpi_preloaded 2 python3 -c '
import ctypes, os
mpi = ctypes.CDLL("libmpich.so.12", mode=os.RTLD_NOW | os.RTLD_LOCAL)
assert mpi.MPI_Init(None, None) == 0
assert mpi.MPI_Barrier(0x44000000) == 0  # MPI_COMM_WORLD
assert mpi.MPI_Finalize() == 0
print("an MPI from Python")'
  assert_output --partial "an MPI from Python"
}
