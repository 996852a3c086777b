noinst_LTLIBRARIES += libdrasync_memory.la
libdrasync_memory_la_SOURCES = \
	memory/biased_lock.c \
	memory/biased_lock.h \
	memory/blocks.h \
	memory/buddy.c \
	memory/buddy.h \
	memory/buddy_at.c \
	memory/buddy_lists.h \
	memory/chunks.c \
	memory/control.c \
	memory/control.h \
	memory/control_heap.c \
	memory/dump.c \
	memory/dump.h \
	memory/extents.c \
	memory/extents.h \
	memory/frames.c \
	memory/frames.h \
	memory/frameset.c \
	memory/frameset.h \
	memory/grow.h \
	memory/heap.c \
	memory/heap.h \
	memory/heap_cache.c \
	memory/heap_cache.h \
	memory/heap_checked.c \
	memory/heap_checked.h \
	memory/heap_note.c \
	memory/heap_note.h \
	memory/heap_extent.c \
	memory/heap_extent.h \
	memory/heap_parts.c \
	memory/heap_parts.h \
	memory/heap_piece.c \
	memory/heap_piece.h \
	memory/heap_magazine.c \
	memory/heap_magazine.h \
	memory/heap_trim.c \
	memory/heap_words.c \
	memory/heap_words.h \
	memory/limit.c \
	memory/limit.h \
	memory/lock.c \
	memory/lock.h \
	memory/passed.h \
	memory/marks.c \
	memory/marks.h \
	memory/moved.c \
	memory/os.c \
	memory/os.h \
	memory/os_memory.c \
	memory/pages.c \
	memory/pages.h \
	memory/punched.c \
	memory/punched.h \
	memory/sanitizer.h \
	memory/shared.h \
	memory/space.c \
	memory/space.h \
	memory/table.c \
	memory/table.h

memory_tests = \
	tests/unit/memory_biased_lock.t \
	tests/unit/memory_cgroups.t \
	tests/unit/memory_dump.t \
	tests/unit/memory_files.t \
	tests/unit/memory_frames.t \
	tests/unit/memory_heap.t \
	tests/unit/memory_heap_cache.t \
	tests/unit/memory_heap_checked.t \
	tests/unit/memory_heap_growth.t \
	tests/unit/memory_heap_trim.t \
	tests/unit/memory_moved.t \
	tests/unit/memory_pages.t \
	tests/unit/memory_punched.t \
	tests/unit/memory_space.t \
	tests/unit/memory_threads.t \
	tests/unit/memory_magazines.t

# Looks into memory/ that only tests need.
memory_look = tests/unit/memory_look.c tests/unit/memory_look.h

check_PROGRAMS += $(memory_tests)
TESTS += $(memory_tests)

tests_unit_memory_biased_lock_t_SOURCES = tests/unit/memory_biased_lock.c \
	tests/unit/memory_common.h
tests_unit_memory_biased_lock_t_LDADD = libdrasync_memory.la
tests_unit_memory_dump_t_SOURCES = tests/unit/memory_dump.c \
	tests/unit/memory_common.h
tests_unit_memory_dump_t_LDADD = libdrasync_memory.la
tests_unit_memory_files_t_SOURCES = tests/unit/memory_files.c \
	tests/unit/memory_common.h
tests_unit_memory_files_t_LDADD = libdrasync_memory.la
tests_unit_memory_frames_t_SOURCES = tests/unit/memory_frames.c \
	tests/unit/memory_common.h $(memory_look)
tests_unit_memory_frames_t_LDADD = libdrasync_memory.la
tests_unit_memory_heap_t_SOURCES = tests/unit/memory_heap.c \
	tests/unit/memory_common.h $(memory_look)
tests_unit_memory_heap_t_LDADD = libdrasync_memory.la
tests_unit_memory_heap_cache_t_SOURCES = tests/unit/memory_heap_cache.c \
	tests/unit/memory_common.h
tests_unit_memory_heap_cache_t_LDADD = libdrasync_memory.la
tests_unit_memory_heap_checked_t_SOURCES = tests/unit/memory_heap_checked.c \
	tests/unit/memory_common.h
tests_unit_memory_heap_checked_t_LDADD = libdrasync_memory.la
tests_unit_memory_heap_growth_t_SOURCES = tests/unit/memory_heap_growth.c \
	tests/unit/memory_common.h
tests_unit_memory_heap_growth_t_LDADD = libdrasync_memory.la
tests_unit_memory_heap_trim_t_SOURCES = tests/unit/memory_heap_trim.c \
	tests/unit/memory_common.h
tests_unit_memory_heap_trim_t_LDADD = libdrasync_memory.la
tests_unit_memory_moved_t_SOURCES = tests/unit/memory_moved.c \
	tests/unit/memory_common.h tests/unit/memory_look.c \
	tests/unit/memory_look.h
tests_unit_memory_moved_t_LDADD = libdrasync_memory.la
tests_unit_memory_pages_t_SOURCES = tests/unit/memory_pages.c \
	tests/unit/memory_common.h $(memory_look)
tests_unit_memory_pages_t_LDADD = libdrasync_memory.la
tests_unit_memory_punched_t_SOURCES = tests/unit/memory_punched.c \
	tests/unit/memory_common.h
tests_unit_memory_punched_t_LDADD = libdrasync_memory.la
tests_unit_memory_space_t_SOURCES = tests/unit/memory_space.c \
	tests/unit/memory_common.h $(memory_look)
tests_unit_memory_space_t_LDADD = libdrasync_memory.la
tests_unit_memory_cgroups_t_SOURCES = tests/unit/memory_cgroups.c \
	tests/unit/memory_common.h
tests_unit_memory_cgroups_t_LDADD = libdrasync_memory.la
tests_unit_memory_threads_t_SOURCES = tests/unit/memory_threads.c \
	tests/unit/memory_common.h $(memory_look)
tests_unit_memory_threads_t_LDADD = libdrasync_memory.la
tests_unit_memory_magazines_t_SOURCES = tests/unit/memory_magazines.c \
	tests/unit/memory_magazines.h tests/unit/memory_common.h
tests_unit_memory_magazines_t_LDADD = libdrasync_memory.la
