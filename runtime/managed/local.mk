# Regions that end when nobody refers to them.
libdrasync_runtime_la_SOURCES += \
	runtime/managed/calls.c \
	runtime/managed/circles.c \
	runtime/managed/end.c \
	runtime/managed/far.c \
	runtime/managed/far.h \
	runtime/managed/far_look.c \
	runtime/managed/far_node.c \
	runtime/managed/home.c \
	runtime/managed/linked.c \
	runtime/managed/links.c \
	runtime/managed/managed.h \
	runtime/managed/references.c \
	runtime/managed/state.h \
	runtime/managed/table.c \
	runtime/managed/wire.c

native_test_programs += tests/programs/native_circles tests/programs/native_circle_again \
	tests/programs/native_circle_below \
	tests/programs/native_circle_soon tests/programs/native_end_chain \
	tests/programs/native_managed tests/programs/native_managed_dies \
	tests/programs/native_managed_far tests/programs/native_managed_first \
	tests/programs/native_managed_random tests/programs/native_managed_threads
long_tests += tests/bats/managed.bats
EXTRA_DIST += tests/bats/managed.bats
