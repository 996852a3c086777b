/*
 * A tool like many: wraps MPI_Init and MPI_Finalize, counts, and goes on to
 * PMPI, or, with TOOL_NEXT in the environment, to the next library.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int entered;

static void *below(const char *name)
{
    return dlsym(getenv("TOOL_NEXT") ? RTLD_NEXT : RTLD_DEFAULT,
                 getenv("TOOL_NEXT") ? name + 1 : name);
}

int MPI_Init(int *argc, char ***argv)
{
    int (*next)(int *, char ***) = (int (*)(int *, char ***))below("PMPI_Init");

    entered++;
    return next(argc, argv);
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int (*next)(int *, char ***, int, int *) =
        (int (*)(int *, char ***, int, int *))below("PMPI_Init_thread");

    entered++;
    return next(argc, argv, required, provided);
}

int MPI_Finalize(void)
{
    int (*next)(void) = (int (*)(void))below("PMPI_Finalize");

    printf("tool: entered %d\n", entered);
    return next();
}
