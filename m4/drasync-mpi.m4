# Finding MPICH through its compiler wrapper.

# DRASYNC_FIND_MPICC
# ------------------
# Set MPICC, MPICXX, MPIRUN; set CC to the compiler that MPICC calls unless the
# user chose one; set MPI_CPPFLAGS and MPI_LIBS to what MPICC adds.
AC_DEFUN([DRASYNC_FIND_MPICC], [
AC_BEFORE([$0], [AC_PROG_CC])
AC_ARG_VAR([MPICC], [the C compiler wrapper of MPICH])
AC_ARG_VAR([MPICXX], [the C++ compiler wrapper of MPICH])
AC_ARG_VAR([MPIRUN], [the program that starts MPI jobs])
AC_PATH_PROGS([MPICC], [mpicc mpicc.mpich])
AS_IF([test -z "$MPICC"],
      [AC_MSG_ERROR(m4_normalize([mpicc not found: DRASync needs MPICH
                    (Debian: apt-get install mpich libmpich-dev)]))])
# The wrapper for C++ and mpirun of the same MPI carry the same suffix.
drasync_mpi_suffix=`AS_ECHO(["$MPICC"]) | sed 's%.*/%%; s%^[[^.]]*%%'`
drasync_mpi_dir=`AS_DIRNAME(["$MPICC"])`
AC_PATH_PROGS([MPICXX], [mpicxx$drasync_mpi_suffix mpicxx], [mpicxx],
              [$drasync_mpi_dir$PATH_SEPARATOR$PATH])
AC_PATH_PROGS([MPIRUN], [mpirun$drasync_mpi_suffix mpirun mpiexec], [mpirun],
              [$drasync_mpi_dir$PATH_SEPARATOR$PATH])

AC_MSG_CHECKING([what $MPICC calls])
drasync_compile=`"$MPICC" -compile-info 2>/dev/null` || drasync_compile=
drasync_link=`"$MPICC" -link-info 2>/dev/null` || drasync_link=
AS_IF([test -z "$drasync_compile" || test -z "$drasync_link"],
      [AC_MSG_RESULT([unknown])
       DRASYNC_NOT_MPICH])
drasync_cc= MPI_CPPFLAGS= MPI_LIBS=
for drasync_word in $drasync_compile; do
    AS_CASE([$drasync_word],
            [-I*|-D*], [MPI_CPPFLAGS="$MPI_CPPFLAGS $drasync_word"],
            [-*], [],
            [test -n "$MPI_CPPFLAGS" || drasync_cc="$drasync_cc $drasync_word"])
done
for drasync_word in $drasync_link; do
    AS_CASE([$drasync_word],
            [-Wl,-z*], [],
            [-L*|-l*|-Wl,*], [MPI_LIBS="$MPI_LIBS $drasync_word"])
done
drasync_cc=`echo $drasync_cc`
AC_MSG_RESULT([$drasync_cc])
: ${CC="$drasync_cc"}
# Our C++ programs use MPI's C interface; that of C++ left the standard.
MPI_CPPFLAGS="$MPI_CPPFLAGS -DMPICH_SKIP_MPICXX"
AC_SUBST([MPI_CPPFLAGS])
AC_SUBST([MPI_LIBS])
])

# DRASYNC_CHECK_MPICH_ABI
# -----------------------
# The shim takes over calls of programs that were compiled elsewhere, so what
# counts is the binary interface: handles are integers with MPICH's values.
AC_DEFUN([DRASYNC_CHECK_MPICH_ABI], [
drasync_save_CPPFLAGS=$CPPFLAGS
drasync_save_LIBS=$LIBS
CPPFLAGS="$CPPFLAGS $MPI_CPPFLAGS"
LIBS="$MPI_LIBS $LIBS"
AC_MSG_CHECKING([whether MPI has the MPICH ABI])
AC_LINK_IFELSE([AC_LANG_PROGRAM([[
#include <mpi.h>
#if MPI_VERSION < 3
#error "MPI-3 is needed"
#endif
_Static_assert(sizeof(MPI_Comm) == sizeof(int), "handles are integers");
_Static_assert((int)MPI_COMM_WORLD == 0x44000000, "of MPICH's values");
]], [[return MPI_Init(0, 0);]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     DRASYNC_NOT_MPICH])
AC_COMPUTE_INT([drasync_mpi_number], [MPICH_NUMVERSION], [#include <mpi.h>],
               [drasync_mpi_number=0])
AS_IF([test "$drasync_mpi_number" -gt 0],
      [AS_VAR_ARITH([drasync_mpi_major], [$drasync_mpi_number / 10000000])
       drasync_mpi_name="MPICH $drasync_mpi_major"],
      [drasync_mpi_name="of the MPICH ABI"])
CPPFLAGS=$drasync_save_CPPFLAGS
LIBS=$drasync_save_LIBS
])

AC_DEFUN([DRASYNC_NOT_MPICH],
[AC_MSG_ERROR(m4_normalize([$MPICC is not of an MPI with the MPICH ABI, version
    3 or later, which DRASync needs (choose one with MPICC=...; on Debian:
    MPICC=mpicc.mpich)]))])
