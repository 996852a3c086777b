# Benchmarks: a program for each row of docs/performance.md.  They are built by
# make check, so that they stay whole, and not installed.  make bench runs them.

noinst_LTLIBRARIES += benchmarks/libbench.la
benchmarks_libbench_la_SOURCES = \
	benchmarks/common.c benchmarks/common.h \
	benchmarks/handover.h benchmarks/objects.h \
	benchmarks/pages.h benchmarks/reacquire.h \
	benchmarks/small_regions.h
benchmarks_libbench_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
benchmarks_libbench_la_LIBADD = programs/common/libcommon.la

bench_programs =
check_PROGRAMS += $(bench_programs)

bench_cppflags = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
bench_ldflags = $(AM_LDFLAGS) -no-install
bench_ldadd = benchmarks/libbench.la libdrasync.la $(MPI_LIBS)

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

bench-programs: $(bench_programs)
bench: $(bench_programs)
	DRASYNC_BUILD='$(abs_top_builddir)' MPIRUN='$(MPIRUN)' \
		$(SHELL) '$(top_srcdir)/scripts/bench'
.PHONY: bench bench-programs

TESTS += tests/bats/bench.bats
EXTRA_DIST += tests/bats/bench.bats scripts/bench docs/performance.md
