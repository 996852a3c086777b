# Interleavings: tests/step/README.md.  The code under test is compiled with the
# test, instrumented; the engine is not, and takes the place of the sanitizer's
# library.  So the flag is for the compiler only: _CFLAGS would go to the linker.
step_tests = tests/step/biased_lock.t \
	tests/step/lease_shared.t tests/step/lease_tree.t \
	tests/step/lifetime.t tests/step/litmus.t tests/step/magazine.t \
	tests/step/outbox.t tests/step/progress.t tests/step/replica_cache.t \
	tests/step/wait.t

EXTRA_DIST += tests/step/README.md tests/step/skipped.sh
if STEP
check_LTLIBRARIES += tests/step/libstep.la tests/step/liboracle.la
check_PROGRAMS += $(step_tests) tests/step/lease.t
long_tests += tests/step/lease.t
TESTS += $(step_tests)
else
TESTS += tests/step/skipped.sh
endif

tests_step_libstep_la_SOURCES = tests/step/audit.c tests/step/audit.h \
	tests/step/calls.c tests/step/calls.h \
	tests/step/descriptors.c tests/step/engine.h tests/step/explore.c \
	tests/step/explore.h tests/step/hooks.c tests/step/instead.h \
	tests/step/locations.c tests/step/main.c tests/step/memory.c \
	tests/step/memory.h tests/step/plain.c tests/step/private.c \
	tests/step/report.c tests/step/run.c tests/step/step.h \
	tests/step/symbols.c

# Not instrumented: it orders nothing.
tests_step_liboracle_la_SOURCES = tests/step/lease_oracle.c \
	tests/step/lease_oracle.h

STEP_CPPFLAGS = $(AM_CPPFLAGS) -fsanitize=thread -include tests/step/instead.h

tests_step_litmus_t_SOURCES = tests/step/litmus.c
tests_step_litmus_t_CPPFLAGS = $(STEP_CPPFLAGS)
tests_step_litmus_t_LDADD = tests/step/libstep.la

tests_step_wait_t_SOURCES = tests/step/wait.c tests/step/stubs.c \
	runtime/futex.c runtime/wait.c runtime/waiter.c
tests_step_wait_t_CPPFLAGS = $(STEP_CPPFLAGS)
tests_step_wait_t_LDADD = tests/step/libstep.la

tests_step_biased_lock_t_SOURCES = tests/step/biased_lock.c \
	memory/biased_lock.c
tests_step_biased_lock_t_CPPFLAGS = $(STEP_CPPFLAGS) -DBIASED_SPINS=1
tests_step_biased_lock_t_LDADD = tests/step/libstep.la

tests_step_magazine_t_SOURCES = tests/step/magazine.c memory/biased_lock.c \
	memory/heap_parts.c
tests_step_magazine_t_CPPFLAGS = $(STEP_CPPFLAGS) -DBIASED_SPINS=1
tests_step_magazine_t_LDADD = tests/step/libstep.la

tests_step_replica_cache_t_SOURCES = tests/step/replica_cache.c \
	tests/step/stubs_engine.c memory/biased_lock.c memory/heap.c \
	memory/heap_cache.c memory/heap_extent.c memory/heap_parts.c \
	memory/heap_piece.c runtime/replica/cache.c \
	runtime/replica/cache_calls.c
tests_step_replica_cache_t_CPPFLAGS = $(STEP_CPPFLAGS) -DBIASED_SPINS=1
tests_step_replica_cache_t_LDADD = tests/step/libstep.la

tests_step_lifetime_t_SOURCES = tests/step/lifetime.c \
	tests/step/lifetime_rules.h tests/step/lifetime_world.c \
	tests/step/lifetime_world.h lifetime/blocks.c lifetime/cycle.c \
	lifetime/cycle_lists.c lifetime/hybrid.c lifetime/object.c \
	lifetime/pool.c lifetime/robust.c lifetime/thread.c
tests_step_lifetime_t_CPPFLAGS = $(STEP_CPPFLAGS) \
	-include tests/step/lifetime_rules.h -DLIFE_THREADS=4 \
	-DLIFE_BLOCK_SLOTS=2 -DLIFE_BLOCK_OBJECTS=2
tests_step_lifetime_t_LDADD = tests/step/libstep.la

tests_step_outbox_t_SOURCES = tests/step/outbox.c \
	tests/step/stubs.c tests/step/stubs_engine.c \
	runtime/messages/chores.c runtime/messages/outbox.c \
	runtime/messages/progress_idle.c
tests_step_outbox_t_CPPFLAGS = $(STEP_CPPFLAGS)
tests_step_outbox_t_LDADD = tests/step/libstep.la

# Ranks of a node that take and give back regions.
step_native = tests/step/native_absent.c tests/step/native_shown.c \
	tests/step/native_world.c tests/step/native_world.h \
	tests/step/stubs.c tests/step/stubs_engine.c \
	tests/step/taken_private.c \
	runtime/native/hold.c runtime/native/hold_show.c \
	runtime/native/keep.c runtime/native/lease.c \
	runtime/native/lease_shared.c runtime/native/lease_slots.c \
	runtime/native/split.c runtime/native/step.c runtime/futex.c \
	runtime/wait.c runtime/waiter.c \
	memory/biased_lock.c

tests_step_lease_t_SOURCES = tests/step/lease.c $(step_native)
tests_step_lease_t_CPPFLAGS = $(STEP_CPPFLAGS)
tests_step_lease_t_LDADD = tests/step/libstep.la libdrasync_protocol.la

# With the other objects of lease.t, which are compiled in the same way.
tests_step_lease_shared_t_SOURCES = tests/step/lease_shared.c
tests_step_lease_shared_t_CPPFLAGS = $(STEP_CPPFLAGS)
step_native_objects = $(filter-out tests/step/lease_t-lease.$(OBJEXT),\
	$(tests_step_lease_t_OBJECTS))
step_native_libs = tests/step/libstep.la libdrasync_protocol.la
tests_step_lease_shared_t_LDADD = $(step_native_objects) $(step_native_libs)
tests_step_lease_shared_t_DEPENDENCIES = $(step_native_objects) $(step_native_libs)

tests_step_lease_tree_t_SOURCES = tests/step/lease_tree.c \
	tests/step/native_rules.h runtime/native/newer.c \
	runtime/native/request.c $(step_native)
tests_step_lease_tree_t_CPPFLAGS = $(STEP_CPPFLAGS) \
	-include tests/step/native_rules.h
tests_step_lease_tree_t_LDADD = tests/step/liboracle.la \
	tests/step/libstep.la libdrasync_protocol.la

tests_step_progress_t_SOURCES = tests/step/progress.c \
	tests/step/progress_stubs.c tests/step/progress_world.c \
	tests/step/progress_world.h \
	tests/step/stubs.c tests/step/stubs_engine.c \
	runtime/messages/outbox.c runtime/messages/progress.c \
	runtime/messages/progress_idle.c runtime/messages/progress_thread.c \
	runtime/messages/progress_turns.c runtime/thread_create.c runtime/futex.c \
	runtime/wait.c runtime/waiter.c
tests_step_progress_t_CPPFLAGS = $(STEP_CPPFLAGS)
tests_step_progress_t_LDADD = tests/step/libstep.la
