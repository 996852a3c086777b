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
	tests/unit/rma_far_node.h tests/unit/refused.h tests/unit/memory_common.h \
	runtime/rma/far.c runtime/rma/far_ops.c runtime/rma/far_runs.c \
	runtime/rma/far_runs_serve.c runtime/rma/far_serve.c
tests_unit_rma_far_wire_t_CFLAGS = $(AM_CFLAGS)
tests_unit_rma_far_wire_t_LDADD = libdrasync_memory.la libdrasync_transport.la

long_tests += tests/bats/rma.bats
EXTRA_DIST += tests/bats/rma.bats

native_test_programs += \
	tests/programs/rma_places \
	tests/programs/rma_remote \
	tests/programs/rma_awake \
	tests/programs/rma_others \
	tests/programs/rma_sockets
