EXTRA_DIST += docs/checking.md docs/architecture.md docs/protocol.md
dist_man_MANS += docs/man/mpicc-drasync.1 docs/man/mpicxx-drasync.1 \
	docs/man/drasync.3 docs/man/drasync.hpp.3 docs/man/drasync-ps.1 \
	docs/man/drasync-file.1 \
	docs/man/dart.7 docs/man/drasync.7 docs/man/upmlib.3
EXTRA_DIST += docs/cxx.md docs/dart.md docs/diagnostics.md docs/lifetimes.md \
	docs/managed.md docs/migration.md docs/myrmics.md docs/reliability.md docs/save.md \
	docs/ahead.md docs/guide.md docs/tutorial.md docs/variables.md
EXTRA_DIST += docs/records.md docs/performance-figures.md
EXTRA_DIST += \
	docs/figures/apps.svg \
	docs/figures/apps.txt \
	docs/figures/barnes_hut_1m.svg \
	docs/figures/barnes_hut_512.svg \
	docs/figures/barnes_hut_64k.svg \
	docs/figures/barnes_hut_64k_hosts.svg \
	docs/figures/barnes_hut_8k.svg \
	docs/figures/barnes_hut_8k_hosts.svg \
	docs/figures/costs.csv \
	docs/figures/delaunay_100k.svg \
	docs/figures/delaunay_100k_hosts.svg \
	docs/figures/delaunay_1m.svg \
	docs/figures/figures.csv \
	docs/figures/measured.svg \
	docs/figures/summary.md \
	docs/figures/validation.csv \
	docs/figures/workloads.csv \
	docs/figures/workloads_manager_messages_per_operation.svg \
	docs/figures/workloads_messages_per_operation.svg \
	docs/figures/workloads_time_per_operation.svg
