EXTRA_DIST += docs/architecture.md docs/protocol.md
dist_man_MANS += docs/man/mpicc-drasync.1 docs/man/mpicxx-drasync.1 \
	docs/man/drasync.3 docs/man/drasync.7
EXTRA_DIST += docs/myrmics.md
EXTRA_DIST += docs/records.md
