# Messages between nodes, and who makes them move.
libdrasync_runtime_la_SOURCES += \
	runtime/messages/call.c \
	runtime/messages/chores.c \
	runtime/messages/chores.h \
	runtime/messages/dispatch.c \
	runtime/messages/dispatch.h \
	runtime/messages/kinds.h \
	runtime/messages/link_watch.c \
	runtime/messages/link_watch.h \
	runtime/messages/messages.h \
	runtime/messages/outbox.c \
	runtime/messages/outbox.h \
	runtime/messages/progress.c \
	runtime/messages/progress.h \
	runtime/messages/progress_idle.c \
	runtime/messages/progress_idle.h \
	runtime/messages/progress_state.h \
	runtime/messages/progress_thread.c \
	runtime/messages/progress_turns.c \
	runtime/messages/progress_turns.h \
	runtime/messages/quiesce.c

check_PROGRAMS += tests/unit/progress_help.t
TESTS += tests/unit/progress_help.t
# It includes the files that it drives.
tests_unit_progress_help_t_SOURCES = tests/unit/progress_help.c \
	tests/unit/progress_hooks.h tests/unit/memory_common.h \
	tests/step/progress_stubs.c tests/step/stubs.c runtime/thread_create.c
tests_unit_progress_help_t_CFLAGS = $(AM_CFLAGS)
tests_unit_progress_help_t_LDADD = libdrasync_memory.la

native_test_programs += tests/programs/link_turns tests/programs/sendrecv_error
TESTS += tests/bats/links.bats
EXTRA_DIST += tests/bats/links.bats
