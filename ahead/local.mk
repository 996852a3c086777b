# What is to be asked ahead, found out from acquires; an archive of its own, for
# its tests.
noinst_LTLIBRARIES += libdrasync_ahead.la
libdrasync_ahead_la_SOURCES = \
	ahead/engine.h \
	ahead/follow.c \
	ahead/phases.c

ahead_tests = tests/unit/ahead_follow.t tests/unit/ahead_phases.t
check_PROGRAMS += $(ahead_tests)
TESTS += $(ahead_tests)
tests_unit_ahead_follow_t_SOURCES = tests/unit/ahead_follow.c
tests_unit_ahead_follow_t_LDADD = libdrasync_ahead.la
tests_unit_ahead_phases_t_SOURCES = tests/unit/ahead_phases.c
tests_unit_ahead_phases_t_LDADD = libdrasync_ahead.la
