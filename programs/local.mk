# Example programs.  What they share, then one fragment for each pair.

noinst_LTLIBRARIES += programs/common/libcommon.la
programs_common_libcommon_la_SOURCES = \
	programs/common/csv.c programs/common/csv.h \
	programs/common/report.c programs/common/report.h

check_PROGRAMS += tests/unit/programs_csv.t
TESTS += tests/unit/programs_csv.t
tests_unit_programs_csv_t_SOURCES = tests/unit/programs_csv.c
tests_unit_programs_csv_t_LDADD = programs/common/libcommon.la

include programs/delaunay/local.mk
include programs/barnes_hut/local.mk
include programs/dart/local.mk
