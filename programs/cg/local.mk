# Conjugate gradient, in two forms that share their numerical code.

noinst_LTLIBRARIES += programs/cg/libcg.la
programs_cg_libcg_la_SOURCES = \
	programs/cg/matrix.c programs/cg/matrix.h \
	programs/cg/program.c programs/cg/program.h \
	programs/cg/solve.c programs/cg/solve.h
programs_cg_libcg_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
# No contraction: the same bits from every compiler and for every target.
programs_cg_libcg_la_CFLAGS = $(AM_CFLAGS) -ffp-contract=off
programs_cg_libcg_la_LIBADD = programs/common/libmeasure.la -lm

drasynclibexec_PROGRAMS += programs/cg/cg_mpi
programs_cg_cg_mpi_SOURCES = programs/cg/cg_mpi.c
programs_cg_cg_mpi_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
programs_cg_cg_mpi_LDADD = programs/cg/libcg.la $(MPI_LIBS)

drasynclibexec_PROGRAMS += programs/cg/cg_native
programs_cg_cg_native_SOURCES = programs/cg/cg_native.c
programs_cg_cg_native_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
programs_cg_cg_native_LDADD = programs/cg/libcg.la libdrasync.la $(MPI_LIBS)

long_tests += tests/bats/app_cg.bats
EXTRA_DIST += tests/bats/app_cg.bats
