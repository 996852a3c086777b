noinst_LTLIBRARIES += libdrasync_protocol.la
libdrasync_protocol_la_SOURCES =
include protocol/replica.mk
