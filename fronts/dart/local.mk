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
EXTRA_DIST += tests/bats/dart.bash tests/bats/dart_hosts.bash
TESTS += tests/bats/dart_headers.bats tests/bats/dart_dash.bats
EXTRA_DIST += tests/bats/dart_headers.bats tests/bats/dart_dash.bats

check_PROGRAMS += tests/programs/dart_init
tests_programs_dart_init_SOURCES = tests/programs/dart_init.c
tests_programs_dart_init_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_dart_init_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_dart_init_LDADD = libdart-mpi.la $(MPI_LIBS)
TESTS += tests/bats/dart_init.bats
EXTRA_DIST += tests/bats/dart_init.bats

check_PROGRAMS += tests/programs/dart_outside
tests_programs_dart_outside_SOURCES = tests/programs/dart_outside.c \
	tests/programs/dart_check.h
tests_programs_dart_outside_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_dart_outside_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_dart_outside_LDADD = libdart-mpi.la $(MPI_LIBS)
TESTS += tests/bats/dart_outside.bats
EXTRA_DIST += tests/bats/dart_outside.bats

check_PROGRAMS += tests/programs/dart_group
tests_programs_dart_group_SOURCES = tests/programs/dart_group.c
tests_programs_dart_group_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_dart_group_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_dart_group_LDADD = libdart-mpi.la $(MPI_LIBS)
TESTS += tests/bats/dart_group.bats
EXTRA_DIST += tests/bats/dart_group.bats

check_PROGRAMS += tests/programs/dart_team
tests_programs_dart_team_SOURCES = tests/programs/dart_team.c
tests_programs_dart_team_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_dart_team_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_dart_team_LDADD = libdart-mpi.la $(MPI_LIBS)
TESTS += tests/bats/dart_team.bats
EXTRA_DIST += tests/bats/dart_team.bats

check_PROGRAMS += tests/programs/dart_teams
tests_programs_dart_teams_SOURCES = tests/programs/dart_teams.c
tests_programs_dart_teams_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_dart_teams_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_dart_teams_LDADD = libdart-mpi.la $(MPI_LIBS)

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

check_PROGRAMS += tests/programs/dart_locality
tests_programs_dart_locality_SOURCES = tests/programs/dart_locality.c
tests_programs_dart_locality_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_dart_locality_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_dart_locality_LDADD = libdart-mpi.la $(MPI_LIBS)
TESTS += tests/bats/dart_locality.bats
EXTRA_DIST += tests/bats/dart_locality.bats

check_PROGRAMS += tests/programs/dart_io
tests_programs_dart_io_SOURCES = tests/programs/dart_io.c
tests_programs_dart_io_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_dart_io_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_dart_io_LDADD = libdart-mpi.la $(MPI_LIBS)
TESTS += tests/bats/dart_io.bats
EXTRA_DIST += tests/bats/dart_io.bats tests/programs/dart_hdf5.c

check_PROGRAMS += tests/programs/dart_collective
tests_programs_dart_collective_SOURCES = tests/programs/dart_collective.c
tests_programs_dart_collective_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_dart_collective_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_dart_collective_LDADD = libdart-mpi.la $(MPI_LIBS)
TESTS += tests/bats/dart_collective.bats
EXTRA_DIST += tests/bats/dart_collective.bats

check_PROGRAMS += tests/programs/dart_allocator
tests_programs_dart_allocator_SOURCES = tests/programs/dart_allocator.c \
	tests/programs/dart_check.h
tests_programs_dart_allocator_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_dart_allocator_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_dart_allocator_LDADD = libdart-mpi.la $(MPI_LIBS)
TESTS += tests/bats/dart_allocator.bats
EXTRA_DIST += tests/bats/dart_allocator.bats

check_PROGRAMS += tests/programs/dart_memory
tests_programs_dart_memory_SOURCES = tests/programs/dart_memory.c \
	tests/programs/dart_check.h
tests_programs_dart_memory_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_dart_memory_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_dart_memory_LDADD = libdart-mpi.la $(MPI_LIBS)
TESTS += tests/bats/dart_memory.bats
EXTRA_DIST += tests/bats/dart_memory.bats

check_PROGRAMS += tests/programs/dart_segment
tests_programs_dart_segment_SOURCES = tests/programs/dart_segment.c \
	tests/programs/dart_check.h
tests_programs_dart_segment_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_dart_segment_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_dart_segment_LDADD = libdart-mpi.la libdrasync.la $(MPI_LIBS)
TESTS += tests/bats/dart_segment.bats
EXTRA_DIST += tests/bats/dart_segment.bats

check_PROGRAMS += tests/programs/dart_lock
tests_programs_dart_lock_SOURCES = tests/programs/dart_lock.c \
	tests/programs/dart_lock_check.h tests/programs/dart_yield.h
tests_programs_dart_lock_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_dart_lock_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_dart_lock_LDADD = libdart-mpi.la $(MPI_LIBS)
check_PROGRAMS += tests/programs/dart_lock_try
tests_programs_dart_lock_try_SOURCES = tests/programs/dart_lock_try.c \
	tests/programs/dart_check.h tests/programs/dart_lock_check.h \
	tests/programs/dart_yield.h
tests_programs_dart_lock_try_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_dart_lock_try_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_dart_lock_try_LDADD = libdart-mpi.la $(MPI_LIBS)
check_PROGRAMS += tests/programs/dart_lock_teams
tests_programs_dart_lock_teams_SOURCES = tests/programs/dart_lock_teams.c \
	tests/programs/dart_check.h tests/programs/dart_lock_check.h \
	tests/programs/dart_yield.h
tests_programs_dart_lock_teams_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_dart_lock_teams_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_dart_lock_teams_LDADD = libdart-mpi.la libdrasync.la \
	$(MPI_LIBS)
TESTS += tests/bats/dart_lock.bats
EXTRA_DIST += tests/bats/dart_lock.bats

check_PROGRAMS += tests/programs/dart_transfer
tests_programs_dart_transfer_SOURCES = tests/programs/dart_transfer.c \
	tests/programs/dart_check.h tests/programs/dart_forms.h
tests_programs_dart_transfer_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_dart_transfer_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_dart_transfer_LDADD = libdart-mpi.la $(MPI_LIBS)
TESTS += tests/bats/dart_transfer.bats
EXTRA_DIST += tests/bats/dart_transfer.bats

check_PROGRAMS += tests/programs/dart_leaves
tests_programs_dart_leaves_SOURCES = tests/programs/dart_leaves.c \
	tests/programs/dart_check.h
tests_programs_dart_leaves_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_dart_leaves_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_dart_leaves_LDADD = libdart-mpi.la $(MPI_LIBS)
check_PROGRAMS += tests/programs/dart_unequal
tests_programs_dart_unequal_SOURCES = tests/programs/dart_unequal.c \
	tests/programs/dart_check.h
tests_programs_dart_unequal_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_dart_unequal_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_dart_unequal_LDADD = libdart-mpi.la $(MPI_LIBS)
TESTS += tests/bats/dart_unequal.bats
EXTRA_DIST += tests/bats/dart_unequal.bats

check_PROGRAMS += tests/programs/dart_atomic
tests_programs_dart_atomic_SOURCES = tests/programs/dart_atomic.c \
	tests/programs/dart_check.h tests/programs/dart_updates.h
tests_programs_dart_atomic_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_dart_atomic_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_dart_atomic_LDADD = libdart-mpi.la $(MPI_LIBS)
TESTS += tests/bats/dart_atomic.bats
EXTRA_DIST += tests/bats/dart_atomic.bats

check_PROGRAMS += tests/programs/dart_register
tests_programs_dart_register_SOURCES = tests/programs/dart_register.c \
	tests/programs/dart_check.h tests/programs/dart_forms.h \
	tests/programs/dart_updates.h tests/programs/forbid_process_vm.h
tests_programs_dart_register_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_dart_register_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_dart_register_LDADD = libdart-mpi.la libdrasync.la $(MPI_LIBS)
TESTS += tests/bats/dart_register.bats
EXTRA_DIST += tests/bats/dart_register.bats

check_PROGRAMS += tests/programs/dart_large
tests_programs_dart_large_SOURCES = tests/programs/dart_large.c \
	tests/programs/dart_check.h
tests_programs_dart_large_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_dart_large_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_dart_large_LDADD = libdart-mpi.la $(MPI_LIBS)
TESTS += tests/bats/dart_large.bats
EXTRA_DIST += tests/bats/dart_large.bats

check_PROGRAMS += tests/programs/dart_pipeline
tests_programs_dart_pipeline_SOURCES = tests/programs/dart_pipeline.c \
	tests/programs/dart_check.h
tests_programs_dart_pipeline_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_dart_pipeline_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_dart_pipeline_LDADD = libdart-mpi.la $(MPI_LIBS)
TESTS += tests/bats/dart_pipeline.bats
EXTRA_DIST += tests/bats/dart_pipeline.bats

check_PROGRAMS += tests/programs/dart_nomem
tests_programs_dart_nomem_SOURCES = tests/programs/dart_nomem.c \
	tests/programs/dart_nomem.h tests/programs/dart_check.h \
	tests/programs/failing.h
tests_programs_dart_nomem_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_dart_nomem_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_dart_nomem_LDADD = libdart-mpi.la libdrasync.la $(MPI_LIBS)

check_PROGRAMS += tests/programs/dart_nomem_alone
tests_programs_dart_nomem_alone_SOURCES = tests/programs/dart_nomem_alone.c \
	tests/programs/dart_nomem.h tests/programs/dart_check.h \
	tests/programs/failing.h
tests_programs_dart_nomem_alone_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_dart_nomem_alone_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_dart_nomem_alone_LDADD = libdart-mpi.la libdrasync.la \
	$(MPI_LIBS)

check_PROGRAMS += tests/programs/dart_nomem_far
tests_programs_dart_nomem_far_SOURCES = tests/programs/dart_nomem_far.c \
	tests/programs/dart_nomem.h tests/programs/dart_check.h \
	tests/programs/failing.h
tests_programs_dart_nomem_far_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_dart_nomem_far_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_dart_nomem_far_LDADD = libdart-mpi.la libdrasync.la $(MPI_LIBS)
TESTS += tests/bats/dart_nomem.bats
EXTRA_DIST += tests/bats/dart_nomem.bats

check_PROGRAMS += tests/programs/dart_errors
tests_programs_dart_errors_SOURCES = tests/programs/dart_errors.c \
	tests/programs/dart_check.h
tests_programs_dart_errors_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_dart_errors_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_dart_errors_LDADD = libdart-mpi.la $(MPI_LIBS)
TESTS += tests/bats/dart_errors.bats
EXTRA_DIST += tests/bats/dart_errors.bats

check_PROGRAMS += tests/programs/dart_far
tests_programs_dart_far_SOURCES = tests/programs/dart_far.c \
	tests/programs/dart_check.h
tests_programs_dart_far_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_dart_far_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_dart_far_LDADD = libdart-mpi.la $(MPI_LIBS)
TESTS += tests/bats/dart_far.bats
EXTRA_DIST += tests/bats/dart_far.bats
