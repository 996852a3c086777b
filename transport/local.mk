noinst_LTLIBRARIES += libdrasync_transport.la
libdrasync_transport_la_SOURCES = \
	transport/at_once.c \
	transport/boot.c \
	transport/boot.h \
	transport/boot_exchange.c \
	transport/boot_devices.c \
	transport/boot_find.c \
	transport/boot_leave.c \
	transport/boot_mpi.h \
	transport/boot_tools.c \
	transport/bulk.c \
	transport/connections.c \
	transport/connections.h \
	transport/engine.c \
	transport/engine.h \
	transport/message_receive.c \
	transport/message_send.c \
	transport/mpi.c \
	transport/mpi_table.h \
	transport/packets.c \
	transport/patience.h \
	transport/sink.c \
	transport/sockets.c \
	transport/sockets.h \
	transport/spares.h \
	transport/stream.c \
	transport/stretches.c \
	transport/stretches.h \
	transport/transport.h \
	transport/wire.h
libdrasync_transport_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)

check_PROGRAMS += \
	tests/unit/transport_connections.t \
	tests/unit/transport_late.t \
	tests/unit/transport_loop.t \
	tests/unit/transport_memory.t \
	tests/unit/transport_packets.t \
	tests/unit/transport_sockets.t \
	tests/unit/transport_stretches.t
TESTS += \
	tests/unit/transport_connections.t \
	tests/unit/transport_late.t \
	tests/unit/transport_loop.t \
	tests/unit/transport_memory.t \
	tests/unit/transport_packets.t \
	tests/unit/transport_sockets.t \
	tests/unit/transport_stretches.t
# With the paper's way too, whatever the library is built with.
tests_unit_transport_loop_t_SOURCES = tests/unit/transport_loop.c \
	tests/unit/loop.c tests/unit/loop.h transport/bulk.c \
	transport/engine.c transport/message_receive.c \
	transport/message_send.c transport/packets.c \
	transport/sink.c transport/stream.c transport/stretches.c
tests_unit_transport_loop_t_CPPFLAGS = $(AM_CPPFLAGS) -DENGINE_PAGED=1
tests_unit_transport_late_t_SOURCES = tests/unit/transport_late.c \
	tests/unit/loop.c tests/unit/loop.h
tests_unit_transport_late_t_LDADD = libdrasync_transport.la
tests_unit_transport_memory_t_SOURCES = tests/unit/transport_memory.c \
	tests/unit/loop.c tests/unit/loop.h
tests_unit_transport_memory_t_LDADD = libdrasync_transport.la
tests_unit_transport_memory_t_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc \
	-Wl,--wrap=calloc -Wl,--wrap=realloc
tests_unit_transport_packets_t_SOURCES = tests/unit/transport_packets.c \
	tests/unit/loop.c tests/unit/loop.h
tests_unit_transport_packets_t_LDADD = libdrasync_transport.la
tests_unit_transport_stretches_t_SOURCES = tests/unit/transport_stretches.c \
	tests/unit/loop.c tests/unit/loop.h
tests_unit_transport_stretches_t_LDADD = libdrasync_transport.la
tests_unit_transport_connections_t_SOURCES = \
	tests/unit/transport_connections.c
tests_unit_transport_connections_t_LDADD = libdrasync_transport.la
tests_unit_transport_sockets_t_SOURCES = tests/unit/transport_sockets.c
tests_unit_transport_sockets_t_LDADD = libdrasync_transport.la

check_PROGRAMS += tests/unit/transport_at_once.t
TESTS += tests/unit/transport_at_once.t
tests_unit_transport_at_once_t_SOURCES = tests/unit/transport_at_once.c
tests_unit_transport_at_once_t_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_unit_transport_at_once_t_LDADD = libdrasync_transport.la

check_PROGRAMS += tests/unit/transport_leave.t
TESTS += tests/unit/transport_leave.t
tests_unit_transport_leave_t_SOURCES = tests/unit/transport_leave.c
tests_unit_transport_leave_t_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_unit_transport_leave_t_LDADD = libdrasync_transport.la
