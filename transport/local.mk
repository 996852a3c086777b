noinst_LTLIBRARIES += libdrasync_transport.la
libdrasync_transport_la_SOURCES = \
	transport/boot.c \
	transport/boot.h \
	transport/boot_find.c \
	transport/boot_leave.c \
	transport/boot_mpi.h \
	transport/bulk.c \
	transport/engine.c \
	transport/engine.h \
	transport/loop.c \
	transport/mpi.c \
	transport/mpi_table.h \
	transport/packets.c \
	transport/sink.c \
	transport/transport.h \
	transport/wire.h
libdrasync_transport_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)

check_PROGRAMS += tests/unit/transport_loop.t
TESTS += tests/unit/transport_loop.t
tests_unit_transport_loop_t_SOURCES = tests/unit/transport_loop.c
tests_unit_transport_loop_t_LDADD = libdrasync_transport.la
