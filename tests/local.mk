# The tests of a folder are named in that folder's local.mk; here is what all
# share, and the tests of the build.
TESTS += tests/bats/build.bats
EXTRA_DIST += tests/bats/common.bash tests/bats/build.bats \
	tests/sanitizers/lsan.supp tests/sanitizers/tsan.supp
