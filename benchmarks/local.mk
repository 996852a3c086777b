# Benchmarks: a program for each row of docs/performance.md, and line_time, which
# scripts/bench asks.  They are built by make check, so that they stay whole, and
# not installed.  make bench runs them.

noinst_LTLIBRARIES += benchmarks/libbench.la
benchmarks_libbench_la_SOURCES = \
	benchmarks/common.c benchmarks/common.h \
	benchmarks/dart.h benchmarks/dart_busy.h benchmarks/dart_lock.h \
	benchmarks/dart_node.h benchmarks/dart_wire.h \
	benchmarks/dart_wire_cases.h \
	benchmarks/handover.h benchmarks/mcs.h benchmarks/objects.h \
	benchmarks/pages.h benchmarks/reacquire.h \
	benchmarks/small_regions.h
benchmarks_libbench_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
benchmarks_libbench_la_LIBADD = programs/common/libcommon.la

bench_programs =
check_PROGRAMS += $(bench_programs)

bench_cppflags = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
bench_ldflags = $(AM_LDFLAGS) -no-install
bench_ldadd = benchmarks/libbench.la libdrasync.la $(MPI_LIBS)

bench_programs += benchmarks/line_time
benchmarks_line_time_SOURCES = benchmarks/line_time.c
benchmarks_line_time_CPPFLAGS = $(bench_cppflags)
benchmarks_line_time_LDFLAGS = $(bench_ldflags)
benchmarks_line_time_LDADD = $(bench_ldadd)

bench_programs += benchmarks/alloc_fresh
benchmarks_alloc_fresh_SOURCES = benchmarks/alloc_fresh.c
benchmarks_alloc_fresh_CPPFLAGS = $(bench_cppflags)
benchmarks_alloc_fresh_LDFLAGS = $(bench_ldflags)
benchmarks_alloc_fresh_LDADD = $(bench_ldadd)

bench_programs += benchmarks/alloc_small
benchmarks_alloc_small_SOURCES = benchmarks/alloc_small.c
benchmarks_alloc_small_CPPFLAGS = $(bench_cppflags)
benchmarks_alloc_small_LDFLAGS = $(bench_ldflags)
benchmarks_alloc_small_LDADD = $(bench_ldadd)

bench_programs += benchmarks/free_bulk
benchmarks_free_bulk_SOURCES = benchmarks/free_bulk.c
benchmarks_free_bulk_CPPFLAGS = $(bench_cppflags)
benchmarks_free_bulk_LDFLAGS = $(bench_ldflags)
benchmarks_free_bulk_LDADD = $(bench_ldadd)

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

bench_programs += benchmarks/hold_local
benchmarks_hold_local_SOURCES = benchmarks/hold_local.c
benchmarks_hold_local_CPPFLAGS = $(bench_cppflags)
benchmarks_hold_local_LDFLAGS = $(bench_ldflags)
benchmarks_hold_local_LDADD = $(bench_ldadd)

bench_programs += benchmarks/handover_small
benchmarks_handover_small_SOURCES = benchmarks/handover_small.c
benchmarks_handover_small_CPPFLAGS = $(bench_cppflags)
benchmarks_handover_small_LDFLAGS = $(bench_ldflags)
benchmarks_handover_small_LDADD = $(bench_ldadd)

bench_programs += benchmarks/handover_contended
benchmarks_handover_contended_SOURCES = benchmarks/handover_contended.c
benchmarks_handover_contended_CPPFLAGS = $(bench_cppflags)
benchmarks_handover_contended_LDFLAGS = $(bench_ldflags)
benchmarks_handover_contended_LDADD = $(bench_ldadd)

bench_programs += benchmarks/handover_big
benchmarks_handover_big_SOURCES = benchmarks/handover_big.c
benchmarks_handover_big_CPPFLAGS = $(bench_cppflags)
benchmarks_handover_big_LDFLAGS = $(bench_ldflags)
benchmarks_handover_big_LDADD = $(bench_ldadd)

bench_programs += benchmarks/tree_transfer
benchmarks_tree_transfer_SOURCES = benchmarks/tree_transfer.c
benchmarks_tree_transfer_CPPFLAGS = $(bench_cppflags)
benchmarks_tree_transfer_LDFLAGS = $(bench_ldflags)
benchmarks_tree_transfer_LDADD = $(bench_ldadd)

bench_programs += benchmarks/idle_cost
benchmarks_idle_cost_SOURCES = benchmarks/idle_cost.c
benchmarks_idle_cost_CPPFLAGS = $(bench_cppflags)
benchmarks_idle_cost_LDFLAGS = $(bench_ldflags)
benchmarks_idle_cost_LDADD = $(bench_ldadd)

bench_programs += benchmarks/read_shared
benchmarks_read_shared_SOURCES = benchmarks/read_shared.c
benchmarks_read_shared_CPPFLAGS = $(bench_cppflags)
benchmarks_read_shared_LDFLAGS = $(bench_ldflags)
benchmarks_read_shared_LDADD = $(bench_ldadd)

bench_programs += benchmarks/wire_latency
benchmarks_wire_latency_SOURCES = benchmarks/wire_latency.c
benchmarks_wire_latency_CPPFLAGS = $(bench_cppflags)
benchmarks_wire_latency_LDFLAGS = $(bench_ldflags)
benchmarks_wire_latency_LDADD = $(bench_ldadd)

bench_programs += benchmarks/wire_busy
benchmarks_wire_busy_SOURCES = benchmarks/wire_busy.c
benchmarks_wire_busy_CPPFLAGS = $(bench_cppflags)
benchmarks_wire_busy_LDFLAGS = $(bench_ldflags)
benchmarks_wire_busy_LDADD = $(bench_ldadd)

bench_programs += benchmarks/wire_bandwidth
benchmarks_wire_bandwidth_SOURCES = benchmarks/wire_bandwidth.c
benchmarks_wire_bandwidth_CPPFLAGS = $(bench_cppflags)
benchmarks_wire_bandwidth_LDFLAGS = $(bench_ldflags)
benchmarks_wire_bandwidth_LDADD = $(bench_ldadd)

bench_programs += benchmarks/wire_many
benchmarks_wire_many_SOURCES = benchmarks/wire_many.c
benchmarks_wire_many_CPPFLAGS = $(bench_cppflags)
benchmarks_wire_many_LDFLAGS = $(bench_ldflags)
benchmarks_wire_many_LDADD = $(bench_ldadd)

bench_programs += benchmarks/reacquire_unchanged
benchmarks_reacquire_unchanged_SOURCES = benchmarks/reacquire_unchanged.c
benchmarks_reacquire_unchanged_CPPFLAGS = $(bench_cppflags)
benchmarks_reacquire_unchanged_LDFLAGS = $(bench_ldflags)
benchmarks_reacquire_unchanged_LDADD = $(bench_ldadd)

bench_programs += benchmarks/reacquire_touched
benchmarks_reacquire_touched_SOURCES = benchmarks/reacquire_touched.c
benchmarks_reacquire_touched_CPPFLAGS = $(bench_cppflags)
benchmarks_reacquire_touched_LDFLAGS = $(bench_ldflags)
benchmarks_reacquire_touched_LDADD = $(bench_ldadd)

bench_programs += benchmarks/manager_messages
benchmarks_manager_messages_SOURCES = benchmarks/manager_messages.c
benchmarks_manager_messages_CPPFLAGS = $(bench_cppflags)
benchmarks_manager_messages_LDFLAGS = $(bench_ldflags)
benchmarks_manager_messages_LDADD = $(bench_ldadd)

bench_programs += benchmarks/paper_protocol
benchmarks_paper_protocol_SOURCES = benchmarks/paper_protocol.c
benchmarks_paper_protocol_CPPFLAGS = $(bench_cppflags)
benchmarks_paper_protocol_LDFLAGS = $(bench_ldflags)
benchmarks_paper_protocol_LDADD = $(bench_ldadd)

bench_programs += benchmarks/near_bandwidth
benchmarks_near_bandwidth_SOURCES = benchmarks/near_bandwidth.c
benchmarks_near_bandwidth_CPPFLAGS = $(bench_cppflags)
benchmarks_near_bandwidth_LDFLAGS = $(bench_ldflags)
benchmarks_near_bandwidth_LDADD = $(bench_ldadd)

# About DART.
bench_dart_ldadd = benchmarks/libbench.la libdart-mpi.la libdrasync.la $(MPI_LIBS)

bench_programs += benchmarks/dart_put_node
benchmarks_dart_put_node_SOURCES = benchmarks/dart_put_node.c
benchmarks_dart_put_node_CPPFLAGS = $(bench_cppflags)
benchmarks_dart_put_node_LDFLAGS = $(bench_ldflags)
benchmarks_dart_put_node_LDADD = $(bench_dart_ldadd)

bench_programs += benchmarks/dart_get_node
benchmarks_dart_get_node_SOURCES = benchmarks/dart_get_node.c
benchmarks_dart_get_node_CPPFLAGS = $(bench_cppflags)
benchmarks_dart_get_node_LDFLAGS = $(bench_ldflags)
benchmarks_dart_get_node_LDADD = $(bench_dart_ldadd)

bench_programs += benchmarks/dart_put_wire
benchmarks_dart_put_wire_SOURCES = benchmarks/dart_put_wire.c
benchmarks_dart_put_wire_CPPFLAGS = $(bench_cppflags)
benchmarks_dart_put_wire_LDFLAGS = $(bench_ldflags)
benchmarks_dart_put_wire_LDADD = $(bench_dart_ldadd)

bench_programs += benchmarks/dart_get_wire
benchmarks_dart_get_wire_SOURCES = benchmarks/dart_get_wire.c
benchmarks_dart_get_wire_CPPFLAGS = $(bench_cppflags)
benchmarks_dart_get_wire_LDFLAGS = $(bench_ldflags)
benchmarks_dart_get_wire_LDADD = $(bench_dart_ldadd)

bench_programs += benchmarks/dart_unit_wire
benchmarks_dart_unit_wire_SOURCES = benchmarks/dart_unit_wire.c
benchmarks_dart_unit_wire_CPPFLAGS = $(bench_cppflags)
benchmarks_dart_unit_wire_LDFLAGS = $(bench_ldflags)
benchmarks_dart_unit_wire_LDADD = $(bench_dart_ldadd)

bench_programs += benchmarks/dart_mpi_wire
benchmarks_dart_mpi_wire_SOURCES = benchmarks/dart_mpi_wire.c
benchmarks_dart_mpi_wire_CPPFLAGS = $(bench_cppflags)
benchmarks_dart_mpi_wire_LDFLAGS = $(bench_ldflags)
benchmarks_dart_mpi_wire_LDADD = $(bench_dart_ldadd)

bench_programs += benchmarks/dart_shape_wire
benchmarks_dart_shape_wire_SOURCES = benchmarks/dart_shape_wire.c
benchmarks_dart_shape_wire_CPPFLAGS = $(bench_cppflags)
benchmarks_dart_shape_wire_LDFLAGS = $(bench_ldflags)
benchmarks_dart_shape_wire_LDADD = $(bench_dart_ldadd)

bench_programs += benchmarks/dart_start
benchmarks_dart_start_SOURCES = benchmarks/dart_start.c
benchmarks_dart_start_CPPFLAGS = $(bench_cppflags)
benchmarks_dart_start_LDFLAGS = $(bench_ldflags)
benchmarks_dart_start_LDADD = $(bench_dart_ldadd)

bench_programs += benchmarks/dart_busy_node
benchmarks_dart_busy_node_SOURCES = benchmarks/dart_busy_node.c
benchmarks_dart_busy_node_CPPFLAGS = $(bench_cppflags)
benchmarks_dart_busy_node_LDFLAGS = $(bench_ldflags)
benchmarks_dart_busy_node_LDADD = $(bench_dart_ldadd)

bench_programs += benchmarks/dart_busy_wire
benchmarks_dart_busy_wire_SOURCES = benchmarks/dart_busy_wire.c
benchmarks_dart_busy_wire_CPPFLAGS = $(bench_cppflags)
benchmarks_dart_busy_wire_LDFLAGS = $(bench_ldflags)
benchmarks_dart_busy_wire_LDADD = $(bench_dart_ldadd)

bench_programs += benchmarks/dart_lock
benchmarks_dart_lock_SOURCES = benchmarks/dart_lock.c
benchmarks_dart_lock_CPPFLAGS = $(bench_cppflags)
benchmarks_dart_lock_LDFLAGS = $(bench_ldflags)
benchmarks_dart_lock_LDADD = $(bench_dart_ldadd)

bench_programs += benchmarks/dart_lock_contended
benchmarks_dart_lock_contended_SOURCES = benchmarks/dart_lock_contended.c
benchmarks_dart_lock_contended_CPPFLAGS = $(bench_cppflags)
benchmarks_dart_lock_contended_LDFLAGS = $(bench_ldflags)
benchmarks_dart_lock_contended_LDADD = $(bench_dart_ldadd)

bench_programs += benchmarks/dart_many
benchmarks_dart_many_SOURCES = benchmarks/dart_many.c
benchmarks_dart_many_CPPFLAGS = $(bench_cppflags)
benchmarks_dart_many_LDFLAGS = $(bench_ldflags)
benchmarks_dart_many_LDADD = $(bench_dart_ldadd)

bench-programs: $(bench_programs)
bench: $(bench_programs)
	DRASYNC_BUILD='$(abs_top_builddir)' MPIRUN='$(MPIRUN)' \
		$(SHELL) '$(top_srcdir)/scripts/bench'
.PHONY: bench bench-programs

TESTS += tests/bats/bench.bats
EXTRA_DIST += tests/bats/bench.bats scripts/bench docs/performance.md \
	docs/performance-rows.md docs/performance-dart.md
