# Native regions.
libdrasync_runtime_la_SOURCES += \
	runtime/native/ahead.c \
	runtime/native/ahead.h \
	runtime/native/ahead_learn.c \
	runtime/native/ask.c \
	runtime/native/newer.c \
	runtime/native/claim.c \
	runtime/native/claim.h \
	runtime/native/delta.c \
	runtime/native/delta.h \
	runtime/native/delta_none.c \
	runtime/native/diff.c \
	runtime/native/diff.h \
	runtime/native/diff_runs.c \
	runtime/native/explain.c \
	runtime/native/frames.c \
	runtime/native/died.c \
	runtime/native/give.c \
	runtime/native/give.h \
	runtime/native/give_inbox.c \
	runtime/native/guard.c runtime/native/guard.h \
	runtime/native/hold.c \
	runtime/native/hold_show.c \
	runtime/native/image.c \
	runtime/native/image.h \
	runtime/native/image_make.c \
	runtime/native/lease.c \
	runtime/native/lease.h \
	runtime/native/lease_inline.h \
	runtime/native/lease_shared.c \
	runtime/native/lease_slots.c \
	runtime/native/lease_word.h \
	runtime/native/links.c \
	runtime/native/look.c \
	runtime/native/look.h \
	runtime/native/magazine.c runtime/native/magazine_thread.c \
	runtime/native/magazine.h \
	runtime/native/map.c \
	runtime/native/module.c \
	runtime/native/naming.c \
	runtime/native/naming.h \
	runtime/native/native.h \
	runtime/native/object.c \
	runtime/native/objects.c \
	runtime/native/page_hash.c \
	runtime/native/page_hash.h \
	runtime/native/pool.c \
	runtime/native/env.c runtime/native/env.h \
	runtime/native/frames.h \
	runtime/native/map.h \
	runtime/native/objects.h \
	runtime/native/table.c runtime/native/table.h \
	runtime/native/keep.c \
	runtime/native/keep.h \
	runtime/native/later.h \
	runtime/native/quarantine.c \
	runtime/native/receive.c \
	runtime/native/receive.h \
	runtime/native/receive_later.c \
	runtime/native/receive_region.c \
	runtime/native/recycle.c \
	runtime/native/recycle.h \
	runtime/native/region.c \
	runtime/native/request.c \
	runtime/native/request_any.c \
	runtime/native/request.h \
	runtime/native/run.c \
	runtime/native/run.h \
	runtime/native/run_answer.c \
	runtime/native/run_caller.c \
	runtime/native/run_function.c \
	runtime/native/run_hold.c \
	runtime/native/run_own.c \
	runtime/native/run_send.c \
	runtime/native/run_serve.c \
	runtime/native/run_wait.c \
	runtime/native/run_wire.c \
	runtime/native/run_wire.h \
	runtime/native/running.h \
	runtime/native/send.c \
	runtime/native/send_later.c \
	runtime/native/split.c \
	runtime/native/state.h \
	runtime/native/step.c \
	runtime/native/taken.c \
	runtime/native/taken.h \
	runtime/native/trim.c \
	runtime/native/wire.h

# Test programs of the API; tests/bats/native*.bats run them.

check_PROGRAMS += tests/programs/native_random
tests_programs_native_random_SOURCES = tests/programs/native_random.c \
	tests/programs/native_oracle.c tests/programs/native_random.h \
	tests/programs/native_check.h
tests_programs_native_random_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_native_random_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_native_random_LDADD = libdrasync.la $(MPI_LIBS)

# These look into the runtime, so they are made of its objects.
check_LTLIBRARIES += tests/programs/libinside.la
tests_programs_libinside_la_SOURCES = fronts/api.c fronts/api_data.c \
	fronts/api_give.c fronts/api_run.c \
	shim/takeover.c shim/takeover_run.c shim/takeover_wanted.c
tests_programs_libinside_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
native_inside_libs = tests/programs/libinside.la libdrasync_runtime.la \
	libdrasync_protocol.la libdrasync_memory.la libdrasync_transport.la \
	$(LIBUNWIND_LIBS) $(MPI_LIBS)

check_PROGRAMS += tests/programs/native_ticket tests/programs/native_known
tests_programs_native_ticket_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_native_ticket_LDADD = $(native_inside_libs)
tests_programs_native_known_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_native_known_LDADD = $(native_inside_libs)

check_PROGRAMS += tests/programs/native_names
tests_programs_native_names_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_native_names_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=names_publish
tests_programs_native_names_LDADD = $(native_inside_libs)

check_PROGRAMS += tests/programs/native_pieces
tests_programs_native_pieces_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
tests_programs_native_pieces_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=lock_take -Wl,--wrap=lock_give -Wl,--wrap=frames_copy \
	-Wl,--wrap=XXH3_128bits_dispatch -Wl,--wrap=os_file_fill
tests_programs_native_pieces_LDADD = $(native_inside_libs)

check_PROGRAMS += tests/programs/native_fig1
tests_programs_native_fig1_SOURCES = tests/programs/native_fig1.c
tests_programs_native_fig1_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_native_fig1_LDADD = libdrasync.la

long_tests += tests/bats/native.bats tests/bats/native_holds.bats \
	tests/bats/native_memory.bats
EXTRA_DIST += tests/bats/native.bats tests/bats/native_holds.bats \
	tests/bats/native_memory.bats
TESTS += tests/bats/run.bats
EXTRA_DIST += tests/bats/run.bats
TESTS += tests/bats/give.bats
EXTRA_DIST += tests/bats/give.bats
TESTS += tests/bats/death.bats
EXTRA_DIST += tests/bats/death.bats
long_tests += tests/bats/ahead.bats
EXTRA_DIST += tests/bats/ahead.bats

check_PROGRAMS += tests/programs/mistakes
tests_programs_mistakes_SOURCES = tests/programs/mistakes.c
tests_programs_mistakes_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_programs_mistakes_LDADD = libdrasync.la
long_tests += tests/bats/messages.bats
EXTRA_DIST += tests/bats/messages.bats

native_test_programs += \
	tests/programs/native_ahead \
	tests/programs/native_ahead_learned \
	tests/programs/native_at_once \
	tests/programs/native_run tests/programs/native_run_held \
	tests/programs/native_run_memory \
	tests/programs/native_run_dies \
	tests/programs/native_run_threads \
	tests/programs/native_deleted_part \
	tests/programs/native_dead_lines tests/programs/native_recycled_split \
	tests/programs/native_give \
	tests/programs/native_give_ends tests/programs/native_give_waits \
	tests/programs/native_give_below \
	tests/programs/native_take_threads \
	tests/programs/native_evicted tests/programs/watched tests/programs/dying \
	tests/programs/native_contract \
	tests/programs/native_inplace \
	tests/programs/native_portions \
	tests/programs/native_nomem \
	tests/programs/native_registers \
	tests/programs/native_reread \
	tests/programs/native_ordered \
	tests/programs/native_regiven \
	tests/programs/native_shrink \
	tests/programs/native_diff \
	tests/programs/native_crowd \
	tests/programs/native_death \
	tests/programs/native_previous \
	tests/programs/record_handles \
	tests/programs/native_inside tests/programs/native_siblings \
	tests/programs/native_any \
	tests/programs/native_newer \
	tests/programs/native_newer_threads \
	tests/programs/native_threads \
	tests/programs/native_split \
	tests/programs/native_stories \
	tests/programs/native_churn tests/programs/native_covered \
	tests/programs/native_exhaust \
	tests/programs/native_freed \
	tests/programs/native_room tests/programs/native_beyond tests/programs/native_next \
	tests/programs/native_adapter \
	tests/programs/native_timed_out tests/programs/native_delete_after \
	tests/programs/native_magazines \
	tests/programs/native_parcels \
	tests/programs/native_revoked \
	tests/programs/native_reuse \
	tests/programs/native_lease \
	tests/programs/native_readers \
	tests/programs/native_refused \
	tests/programs/native_requests \
	tests/programs/native_overlap \
	tests/programs/native_recycle \
	tests/programs/native_chunks

check_PROGRAMS += tests/unit/native_claim.t
TESTS += tests/unit/native_claim.t
tests_unit_native_claim_t_SOURCES = tests/unit/native_claim.c \
	runtime/native/claim.c
# Its own object, as below.
tests_unit_native_claim_t_CFLAGS = $(AM_CFLAGS)

check_PROGRAMS += tests/unit/native_keep.t
TESTS += tests/unit/native_keep.t
tests_unit_native_keep_t_SOURCES = tests/unit/native_keep.c \
	runtime/native/keep.c runtime/native/lease_slots.c
# Its own objects: the library's are libtool's.
tests_unit_native_keep_t_CFLAGS = $(AM_CFLAGS)
