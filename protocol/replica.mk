# The directory of replicated regions.
libdrasync_protocol_la_SOURCES += protocol/replica.c protocol/replica.h \
	protocol/replica_attach.c protocol/replica_internal.h

check_PROGRAMS += tests/unit/replica_directory
tests_unit_replica_directory_SOURCES = tests/unit/replica_directory.c
tests_unit_replica_directory_LDADD = libdrasync_protocol.la
TESTS += tests/unit/replica_directory
