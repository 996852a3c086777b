# Benchmarks: a program for each row of docs/performance-rows.md, and line_time, which
# scripts/bench asks.  They are built by make check, so that they stay whole, and
# not installed.  make bench runs them.

noinst_LTLIBRARIES += benchmarks/libbench.la
benchmarks_libbench_la_SOURCES = \
	benchmarks/ahead_row.h \
	benchmarks/allocators.c benchmarks/allocators.h \
	benchmarks/async.h \
	benchmarks/common.c benchmarks/common.h \
	benchmarks/compare.c benchmarks/result.c \
	benchmarks/dart.h benchmarks/dart_busy.h benchmarks/dart_lock.h \
	benchmarks/dart_node.h benchmarks/dart_wire.h \
	benchmarks/dart_wire_cases.h benchmarks/engine_row.h \
	benchmarks/handover.h benchmarks/handover_row.h \
	benchmarks/mcs.h benchmarks/new_row.h benchmarks/objects.h \
	benchmarks/pages.h benchmarks/pieces.h benchmarks/reacquire.h \
	benchmarks/shared_window.h benchmarks/small_regions.h \
	benchmarks/threads_row.h benchmarks/tree_row.h
benchmarks_libbench_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
benchmarks_libbench_la_LIBADD = programs/common/libcommon.la

bench_programs =
check_PROGRAMS += $(bench_programs)

bench_cppflags = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
bench_ldflags = $(AM_LDFLAGS) -no-install
bench_ldadd = benchmarks/libbench.la libdrasync.la $(MPI_LIBS)

bench_programs += benchmarks/alloc_churn
benchmarks_alloc_churn_SOURCES = benchmarks/alloc_churn.c
benchmarks_alloc_churn_CPPFLAGS = $(bench_cppflags)
benchmarks_alloc_churn_LDFLAGS = $(bench_ldflags)
benchmarks_alloc_churn_LDADD = benchmarks/libbench.la libdrasync_shim.la \
	libdrasync.la $(MPI_LIBS) $(MIMALLOC_LIBS)

bench_programs += benchmarks/alloc_threads
benchmarks_alloc_threads_SOURCES = benchmarks/alloc_threads.c
benchmarks_alloc_threads_CPPFLAGS = $(bench_cppflags)
benchmarks_alloc_threads_LDFLAGS = $(bench_ldflags)
benchmarks_alloc_threads_LDADD = benchmarks/libbench.la libdrasync_shim.la \
	libdrasync.la $(MPI_LIBS) $(MIMALLOC_LIBS)

bench_programs += benchmarks/region_create
benchmarks_region_create_SOURCES = benchmarks/region_create.c
benchmarks_region_create_CPPFLAGS = $(bench_cppflags) $(APR_CFLAGS) \
	$(TALLOC_CFLAGS)
benchmarks_region_create_LDFLAGS = $(bench_ldflags)
benchmarks_region_create_LDADD = $(bench_ldadd) $(APR_LIBS) $(TALLOC_LIBS)

bench_programs += benchmarks/read_threads
benchmarks_read_threads_SOURCES = benchmarks/read_threads.c
benchmarks_read_threads_CPPFLAGS = $(bench_cppflags) $(URCU_CFLAGS)
benchmarks_read_threads_LDFLAGS = $(bench_ldflags)
benchmarks_read_threads_LDADD = $(bench_ldadd) $(URCU_LIBS)

# Of lifetime/, which no library holds.
bench_programs += benchmarks/objects_rate benchmarks/objects_cycle
benchmarks_objects_rate_SOURCES = benchmarks/objects_rate.c
benchmarks_objects_rate_CPPFLAGS = $(bench_cppflags)
benchmarks_objects_rate_LDFLAGS = $(bench_ldflags)
benchmarks_objects_rate_LDADD = libdrasync_lifetime.la $(bench_ldadd)
benchmarks_objects_cycle_SOURCES = benchmarks/objects_cycle.c
benchmarks_objects_cycle_CPPFLAGS = $(bench_cppflags)
benchmarks_objects_cycle_LDFLAGS = $(bench_ldflags)
benchmarks_objects_cycle_LDADD = libdrasync_lifetime.la $(bench_ldadd)

# The jobs that benchmarks/start starts.
bench_programs += benchmarks/start_job_ours benchmarks/start_job_theirs
benchmarks_start_job_ours_SOURCES = benchmarks/start_job.c
benchmarks_start_job_ours_CPPFLAGS = $(bench_cppflags)
benchmarks_start_job_ours_LDFLAGS = $(bench_ldflags)
benchmarks_start_job_ours_LDADD = libdrasync.la $(MPI_LIBS)
benchmarks_start_job_theirs_SOURCES = benchmarks/start_job.c
benchmarks_start_job_theirs_CPPFLAGS = $(bench_cppflags) -DPLAIN
benchmarks_start_job_theirs_LDADD = $(MPI_LIBS)

# About DART.
bench_dart_ldadd = benchmarks/libbench.la libdart-mpi.la libdrasync.la $(MPI_LIBS)

# With the applications, for scripts/bench --apps.
bench-programs: $(bench_programs) $(bench_native_programs) \
	$(bench_dart_programs) $(drasynclibexec_PROGRAMS)
bench: bench-programs
	DRASYNC_BUILD='$(abs_top_builddir)' MPIRUN='$(MPIRUN)' \
		bash '$(top_srcdir)/scripts/bench'
.PHONY: bench bench-programs

TESTS += tests/bats/bench.bats tests/bats/bench_apps.bats
EXTRA_DIST += tests/bats/bench.bats tests/bats/bench_apps.bats scripts/bench \
	scripts/bench-apps.bash docs/performance.md \
	docs/performance-rows.md docs/performance-dart.md

bench_native_programs += \
	benchmarks/line_time \
	benchmarks/alloc_fresh \
	benchmarks/alloc_small \
	benchmarks/free_bulk \
	benchmarks/hold_local \
	benchmarks/iacquire_threads \
	benchmarks/handover_small \
	benchmarks/handover_contended \
	benchmarks/handover_big \
	benchmarks/fair \
	benchmarks/tree_transfer \
	benchmarks/tree_wire \
	benchmarks/idle_cost \
	benchmarks/read_shared \
	benchmarks/wire_again \
	benchmarks/wire_changed \
	benchmarks/wire_latency \
	benchmarks/wire_write \
	benchmarks/wire_newer \
	benchmarks/wire_new \
	benchmarks/wire_delete \
	benchmarks/wire_busy \
	benchmarks/wire_bandwidth \
	benchmarks/wire_many \
	benchmarks/region_collect \
	benchmarks/ahead_pair \
	benchmarks/ahead_mpi \
	benchmarks/ahead_wrong \
	benchmarks/ahead_auto \
	benchmarks/ahead_halo \
	benchmarks/reacquire_unchanged \
	benchmarks/reacquire_touched \
	benchmarks/token_place \
	benchmarks/manager_messages \
	benchmarks/paper_protocol \
	benchmarks/near_bandwidth \
	benchmarks/start

# In C++; without a compiler they say so.
bench_native_programs += benchmarks/map_transfer benchmarks/map_wire
if CXX17
benchmarks_map_transfer_SOURCES = benchmarks/map_transfer.cc
benchmarks_map_transfer_LINK = $(CXXLINK)
benchmarks_map_wire_SOURCES = benchmarks/map_wire.cc
benchmarks_map_wire_LINK = $(CXXLINK)
else
benchmarks_map_transfer_SOURCES = benchmarks/without_cxx.c
benchmarks_map_transfer_LINK = $(LINK)
benchmarks_map_wire_SOURCES = benchmarks/without_cxx.c
benchmarks_map_wire_LINK = $(LINK)
endif
EXTRA_DIST += benchmarks/map_row.hpp benchmarks/map_transfer.cc \
	benchmarks/map_wire.cc benchmarks/without_cxx.c

bench_dart_programs += \
	benchmarks/dart_put_node \
	benchmarks/dart_get_node \
	benchmarks/dart_put_wire \
	benchmarks/dart_get_wire \
	benchmarks/dart_unit_wire \
	benchmarks/dart_mpi_wire \
	benchmarks/dart_shape_wire \
	benchmarks/dart_start \
	benchmarks/dart_busy_node \
	benchmarks/dart_busy_wire \
	benchmarks/dart_lock \
	benchmarks/dart_lock_contended \
	benchmarks/dart_many
