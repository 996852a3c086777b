# The simulator: linked to a build of the protocol with fault switches, and into
# nothing that is installed.
check_PROGRAMS += sim/simulate
sim_simulate_SOURCES = \
	sim/ahead.c \
	sim/newer.c \
	sim/commands.c \
	sim/cost.c \
	sim/generate.c \
	sim/gifts.c \
	sim/main.c \
	sim/model.c \
	sim/model.h \
	sim/model_net.c \
	sim/model_rank.c \
	sim/model_talk.c \
	sim/net.c \
	sim/oracle.c \
	sim/ranks.c \
	sim/references.c \
	sim/references.h \
	sim/references_calls.c \
	sim/references_check.c \
	sim/references_circles.c \
	sim/references_ranks.c \
	sim/references_script.c \
	sim/references_search.c \
	sim/replay.c \
	sim/replay.h \
	sim/replay_kept.c \
	sim/replay_lives.c \
	sim/replay_main.c \
	sim/replay_read.c \
	sim/replay_slots.c \
	sim/replay_versions.c \
	sim/run.c \
	sim/script.c \
	sim/shrink.c \
	sim/sim.h \
	sim/workloads.c \
	sim/workloads.h \
	sim/world.c \
	$(protocol_sources)
sim_simulate_CPPFLAGS = $(AM_CPPFLAGS) -DPROTO_FAULTS
sim_simulate_LDADD = libdrasync_memory.la

# What messages take on this machine, for scripts/figures.
check_PROGRAMS += sim/probe
sim_probe_SOURCES = sim/probe.c
sim_probe_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
sim_probe_LDFLAGS = $(AM_LDFLAGS) -no-install
sim_probe_LDADD = libmyrmics.la $(MPI_LIBS)

TESTS += tests/unit/sim_seeds.sh tests/unit/sim_faults.sh \
	tests/unit/sim_scenarios.sh tests/unit/sim_workloads.sh \
	tests/unit/sim_replay.sh
EXTRA_DIST += tests/unit/sim_seeds.sh tests/unit/sim_faults.sh \
	tests/unit/sim_scenarios.sh tests/unit/sim_workloads.sh \
	tests/unit/sim_replay.sh scripts/sweep-seeds \
	scripts/regenerate-scenarios $(scenarios)

# The model of the ownership protocol, where spin is.
long_tests += tests/unit/protocol_model.sh
EXTRA_DIST += tests/unit/protocol_model.sh docs/model/ownership.pml \
	scripts/model scripts/campaign tests/model/deleted.txt \
	tests/model/parts.txt tests/model/waiting.txt

scenarios = \
	tests/scenarios/address_reuse.txt \
	tests/scenarios/ahead_above.txt \
	tests/scenarios/ahead_behind.txt \
	tests/scenarios/ahead_delete.txt \
	tests/scenarios/ahead_late.txt \
	tests/scenarios/ahead_read.txt \
	tests/scenarios/ahead_write.txt \
	tests/scenarios/bounce.txt \
	tests/scenarios/bounce_forgotten.txt \
	tests/scenarios/bounce_relays.script \
	tests/scenarios/buried_below.script \
	tests/scenarios/combined.txt \
	tests/scenarios/combined_delete.txt \
	tests/scenarios/combined_nomem.txt \
	tests/scenarios/combined_parts.txt \
	tests/scenarios/combined_write.txt \
	tests/scenarios/delete_busy.txt \
	tests/scenarios/delete_cut.txt \
	tests/scenarios/delete_made.txt \
	tests/scenarios/delete_race.txt \
	tests/scenarios/delete_told.txt \
	tests/scenarios/delete_unread.txt \
	tests/scenarios/deleted_after.script \
	tests/scenarios/deleted_below.script \
	tests/scenarios/deleted_together.script \
	tests/scenarios/end.txt \
	tests/scenarios/followers.txt \
	tests/scenarios/forgot.txt \
	tests/scenarios/forwarding.txt \
	tests/scenarios/freed.txt \
	tests/scenarios/freed_late.script \
	tests/scenarios/give.txt \
	tests/scenarios/give_nomem.txt \
	tests/scenarios/give_part.txt \
	tests/scenarios/given_above.script \
	tests/scenarios/base_lost_forgot.script \
	tests/scenarios/newer_known.script \
	tests/scenarios/line.txt \
	tests/scenarios/line_of_queue.txt \
	tests/scenarios/locate.txt \
	tests/scenarios/locate_late.txt \
	tests/scenarios/locate_moved.txt \
	tests/scenarios/lost.txt \
	tests/scenarios/newer_nested.txt \
	tests/scenarios/newer_threads.txt \
	tests/scenarios/overlapping.txt \
	tests/scenarios/own.txt \
	tests/scenarios/owner.txt \
	tests/scenarios/pinned_other_node.txt \
	tests/scenarios/pinned_same_node.txt \
	tests/scenarios/poison.txt \
	tests/scenarios/presence.txt \
	tests/scenarios/read_arriving.txt \
	tests/scenarios/read_known.txt \
	tests/scenarios/read_parts.txt \
	tests/scenarios/read_portions.txt \
	tests/scenarios/refused.txt \
	tests/scenarios/reused_deleted.script \
	tests/scenarios/reused_unawares.script \
	tests/scenarios/subscribe.txt \
	tests/scenarios/newer.txt \
	tests/scenarios/gave_up.txt \
	tests/scenarios/three_owners.txt \
	tests/scenarios/timed.txt \
	tests/scenarios/wanted.txt
