# Example programs.  What they share, then one fragment for each pair.

noinst_LTLIBRARIES += programs/common/libcommon.la
programs_common_libcommon_la_SOURCES = \
	programs/common/csv.c programs/common/csv.h \
	programs/common/options.c programs/common/options.h \
	programs/common/check.h programs/common/report.c programs/common/report.h

# What applications in two forms share: it needs MPI.
noinst_LTLIBRARIES += programs/common/libmeasure.la
programs_common_libmeasure_la_SOURCES = \
	programs/common/measure.c programs/common/measure.h
programs_common_libmeasure_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
programs_common_libmeasure_la_LIBADD = programs/common/libcommon.la

check_PROGRAMS += tests/unit/programs_csv.t
TESTS += tests/unit/programs_csv.t
tests_unit_programs_csv_t_SOURCES = tests/unit/programs_csv.c
tests_unit_programs_csv_t_LDADD = programs/common/libcommon.la

include programs/delaunay/local.mk
include programs/barnes_hut/local.mk
include programs/dart/local.mk
include programs/kv/local.mk
include programs/pipeline/local.mk
include programs/cg/local.mk
include programs/graph/local.mk
include programs/octree/local.mk
include programs/steal/local.mk
include programs/wordindex/local.mk

EXTRA_DIST += tests/bats/app.bash
