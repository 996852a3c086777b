# The Myrmics front, in the preload library.
libdrasync_shim_la_SOURCES += \
	fronts/myrmics.c \
	fronts/myrmics.h \
	fronts/myrmics_copy.c \
	fronts/myrmics_plain.c \
	fronts/myrmics_say.c

TESTS += tests/bats/myrmics.bats
EXTRA_DIST += tests/bats/myrmics.bats

check_PROGRAMS += myrmics_random
myrmics_random_SOURCES = tests/programs/myrmics_random.c
myrmics_random_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
myrmics_random_LDFLAGS = $(AM_LDFLAGS) -no-install
myrmics_random_LDADD = libmyrmics.la $(MPI_LIBS)
