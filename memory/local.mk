noinst_LTLIBRARIES += libdrasync_memory.la
libdrasync_memory_la_SOURCES = \
	memory/buddy.c \
	memory/buddy.h \
	memory/chunks.c \
	memory/control.c \
	memory/control.h \
	memory/control_heap.c \
	memory/extents.c \
	memory/extents.h \
	memory/frames.c \
	memory/frames.h \
	memory/frameset.h \
	memory/heap.h \
	memory/limit.c \
	memory/limit.h \
	memory/lock.c \
	memory/lock.h \
	memory/os.c \
	memory/os.h \
	memory/os_memory.c \
	memory/pages.c \
	memory/pages.h \
	memory/shared.h \
	memory/space.c \
	memory/space.h \
	memory/table.c \
	memory/table.h

check_PROGRAMS += tests/unit/memory_pages.t
TESTS += tests/unit/memory_pages.t

tests_unit_memory_pages_t_SOURCES = tests/unit/memory_pages.c \
	tests/unit/memory_common.h
tests_unit_memory_pages_t_LDADD = libdrasync_memory.la
