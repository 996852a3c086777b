# Barnes-Hut N-body, in forms that share their numerical code.

noinst_LTLIBRARIES += programs/barnes_hut/libbarnes_hut.la
programs_barnes_hut_libbarnes_hut_la_SOURCES = \
	programs/barnes_hut/bodies.c programs/barnes_hut/bodies.h \
	programs/barnes_hut/cell.c programs/barnes_hut/cell.h \
	programs/barnes_hut/forces.c programs/barnes_hut/forces.h \
	programs/barnes_hut/program.c programs/barnes_hut/program.h \
	programs/barnes_hut/share.c \
	programs/barnes_hut/tree.c programs/barnes_hut/tree.h
# No contraction: the same bits from every compiler and for every target.
programs_barnes_hut_libbarnes_hut_la_CFLAGS = $(AM_CFLAGS) -ffp-contract=off
programs_barnes_hut_libbarnes_hut_la_LIBADD = \
	programs/common/libcommon.la -lm

drasynclibexec_PROGRAMS += programs/barnes_hut/barnes_hut_myrmics
programs_barnes_hut_barnes_hut_myrmics_SOURCES = programs/barnes_hut/barnes_hut_myrmics.c
programs_barnes_hut_barnes_hut_myrmics_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
programs_barnes_hut_barnes_hut_myrmics_LDADD = programs/barnes_hut/libbarnes_hut.la \
	libmyrmics.la $(MPI_LIBS)

check_PROGRAMS += tests/unit/barnes_hut.t
TESTS += tests/unit/barnes_hut.t
tests_unit_barnes_hut_t_SOURCES = tests/unit/barnes_hut.c
tests_unit_barnes_hut_t_LDADD = programs/barnes_hut/libbarnes_hut.la

long_tests += tests/bats/barnes_hut.bats tests/bats/barnes_hut_forms.bats \
	tests/bats/app_barnes_hut.bats tests/bats/save_barnes_hut.bats
EXTRA_DIST += tests/bats/barnes_hut.bats tests/bats/barnes_hut_forms.bats \
	tests/bats/app_barnes_hut.bats tests/bats/save_barnes_hut.bats

drasynclibexec_PROGRAMS += programs/barnes_hut/barnes_hut_native
programs_barnes_hut_barnes_hut_native_SOURCES = \
	programs/barnes_hut/barnes_hut_native.c \
	programs/barnes_hut/parts.c programs/barnes_hut/parts.h \
	programs/barnes_hut/saved.c programs/barnes_hut/saved.h
programs_barnes_hut_barnes_hut_native_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
programs_barnes_hut_barnes_hut_native_LDADD = \
	programs/barnes_hut/libbarnes_hut.la libdrasync.la $(MPI_LIBS)

drasynclibexec_PROGRAMS += programs/barnes_hut/barnes_hut_mpi
programs_barnes_hut_barnes_hut_mpi_SOURCES = programs/barnes_hut/barnes_hut_mpi.c
programs_barnes_hut_barnes_hut_mpi_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
# As the library: it must round as the forces do.
programs_barnes_hut_barnes_hut_mpi_CFLAGS = $(AM_CFLAGS) -ffp-contract=off
programs_barnes_hut_barnes_hut_mpi_LDADD = \
	programs/barnes_hut/libbarnes_hut.la $(MPI_LIBS) -lm
