# An example of the DART interface.

drasynclibexec_PROGRAMS += programs/dart/cities_dart
programs_dart_cities_dart_SOURCES = programs/dart/cities_dart.c
programs_dart_cities_dart_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
programs_dart_cities_dart_LDADD = libdart-mpi.la $(MPI_LIBS)

TESTS += tests/bats/dart_cities.bats
EXTRA_DIST += tests/bats/dart_cities.bats
