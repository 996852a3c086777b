noinst_LTLIBRARIES += libdrasync_protocol.la
libdrasync_protocol_la_SOURCES = \
	protocol/limits.h \
	protocol/protocol.h
include protocol/replica.mk
