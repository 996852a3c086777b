#!/usr/bin/env bats
# What configure accepts and refuses, and what a build has.

load common

setup() {
  cd "$BATS_TEST_TMPDIR"
}

# Configure, in a source tree of its own: this one may be configured already.
configure() {
  mkdir source
  cp -r "$abs_top_srcdir/configure" "$abs_top_srcdir/build-aux" source/
  mkdir source/include
  cp "$abs_top_srcdir/include/drasync.h" source/include/
  # Settings of the build under test must not reach this one.
  env -u CC -u CFLAGS -u MPICC -u MPICXX -u MPIRUN -u CONFIG_SITE \
    CONFIG_SHELL=/bin/sh source/configure "$@"
}

# An mpicc that answers as MPICH's does, but whose mpi.h comes from stdin.
fake_mpi() {
  mkdir fake
  cat >fake/mpi.h
  cat >fake/mpicc <<END
#!/bin/sh
echo "gcc -I$PWD/fake -L$PWD/fake"
END
  chmod +x fake/mpicc
}

refused="is not of an MPI with the MPICH ABI"

@test "the build made the libraries and the wrappers" {
  assert [ -f "$libs/libdrasync.so" ]
  assert [ -f "$shim" ]
  assert [ -f "$libs/libmyrmics.so" ]
  assert [ -x "$abs_top_builddir/mpicc-drasync" ]
  assert [ -x "$abs_top_builddir/mpicxx-drasync" ]
}

@test "an MPI whose handles are pointers is refused" {
  fake_mpi <<'END'
#define MPI_VERSION 3
typedef struct ompi_communicator_t *MPI_Comm;
extern struct ompi_communicator_t ompi_mpi_comm_world;
#define MPI_COMM_WORLD (&ompi_mpi_comm_world)
#define MPI_Init(a, b) 0
END
  run -1 configure MPICC="$PWD/fake/mpicc"
  assert_output --partial "$refused"
}

@test "an MPI older than version 3 is refused" {
  fake_mpi <<'END'
#define MPI_VERSION 2
typedef int MPI_Comm;
#define MPI_COMM_WORLD ((MPI_Comm)0x44000000)
#define MPI_Init(a, b) 0
END
  run -1 configure MPICC="$PWD/fake/mpicc"
  assert_output --partial "$refused"
}

@test "an MPI of the MPICH ABI that is not MPICH by name is accepted" {
  fake_mpi <<'END'
#define MPI_VERSION 3
typedef int MPI_Comm;
#define MPI_COMM_WORLD ((MPI_Comm)0x44000000)
#define MPI_Init(a, b) 0
END
  run configure MPICC="$PWD/fake/mpicc" --disable-shared
  assert_output --partial "whether MPI has the MPICH ABI... yes"
}

@test "an mpicc that does not answer as MPICH's does is refused" {
  printf '#!/bin/sh\necho "unknown option $1" >&2\nexit 1\n' >mpicc
  chmod +x mpicc
  run -1 configure MPICC="$PWD/mpicc"
  assert_output --partial "$refused"
}

@test "without mpicc, configure names what to install" {
  local dir
  mkdir bin
  for dir in /bin /usr/bin; do
    cp -sn "$dir"/* bin/ 2>/dev/null || true
  done
  rm -f bin/mpi*
  PATH=$PWD/bin run -1 configure
  assert_output --partial "mpicc not found: DRASync needs MPICH"
}

@test "sanitizers reach the compiler's flags" {
  run configure --enable-asan --enable-ubsan --disable-shared
  assert_output --partial "whether the sanitizers link... yes"
  run -0 grep "^CFLAGS=" config.log
  assert_output --partial "-fsanitize=address -fsanitize=undefined"
}

@test "sanitizers that exclude each other are refused" {
  run -1 configure --enable-asan --enable-tsan
  assert_output --partial "exclude each other"
}

@test "static libraries alone are refused: there must be one to preload" {
  run -1 configure --disable-shared
  assert_output --partial "it needs --enable-shared"
}

@test "directories that libtool cannot install into are refused at once" {
  local name
  for name in --prefix=/tmp/a\ b "--libdir=/tmp/a	b" "--bindir=/tmp/it's" \
    "--prefix=/tmp/a&b"; do
    rm -rf source
    run -1 configure "$name"
    assert_output --partial "${name%%=*}=\"${name#*=}\": libtool cannot install"
    refute_output --partial "checking for mpicc"
  done
}

@test "configure is made of its sources without a warning" {
  command -v autoconf >/dev/null || skip "autoconf is not installed"
  cp -r "$abs_top_srcdir"/{configure.ac,aclocal.m4,m4} .
  run -0 autoconf --warnings=all --output=configure
  refute_output
}

@test "make dist packs every file of the repository" {
  run git -C "$abs_top_srcdir" ls-files -- ':!.gitignore'
  [ "$status" -eq 0 ] || skip "not in a checkout of git"
  sort <<<"$output" >tracked
  run -0 make -C "$abs_top_builddir" distdir distdir="$PWD/dist"
  (cd dist && find . -type f | sed 's,^\./,,' | sort) >packed
  run comm -23 tracked packed
  assert_output ""
}

@test "without bats, make check fails and says why" {
  run -1 "$abs_top_srcdir/build-aux/run-bats" ./no-bats --tap some.bats
  assert_output --regexp "^Bail out! ./no-bats is not installed .*apt-get"
}

@test "without mpirun, tests fail and say why" {
  MPIRUN=$PWD/no-mpirun run bats --tap "$abs_top_srcdir/tests/bats/build.bats" \
    --filter "the build made"
  assert_failure
  assert_output --partial "no-mpirun not found"
}
