bin_SCRIPTS += mpicc-drasync mpicxx-drasync
