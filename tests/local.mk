# The tests of a folder are named in that folder's local.mk; here is what all
# share, and the tests of the build.
build_tests = tests/bats/build.bats tests/bats/build-scripts.bats \
	tests/bats/build-docs.bats tests/bats/build-examples.bats \
	tests/bats/build-includes.bats
TESTS += $(build_tests)
EXTRA_DIST += $(build_tests) tests/bats/common.bash \
	tests/sanitizers/lsan.supp tests/sanitizers/tsan.supp

TESTS += tests/bats/cluster.bats
EXTRA_DIST += tests/bats/cluster.bats
