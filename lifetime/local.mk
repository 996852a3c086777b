noinst_LTLIBRARIES += libdrasync_lifetime.la
libdrasync_lifetime_la_SOURCES = \
	lifetime/blocks.c \
	lifetime/cycle.c \
	lifetime/cycle_lists.c \
	lifetime/hybrid.c \
	lifetime/layout.h \
	lifetime/lifetime.h \
	lifetime/object.c \
	lifetime/pool.c \
	lifetime/robust.c \
	lifetime/state.h \
	lifetime/thread.c

lifetime_tests = \
	tests/unit/lifetime.t \
	tests/unit/lifetime_dies.t \
	tests/unit/lifetime_edges.t \
	tests/unit/lifetime_threads.t

check_PROGRAMS += $(lifetime_tests)
TESTS += tests/unit/lifetime.t tests/unit/lifetime_edges.t \
	tests/unit/lifetime_threads.t
long_tests += tests/unit/lifetime_dies.t

tests_unit_lifetime_t_SOURCES = tests/unit/lifetime.c \
	tests/unit/lifetime_common.h
tests_unit_lifetime_t_LDADD = libdrasync_lifetime.la
tests_unit_lifetime_dies_t_SOURCES = tests/unit/lifetime_dies.c \
	tests/unit/lifetime_common.h
tests_unit_lifetime_dies_t_LDADD = libdrasync_lifetime.la
tests_unit_lifetime_edges_t_SOURCES = tests/unit/lifetime_edges.c \
	tests/unit/lifetime_common.h
tests_unit_lifetime_edges_t_LDADD = libdrasync_lifetime.la
tests_unit_lifetime_threads_t_SOURCES = tests/unit/lifetime_threads.c \
	tests/unit/lifetime_common.h
tests_unit_lifetime_threads_t_LDADD = libdrasync_lifetime.la
