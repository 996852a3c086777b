noinst_LTLIBRARIES += libdrasync_transport.la
libdrasync_transport_la_SOURCES = \
	transport/boot.c \
	transport/boot.h \
	transport/boot_find.c \
	transport/boot_mpi.h \
	transport/bulk.c \
	transport/engine.c \
	transport/engine.h \
	transport/loop.c \
	transport/mpi.c \
	transport/mpi_table.h \
	transport/sink.c \
	transport/transport.h \
	transport/wire.h
libdrasync_transport_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
