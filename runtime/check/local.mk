# Checked mode.
libdrasync_runtime_la_SOURCES += \
	runtime/check/ask.c \
	runtime/check/check.c \
	runtime/check/check.h \
	runtime/check/fault.c \
	runtime/check/handles.c \
	runtime/check/leaks.c \
	runtime/check/lines.c \
	runtime/check/links.c \
	runtime/check/notes.c \
	runtime/check/objects.c \
	runtime/check/pointers.c \
	runtime/check/report.c \
	runtime/check/requests.c \
	runtime/check/stack.c \
	runtime/check/state.h
libdrasync_runtime_la_LIBADD += $(LIBUNWIND_LIBS)

native_test_programs += tests/programs/check_links \
	tests/programs/check_objects \
	tests/programs/check_pointers \
	tests/programs/check_late \
	tests/programs/check_left \
	tests/programs/check_threads \
	tests/programs/check_wrong tests/programs/check_refer
long_tests += tests/bats/check.bats tests/bats/check_objects.bats
TESTS += tests/bats/check_links.bats tests/bats/check_pointers.bats
EXTRA_DIST += tests/bats/check.bash tests/bats/check.bats \
	tests/bats/check_links.bats tests/bats/check_objects.bats tests/bats/check_pointers.bats \
	tests/programs/check_marks.c \
	$(check_reports)
check_reports = \
	tests/reports/below.txt \
	tests/reports/busy.txt \
	tests/reports/busy_below.txt \
	tests/reports/deleted.txt \
	tests/reports/deleted_nodes.txt \
	tests/reports/finished.txt \
	tests/reports/first.txt \
	tests/reports/function.txt \
	tests/reports/given.txt \
	tests/reports/handler.txt \
	tests/reports/handler_before.txt \
	tests/reports/held.txt \
	tests/reports/held_nodes.txt \
	tests/reports/leaks.txt \
	tests/reports/myrmics_touch_by_call_rank.txt \
	tests/reports/myrmics_touch_by_call_shared.txt \
	tests/reports/myrmics_touch_foreign.txt \
	tests/reports/myrmics_touch_rank.txt \
	tests/reports/myrmics_touch_shared.txt \
	tests/reports/links_below.txt \
	tests/reports/links_give.txt \
	tests/reports/links_handle.txt \
	tests/reports/links_many.txt \
	tests/reports/links_none.txt \
	tests/reports/links_unlinked.txt \
	tests/reports/none.txt \
	tests/reports/no_handle.txt \
	tests/reports/no_object.txt \
	tests/reports/no_object_all.txt \
	tests/reports/nowhere.txt \
	tests/reports/objects_all.txt \
	tests/reports/objects_below.txt \
	tests/reports/objects_below_left.txt \
	tests/reports/objects_far_past.txt \
	tests/reports/objects_freed_leaves.txt \
	tests/reports/objects_freed_release.txt \
	tests/reports/objects_in_front.txt \
	tests/reports/objects_large.txt \
	tests/reports/objects_myrmics_by_two.txt \
	tests/reports/objects_myrmics_freed.txt \
	tests/reports/objects_myrmics_past_delete.txt \
	tests/reports/objects_myrmics_past_free.txt \
	tests/reports/objects_myrmics_past_send_copy.txt \
	tests/reports/objects_myrmics_past_send_move.txt \
	tests/reports/objects_myrmics_twice.txt \
	tests/reports/objects_past_delete.txt \
	tests/reports/objects_past_free.txt \
	tests/reports/objects_past_give.txt \
	tests/reports/objects_past_left.txt \
	tests/reports/objects_past_release.txt \
	tests/reports/objects_realloc.txt \
	tests/reports/objects_twice.txt \
	tests/reports/other_thread.txt \
	tests/reports/pointers_function.txt \
	tests/reports/pointers_give.txt \
	tests/reports/pointers_heap.txt \
	tests/reports/pointers_myrmics_copy.txt \
	tests/reports/pointers_myrmics_move.txt \
	tests/reports/pointers_root.txt \
	tests/reports/pointers_stack.txt \
	tests/reports/pointers_variable.txt \
	tests/reports/pointers_zero.txt \
	tests/reports/read_write.txt \
	tests/reports/read_write_nodes.txt \
	tests/reports/refer.txt \
	tests/reports/released.txt \
	tests/reports/requests_left.txt \
	tests/reports/released_nodes.txt \
	tests/reports/stale.txt \
	tests/reports/twice.txt \
	tests/reports/wrong_release.txt \
	tests/reports/unheld.txt \
	tests/reports/upgrade.txt
