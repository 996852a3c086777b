# The format of saved regions: a part of libdrasync.so, and of drasync-file.
noinst_LTLIBRARIES += libdrasync_save.la
libdrasync_save_la_SOURCES = \
	save/blocks.c \
	save/blocks.h \
	save/bytes.h \
	save/reader.c \
	save/save.h \
	save/table.c \
	save/table.h \
	save/writer.c
libdrasync_save_la_LIBADD = $(ZSTD_LIBS)

bin_PROGRAMS += drasync-file
drasync_file_SOURCES = save/file_main.c save/json.h
drasync_file_LDADD = libdrasync_save.la

check_PROGRAMS += tests/unit/save_file.t
TESTS += tests/unit/save_file.t
tests_unit_save_file_t_SOURCES = tests/unit/save_file.c \
	tests/unit/memory_common.h
tests_unit_save_file_t_LDADD = libdrasync_save.la libdrasync_memory.la
