# What is to be asked ahead, found out from acquires; an archive of its own, for
# its tests.
noinst_LTLIBRARIES += libdrasync_ahead.la
libdrasync_ahead_la_SOURCES = \
	ahead/engine.h \
	ahead/phases.c

check_PROGRAMS += tests/unit/ahead_phases.t
TESTS += tests/unit/ahead_phases.t
tests_unit_ahead_phases_t_SOURCES = tests/unit/ahead_phases.c
tests_unit_ahead_phases_t_LDADD = libdrasync_ahead.la
