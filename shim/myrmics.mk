# The Myrmics front, in the preload library.
libdrasync_shim_la_SOURCES += \
	fronts/myrmics.c \
	fronts/myrmics.h \
	fronts/myrmics_copy.c \
	fronts/myrmics_freed.c \
	fronts/myrmics_move.c \
	fronts/myrmics_move.h \
	fronts/myrmics_move_list.c \
	fronts/myrmics_move_table.c \
	fronts/myrmics_plain.c \
	fronts/myrmics_say.c

long_tests += tests/bats/myrmics.bats
TESTS += tests/bats/myrmics_move.bats
EXTRA_DIST += tests/bats/myrmics.bats tests/bats/myrmics_move.bats

check_PROGRAMS += myrmics_random
myrmics_random_SOURCES = tests/programs/myrmics_random.c
myrmics_random_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
myrmics_random_LDFLAGS = $(AM_LDFLAGS) -no-install
myrmics_random_LDADD = libmyrmics.la $(MPI_LIBS)

check_PROGRAMS += myrmics_handover
myrmics_handover_SOURCES = tests/programs/myrmics_handover.c
myrmics_handover_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
myrmics_handover_LDFLAGS = $(AM_LDFLAGS) -no-install
myrmics_handover_LDADD = libmyrmics.la $(MPI_LIBS)

# It refers to calls that the baseline does not have.
check_PROGRAMS += myrmics_move
myrmics_move_SOURCES = tests/programs/myrmics_move.c \
	tests/programs/myrmics_check.h
myrmics_move_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
myrmics_move_LDFLAGS = $(AM_LDFLAGS) -no-install
myrmics_move_LDADD = libdrasync_shim.la $(MPI_LIBS)

check_PROGRAMS += myrmics_foreign
myrmics_foreign_SOURCES = tests/programs/myrmics_foreign.c \
	tests/programs/myrmics_check.h
myrmics_foreign_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
myrmics_foreign_LDFLAGS = $(AM_LDFLAGS) -no-install
myrmics_foreign_LDADD = libdrasync_shim.la $(MPI_LIBS)

check_PROGRAMS += myrmics_objects
myrmics_objects_SOURCES = tests/programs/myrmics_objects.c \
	tests/programs/myrmics_check.h
myrmics_objects_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
myrmics_objects_LDFLAGS = $(AM_LDFLAGS) -no-install
myrmics_objects_LDADD = libdrasync_shim.la $(MPI_LIBS)

check_PROGRAMS += myrmics_everybody
myrmics_everybody_SOURCES = tests/programs/myrmics_everybody.c \
	tests/programs/myrmics_check.h
myrmics_everybody_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
myrmics_everybody_LDFLAGS = $(AM_LDFLAGS) -no-install
myrmics_everybody_LDADD = libmyrmics.la $(MPI_LIBS)

check_PROGRAMS += myrmics_receivers
myrmics_receivers_SOURCES = tests/programs/myrmics_receivers.c \
	tests/programs/myrmics_check.h
myrmics_receivers_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
myrmics_receivers_LDFLAGS = $(AM_LDFLAGS) -no-install
myrmics_receivers_LDADD = libmyrmics.la $(MPI_LIBS)

check_PROGRAMS += myrmics_full
myrmics_full_SOURCES = tests/programs/myrmics_full.c
myrmics_full_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
myrmics_full_LDFLAGS = $(AM_LDFLAGS) -no-install
myrmics_full_LDADD = libmyrmics.la $(MPI_LIBS)

check_PROGRAMS += myrmics_tail
myrmics_tail_SOURCES = tests/programs/myrmics_tail.c
myrmics_tail_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
myrmics_tail_LDFLAGS = $(AM_LDFLAGS) -no-install
myrmics_tail_LDADD = libmyrmics.la $(MPI_LIBS)

check_PROGRAMS += myrmics_freed
myrmics_freed_SOURCES = tests/programs/myrmics_freed.c
myrmics_freed_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
myrmics_freed_LDFLAGS = $(AM_LDFLAGS) -no-install
myrmics_freed_LDADD = libmyrmics.la $(MPI_LIBS)

check_PROGRAMS += myrmics_threads
myrmics_threads_SOURCES = tests/programs/myrmics_threads.c \
	tests/programs/myrmics_check.h
myrmics_threads_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
myrmics_threads_LDFLAGS = $(AM_LDFLAGS) -no-install
myrmics_threads_LDADD = libmyrmics.la $(MPI_LIBS)

check_PROGRAMS += myrmics_together
myrmics_together_SOURCES = tests/programs/myrmics_together.c \
	tests/programs/myrmics_check.h
myrmics_together_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
myrmics_together_LDFLAGS = $(AM_LDFLAGS) -no-install
myrmics_together_LDADD = libmyrmics.la $(MPI_LIBS)

check_PROGRAMS += myrmics_large
myrmics_large_SOURCES = tests/programs/myrmics_large.c \
	tests/programs/myrmics_check.h
myrmics_large_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
myrmics_large_LDFLAGS = $(AM_LDFLAGS) -no-install
myrmics_large_LDADD = libmyrmics.la $(MPI_LIBS)
