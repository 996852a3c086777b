# What a node needs of others whatever they do with it: names, addresses, locks.
libdrasync_runtime_la_SOURCES += \
	runtime/services/chunks.c \
	runtime/services/chunks.h \
	runtime/services/names.c \
	runtime/services/names.h \
	runtime/services/names_of.c \
	runtime/services/names_table.c \
	runtime/services/names_table.h \
	runtime/services/queue_lock.c \
	runtime/services/queue_lock.h \
	runtime/services/queue_lock_queue.c \
	runtime/services/queue_lock_state.h \
	runtime/services/queue_lock_wire.c
