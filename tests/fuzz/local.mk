# Targets for libFuzzer: what other nodes, files and the environment say.
#
# NAME.t is a target with the main() of replay.c: make check runs it on its
# corpus, tests/fuzz/corpus/NAME, whatever the compiler is.  NAME.fuzz is the
# same with libFuzzer and sanitizers, made by clang in one command from all
# sources: make fuzz-smoke.
fuzz_names = \
	asked \
	codec \
	csv \
	diff \
	later \
	managed \
	options \
	packets \
	places \
	records \
	replica \
	rma \
	run \
	save \
	services \
	socket \
	step
fuzz_tests = \
	tests/fuzz/asked.t \
	tests/fuzz/codec.t \
	tests/fuzz/csv.t \
	tests/fuzz/diff.t \
	tests/fuzz/later.t \
	tests/fuzz/managed.t \
	tests/fuzz/options.t \
	tests/fuzz/packets.t \
	tests/fuzz/places.t \
	tests/fuzz/records.t \
	tests/fuzz/replica.t \
	tests/fuzz/rma.t \
	tests/fuzz/run.t \
	tests/fuzz/save.t \
	tests/fuzz/services.t \
	tests/fuzz/socket.t \
	tests/fuzz/step.t
check_PROGRAMS += $(fuzz_tests)
TESTS += $(fuzz_tests)
EXTRA_DIST += tests/fuzz/README.md tests/fuzz/corpus scripts/fuzz

# What most targets have, compiled once: replay.c's main() for all, and what their
# nodes are made of.
check_LTLIBRARIES += tests/fuzz/libreplay.la
tests_fuzz_libreplay_la_SOURCES = tests/fuzz/fuzz.h tests/fuzz/replay.c \
	$(fuzz_native)
fuzz_node = tests/fuzz/node.h runtime/errors.c runtime/messages/call.c \
	runtime/messages/dispatch.c transport/sink.c
fuzz_native = $(fuzz_node) tests/fuzz/native_node.h \
	runtime/native/diff.c runtime/native/diff_runs.c runtime/native/env.c \
	runtime/native/frames.c runtime/native/pool.c runtime/native/receive.c \
	runtime/native/receive_later.c runtime/native/receive_region.c \
	runtime/native/step.c runtime/native/table.c
fuzz_protocol = $(libdrasync_protocol_la_SOURCES)
fuzz_memory = $(libdrasync_memory_la_SOURCES)

# _CFLAGS: objects of their own, as the libraries' are libtool's.  fuzz_NAME_libs:
# the sources of LDADD.
tests_fuzz_asked_t_SOURCES = tests/fuzz/asked.c runtime/check/ask.c \
	runtime/check/notes.c runtime/check/objects.c runtime/check/report.c \
	runtime/diagnose/ask.c runtime/diagnose/facts.c runtime/native/guard.c \
	runtime/native/look.c
tests_fuzz_asked_t_CFLAGS = $(AM_CFLAGS)
tests_fuzz_asked_t_LDADD = tests/fuzz/libreplay.la libdrasync_protocol.la libdrasync_memory.la
fuzz_asked_libs = $(fuzz_native) $(fuzz_protocol) $(fuzz_memory)
tests_fuzz_codec_t_SOURCES = tests/fuzz/codec.c
tests_fuzz_codec_t_CFLAGS = $(AM_CFLAGS)
tests_fuzz_codec_t_LDADD = tests/fuzz/libreplay.la libdrasync_protocol.la
fuzz_codec_libs = $(fuzz_protocol)
tests_fuzz_csv_t_SOURCES = tests/fuzz/fuzz.h tests/fuzz/replay.c tests/fuzz/csv.c tests/fuzz/file.h \
	programs/common/csv.c programs/common/csv.h
tests_fuzz_csv_t_CFLAGS = $(AM_CFLAGS)
fuzz_csv_flags = -Dfopen=fuzz_fopen
tests_fuzz_csv_t_CPPFLAGS = $(AM_CPPFLAGS) $(fuzz_csv_flags)
tests_fuzz_csv_t_LDADD = -lm
tests_fuzz_diff_t_SOURCES = tests/fuzz/diff.c runtime/native/diff_runs.c
tests_fuzz_diff_t_CFLAGS = $(AM_CFLAGS)
tests_fuzz_diff_t_LDADD = tests/fuzz/libreplay.la
tests_fuzz_later_t_SOURCES = tests/fuzz/later.c tests/fuzz/later_pages.h
tests_fuzz_later_t_CFLAGS = $(AM_CFLAGS)
tests_fuzz_later_t_LDADD = tests/fuzz/libreplay.la libdrasync_protocol.la libdrasync_memory.la
fuzz_later_libs = $(fuzz_native) $(fuzz_protocol) $(fuzz_memory)
tests_fuzz_managed_t_SOURCES = tests/fuzz/managed.c runtime/managed/end.c \
	runtime/managed/far_node.c runtime/managed/home.c \
	runtime/managed/links.c runtime/managed/references.c \
	runtime/managed/table.c runtime/managed/wire.c
tests_fuzz_managed_t_CFLAGS = $(AM_CFLAGS)
tests_fuzz_managed_t_LDADD = tests/fuzz/libreplay.la libdrasync_protocol.la libdrasync_memory.la
fuzz_managed_libs = $(fuzz_node) $(fuzz_protocol) $(fuzz_memory)
tests_fuzz_options_t_SOURCES = tests/fuzz/options.c runtime/options.c \
	runtime/options_names.c
tests_fuzz_options_t_CFLAGS = $(AM_CFLAGS)
tests_fuzz_options_t_LDADD = tests/fuzz/libreplay.la
tests_fuzz_packets_t_SOURCES = tests/fuzz/packets.c transport/bulk.c \
	transport/engine.c transport/message_receive.c \
	transport/message_send.c transport/packets.c transport/sink.c \
	transport/stream.c transport/stretches.c
tests_fuzz_packets_t_CFLAGS = $(AM_CFLAGS)
tests_fuzz_packets_t_LDADD = tests/fuzz/libreplay.la
tests_fuzz_places_t_SOURCES = tests/fuzz/places.c runtime/start_places.c
tests_fuzz_places_t_CFLAGS = $(AM_CFLAGS)
tests_fuzz_places_t_LDADD = tests/fuzz/libreplay.la
tests_fuzz_records_t_SOURCES = tests/fuzz/fuzz.h tests/fuzz/replay.c tests/fuzz/records.c \
	tests/fuzz/file.h sim/cost.c sim/model.c sim/model_net.c sim/model_rank.c \
	sim/model_talk.c sim/replay.c sim/replay_kept.c sim/replay_lives.c \
	sim/replay_read.c sim/replay_slots.c sim/replay_versions.c
tests_fuzz_records_t_CFLAGS = $(AM_CFLAGS)
fuzz_records_flags = -Dfopen=fuzz_fopen
tests_fuzz_records_t_CPPFLAGS = $(AM_CPPFLAGS) $(fuzz_records_flags)
tests_fuzz_records_t_LDADD = libdrasync_protocol.la libdrasync_memory.la -lm
fuzz_records_libs = $(fuzz_protocol) $(fuzz_memory)
tests_fuzz_replica_t_SOURCES = tests/fuzz/replica.c tests/unit/unchecked.h \
	$(replica_sources)
tests_fuzz_replica_t_CFLAGS = $(AM_CFLAGS)
tests_fuzz_replica_t_LDADD = tests/fuzz/libreplay.la libdrasync_protocol.la libdrasync_memory.la
fuzz_replica_libs = $(fuzz_node) $(fuzz_protocol) $(fuzz_memory)
tests_fuzz_rma_t_SOURCES = tests/fuzz/rma.c runtime/rma/atomic.c \
	runtime/rma/far.c runtime/rma/far_ops.c runtime/rma/far_runs.c \
	runtime/rma/far_runs_serve.c runtime/rma/far_serve.c \
	runtime/rma/ranges.c runtime/rma/wire.c
tests_fuzz_rma_t_CFLAGS = $(AM_CFLAGS)
tests_fuzz_rma_t_LDADD = tests/fuzz/libreplay.la libdrasync_memory.la
fuzz_rma_libs = $(fuzz_node) $(fuzz_memory)
tests_fuzz_run_t_SOURCES = tests/fuzz/run.c runtime/native/run_serve.c \
	runtime/native/run_wire.c runtime/thread_create.c
tests_fuzz_run_t_CFLAGS = $(AM_CFLAGS)
tests_fuzz_run_t_LDADD = tests/fuzz/libreplay.la libdrasync_memory.la
fuzz_run_libs = $(fuzz_node) $(fuzz_memory)
tests_fuzz_save_t_SOURCES = tests/fuzz/save.c $(libdrasync_save_la_SOURCES)
tests_fuzz_save_t_CFLAGS = $(AM_CFLAGS)
tests_fuzz_save_t_LDADD = tests/fuzz/libreplay.la $(ZSTD_LIBS)
fuzz_save_ldflags = $(ZSTD_LIBS)
tests_fuzz_services_t_SOURCES = tests/fuzz/services.c runtime/native/claim.c \
	runtime/native/naming.c runtime/services/chunks.c \
	runtime/services/names.c runtime/services/names_of.c \
	runtime/services/names_table.c runtime/services/queue_lock_queue.c \
	runtime/services/queue_lock_wire.c
tests_fuzz_services_t_CFLAGS = $(AM_CFLAGS)
tests_fuzz_services_t_LDADD = tests/fuzz/libreplay.la libdrasync_memory.la
fuzz_services_libs = $(fuzz_node) $(fuzz_memory)
tests_fuzz_socket_t_SOURCES = tests/fuzz/socket.c runtime/start_socket.c
tests_fuzz_socket_t_CFLAGS = $(AM_CFLAGS)
tests_fuzz_socket_t_LDADD = tests/fuzz/libreplay.la
tests_fuzz_step_t_SOURCES = tests/fuzz/step.c
tests_fuzz_step_t_CFLAGS = $(AM_CFLAGS)
tests_fuzz_step_t_LDADD = tests/fuzz/libreplay.la libdrasync_protocol.la
fuzz_step_libs = $(fuzz_protocol)

FUZZ_SECONDS = 60
FUZZ_FLAGS = -g -O1 -fno-omit-frame-pointer \
	-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined
fuzz_programs = $(fuzz_names:=.fuzz)
fuzz_sources = $(foreach name,$(fuzz_names),$(tests_fuzz_$(name)_t_SOURCES)) \
	$(fuzz_native) $(fuzz_protocol) $(fuzz_memory)

# The sources of target $*, without the main() of replay.c.
fuzz_own = $(addprefix $(srcdir)/,$(filter-out tests/fuzz/replay.c,\
	$(filter %.c,$(tests_fuzz_$*_t_SOURCES) $(fuzz_$*_libs))))

$(fuzz_programs): %.fuzz: $(fuzz_sources)
	@test -n "$(FUZZ_CC)" || { echo "fuzz-smoke: no clang with libFuzzer" \
	  "(Debian: apt-get install clang; then configure again)" >&2; exit 1; }
	@$(MKDIR_P) tests/fuzz
	$(AM_V_GEN)$(FUZZ_CC) $(DEFS) $(AM_CPPFLAGS) $(fuzz_$*_flags) \
	  $(AM_CFLAGS) $(FUZZ_FLAGS) $(fuzz_own) $(fuzz_$*_ldflags) -lm -o tests/fuzz/$@

# FUZZ_SECONDS for each target; FUZZ="NAME..." for some of them.
FUZZ = $(fuzz_names)
fuzz-smoke: $(FUZZ:=.fuzz)
	@$(srcdir)/scripts/fuzz -t $(FUZZ_SECONDS) $(FUZZ)
.PHONY: fuzz-smoke $(fuzz_programs)

clean-local: clean-fuzz
clean-fuzz:
	rm -rf $(addprefix tests/fuzz/,$(fuzz_programs)) tests/fuzz/found
.PHONY: clean-fuzz
