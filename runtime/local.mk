noinst_LTLIBRARIES += libdrasync_runtime.la
libdrasync_runtime_la_SOURCES = \
	runtime/alive.c \
	runtime/alive.h \
	runtime/death.c \
	runtime/death.h \
	runtime/death_watch.c \
	runtime/death_watch.h \
	runtime/errors.c \
	runtime/futex.c \
	runtime/futex.h \
	runtime/modules.c \
	runtime/modules.h \
	runtime/no_memory.c \
	runtime/no_memory.h \
	runtime/options.c \
	runtime/options.h \
	runtime/options_names.c \
	runtime/peer.c \
	runtime/peer.h \
	runtime/backtrace.h \
	runtime/code_line.c \
	runtime/code_line.h \
	runtime/place.c \
	runtime/place.h \
	runtime/process.c \
	runtime/process.h \
	runtime/refused.c \
	runtime/refused.h \
	runtime/start.c \
	runtime/say.c \
	runtime/say.h \
	runtime/shared.c \
	runtime/shared.h \
	runtime/start.h \
	runtime/start_agree.c \
	runtime/start_agree.h \
	runtime/start_facts.h \
	runtime/start_memory.c \
	runtime/start_page.c \
	runtime/start_page.h \
	runtime/start_places.c \
	runtime/start_places.h \
	runtime/start_room.c \
	runtime/start_room.h \
	runtime/start_socket.c \
	runtime/start_socket.h \
	runtime/stats.c \
	runtime/stats.h \
	runtime/stop.c \
	runtime/stop.h \
	runtime/survive.c \
	runtime/survive.h \
	runtime/thread.c \
	runtime/thread.h \
	runtime/thread_create.c \
	runtime/wait.c \
	runtime/wait.h \
	runtime/waiter.c \
	runtime/waiter.h \
	runtime/waiting.c \
	runtime/waiting.h \
	runtime/waits.c \
	runtime/waits.h
libdrasync_runtime_la_LIBADD = libdrasync_save.la libdrasync_ahead.la $(XXHASH_LIBS) \
	$(LIBUNWIND_LIBS)

# The installed library: the runtime with what stands below it, the API of
# drasync.h, and the take-over of MPI_Init and MPI_Finalize.  It is not linked
# to MPI, because it is also loaded into processes that have none; and what it
# exports begins with drasync_, but for the names that others have given.
blocking_calls = MPI_(I?[bsr]?[Ss]end|[BR]send|Irecv|Sendrecv_replace|[BRS]?[Ss]end_init|Cancel|Request_free|Isendrecv(_replace)?|Psend_init|[A-Z][a-z]*(_init|_replace)?_c|Wait(all|any|some)?|Test(all|any|some)?|I?[Pp]robe|Recv|S?[Ss]end|Sendrecv|Barrier|Bcast|(All)?[Rr]educe|(All)?[Gg]atherv?|Scatterv?|Alltoallv?|Scan)
lib_LTLIBRARIES += libdrasync.la
libdrasync_la_SOURCES = shim/blocking.c shim/blocking.h shim/blocking_run.c \
	shim/collectives.h \
	shim/counts.c shim/counts.h shim/counts_large.c shim/counts_next.h \
	shim/counts_run.c \
	shim/next.h shim/takeover.c shim/takeover.h shim/takeover_run.c \
	shim/takeover_wanted.c
libdrasync_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
libdrasync_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 \
	-Wl,-Bsymbolic-functions -Wl,-z,nodelete \
	-export-symbols-regex '^(drasync_.*|P?MPI_(Init|Init_thread|Finalize|Query_thread)|$(blocking_calls)|ucp_disconnect_nb|(new|delete|acquire|release)_region|new_subregion|ralloc)$$'
libdrasync_la_LIBADD = libdrasync_runtime.la libdrasync_protocol.la \
	libdrasync_memory.la libdrasync_transport.la $(LIBUNWIND_LIBS)

# Tests.
check_PROGRAMS += tests/programs/runtime_probe
tests_programs_runtime_probe_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_runtime_probe_LDADD = $(native_inside_libs)

# The same program, with and without a reference to the library.
check_PROGRAMS += tests/programs/mpi_start tests/programs/mpi_start_user
tests_programs_mpi_start_SOURCES = tests/programs/mpi_start.c
tests_programs_mpi_start_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_mpi_start_LDADD = $(MPI_LIBS)
tests_programs_mpi_start_user_SOURCES = tests/programs/mpi_start.c
tests_programs_mpi_start_user_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS) \
	-DUSES_REGIONS
tests_programs_mpi_start_user_LDADD = libdrasync.la $(MPI_LIBS)
tests_programs_mpi_start_user_LDFLAGS = $(AM_LDFLAGS) -no-install

# Not linked to MPI.
check_PROGRAMS += tests/programs/first_use
tests_programs_first_use_SOURCES = tests/programs/first_use.c
tests_programs_first_use_LDADD = libdrasync.la
tests_programs_first_use_LDFLAGS = $(AM_LDFLAGS) -no-install

TESTS += tests/bats/preload.bats
long_tests += tests/bats/runtime.bats
EXTRA_DIST += tests/bats/preload.bats tests/bats/runtime.bats
# Linked to nothing of ours.
check_PROGRAMS += tests/programs/loaded
tests_programs_loaded_SOURCES = tests/programs/loaded.c
TESTS += tests/bats/loading.bats
EXTRA_DIST += tests/bats/loading.bats

# MPI's library first: not as it should be.
check_PROGRAMS += tests/programs/link_order
tests_programs_link_order_SOURCES = tests/programs/link_order.c
tests_programs_link_order_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_link_order_LDADD = $(MPI_LIBS) libdrasync.la
tests_programs_link_order_LDFLAGS = $(AM_LDFLAGS) -no-install
TESTS += tests/bats/link_order.bats
EXTRA_DIST += tests/bats/link_order.bats

# Ranks that are killed at chosen instructions.
check_PROGRAMS += tests/programs/kill_at
tests_programs_kill_at_SOURCES = tests/programs/kill_at.c
tests_programs_kill_at_LDADD =
long_tests += tests/bats/kills.bats
EXTRA_DIST += tests/bats/kills.bats tests/programs/abort_exits.c

TESTS += tests/bats/machine.bats
EXTRA_DIST += tests/bats/machine.bats tests/programs/other_machine.c
TESTS += tests/bats/core.bats
EXTRA_DIST += tests/bats/core.bats

long_tests += tests/bats/start.bats
EXTRA_DIST += tests/bats/start.bats
TESTS += tests/bats/first_use.bats
EXTRA_DIST += tests/bats/first_use.bats
EXTRA_DIST += tests/programs/mpi_f08.f90 tests/programs/mpi_tool.c
include runtime/messages/local.mk
include runtime/services/local.mk
include runtime/managed/local.mk
include runtime/check/local.mk
include runtime/record/local.mk
include runtime/replica/local.mk
include runtime/rma/local.mk
include runtime/diagnose/local.mk
include runtime/save/local.mk

check_PROGRAMS += tests/unit/queue_lock_wire.t
TESTS += tests/unit/queue_lock_wire.t
tests_unit_queue_lock_wire_t_SOURCES = tests/unit/queue_lock_wire.c \
	tests/unit/refused.h \
	tests/unit/memory_common.h runtime/services/queue_lock_queue.c \
	runtime/services/queue_lock_wire.c
# Objects of its own, as the library's are libtool's.
tests_unit_queue_lock_wire_t_CFLAGS = $(AM_CFLAGS)
tests_unit_queue_lock_wire_t_LDADD = libdrasync_memory.la

check_PROGRAMS += tests/unit/runtime_alive.t
TESTS += tests/unit/runtime_alive.t
tests_unit_runtime_alive_t_SOURCES = tests/unit/runtime_alive.c
tests_unit_runtime_alive_t_LDADD = libdrasync_runtime.la libdrasync_memory.la

check_PROGRAMS += tests/unit/runtime_peer.t
TESTS += tests/unit/runtime_peer.t
tests_unit_runtime_peer_t_SOURCES = tests/unit/runtime_peer.c
tests_unit_runtime_peer_t_LDADD = libdrasync_runtime.la

check_PROGRAMS += tests/unit/start_places.t
TESTS += tests/unit/start_places.t
tests_unit_start_places_t_SOURCES = tests/unit/start_places.c \
	runtime/start_places.c
# Objects of its own, as the library's are libtool's.
tests_unit_start_places_t_CFLAGS = $(AM_CFLAGS)

check_PROGRAMS += tests/unit/start_socket.t
TESTS += tests/unit/start_socket.t
tests_unit_start_socket_t_SOURCES = tests/unit/start_socket.c \
	tests/unit/memory_common.h runtime/start_socket.c
# Objects of its own, as the library's are libtool's.
tests_unit_start_socket_t_CFLAGS = $(AM_CFLAGS)
tests_unit_start_socket_t_LDADD = libdrasync_memory.la

check_PROGRAMS += tests/unit/runtime_options.t
TESTS += tests/unit/runtime_options.t
tests_unit_runtime_options_t_SOURCES = tests/unit/runtime_options.c
tests_unit_runtime_options_t_LDADD = libdrasync_runtime.la
include runtime/native/local.mk

native_test_programs += \
	tests/programs/core_dump
