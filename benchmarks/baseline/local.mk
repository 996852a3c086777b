lib_LTLIBRARIES += libmyrmics.la
libmyrmics_la_SOURCES =
libmyrmics_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
libmyrmics_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0
libmyrmics_la_LIBADD = $(MPI_LIBS)
