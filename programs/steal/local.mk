# Work stealing, in two forms that search the same tree.

noinst_LTLIBRARIES += programs/steal/libsteal.la
programs_steal_libsteal_la_SOURCES = \
	programs/steal/program.c programs/steal/program.h \
	programs/steal/tree.c programs/steal/tree.h
programs_steal_libsteal_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
programs_steal_libsteal_la_LIBADD = \
	programs/common/libmeasure.la programs/common/libcommon.la

drasynclibexec_PROGRAMS += programs/steal/steal_mpi
programs_steal_steal_mpi_SOURCES = programs/steal/steal_mpi.c \
	programs/steal/steal_mpi_window.c programs/steal/steal_mpi_window.h
programs_steal_steal_mpi_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
programs_steal_steal_mpi_LDADD = programs/steal/libsteal.la $(MPI_LIBS)

drasynclibexec_PROGRAMS += programs/steal/steal_native
programs_steal_steal_native_SOURCES = programs/steal/steal_native.c
programs_steal_steal_native_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
programs_steal_steal_native_LDADD = \
	programs/steal/libsteal.la libdrasync.la $(MPI_LIBS)

check_PROGRAMS += tests/unit/steal.t
TESTS += tests/unit/steal.t
tests_unit_steal_t_SOURCES = tests/unit/steal.c
tests_unit_steal_t_LDADD = programs/steal/libsteal.la

TESTS += tests/bats/app_steal.bats
EXTRA_DIST += tests/bats/app_steal.bats
