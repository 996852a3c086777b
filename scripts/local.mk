EXTRA_DIST += scripts/setup.bash scripts/quickstart scripts/check \
	scripts/check-sanitizers scripts/check-includes scripts/cluster \
	scripts/sweep-kills scripts/sweep-programs scripts/mpich-refcount
long_tests += tests/bats/mpich_refcount.bats
EXTRA_DIST += tests/bats/mpich_refcount.bats benchmarks/neighbour_rate.c
EXTRA_DIST += scripts/figures scripts/figures.bash scripts/figures-plots.bash \
	scripts/figures-runs.bash
long_tests += tests/bats/figures.bats
EXTRA_DIST += tests/bats/figures.bats
