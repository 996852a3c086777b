# PageRank and breadth-first search, in two forms that share them.

noinst_LTLIBRARIES += programs/graph/libgraph.la
programs_graph_libgraph_la_SOURCES = \
	programs/graph/bfs.c programs/graph/bfs.h \
	programs/graph/edges.c \
	programs/graph/graph.c programs/graph/graph.h \
	programs/graph/pagerank.c programs/graph/pagerank.h \
	programs/graph/program.c programs/graph/program.h \
	programs/graph/verify.c
programs_graph_libgraph_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
programs_graph_libgraph_la_LIBADD = programs/common/libmeasure.la

drasynclibexec_PROGRAMS += programs/graph/graph_mpi
programs_graph_graph_mpi_SOURCES = programs/graph/graph_mpi.c
programs_graph_graph_mpi_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
programs_graph_graph_mpi_LDADD = programs/graph/libgraph.la $(MPI_LIBS)

drasynclibexec_PROGRAMS += programs/graph/graph_native
programs_graph_graph_native_SOURCES = programs/graph/graph_native.c
programs_graph_graph_native_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CPPFLAGS)
programs_graph_graph_native_LDADD = programs/graph/libgraph.la libdrasync.la \
	$(MPI_LIBS)

long_tests += tests/bats/app_graph.bats
EXTRA_DIST += tests/bats/app_graph.bats
