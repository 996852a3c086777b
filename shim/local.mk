# Preloaded by its file name, hence no version in it.
lib_LTLIBRARIES += libdrasync_shim.la
libdrasync_shim_la_SOURCES =
libdrasync_shim_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
libdrasync_shim_la_LDFLAGS = $(AM_LDFLAGS) -avoid-version
libdrasync_shim_la_LIBADD = libdrasync.la $(MPI_LIBS)
