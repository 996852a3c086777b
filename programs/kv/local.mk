# A key-value store, in three forms that share their tables.

noinst_LTLIBRARIES += programs/kv/libkv.la
programs_kv_libkv_la_SOURCES = programs/kv/kv.c programs/kv/kv.h
programs_kv_libkv_la_LIBADD = programs/common/libmeasure.la -lm

drasynclibexec_PROGRAMS += programs/kv/kv_mpi
programs_kv_kv_mpi_SOURCES = programs/kv/kv_mpi.c
programs_kv_kv_mpi_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
programs_kv_kv_mpi_LDADD = programs/kv/libkv.la $(MPI_LIBS)

drasynclibexec_PROGRAMS += programs/kv/kv_native
programs_kv_kv_native_SOURCES = programs/kv/kv_native.c
programs_kv_kv_native_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
programs_kv_kv_native_LDADD = programs/kv/libkv.la libdrasync.la $(MPI_LIBS)

drasynclibexec_PROGRAMS += programs/kv/kv_run
programs_kv_kv_run_SOURCES = programs/kv/kv_run.c
programs_kv_kv_run_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
programs_kv_kv_run_LDADD = programs/kv/libkv.la libdrasync.la $(MPI_LIBS)

long_tests += tests/bats/app_kv.bats
EXTRA_DIST += tests/bats/app_kv.bats
