/*
 * How long a message may be that MPI sends at once, over TCP.
 *
 * UCX announces a longer message first, and sends its data when the receiver has
 * asked for it (rendezvous).  Over TCP it does so from some 18 KiB on, although a
 * message of 32 KiB takes twice as long that way as at once.  Messages that are
 * cut to stay below that limit cost the network's stack each piece by itself.
 * The limit is UCX_RNDV_THRESH.  So where a job has several hosts and only TCP
 * between them, the library sets it before MPI starts, unless the user has; the
 * program's own messages go the same way.
 *
 * UCX reads the variable in MPI_Init.  Messages of the program between ranks of
 * one host go at once too: only UCX from 1.17 on understands a limit for other
 * hosts alone ("auto,inter:64k"), by its source; the plain number is right for
 * all versions.
 */
#include "transport/boot.h"
#include "transport/boot_mpi.h"
#include "transport/mpi_table.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define THRESHOLD     "UCX_RNDV_THRESH"
#define AT_ONCE_BYTES "65536" /* as much as UCX takes in of a connection */
#define INTER         "inter:"

static size_t at_once_bytes; /* 0: not known */

size_t boot_at_once_of(const char *threshold)
{
    const char *inter = strstr(threshold, INTER);
    const char *number = inter ? inter + strlen(INTER) : threshold;
    unsigned long long bytes;
    char *end;

    if (strncasecmp(number, "inf", 3) == 0)
        return SIZE_MAX;
    if (*number < '0' || *number > '9')
        return 0;
    bytes = strtoull(number, &end, 10);
    switch (*end | 0x20) {
    case 'k':
        return bytes < SIZE_MAX >> 10 ? (size_t)bytes << 10 : SIZE_MAX;
    case 'm':
        return bytes < SIZE_MAX >> 20 ? (size_t)bytes << 20 : SIZE_MAX;
    case 'g':
        return bytes < SIZE_MAX >> 30 ? (size_t)bytes << 30 : SIZE_MAX;
    default:
        return (size_t)bytes;
    }
}

static long number_of(const char *variable)
{
    const char *value = getenv(variable);

    return value ? strtol(value, NULL, 10) : 0;
}

bool boot_several_hosts(void)
{
    long ranks = number_of("PMI_SIZE"), here = number_of("MPI_LOCALNRANKS");

    if (ranks > 0 && here > 0) /* Hydra */
        return ranks > here;
    return number_of("SLURM_STEP_NUM_NODES") > 1 ||
           number_of("FLUX_JOB_NNODES") > 1;
}

void boot_before_mpi(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    const char *threshold;
    int length;

    if (!mpi.Get_library_version || mpi.Get_library_version(version, &length) ||
        !strstr(version, "ch4:ucx"))
        return;
    if (!getenv(THRESHOLD) && boot_several_hosts() && !boot_has_rdma())
        setenv(THRESHOLD, AT_ONCE_BYTES, 0);
    threshold = getenv(THRESHOLD);
    at_once_bytes = threshold ? boot_at_once_of(threshold) : 0;
}

size_t boot_at_once(void)
{
    return at_once_bytes;
}
