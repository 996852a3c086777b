#!/usr/bin/env bats
# libupm.so as programs use it, on whatever nodes this machine has.

setup() {
  load common
  cd "$BATS_TEST_TMPDIR"
  lib_upm=$libs/libupm.so
}

# ThreadSanitizer's start calls sigaction(), which is ours in such programs, and
# its own code in there does not run before it has started.
needs_sigaction() {
  [[ ${DRASYNC_SANITIZERS:-} != *thread* ]] ||
    skip "ThreadSanitizer calls our sigaction() before it has started"
}

# What LD_PRELOAD must name: in a sanitizer's build its runtime comes first.
preload_upm() {
  leaks_of_others
  LD_PRELOAD=${preload%"$shim"}$lib_upm "$@" 3>&-
}

@test "the calls of the paper's Fig. 1 work in Fortran without an interface" {
  needs_sigaction
  cat >fig1.f <<'END'
      program fig1
      integer step
      real*8 u(100000)
      common /fields/ u
      call upmlib_init()
      call upmlib_memrefcnt(u, 800000)
      do step = 1, 3
        u(step) = step
        call upmlib_migrate_memory()
      enddo
      call upmlib_end()
      end
END
  "$MPIFORT" fig1.f -o fig1 -L"$libs" -lupm
  UPM_STATS=1 run -0 unsanitized ./fig1
  assert_output --regexp "^upmlib: [0-9]+ nodes, 1 areas, 19[45] pages; .*$"
}

@test "so do those of Fig. 2 with the module" {
  needs_sigaction
  "$MPIFORT" -fopenmp -std=f2018 -Wall -Werror "$abs_top_srcdir/upm/upmlib.f90" \
    "$abs_top_srcdir/tests/programs/upm_fortran.f90" -o fig2 -L"$libs" -lupm
  run -0 unsanitized ./fig2
  assert_output --partial "# nodes "
}

@test "a wrong call of Fortran is said on stderr, and the program goes on" {
  needs_sigaction
  cat >wrong.f90 <<'END'
program wrong
  use upmlib
  call upmlib_undo()
  call upmlib_init()
  call upmlib_undo()
  print *, 'after it'
end program
END
  "$MPIFORT" "$abs_top_srcdir/upm/upmlib.f90" wrong.f90 -o wrong -L"$libs" -lupm
  run -0 unsanitized ./wrong
  assert_line "upmlib: upmlib_undo: call upmlib_init() first"
  assert_line "upmlib: upmlib_undo: nothing was replayed since the last upmlib_undo()"
  assert_line --partial "after it"
}

@test "the module's numbers are the header's" {
  cat >numbers.c <<'END'
#include <stdio.h>
#include <upmlib.h>
#define PRINT(name) printf("%s %d\n", #name, name)
int main(void)
{
    PRINT(UPMLIB_THRESHOLD); PRINT(UPMLIB_CRITICAL); PRINT(UPMLIB_FREEZE);
    PRINT(UPMLIB_SOURCE); PRINT(UPMLIB_BATCH);
    PRINT(UPMLIB_SOURCE_PROTECT); PRINT(UPMLIB_SOURCE_USERFAULTFD);
    PRINT(UPMLIB_SOURCE_PERF); PRINT(UPMLIB_SOURCE_FILE);
    PRINT(UPMLIB_SOURCE_NONE);
    return 0;
}
END
  "${CC:-cc}" -I"$abs_top_srcdir/include" numbers.c -o numbers
  ./numbers | sort >header
  grep -oE 'upmlib_[a-z_]+ = [0-9]+' "$abs_top_srcdir/upm/upmlib.f90" |
    grep -vE 'upmlib_stat' | sed 's/ = / /' | tr 'a-z' 'A-Z' | sort >module
  run diff header module
  assert_output ""
}

@test "a wrong variable is named, and upmlib_init() fails" {
  needs_sigaction
  cat >start.c <<'END'
#include <stdio.h>
#include <upmlib.h>
int main(void)
{
    int err = upmlib_init();
    puts(err ? upmlib_error() : "started");
    return 0;
}
END
  "${CC:-cc}" -I"$abs_top_srcdir/include" start.c -o start -L"$libs" -lupm
  run -0 unsanitized ./start
  assert_output "started"
  UPM_THRESHOLD=half run -0 unsanitized ./start
  assert_output --regexp "^UPM_THRESHOLD=half is not valid: it may be percent"
}

@test "preloaded into programs that know nothing of it, it changes nothing" {
  needs_sigaction
  UPM_SAMPLE=10 UPM_STATS=1 run -0 --separate-stderr \
    preload_upm bash -c 'echo one; seq 1000000 | sort -R | sort -n | tail -n 1'
  assert_output "$(printf '%s\n' one 1000000)"
  assert_regex "$stderr" "upmlib: [0-9]+ nodes"
  case ${DRASYNC_SANITIZERS:-} in
  *address*) assert_regex "$stderr" "UPM_SAMPLE does nothing in a program with" ;;
  *) refute_regex "$stderr" "UPM_SAMPLE does nothing" ;;
  esac
  UPM_SAMPLE=soon run -0 --separate-stderr preload_upm bash -c :
  assert_regex "$stderr" "^upmlib: UPM_SAMPLE=soon is not valid"
}

@test "it needs no MPI, and exports its calls and what it takes over, no more" {
  run -0 ldd "$lib_upm"
  refute_output --partial "mpi"
  run -0 bash -c 'nm -D --defined-only "$1" | sed "s/.* //" |
    grep -vE "^upmlib_" | sort | xargs' - "$lib_upm"
  assert_output "__fread_chk __pread64_chk __pread_chk __read_chk __recv_chk \
__recvfrom_chk __sysv_signal bsd_signal fread fwrite pread pread64 preadv \
preadv64 pthread_create pthread_sigmask pwrite pwrite64 pwritev pwritev64 read readv recv \
recvfrom recvmsg send sendmsg sendto sigaction signal sigprocmask sysv_signal \
write writev"
}
