# The Myrmics front, in the preload library.
libdrasync_shim_la_SOURCES += \
	fronts/myrmics.c \
	fronts/myrmics.h \
	fronts/myrmics_copy.c \
	fronts/myrmics_plain.c \
	fronts/myrmics_say.c

TESTS += tests/bats/myrmics.bats
EXTRA_DIST += tests/bats/myrmics.bats
