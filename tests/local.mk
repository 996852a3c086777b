# The tests of a folder are named in that folder's local.mk; here is what all
# share, and the tests of the build.
build_tests = tests/bats/build.bats tests/bats/build-scripts.bats \
	tests/bats/build-docs.bats tests/bats/build-examples.bats \
	tests/bats/build-includes.bats
TESTS += $(build_tests)
install_tests += tests/bats/build-installed.bats
EXTRA_DIST += $(build_tests) tests/bats/build-installed.bats \
	tests/bats/common.bash tests/bats/installed.bash \
	tests/sanitizers/lsan.supp tests/sanitizers/tsan.supp \
	tests/sanitizers/valgrind.supp

long_tests += tests/bats/cluster.bats tests/bats/valgrind.bats
EXTRA_DIST += tests/bats/cluster.bats tests/bats/valgrind.bats

# Of programs without a stanza.
EXTRA_DIST += $(test_headers)
test_headers = \
	tests/programs/dart_check.h \
	tests/programs/dart_forms.h \
	tests/programs/dart_lock_check.h \
	tests/programs/dart_nomem.h \
	tests/programs/dart_updates.h \
	tests/programs/dart_yield.h \
	tests/programs/failing.h \
	tests/programs/forbid_process_vm.h \
	tests/programs/myrmics_check.h \
	tests/programs/myrmics_semantics.h \
	tests/programs/nap.h \
	tests/programs/native_ahead.h \
	tests/programs/native_check.h \
	tests/programs/native_death.h \
	tests/programs/native_managed.h \
	tests/programs/native_objects.h \
	tests/programs/native_pair.h \
	tests/programs/native_run.h \
	tests/programs/native_random.h \
	tests/programs/rma_one.h
