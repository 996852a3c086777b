# An example of drasync.hpp.

if CXX17
drasynclibexec_PROGRAMS += programs/wordindex/wordindex
programs_wordindex_wordindex_SOURCES = programs/wordindex/wordindex.cc
programs_wordindex_wordindex_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
programs_wordindex_wordindex_LDADD = libdrasync.la $(MPI_LIBS)
endif

TESTS += tests/bats/cxx_wordindex.bats
EXTRA_DIST += tests/bats/cxx_wordindex.bats
