# The baseline: the Myrmics calls by plain message passing, for comparison and
# as an oracle.  Only the calls, and MPI_Finalize, are visible.
lib_LTLIBRARIES += libmyrmics.la
libmyrmics_la_SOURCES = benchmarks/baseline/plain.c
libmyrmics_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
libmyrmics_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 \
	-export-symbols-regex '^(_?sys_|pr_get_|myrmics_record_|ar_(free_)?timer_|MPI_Finalize$$)'
libmyrmics_la_LIBADD = libbaseline.la $(MPI_LIBS)

noinst_LTLIBRARIES += libbaseline.la
libbaseline_la_SOURCES = \
	benchmarks/baseline/base.h \
	benchmarks/baseline/calls.c \
	benchmarks/baseline/copies.c \
	benchmarks/baseline/copies.h \
	benchmarks/baseline/exchange.c \
	benchmarks/baseline/heap.c \
	benchmarks/baseline/heap.h \
	benchmarks/baseline/messages.c \
	benchmarks/baseline/pages.c \
	benchmarks/baseline/pages.h \
	benchmarks/baseline/recording.c \
	benchmarks/baseline/scheduler.c \
	benchmarks/baseline/start.c \
	benchmarks/baseline/wire.h \
	runtime/record/record.c runtime/record/record.h
libbaseline_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
libbaseline_la_LIBADD = $(MPI_LIBS)

# What a legacy program may count on, as a program; run on the baseline here,
# and unchanged under the shim elsewhere.
check_PROGRAMS += myrmics_semantics
myrmics_semantics_SOURCES = \
	tests/programs/myrmics_data.c \
	tests/programs/myrmics_errors.c \
	tests/programs/myrmics_memory.c \
	tests/programs/myrmics_semantics.c \
	tests/programs/myrmics_semantics.h
myrmics_semantics_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
myrmics_semantics_LDFLAGS = $(AM_LDFLAGS) -no-install
myrmics_semantics_LDADD = libmyrmics.la $(MPI_LIBS)

check_PROGRAMS += myrmics_ends
myrmics_ends_SOURCES = tests/programs/myrmics_ends.c
myrmics_ends_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
myrmics_ends_LDFLAGS = $(AM_LDFLAGS) -no-install
myrmics_ends_LDADD = libmyrmics.la $(MPI_LIBS)

check_PROGRAMS += tests/unit/baseline_heap.t
tests_unit_baseline_heap_t_SOURCES = tests/unit/baseline_heap.c
tests_unit_baseline_heap_t_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_unit_baseline_heap_t_LDADD = libbaseline.la $(MPI_LIBS)
TESTS += tests/unit/baseline_heap.t

long_tests += tests/bats/baseline.bats
EXTRA_DIST += tests/bats/baseline.bats
