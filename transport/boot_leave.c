/*
 * Leaving MPI when it runs over TCP.
 *
 * MPICH from 3.3 to 4.1 with UCX ends so: each rank closes its connections,
 * calls UCX's progress until all are closed, and waits in the launcher's
 * barrier, without progress, for the others.  But to close a TCP connection on
 * which anything was sent, UCX asks the peer, and the peer's UCX answers only
 * while its rank makes progress.  A rank that comes a little later therefore
 * asks one that sits in the barrier, and the job hangs.  (An answer counts as
 * something sent: closing twice, or flushing before, does not help.)  From 4.2
 * on that barrier comes before the closing, and there is nothing to do here.
 *
 * That closing has a use: what a rank has sent, but UCX still keeps, leaves
 * before its progress ends.  So first see to it that nothing is kept.  Once all
 * ranks are here every message of the program has been received, by the rules
 * of MPI_Finalize; a barrier gets every pair of ranks connected that the second
 * barrier uses; and that one's few bytes go straight into connections that have
 * room.  After it MPI is told that its connections are closed.  It comes to the
 * launcher's barrier at once, and behind that takes them down by force.
 *
 * "All ranks" are those of MPI_COMM_WORLD.  What was sent to processes of
 * another world (MPI_Comm_spawn, _connect, _accept, _join) could still be kept;
 * but these versions refuse those calls where they run on UCX, which has them
 * since 4.3.  So whoever adds a version here looks at that again.
 *
 * Between ranks of one host UCX takes shared memory, which has nothing to close,
 * unless UCX_TLS names only TCP.
 *
 * With adapters that do the acknowledging themselves the wait ends, and the
 * bytes of the last barrier could still be in work there; so this is for hosts
 * whose UCX has only TCP between them.
 */
#include "transport/boot.h"
#include "transport/boot_mpi.h"
#include "transport/mpi_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool left;

/* Others with MPICH's ABI, which give their own names, are left alone: they may
 * end otherwise. */
bool boot_leave_needed(const char *version)
{
    int major, minor;

    /* Space matches the tab that is there. */
    if (sscanf(version, "MPICH Version: %d.%d", &major, &minor) != 2 ||
        !strstr(version, "ch4:ucx"))
        return false;
    return (major == 3 && minor >= 3) || (major == 4 && minor <= 1);
}

/* Does UCX_TLS allow TCP, and but for that what stays on a host? */
static bool asked_for_tcp(void)
{
    static const char *const words[] = {"tcp",  "self",  "sm",   "shm",
                                        "mm",   "posix", "sysv", "cma",
                                        "knem", "xpmem", NULL};
    const char *at = getenv("UCX_TLS");
    bool tcp = false;

    while (at && *at) {
        size_t bytes = strcspn(at, ",");
        int i = 0;

        while (words[i] &&
               (strlen(words[i]) != bytes || strncmp(words[i], at, bytes) != 0))
            i++;
        if (!words[i])
            return false;
        tcp |= i == 0;
        at += bytes + (at[bytes] == ',');
    }
    return tcp;
}

unsigned boot_leave_vote(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;

    mpi.Get_library_version(version, &length);
    if (!boot_leave_needed(version))
        return 0;
    if (asked_for_tcp())
        return BOOT_LEAVE_HOSTS | BOOT_LEAVE_HOST;
    return boot_has_rdma() ? 0 : BOOT_LEAVE_HOSTS;
}

static bool barrier(void)
{
    MPI_Request request;

    return !boot_failed("Ibarrier", mpi.Ibarrier(MPI_COMM_WORLD, &request)) &&
           boot_await(NULL, "Ibarrier", &request);
}

void boot_leave(void)
{
    if (!left && barrier() && barrier())
        left = true;
}

bool boot_left(void)
{
    return left;
}
