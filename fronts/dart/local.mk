# The DART interface, under the name that DASH programs look for.  Linked to MPI,
# unlike the preload libraries: whoever uses DART runs under MPI.  The take-over
# symbols stand in it too, so that MPI_Init asks for the thread level we need.
lib_LTLIBRARIES += libdart-mpi.la
libdart_mpi_la_SOURCES = shim/takeover.c shim/takeover.h
libdart_mpi_la_SOURCES += fronts/dart/allocator.c
libdart_mpi_la_SOURCES += fronts/dart/atomic.c
libdart_mpi_la_SOURCES += fronts/dart/collective.c
libdart_mpi_la_SOURCES += fronts/dart/config.c
libdart_mpi_la_SOURCES += fronts/dart/domain.c
libdart_mpi_la_SOURCES += fronts/dart/domain.h
libdart_mpi_la_SOURCES += fronts/dart/domain_change.h
libdart_mpi_la_SOURCES += fronts/dart/domain_copy.c
libdart_mpi_la_SOURCES += fronts/dart/domain_group.c
libdart_mpi_la_SOURCES += fronts/dart/domain_insert.c
libdart_mpi_la_SOURCES += fronts/dart/domain_prune.c
libdart_mpi_la_SOURCES += fronts/dart/far.c
libdart_mpi_la_SOURCES += fronts/dart/far.h
libdart_mpi_la_SOURCES += fronts/dart/front.c
libdart_mpi_la_SOURCES += fronts/dart/front.h
libdart_mpi_la_SOURCES += fronts/dart/globmem.c
libdart_mpi_la_SOURCES += fronts/dart/group.c
libdart_mpi_la_SOURCES += fronts/dart/group.h
libdart_mpi_la_SOURCES += fronts/dart/handle.c
libdart_mpi_la_SOURCES += fronts/dart/handle.h
libdart_mpi_la_SOURCES += fronts/dart/hardware.c
libdart_mpi_la_SOURCES += fronts/dart/heap.c
libdart_mpi_la_SOURCES += fronts/dart/heap.h
libdart_mpi_la_SOURCES += fronts/dart/init.c
libdart_mpi_la_SOURCES += fronts/dart/io.c
libdart_mpi_la_SOURCES += fronts/dart/large.h
libdart_mpi_la_SOURCES += fronts/dart/locality.c
libdart_mpi_la_SOURCES += fronts/dart/locality.h
libdart_mpi_la_SOURCES += fronts/dart/locality_split.c
libdart_mpi_la_SOURCES += fronts/dart/locality_tree.c
libdart_mpi_la_SOURCES += fronts/dart/lock.c
libdart_mpi_la_SOURCES += fronts/dart/lock.h
libdart_mpi_la_SOURCES += fronts/dart/memory.c
libdart_mpi_la_SOURCES += fronts/dart/message.c
libdart_mpi_la_SOURCES += fronts/dart/message.h
libdart_mpi_la_SOURCES += fronts/dart/op.c
libdart_mpi_la_SOURCES += fronts/dart/op.h
libdart_mpi_la_SOURCES += fronts/dart/pool.c
libdart_mpi_la_SOURCES += fronts/dart/pool.h
libdart_mpi_la_SOURCES += fronts/dart/roster.c
libdart_mpi_la_SOURCES += fronts/dart/roster.h
libdart_mpi_la_SOURCES += fronts/dart/segment.c
libdart_mpi_la_SOURCES += fronts/dart/segment.h
libdart_mpi_la_SOURCES += fronts/dart/shape.c
libdart_mpi_la_SOURCES += fronts/dart/shape.h
libdart_mpi_la_SOURCES += fronts/dart/target.c
libdart_mpi_la_SOURCES += fronts/dart/target.h
libdart_mpi_la_SOURCES += fronts/dart/team.c
libdart_mpi_la_SOURCES += fronts/dart/team.h
libdart_mpi_la_SOURCES += fronts/dart/team_call.c
libdart_mpi_la_SOURCES += fronts/dart/team_call.h
libdart_mpi_la_SOURCES += fronts/dart/team_create.c
libdart_mpi_la_SOURCES += fronts/dart/team_make.c
libdart_mpi_la_SOURCES += fronts/dart/team_make.h
libdart_mpi_la_SOURCES += fronts/dart/transfer.c
libdart_mpi_la_SOURCES += fronts/dart/type.c
libdart_mpi_la_SOURCES += fronts/dart/types.h
libdart_mpi_la_SOURCES += fronts/dart/window.c
libdart_mpi_la_SOURCES += fronts/dart/window.h
libdart_mpi_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS) $(HWLOC_CFLAGS)
libdart_mpi_la_LDFLAGS = $(AM_LDFLAGS) -avoid-version -Wl,-z,nodelete \
	-Wl,-Bsymbolic-functions \
	-export-symbols-regex '^(dart_.*|P?MPI_(Init|Init_thread|Finalize|Query_thread)|ucp_disconnect_nb)$$'
libdart_mpi_la_LIBADD = libdrasync.la $(MPI_LIBS) $(HWLOC_LIBS)

dartincludedir = $(includedir)/dash/dart/if
dartinclude_HEADERS = \
	include/dash/dart/if/dart.h \
	include/dash/dart/if/dart_communication.h \
	include/dash/dart/if/dart_config.h \
	include/dash/dart/if/dart_globmem.h \
	include/dash/dart/if/dart_initialization.h \
	include/dash/dart/if/dart_io.h \
	include/dash/dart/if/dart_locality.h \
	include/dash/dart/if/dart_synchronization.h \
	include/dash/dart/if/dart_team_group.h \
	include/dash/dart/if/dart_types.h \
	include/dash/dart/if/dart_util.h

# Each part's tests: tests/programs/dart_*.c through the interface alone.
EXTRA_DIST += tests/bats/dart.bash tests/bats/dart_hosts.bash \
	tests/bats/hosts.bash
TESTS += tests/bats/dart_headers.bats tests/bats/dart_dash.bats
EXTRA_DIST += tests/bats/dart_headers.bats tests/bats/dart_dash.bats

TESTS += tests/bats/dart_init.bats
EXTRA_DIST += tests/bats/dart_init.bats

TESTS += tests/bats/dart_outside.bats
EXTRA_DIST += tests/bats/dart_outside.bats

TESTS += tests/bats/dart_group.bats
EXTRA_DIST += tests/bats/dart_group.bats

long_tests += tests/bats/dart_team.bats
EXTRA_DIST += tests/bats/dart_team.bats

# Trees of locality domains by themselves, with memory that ends.
dart_unit_tests = tests/unit/dart_domains.t tests/unit/dart_domains_errors.t
check_PROGRAMS += $(dart_unit_tests)
TESTS += $(dart_unit_tests)
dart_domains_sources = tests/unit/dart_domains.h \
	fronts/dart/domain.c fronts/dart/domain_copy.c \
	fronts/dart/domain_group.c fronts/dart/domain_insert.c \
	fronts/dart/domain_prune.c fronts/dart/locality_tree.c
dart_domains_wrapped = $(AM_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc \
	-Wl,--wrap=realloc
tests_unit_dart_domains_t_SOURCES = tests/unit/dart_domains.c \
	$(dart_domains_sources)
tests_unit_dart_domains_t_CPPFLAGS = $(AM_CPPFLAGS)
tests_unit_dart_domains_t_LDFLAGS = $(dart_domains_wrapped)
tests_unit_dart_domains_errors_t_SOURCES = tests/unit/dart_domains_errors.c \
	$(dart_domains_sources)
tests_unit_dart_domains_errors_t_CPPFLAGS = $(AM_CPPFLAGS)
tests_unit_dart_domains_errors_t_LDFLAGS = $(dart_domains_wrapped)

TESTS += tests/bats/dart_locality.bats
EXTRA_DIST += tests/bats/dart_locality.bats

TESTS += tests/bats/dart_io.bats
EXTRA_DIST += tests/bats/dart_io.bats tests/programs/dart_hdf5.c

TESTS += tests/bats/dart_collective.bats
EXTRA_DIST += tests/bats/dart_collective.bats

TESTS += tests/bats/dart_allocator.bats
EXTRA_DIST += tests/bats/dart_allocator.bats

TESTS += tests/bats/dart_memory.bats
EXTRA_DIST += tests/bats/dart_memory.bats

long_tests += tests/bats/dart_segment.bats
EXTRA_DIST += tests/bats/dart_segment.bats

long_tests += tests/bats/dart_lock.bats
EXTRA_DIST += tests/bats/dart_lock.bats

long_tests += tests/bats/dart_transfer.bats
EXTRA_DIST += tests/bats/dart_transfer.bats

long_tests += tests/bats/dart_unequal.bats
EXTRA_DIST += tests/bats/dart_unequal.bats

long_tests += tests/bats/dart_atomic.bats
EXTRA_DIST += tests/bats/dart_atomic.bats

long_tests += tests/bats/dart_register.bats
EXTRA_DIST += tests/bats/dart_register.bats

long_tests += tests/bats/dart_large.bats
EXTRA_DIST += tests/bats/dart_large.bats

TESTS += tests/bats/dart_pipeline.bats
EXTRA_DIST += tests/bats/dart_pipeline.bats

long_tests += tests/bats/dart_nomem.bats
EXTRA_DIST += tests/bats/dart_nomem.bats

TESTS += tests/bats/dart_errors.bats
EXTRA_DIST += tests/bats/dart_errors.bats

TESTS += tests/bats/dart_far.bats
EXTRA_DIST += tests/bats/dart_far.bats

dart_test_programs += \
	tests/programs/dart_init \
	tests/programs/dart_outside \
	tests/programs/dart_group \
	tests/programs/dart_team \
	tests/programs/dart_teams tests/programs/dart_destroyed \
	tests/programs/dart_idle \
	tests/programs/dart_locality \
	tests/programs/dart_io \
	tests/programs/dart_collective \
	tests/programs/dart_allocator \
	tests/programs/dart_memory \
	tests/programs/dart_segment \
	tests/programs/dart_lock \
	tests/programs/dart_lock_try \
	tests/programs/dart_lock_teams \
	tests/programs/dart_transfer \
	tests/programs/dart_leaves \
	tests/programs/dart_unequal \
	tests/programs/dart_atomic \
	tests/programs/dart_register \
	tests/programs/dart_large \
	tests/programs/dart_pipeline \
	tests/programs/dart_nomem \
	tests/programs/dart_nomem_alone \
	tests/programs/dart_nomem_far \
	tests/programs/dart_errors \
	tests/programs/dart_far
