# libupm.so: pages go to the NUMA nodes that use them.  It needs no MPI and
# nothing else of ours.  Its engines are an archive of their own, for their test.
include_HEADERS += include/upmlib.h upm/upmlib.f90

noinst_LTLIBRARIES += libupm_engines.la
libupm_engines_la_SOURCES = \
	upm/criterion.c \
	upm/engine.h \
	upm/iterative.c \
	upm/replay.c \
	upm/sampling.c

# All but what asks the kernel about nodes, which a test has in its own way.
noinst_LTLIBRARIES += libupm_parts.la
libupm_parts_la_SOURCES = \
	upm/area.c \
	upm/area.h \
	upm/carry.c \
	upm/carry.h \
	upm/count.c \
	upm/discover.c \
	upm/fortran.c \
	upm/helper.c \
	upm/holds.c \
	upm/holds.h \
	upm/host.h \
	upm/huge.c \
	upm/huge.h \
	upm/intercept.c \
	upm/intercept.h \
	upm/intercept_io.c \
	upm/intercept_thread.c \
	upm/library.c \
	upm/library_tune.c \
	upm/next.h \
	upm/options.c \
	upm/options.h \
	upm/place.c \
	upm/place.h \
	upm/signals.h \
	upm/source.c \
	upm/source.h \
	upm/source_file.c \
	upm/source_perf.c \
	upm/source_protect.c \
	upm/source_protect.h \
	upm/source_userfaultfd.c \
	upm/state.h
# A thread that is cancelled in a call gives back what it held (intercept_io.c).
libupm_parts_la_CFLAGS = $(AM_CFLAGS) -fexceptions
libupm_parts_la_LIBADD = libupm_engines.la

lib_LTLIBRARIES += libupm.la
libupm_la_SOURCES = upm/host.c
libupm_la_LIBADD = libupm_parts.la
libupm_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -Wl,-z,nodelete \
	-export-symbols-regex '^(upmlib_.*|sigaction|(bsd_|(__)?sysv_)?signal|sigprocmask|pthread_(sigmask|create)|(p?(read|write)(64|v|v64)?|(recv|send)(from|to|msg)?|fread|fwrite)|__(read|pread|pread64|recv|recvfrom|fread)_chk)$$'

# Tests.
check_PROGRAMS += tests/unit/upm_engines.t
TESTS += tests/unit/upm_engines.t
tests_unit_upm_engines_t_SOURCES = tests/unit/upm_engines.c
tests_unit_upm_engines_t_LDADD = libupm_engines.la

check_PROGRAMS += tests/unit/upm_library.t tests/unit/upm_process.t \
	tests/unit/upm_threads.t
TESTS += tests/unit/upm_library.t tests/unit/upm_process.t \
	tests/unit/upm_threads.t
tests_unit_upm_library_t_SOURCES = tests/unit/upm_library.c \
	tests/unit/upm_machine.h
tests_unit_upm_process_t_SOURCES = tests/unit/upm_process.c \
	tests/unit/upm_machine.h
tests_unit_upm_threads_t_SOURCES = tests/unit/upm_threads.c \
	tests/unit/upm_machine.h
# The objects: from an archive what takes calls over would come only where nobody
# else, such as a sanitizer, has them.
tests_unit_upm_library_t_LDADD = $(libupm_parts_la_OBJECTS) libupm_engines.la
tests_unit_upm_process_t_LDADD = $(libupm_parts_la_OBJECTS) libupm_engines.la
tests_unit_upm_threads_t_LDADD = $(libupm_parts_la_OBJECTS) libupm_engines.la

# The guest's programs and the plugin of its QEMU (scripts/upm-guest).
check_PROGRAMS += tests/programs/upm_guest
tests_programs_upm_guest_SOURCES = tests/programs/upm_guest.c upm/guest/mark.h
tests_programs_upm_guest_LDADD = libupm.la
tests_programs_upm_guest_LDFLAGS = $(AM_LDFLAGS) -no-install

check_PROGRAMS += tests/programs/upm_plain
tests_programs_upm_plain_SOURCES = tests/programs/upm_plain.c
tests_programs_upm_plain_LDADD =

check_LTLIBRARIES += libupm_count.la
libupm_count_la_SOURCES = upm/guest/count_nodes.c upm/guest/mark.h \
	upm/guest/qemu_plugin.h
libupm_count_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -rpath /nowhere

long_tests += tests/bats/upm_guest.bats
TESTS += tests/bats/upm.bats
EXTRA_DIST += tests/bats/upm.bats tests/bats/upm_guest.bats \
	tests/programs/upm_fortran.f90 scripts/upm-figures \
	scripts/upm-guest upm/guest/npb.h
