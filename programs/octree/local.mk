# Octree exchange, in two forms that share their numerical code.

noinst_LTLIBRARIES += programs/octree/liboctree.la
programs_octree_liboctree_la_SOURCES = \
	programs/octree/cloud.c programs/octree/cloud.h \
	programs/octree/program.c programs/octree/program.h
programs_octree_liboctree_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
programs_octree_liboctree_la_LIBADD = \
	programs/common/libmeasure.la programs/common/libcommon.la -lm

drasynclibexec_PROGRAMS += programs/octree/octree_mpi
programs_octree_octree_mpi_SOURCES = programs/octree/octree_mpi.c
programs_octree_octree_mpi_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
programs_octree_octree_mpi_LDADD = programs/octree/liboctree.la $(MPI_LIBS)

drasynclibexec_PROGRAMS += programs/octree/octree_native
programs_octree_octree_native_SOURCES = programs/octree/octree_native.c
programs_octree_octree_native_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
programs_octree_octree_native_LDADD = \
	programs/octree/liboctree.la libdrasync.la $(MPI_LIBS)

check_PROGRAMS += tests/unit/octree.t
TESTS += tests/unit/octree.t
tests_unit_octree_t_SOURCES = tests/unit/octree.c
tests_unit_octree_t_LDADD = programs/octree/liboctree.la

TESTS += tests/bats/app_octree.bats
EXTRA_DIST += tests/bats/app_octree.bats
