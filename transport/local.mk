noinst_LTLIBRARIES += libdrasync_transport.la
libdrasync_transport_la_SOURCES =
libdrasync_transport_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
libdrasync_transport_la_LIBADD = $(MPI_LIBS)
