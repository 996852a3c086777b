noinst_LTLIBRARIES += libdrasync_runtime.la
libdrasync_runtime_la_SOURCES =

# The installed library: the runtime with what stands below it, the API of
# drasync.h, and the take-over of MPI_Init and MPI_Finalize.
lib_LTLIBRARIES += libdrasync.la
libdrasync_la_SOURCES =
libdrasync_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
libdrasync_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0
libdrasync_la_LIBADD = libdrasync_runtime.la libdrasync_protocol.la \
	libdrasync_memory.la libdrasync_transport.la $(MPI_LIBS) \
	$(LIBUNWIND_LIBS)
