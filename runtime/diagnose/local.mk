# What ranks wait for: reports, deadlocks, drasync-ps.
libdrasync_runtime_la_SOURCES += \
	runtime/diagnose/ask.c \
	runtime/diagnose/ask.h \
	runtime/diagnose/asked.c \
	runtime/diagnose/asked.h \
	runtime/diagnose/deadlock.c \
	runtime/diagnose/deadlock.h \
	runtime/diagnose/facts.c \
	runtime/diagnose/facts.h \
	runtime/diagnose/holder.c \
	runtime/diagnose/holder.h \
	runtime/diagnose/module.c \
	runtime/diagnose/ps.c \
	runtime/diagnose/ps.h \
	runtime/diagnose/ps_find.c \
	runtime/diagnose/ps_json.c \
	runtime/diagnose/report.c \
	runtime/diagnose/report.h \
	runtime/diagnose/report_state.c \
	runtime/diagnose/report_state.h \
	runtime/diagnose/stall.c \
	runtime/diagnose/stall.h \
	runtime/diagnose/standstill.c \
	runtime/diagnose/standstill.h \
	runtime/diagnose/text.c \
	runtime/diagnose/text.h \
	runtime/diagnose/threads.c \
	runtime/diagnose/threads.h

# Programs that hang.
native_test_programs += tests/programs/ps_readers tests/programs/stuck \
	tests/programs/stuck_asked tests/programs/stuck_gift \
	tests/programs/stuck_after tests/programs/stuck_newer \
	tests/programs/stuck_run
check_PROGRAMS += myrmics_stuck
myrmics_stuck_SOURCES = tests/programs/myrmics_stuck.c \
	tests/programs/myrmics_check.h
myrmics_stuck_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
myrmics_stuck_LDFLAGS = $(AM_LDFLAGS) -no-install
myrmics_stuck_LDADD = libmyrmics.la $(MPI_LIBS)
long_tests += tests/bats/diagnose.bats tests/bats/diagnose_mpi.bats \
	tests/bats/diagnose_newer.bats
EXTRA_DIST += tests/bats/diagnose.bash tests/bats/diagnose_hosts.bash \
	tests/bats/diagnose.bats \
	tests/bats/diagnose_mpi.bats \
	tests/bats/diagnose_newer.bats tests/programs/stuck.h

# It is the library's, so that both know the same structs.
bin_PROGRAMS += drasync-ps
drasync_ps_SOURCES = runtime/diagnose/ps_main.c
drasync_ps_LDADD = libdrasync.la
TESTS += tests/bats/drasync_ps.bats
EXTRA_DIST += tests/bats/drasync_ps.bats

# What gdb shows of regions.
drasyncdata_DATA += runtime/diagnose/drasync-gdb.py
TESTS += tests/bats/gdb.bats
EXTRA_DIST += tests/bats/gdb.bats
