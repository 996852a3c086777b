#!/usr/bin/env bats
# mpicc-drasync and mpicxx-drasync in the build tree.

load common

wrap=$abs_top_builddir/mpicc-drasync
wrapxx=$abs_top_builddir/mpicxx-drasync

setup() {
  mkdir "$BATS_TEST_TMPDIR/a directory"
  cd "$BATS_TEST_TMPDIR/a directory"
  unset LD_PRELOAD LD_LIBRARY_PATH
  cat >'the hello.c' <<'END'
#include <drasync.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("rank %d of DRASync %s\n", rank, drasync_version());
    MPI_Finalize();
    return 0;
}
END
  cat >list.c <<'END'
#include <mpi.h>
#include <myrmics.h>
#include <stdio.h>

struct node {
    struct node *next;
    int value;
};

int main(int argc, char **argv)
{
    struct node *node, *head = NULL;
    rid_t list;
    int i, sum = 0;

    MPI_Init(&argc, &argv);
    if (sys_get_worker_id() == 0) {
        list = sys_ralloc(0, 0);
        for (i = 0; i < 100; i++) {
            node = sys_alloc(sizeof(*node), list);
            node->next = head;
            node->value = i;
            head = node;
        }
        MPI_Send(&head, sizeof(head), MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        sys_send(list, 1);
    } else {
        MPI_Recv(&head, sizeof(head), MPI_BYTE, 0, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        list = sys_recv(0, 0);
        for (node = head; node; node = node->next)
            sum += node->value;
        printf("worker 1 of %d: sum %d\n", sys_get_num_workers(), sum);
    }
    MPI_Finalize();
    return 0;
}
END
}

# What the dynamic linker must load for program $1, in order, without the
# runtime of a sanitizer, which stands before all.
needed() {
  readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
    grep -vE '^lib(a|t|ub)san'
}

@test "an executable in a path with spaces runs on its own" {
  run -0 "$wrap" "the hello.c" -o "the hello"
  run -0 mpi 2 "./the hello"
  assert_line --regexp "^rank 0 of DRASync [0-9.]+$"
  assert_line --regexp "^rank 1 of DRASync [0-9.]+$"
}

@test "a Myrmics program made by the wrapper runs on DRASync's front" {
  "$wrap" list.c -o list
  run -0 mpi 2 ./list
  assert_output "worker 1 of 2: sum 4950"
  # Alone there is no worker 1 to send to; what counts is how names resolve.
  run env LD_DEBUG=bindings LD_BIND_NOW=1 ./list
  assert_output --regexp \
    "/list .* to .*/libdrasync_shim.so .* symbol .*_sys_ralloc"
  assert_output --regexp "/list .* to .*/libdrasync.so.* symbol .*MPI_Init'"
}

@test "our libraries come before the user's with the same calls, and MPI's" {
  "$wrap" list.c -o list "-L$libs" -lmyrmics "-Wl,-rpath,$libs"
  run -0 needed ./list
  assert_line --index 0 libdrasync_shim.so
  assert_line --index 1 --partial libdrasync.so
  run -0 mpi 2 ./list
  assert_output "worker 1 of 2: sum 4950"
}

@test "a program whose sys_ calls are all in its own library still gets us" {
  cat >main.c <<'END'
#include <mpi.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    return MPI_Finalize();
}
END
  "$wrap" -Wl,--as-needed main.c -o main
  run -0 needed ./main
  assert_line libdrasync_shim.so
  assert_line --partial libdrasync.so
}

@test "C++ programs are built by mpicxx-drasync" {
  cat >hello.cc <<'END'
#include <drasync.h>
#include <mpi.h>
#include <myrmics.h>
#include <iostream>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    std::cout << "C++ on " << drasync_version() << std::endl;
    MPI_Finalize();
}
END
  "$wrapxx" hello.cc -o hello
  run -0 mpi 1 ./hello
  assert_output --regexp "^C\+\+ on [0-9.]+$"
}

@test "-c, -S, -E, -M, -MM and -fsyntax-only do not link" {
  local flag
  for flag in -c -S -E -M -MM -fsyntax-only; do
    run -0 "$wrap" $flag "the hello.c" -show
    refute_output --partial "-ldrasync"
    assert_output --partial "/include"
    run -0 "$wrap" $flag "the hello.c" -o out
    [ "$flag" = -fsyntax-only ] || assert [ -s out ]
    rm -f out
  done
}

@test "objects compiled with -c link in a second step" {
  "$wrap" -c "the hello.c" -o hello.o
  "$wrap" hello.o -o hello
  run -0 mpi 1 ./hello
  assert_output --partial "rank 0 of DRASync"
}

@test "-show, -compile-info and -link-info print what would be run, only" {
  local flag
  for flag in -show -compile-info -link-info; do
    run -0 "$wrap" $flag "the hello.c"
    assert_output --regexp "/libdrasync_shim\.so [^ ]*/libdrasync\.so"
    assert_output --partial "-lmpich"
    assert_output --partial "-I$(readlink -f "$abs_top_srcdir/include")"
    assert [ ! -e a.out ]
  done
}

@test "-cc= and MPICH_CC choose another compiler, as with mpicc" {
  run -0 "$wrap" -cc=other-cc -show "the hello.c"
  assert_output --regexp "^other-cc "
  MPICH_CC=another-cc run -0 "$wrap" -show "the hello.c"
  assert_output --regexp "^another-cc "
}

@test "no arguments are an error, as with mpicc" {
  run -1 "$wrap"
  assert_output --partial "Command line argument is needed"
}

@test "the compiler's failure is the wrapper's failure" {
  echo "int main(void) { return undeclared; }" >bad.c
  run "$wrap" bad.c
  assert_failure
  assert_output --partial "undeclared"
  assert [ ! -e a.out ]
}

@test "--version names DRASync and the compiler, --help the options" {
  run -0 "$wrap" --version
  assert_line --index 0 --regexp "^mpicc-drasync \(DRASync\) [0-9.]+$"
  assert [ "${#lines[@]}" -gt 1 ]
  run -0 "$wrapxx" --version
  assert_line --index 0 --regexp "^mpicxx-drasync \(DRASync\) [0-9.]+$"
  run -0 "$wrap" --help
  assert_line --partial "--legacy-header=FILE"
  assert_line --partial "--dart"
}

# A DART program, for both languages.
dart_hello() {
  cat <<'END'
#include <dash/dart/if/dart.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    dart_global_unit_t me;
    size_t units;

    if (dart_init(&argc, &argv) || dart_myid(&me) || dart_size(&units))
        dart_abort(1);
    printf("unit %d of %zu\n", (int)me.id, units);
    return dart_exit();
}
END
}

@test "--dart makes DART programs of C and C++ that run on their own, on ours" {
  dart_hello >hello_dart.c
  dart_hello >hello_dart.cc
  "$wrap" --dart -Wall -Wextra hello_dart.c -o in_c
  "$wrapxx" -std=c++11 --dart -Wall -Wextra hello_dart.cc -o in_cxx
  local program
  for program in in_c in_cxx; do
    run -0 needed "./$program"
    assert_line --index 0 libdart-mpi.so
    run -0 mpi 2 "./$program"
    assert_line "unit 0 of 2"
    assert_line "unit 1 of 2"
  done
}

@test "--dart with -c only finds the headers; without it no program is linked to DART" {
  dart_hello >hello_dart.c
  "$wrap" --dart -c hello_dart.c -o hello_dart.o
  run -0 "$wrap" -show hello_dart.o
  refute_output --partial dart-mpi
  run -0 "$wrap" --dart -c -show hello_dart.c
  refute_output --partial dart-mpi
  "$wrap" hello_dart.o --dart -o hello
  run -0 mpi 1 ./hello
  assert_output "unit 0 of 1"
}

@test "a DART program linked to another library of that name runs on ours" {
  case ${DRASYNC_SANITIZERS:-} in
  *address* | *thread*) skip "a sanitizer wants to be linked to the program" ;;
  esac
  dart_hello >hello_dart.c
  mkdir theirs
  # Their library: it has the names, and does nothing.
  nm -D --defined-only "$libs/libdart-mpi.so" |
    sed -n 's/.* T \(dart_.*\)/int \1(void) { return 1; }/p' >theirs.c
  "${CC:-cc}" -shared -fPIC -Wl,-soname,libdart-mpi.so theirs.c \
    -o theirs/libdart-mpi.so
  "$MPICC" -I"$abs_top_srcdir/include" hello_dart.c -o hello \
    -Ltheirs -ldart-mpi -Wl,-rpath,"$PWD/theirs"
  run -1 ./hello # mpirun dies of SIGPIPE now and then where programs end so soon
  LD_LIBRARY_PATH=$libs run -0 mpi 2 ./hello
  assert_line "unit 0 of 2"
  assert_line "unit 1 of 2"
}

@test "--legacy-header maps a program's own calls to ours" {
  cat >"old names.h" <<'END'
#define old_region_new() sys_ralloc(0, 99)
#define old_alloc(n, r) sys_alloc(n, r)
END
  cat >old.c <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int *p;
    MPI_Init(&argc, &argv);
    p = old_alloc(sizeof(*p), old_region_new());
    *p = 42;
    printf("%d\n", *p);
    return MPI_Finalize();
}
END
  run "$wrap" old.c -o old
  assert_failure
  local form
  for form in "--legacy-header=old names.h" "--legacy-header|old names.h"; do
    IFS='|' read -ra words <<<"$form"
    "$wrap" "${words[@]}" old.c -o old
    run -0 mpi 1 ./old
    assert_output 42
    rm old
  done
}

@test "a legacy header that is missing is an error" {
  run -1 "$wrap" --legacy-header=missing.h "the hello.c"
  assert_output "mpicc-drasync: missing.h: no such header"
  run -1 "$wrap" "the hello.c" --legacy-header
  assert_output "mpicc-drasync: --legacy-header needs a file"
}

@test "programs that call Myrmics tasks are refused at link" {
  cat >tasks.c <<'END'
void _sys_spawn(char *file, int line, int task);
void _sys_wait_on(char *file, int line, void *arg);
int main(void)
{
    _sys_spawn("tasks.c", 1, 2);
    _sys_wait_on("tasks.c", 1, 0);
    return 0;
}
END
  run -1 "$wrap" tasks.c -o tasks
  assert_output "mpicc-drasync: tasks not made: it calls sys_spawn and \
sys_wait_on, but DRASync has the regions of Myrmics, not its tasks"
  assert [ ! -e tasks ]
}

@test "the wrapper works through a symbolic link with a name of its own" {
  ln -s "$wrap" "my cc"
  run -0 "./my cc" "the hello.c" -o hello
  run -0 mpi 1 ./hello
  assert_output --partial "rank 0 of DRASync"
}
