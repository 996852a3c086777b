/*
 * Which versions of MPI are helped out of MPI_Finalize over TCP: those that
 * close their connections before the launcher's barrier, and no others.
 */
#include <stdio.h>

#include "transport/boot_mpi.h"
#include "tap.h"

/* As MPICH words it. */
static bool needed(const char *number, const char *device)
{
    char text[256];

    snprintf(text, sizeof(text),
             "MPICH Version:\t%s\nMPICH Release date:\tunreleased\n"
             "MPICH ABI:\t14:2:2\nMPICH Device:\t%s\n",
             number, device);
    return boot_leave_needed(text);
}

int main(void)
{
    tap_ok(needed("3.3", "ch4:ucx") && needed("3.3.2", "ch4:ucx") &&
               needed("3.4.3", "ch4:ucx") && needed("4.0.2", "ch4:ucx") &&
               needed("4.1rc1", "ch4:ucx") && needed("4.1.3", "ch4:ucx"),
           "MPICH on UCX closes first from 3.3 to 4.1");
    tap_ok(!needed("4.2.0", "ch4:ucx") && !needed("4.3.1", "ch4:ucx") &&
               !needed("5.0.0", "ch4:ucx"),
           "from 4.2 on it waits first, and 4.3 may have met other worlds");
    tap_ok(!needed("4.0.2", "ch4:ofi") && !needed("4.0.2", "ch3:nemesis") &&
               !needed("3.2.1", "ch3:sock"),
           "without UCX there is nothing to close");
    tap_ok(
        !boot_leave_needed("MVAPICH Version:\t3.0\nMVAPICH Device:\tch4:ucx") &&
            !boot_leave_needed("Intel(R) MPI Library 2021.10") &&
            !boot_leave_needed(""),
        "others are left alone");
    return tap_end();
}
