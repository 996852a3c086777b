# One-sided access, for fronts in other libraries.
libdrasync_runtime_la_SOURCES += \
	runtime/rma/agent.c \
	runtime/rma/atomic.c \
	runtime/rma/far.c \
	runtime/rma/far.h \
	runtime/rma/far_ops.c \
	runtime/rma/far_runs.c \
	runtime/rma/far_runs.h \
	runtime/rma/far_runs_serve.c \
	runtime/rma/far_serve.c \
	runtime/rma/near.c \
	runtime/rma/place.c \
	runtime/rma/ranges.c \
	runtime/rma/rma.h \
	runtime/rma/state.h \
	runtime/rma/wire.c

check_PROGRAMS += tests/unit/rma_apply.t
TESTS += tests/unit/rma_apply.t
tests_unit_rma_apply_t_SOURCES = tests/unit/rma_apply.c
tests_unit_rma_apply_t_LDADD = libdrasync_runtime.la libdrasync_memory.la

check_PROGRAMS += tests/unit/rma_wire.t
TESTS += tests/unit/rma_wire.t
tests_unit_rma_wire_t_SOURCES = tests/unit/rma_wire.c \
	tests/unit/memory_common.h runtime/rma/wire.c runtime/rma/atomic.c \
	runtime/rma/ranges.c
# Objects of its own, as the library's are libtool's.
tests_unit_rma_wire_t_CFLAGS = $(AM_CFLAGS)
tests_unit_rma_wire_t_LDADD = libdrasync_memory.la

check_PROGRAMS += tests/unit/rma_far_wire.t
TESTS += tests/unit/rma_far_wire.t
tests_unit_rma_far_wire_t_SOURCES = tests/unit/rma_far_wire.c \
	tests/unit/memory_common.h runtime/rma/far.c runtime/rma/far_ops.c \
	runtime/rma/far_runs.c runtime/rma/far_runs_serve.c \
	runtime/rma/far_serve.c
tests_unit_rma_far_wire_t_CFLAGS = $(AM_CFLAGS)
tests_unit_rma_far_wire_t_LDADD = libdrasync_memory.la libdrasync_transport.la

check_PROGRAMS += tests/programs/rma_places
tests_programs_rma_places_SOURCES = tests/programs/rma_places.c \
	tests/programs/native_check.h
tests_programs_rma_places_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_rma_places_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_rma_places_LDADD = libdrasync.la $(MPI_LIBS)

check_PROGRAMS += tests/programs/rma_remote
tests_programs_rma_remote_SOURCES = tests/programs/rma_remote.c \
	tests/programs/forbid_process_vm.h tests/programs/native_check.h \
	tests/programs/rma_one.h
tests_programs_rma_remote_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_rma_remote_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_rma_remote_LDADD = libdrasync.la $(MPI_LIBS)

check_PROGRAMS += tests/programs/rma_awake
tests_programs_rma_awake_SOURCES = tests/programs/rma_awake.c \
	tests/programs/native_check.h
tests_programs_rma_awake_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_rma_awake_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_rma_awake_LDADD = libdrasync.la $(MPI_LIBS)

check_PROGRAMS += tests/programs/rma_others
tests_programs_rma_others_SOURCES = tests/programs/rma_others.c \
	tests/programs/native_check.h tests/programs/rma_one.h
tests_programs_rma_others_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_rma_others_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_rma_others_LDADD = libdrasync.la $(MPI_LIBS)

TESTS += tests/bats/rma.bats
EXTRA_DIST += tests/bats/rma.bats
