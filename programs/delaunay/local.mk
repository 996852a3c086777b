# Delaunay triangulation, in two forms that share their numerical code.
