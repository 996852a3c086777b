noinst_LTLIBRARIES += libdrasync_protocol.la
protocol_sources = \
	protocol/acquire.c \
	protocol/ahead.c \
	protocol/arrival.c \
	protocol/arrival.h \
	protocol/bounce.c \
	protocol/bury.c \
	protocol/chain.c \
	protocol/circles.c \
	protocol/codec.c \
	protocol/combine.c \
	protocol/copy.c \
	protocol/delete.c \
	protocol/died.c \
	protocol/effects.c \
	protocol/effects.h \
	protocol/faults.h \
	protocol/give.c \
	protocol/hold.c \
	protocol/internal.h \
	protocol/objects.h \
	protocol/limits.h \
	protocol/list.h \
	protocol/message.h \
	protocol/locate.c \
	protocol/message.c \
	protocol/newer.c \
	protocol/op.c \
	protocol/owner.c \
	protocol/presence.c \
	protocol/previous.c \
	protocol/protocol.h \
	protocol/record.h \
	protocol/recall.c \
	protocol/queue.c \
	protocol/references.c \
	protocol/references.h \
	protocol/refs_faults.h \
	protocol/refused.c \
	protocol/region.c \
	protocol/renew.c \
	protocol/request.c \
	protocol/search.c \
	protocol/search.h \
	protocol/see.c \
	protocol/see.h \
	protocol/settled.c \
	protocol/step.c \
	protocol/subscribe.c \
	protocol/subscribe.h \
	protocol/transfer.c \
	protocol/transfer_send.c \
	protocol/unread.c
libdrasync_protocol_la_SOURCES = $(protocol_sources)
include protocol/replica.mk

check_PROGRAMS += tests/unit/protocol_local tests/unit/protocol_memory
tests_unit_protocol_local_SOURCES = tests/unit/protocol_local.c \
	tests/unit/protocol_node.h
tests_unit_protocol_local_LDADD = libdrasync_protocol.la
tests_unit_protocol_memory_SOURCES = tests/unit/protocol_memory.c \
	tests/unit/protocol_node.h
tests_unit_protocol_memory_LDADD = libdrasync_protocol.la
check_PROGRAMS += tests/unit/protocol_died tests/unit/protocol_deaths
tests_unit_protocol_deaths_SOURCES = tests/unit/protocol_deaths.c \
	tests/unit/protocol_node.h
tests_unit_protocol_deaths_LDADD = libdrasync_protocol.la
tests_unit_protocol_died_SOURCES = tests/unit/protocol_died.c \
	tests/unit/protocol_node.h
tests_unit_protocol_died_LDADD = libdrasync_protocol.la
check_PROGRAMS += tests/unit/protocol_wide
tests_unit_protocol_wide_SOURCES = tests/unit/protocol_wide.c \
	tests/unit/protocol_node.h
tests_unit_protocol_wide_LDADD = libdrasync_protocol.la
TESTS += tests/unit/protocol_local tests/unit/protocol_memory \
	tests/unit/protocol_died tests/unit/protocol_deaths \
	tests/unit/protocol_wide

check_PROGRAMS += tests/unit/protocol_codec.t
tests_unit_protocol_codec_t_SOURCES = tests/unit/protocol_codec.c \
	tests/unit/protocol_codec.h
tests_unit_protocol_codec_t_LDADD = libdrasync_protocol.la
TESTS += tests/unit/protocol_codec.t

check_PROGRAMS += tests/unit/protocol_codec_refused.t
tests_unit_protocol_codec_refused_t_SOURCES = \
	tests/unit/protocol_codec_refused.c tests/unit/protocol_codec.h
tests_unit_protocol_codec_refused_t_LDADD = libdrasync_protocol.la
TESTS += tests/unit/protocol_codec_refused.t

check_PROGRAMS += tests/unit/protocol_search.t
tests_unit_protocol_search_t_SOURCES = tests/unit/protocol_search.c
tests_unit_protocol_search_t_LDADD = libdrasync_protocol.la
TESTS += tests/unit/protocol_search.t
