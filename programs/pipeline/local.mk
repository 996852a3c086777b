# Lists made by one rank and consumed by another, in two forms that share items.

noinst_LTLIBRARIES += programs/pipeline/libpipeline.la
programs_pipeline_libpipeline_la_SOURCES = \
	programs/pipeline/items.c programs/pipeline/items.h
programs_pipeline_libpipeline_la_LIBADD = programs/common/libmeasure.la

drasynclibexec_PROGRAMS += programs/pipeline/pipeline_mpi
programs_pipeline_pipeline_mpi_SOURCES = programs/pipeline/pipeline_mpi.c
programs_pipeline_pipeline_mpi_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
programs_pipeline_pipeline_mpi_LDADD = \
	programs/pipeline/libpipeline.la $(MPI_LIBS)

drasynclibexec_PROGRAMS += programs/pipeline/pipeline_native
programs_pipeline_pipeline_native_SOURCES = \
	programs/pipeline/pipeline_native.c
programs_pipeline_pipeline_native_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
programs_pipeline_pipeline_native_LDADD = \
	programs/pipeline/libpipeline.la libdrasync.la $(MPI_LIBS)

TESTS += tests/bats/app_pipeline.bats
EXTRA_DIST += tests/bats/app_pipeline.bats
