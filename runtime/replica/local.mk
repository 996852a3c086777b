# Replicated regions: what the Myrmics calls are made of.
replica_sources = \
	runtime/replica/cache.c \
	runtime/replica/cache.h \
	runtime/replica/cache_calls.c \
	runtime/replica/directory.c \
	runtime/replica/mappings.c \
	runtime/replica/directory.h \
	runtime/replica/install.c \
	runtime/replica/mappings.h \
	runtime/replica/objects.h \
	runtime/replica/module.c \
	runtime/replica/object.c \
	runtime/replica/objects.c \
	runtime/replica/page_runs.c \
	runtime/replica/page_runs.h \
	runtime/replica/receive.c \
	runtime/replica/region.c \
	runtime/replica/replica.h \
	runtime/replica/send.c \
	runtime/replica/send.h \
	runtime/replica/send_repeat.c \
	runtime/replica/state.h \
	runtime/replica/version.h \
	runtime/replica/wire.h \
	runtime/replica/version.c \
	runtime/replica/wire.c \
	runtime/replica/wire_kept.c \
	runtime/replica/wire_version.c
libdrasync_runtime_la_SOURCES += $(replica_sources)

# One node, with the test in the place of all that it stands on.
check_PROGRAMS += tests/unit/replica_orders.t
TESTS += tests/unit/replica_orders.t
tests_unit_replica_orders_t_SOURCES = tests/unit/replica_orders.c \
	tests/unit/memory_common.h tests/unit/replica_node.h \
	tests/unit/unchecked.h \
	runtime/errors.c $(replica_sources)
# Objects of its own, as the library's are libtool's.
tests_unit_replica_orders_t_CFLAGS = $(AM_CFLAGS)
tests_unit_replica_orders_t_LDADD = libdrasync_protocol.la \
	libdrasync_memory.la
