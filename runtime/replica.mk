# Replicated regions: what the Myrmics calls are made of.
libdrasync_runtime_la_SOURCES += \
	runtime/replica.c \
	runtime/replica.h \
	runtime/replica_again.c \
	runtime/replica_cache.c \
	runtime/replica_cache.h \
	runtime/replica_copy.c \
	runtime/replica_dir.c \
	runtime/replica_gather.h \
	runtime/replica_heap.c \
	runtime/replica_kept.c \
	runtime/replica_lock.c \
	runtime/replica_lock.h \
	runtime/replica_pages.c \
	runtime/replica_quick.c \
	runtime/replica_recv.c \
	runtime/replica_region.c \
	runtime/replica_send.c \
	runtime/replica_spare.c \
	runtime/replica_spare.h \
	runtime/replica_state.h \
	runtime/replica_stock.c \
	runtime/replica_stock.h \
	runtime/replica_wire.c \
	runtime/replica_wire_version.c
