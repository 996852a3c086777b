/*
 * The MPI calls that we take over, and one of UCX, as symbols.  This file is compiled into both
 * libraries: a preloaded library's own dependencies come after libmpich in the
 * order of symbols, so libdrasync.so alone would not be asked.
 *
 * Each symbol finds the next one of its name, as seen from the library it
 * stands in, and leaves the rest to takeover_run.c, which exists once.
 */
#include "shim/takeover.h"

#include <mpi.h>

#include "shim/next.h"

int MPI_Init(int *argc, char ***argv)
{
    return drasync_takeover_init(NEXT(MPI_Init), argc, argv);
}

int PMPI_Init(int *argc, char ***argv)
{
    return drasync_takeover_init(NEXT(PMPI_Init), argc, argv);
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    return drasync_takeover_init_thread(NEXT(MPI_Init_thread), argc, argv,
                                        required, provided);
}

int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    return drasync_takeover_init_thread(NEXT(PMPI_Init_thread), argc, argv,
                                        required, provided);
}

int MPI_Finalize(void)
{
    return drasync_takeover_finalize(NEXT(MPI_Finalize));
}

int PMPI_Finalize(void)
{
    return drasync_takeover_finalize(NEXT(PMPI_Finalize));
}

int MPI_Query_thread(int *provided)
{
    return drasync_takeover_query_thread(NEXT(MPI_Query_thread), provided);
}

int PMPI_Query_thread(int *provided)
{
    return drasync_takeover_query_thread(NEXT(PMPI_Query_thread), provided);
}

void *ucp_disconnect_nb(void *endpoint)
{
    return drasync_takeover_disconnect(NEXT(ucp_disconnect_nb), endpoint);
}
