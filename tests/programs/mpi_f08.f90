! A Fortran program on the mpi_f08 module, which calls PMPI directly.
program start_f08
    use mpi_f08
    implicit none
    integer :: rank, level

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Query_thread(level)
    print '(a,i0,a,i0)', 'fortran rank ', rank, ' level ', level
    call MPI_Finalize()
end program start_f08
