# Records of runs, for the replay in sim/.
libdrasync_runtime_la_SOURCES += \
	runtime/record/module.c \
	runtime/record/record.c \
	runtime/record/record.h
