# Delaunay triangulation, in forms that share their numerical code.

noinst_LTLIBRARIES += programs/delaunay/libdelaunay.la
programs_delaunay_libdelaunay_la_SOURCES = \
	programs/delaunay/cell.c programs/delaunay/cell.h \
	programs/delaunay/insert.c programs/delaunay/insert.h \
	programs/delaunay/join.c \
	programs/delaunay/mesh.c programs/delaunay/mesh.h \
	programs/delaunay/partition.c programs/delaunay/partition.h \
	programs/delaunay/predicates.c programs/delaunay/predicates.h \
	programs/delaunay/program.c programs/delaunay/program.h \
	programs/delaunay/result.c programs/delaunay/result.h \
	programs/delaunay/steps.c \
	programs/delaunay/verify.c
programs_delaunay_libdelaunay_la_LIBADD = programs/common/libcommon.la -lm

delaunay_unit_tests = \
	tests/unit/delaunay_predicates.t \
	tests/unit/delaunay_mesh.t \
	tests/unit/delaunay_verify.t
check_PROGRAMS += $(delaunay_unit_tests)
TESTS += $(delaunay_unit_tests)
tests_unit_delaunay_predicates_t_SOURCES = tests/unit/delaunay_predicates.c \
	tests/unit/delaunay_helpers.h
tests_unit_delaunay_predicates_t_LDADD = programs/delaunay/libdelaunay.la
tests_unit_delaunay_mesh_t_SOURCES = tests/unit/delaunay_mesh.c \
	tests/unit/delaunay_helpers.h
tests_unit_delaunay_mesh_t_LDADD = programs/delaunay/libdelaunay.la
tests_unit_delaunay_verify_t_SOURCES = tests/unit/delaunay_verify.c \
	tests/unit/delaunay_helpers.h
tests_unit_delaunay_verify_t_LDADD = programs/delaunay/libdelaunay.la

drasynclibexec_PROGRAMS += programs/delaunay/delaunay_myrmics
programs_delaunay_delaunay_myrmics_SOURCES = programs/delaunay/main_myrmics.c
programs_delaunay_delaunay_myrmics_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
programs_delaunay_delaunay_myrmics_LDADD = \
	programs/delaunay/libdelaunay.la libmyrmics.la $(MPI_LIBS)

long_tests += tests/bats/delaunay.bats tests/bats/delaunay_drasync.bats \
	tests/bats/app_delaunay.bats
EXTRA_DIST += tests/bats/delaunay.bats tests/bats/delaunay_drasync.bats \
	tests/bats/app_delaunay.bats
EXTRA_DIST += docs/delaunay.md

drasynclibexec_PROGRAMS += programs/delaunay/delaunay_mpi
programs_delaunay_delaunay_mpi_SOURCES = programs/delaunay/main_mpi.c
programs_delaunay_delaunay_mpi_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
programs_delaunay_delaunay_mpi_LDADD = \
	programs/delaunay/libdelaunay.la $(MPI_LIBS)

drasynclibexec_PROGRAMS += programs/delaunay/delaunay_native
programs_delaunay_delaunay_native_SOURCES = programs/delaunay/main_native.c
programs_delaunay_delaunay_native_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
programs_delaunay_delaunay_native_LDADD = \
	programs/delaunay/libdelaunay.la libdrasync.la $(MPI_LIBS)
