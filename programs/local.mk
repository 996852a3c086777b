# Example programs.  What they share, then one fragment for each pair.

noinst_LTLIBRARIES += programs/common/libcommon.la
programs_common_libcommon_la_SOURCES = \
	programs/common/csv.c programs/common/csv.h \
	programs/common/report.c programs/common/report.h

include programs/delaunay/local.mk
include programs/barnes_hut/local.mk
