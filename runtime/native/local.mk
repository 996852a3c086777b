# Native regions.
libdrasync_runtime_la_SOURCES += \
	runtime/native/ask.c \
	runtime/native/delta.c \
	runtime/native/delta.h \
	runtime/native/explain.c \
	runtime/native/frames.c \
	runtime/native/hold.c \
	runtime/native/lease.c \
	runtime/native/lease.h \
	runtime/native/lease_inline.h \
	runtime/native/lease_slots.c \
	runtime/native/lease_word.h \
	runtime/native/magazine.c \
	runtime/native/magazine.h \
	runtime/native/map.c \
	runtime/native/module.c \
	runtime/native/native.h \
	runtime/native/object.c \
	runtime/native/pool.c \
	runtime/native/later.h \
	runtime/native/receive.c \
	runtime/native/receive_later.c \
	runtime/native/recycle.c \
	runtime/native/recycle.h \
	runtime/native/region.c \
	runtime/native/send.c \
	runtime/native/send_later.c \
	runtime/native/split.c \
	runtime/native/state.h \
	runtime/native/step.c \
	runtime/native/taken.c \
	runtime/native/taken.h \
	runtime/native/wire.h

# Test programs of the API; tests/bats/native.bats runs them.
check_PROGRAMS += tests/programs/native_contract
tests_programs_native_contract_SOURCES = tests/programs/native_contract.c \
	tests/programs/native_check.h
tests_programs_native_contract_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_native_contract_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_native_contract_LDADD = libdrasync.la $(MPI_LIBS)

check_PROGRAMS += tests/programs/native_inplace
tests_programs_native_inplace_SOURCES = tests/programs/native_inplace.c \
	tests/programs/native_check.h
tests_programs_native_inplace_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_native_inplace_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_native_inplace_LDADD = libdrasync.la $(MPI_LIBS)

check_PROGRAMS += tests/programs/native_portions
tests_programs_native_portions_SOURCES = tests/programs/native_portions.c \
	tests/programs/native_check.h
tests_programs_native_portions_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_native_portions_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_native_portions_LDADD = libdrasync.la $(MPI_LIBS)

check_PROGRAMS += tests/programs/native_nomem
tests_programs_native_nomem_SOURCES = tests/programs/native_nomem.c \
	tests/programs/native_check.h tests/programs/failing.h
tests_programs_native_nomem_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_native_nomem_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_native_nomem_LDADD = libdrasync.la $(MPI_LIBS)

check_PROGRAMS += tests/programs/native_reread
tests_programs_native_reread_SOURCES = tests/programs/native_reread.c \
	tests/programs/native_check.h
tests_programs_native_reread_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_native_reread_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_native_reread_LDADD = libdrasync.la $(MPI_LIBS)

check_PROGRAMS += tests/programs/native_crowd
tests_programs_native_crowd_SOURCES = tests/programs/native_crowd.c \
	tests/programs/native_check.h
tests_programs_native_crowd_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_native_crowd_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_native_crowd_LDADD = libdrasync.la $(MPI_LIBS)

check_PROGRAMS += tests/programs/record_handles
tests_programs_record_handles_SOURCES = tests/programs/record_handles.c \
	tests/programs/native_check.h
tests_programs_record_handles_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_record_handles_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_record_handles_LDADD = libdrasync.la $(MPI_LIBS)

check_PROGRAMS += tests/programs/native_threads
tests_programs_native_threads_SOURCES = tests/programs/native_threads.c \
	tests/programs/native_check.h
tests_programs_native_threads_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_native_threads_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_native_threads_LDADD = libdrasync.la $(MPI_LIBS)

check_PROGRAMS += tests/programs/native_stories
tests_programs_native_stories_SOURCES = tests/programs/native_stories.c \
	tests/programs/native_check.h
tests_programs_native_stories_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_native_stories_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_native_stories_LDADD = libdrasync.la $(MPI_LIBS)

check_PROGRAMS += tests/programs/native_random
tests_programs_native_random_SOURCES = tests/programs/native_random.c \
	tests/programs/native_oracle.c tests/programs/native_random.h \
	tests/programs/native_check.h
tests_programs_native_random_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_native_random_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_native_random_LDADD = libdrasync.la $(MPI_LIBS)

check_PROGRAMS += tests/programs/native_churn
tests_programs_native_churn_SOURCES = tests/programs/native_churn.c \
	tests/programs/native_check.h
tests_programs_native_churn_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_native_churn_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_native_churn_LDADD = libdrasync.la $(MPI_LIBS)

check_PROGRAMS += tests/programs/native_exhaust
tests_programs_native_exhaust_SOURCES = tests/programs/native_exhaust.c \
	tests/programs/native_check.h
tests_programs_native_exhaust_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_native_exhaust_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_native_exhaust_LDADD = libdrasync.la $(MPI_LIBS)

check_PROGRAMS += tests/programs/native_magazines
tests_programs_native_magazines_SOURCES = tests/programs/native_magazines.c \
	tests/programs/native_objects.h tests/programs/native_check.h
tests_programs_native_magazines_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_native_magazines_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_native_magazines_LDADD = libdrasync.la $(MPI_LIBS)

check_PROGRAMS += tests/programs/native_revoked
tests_programs_native_revoked_SOURCES = tests/programs/native_revoked.c \
	tests/programs/native_objects.h tests/programs/native_check.h
tests_programs_native_revoked_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_native_revoked_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_native_revoked_LDADD = libdrasync.la $(MPI_LIBS)

check_PROGRAMS += tests/programs/native_reuse
tests_programs_native_reuse_SOURCES = tests/programs/native_reuse.c \
	tests/programs/native_objects.h tests/programs/native_check.h
tests_programs_native_reuse_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_native_reuse_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_native_reuse_LDADD = libdrasync.la $(MPI_LIBS)

check_PROGRAMS += tests/programs/native_lease
tests_programs_native_lease_SOURCES = tests/programs/native_lease.c \
	tests/programs/native_pair.h tests/programs/native_check.h
tests_programs_native_lease_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_native_lease_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_native_lease_LDADD = libdrasync.la $(MPI_LIBS)

# Looks into the runtime, so it is made of its objects.
check_PROGRAMS += tests/programs/native_ticket
tests_programs_native_ticket_SOURCES = tests/programs/native_ticket.c \
	tests/programs/native_check.h fronts/api.c fronts/api_data.c \
	shim/takeover.c shim/takeover_run.c \
	shim/takeover_wanted.c
tests_programs_native_ticket_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_native_ticket_LDADD = libdrasync_runtime.la \
	libdrasync_protocol.la libdrasync_memory.la libdrasync_transport.la \
	$(LIBUNWIND_LIBS) $(MPI_LIBS)

check_PROGRAMS += tests/programs/native_pieces
tests_programs_native_pieces_SOURCES = tests/programs/native_pieces.c \
	tests/programs/native_check.h fronts/api.c fronts/api_data.c \
	shim/takeover.c shim/takeover_run.c \
	shim/takeover_wanted.c
tests_programs_native_pieces_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_native_pieces_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=lock_take -Wl,--wrap=lock_give -Wl,--wrap=frames_copy \
	-Wl,--wrap=XXH3_128bits_dispatch -Wl,--wrap=os_file_fill
tests_programs_native_pieces_LDADD = libdrasync_runtime.la \
	libdrasync_protocol.la libdrasync_memory.la libdrasync_transport.la \
	$(LIBUNWIND_LIBS) $(MPI_LIBS)

check_PROGRAMS += tests/programs/native_refused
tests_programs_native_refused_SOURCES = tests/programs/native_refused.c \
	tests/programs/native_check.h
tests_programs_native_refused_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_native_refused_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_native_refused_LDADD = libdrasync.la $(MPI_LIBS)

check_PROGRAMS += tests/programs/native_overlap
tests_programs_native_overlap_SOURCES = tests/programs/native_overlap.c \
	tests/programs/native_pair.h tests/programs/native_check.h
tests_programs_native_overlap_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_native_overlap_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_native_overlap_LDADD = libdrasync.la $(MPI_LIBS)

check_PROGRAMS += tests/programs/native_recycle
tests_programs_native_recycle_SOURCES = tests/programs/native_recycle.c \
	tests/programs/native_check.h
tests_programs_native_recycle_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_native_recycle_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_native_recycle_LDADD = libdrasync.la $(MPI_LIBS)

check_PROGRAMS += tests/programs/native_fig1
tests_programs_native_fig1_SOURCES = tests/programs/native_fig1.c
tests_programs_native_fig1_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_native_fig1_LDADD = libdrasync.la

TESTS += tests/bats/native.bats
EXTRA_DIST += tests/bats/native.bats

check_PROGRAMS += tests/programs/mistakes
tests_programs_mistakes_SOURCES = tests/programs/mistakes.c
tests_programs_mistakes_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_mistakes_LDADD = libdrasync.la
TESTS += tests/bats/messages.bats
EXTRA_DIST += tests/bats/messages.bats

check_PROGRAMS += tests/programs/native_chunks
tests_programs_native_chunks_SOURCES = tests/programs/native_chunks.c \
	tests/programs/native_check.h
tests_programs_native_chunks_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_native_chunks_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_native_chunks_LDADD = libdrasync.la $(MPI_LIBS)
