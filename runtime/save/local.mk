# Subtrees of regions to files and back.
libdrasync_runtime_la_SOURCES += \
	runtime/save/by_time.c \
	runtime/save/files.h \
	runtime/save/leftover.c \
	runtime/save/load.c \
	runtime/save/output.c \
	runtime/save/output.h \
	runtime/save/progress.c \
	runtime/save/progress.h \
	runtime/save/save.c

native_test_programs += \
	tests/programs/save_disk \
	tests/programs/save_steps tests/programs/save_threads tests/programs/save_held \
	tests/programs/save_ranks \
	tests/programs/save_tree
long_tests += tests/bats/save.bats
EXTRA_DIST += tests/bats/save.bats tests/programs/save_tree.h

check_PROGRAMS += tests/unit/save_progress.t
TESTS += tests/unit/save_progress.t
tests_unit_save_progress_t_SOURCES = tests/unit/save_progress.c \
	tests/unit/memory_common.h
tests_unit_save_progress_t_LDADD = libdrasync_runtime.la
