# Preloaded by its file name, hence no version in it.  Not linked to MPI: it is
# loaded into mpirun and every shell too.  The Myrmics front adds its files here
# (fronts/local.mk).
lib_LTLIBRARIES += libdrasync_shim.la
libdrasync_shim_la_SOURCES = shim/blocking.c shim/blocking.h shim/collectives.h \
	shim/counts.c shim/counts.h shim/counts_large.c shim/counts_next.h \
	shim/next.h shim/takeover.c shim/takeover.h
libdrasync_shim_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
libdrasync_shim_la_LDFLAGS = $(AM_LDFLAGS) -avoid-version -Wl,-z,nodelete \
	-export-symbols-regex '^(_?sys_.*|pr_get_.*|ar_.*|P?MPI_(Init|Init_thread|Finalize|Query_thread)|$(blocking_calls)|ucp_disconnect_nb)$$'
libdrasync_shim_la_LIBADD = libdrasync.la
include shim/myrmics.mk

# Preloaded beside it when a run is recorded.
lib_LTLIBRARIES += libdrasync_record.la
libdrasync_record_la_SOURCES = shim/collectives.h shim/next.h shim/record_mpi.c \
	shim/record_wait.c
libdrasync_record_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
libdrasync_record_la_LDFLAGS = $(AM_LDFLAGS) -avoid-version \
	-export-symbols-regex '^(MPI_|ucp_worker_progress$$)'
check_PROGRAMS += tests/programs/record_collectives
tests_programs_record_collectives_SOURCES = tests/programs/record_collectives.c
tests_programs_record_collectives_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_record_collectives_LDADD = libdrasync.la $(MPI_LIBS)
tests_programs_record_collectives_LDFLAGS = $(AM_LDFLAGS) -no-install
TESTS += tests/bats/record.bats
EXTRA_DIST += tests/bats/record.bats

# MPI's calls that wait, taken over.
check_PROGRAMS += tests/programs/blocking
tests_programs_blocking_SOURCES = tests/programs/blocking.c
tests_programs_blocking_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_blocking_LDADD = libdrasync.la $(MPI_LIBS)
tests_programs_blocking_LDFLAGS = $(AM_LDFLAGS) -no-install
native_test_programs += tests/programs/blocking_alike \
	tests/programs/blocking_finalize
TESTS += tests/bats/blocking.bats
EXTRA_DIST += tests/bats/blocking.bats tests/programs/blocking_tool.c
