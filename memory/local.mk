noinst_LTLIBRARIES += libdrasync_memory.la
libdrasync_memory_la_SOURCES = \
	memory/control.h \
	memory/extents.h \
	memory/frames.h \
	memory/frameset.h \
	memory/heap.h \
	memory/limit.h \
	memory/lock.h \
	memory/os.h \
	memory/pages.h \
	memory/space.h
