# Both come from mpicc-drasync.in, which configure knows of.
bin_SCRIPTS += mpicc-drasync mpicxx-drasync

EXTRA_DIST += tests/bats/wrappers.bats tests/bats/wrappers-installed.bats
TESTS += tests/bats/wrappers.bats tests/bats/wrappers-installed.bats
