noinst_LTLIBRARIES += libdrasync_memory.la
libdrasync_memory_la_SOURCES =
