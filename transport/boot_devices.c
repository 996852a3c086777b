/* What this host has that registers memory: see boot.h and boot_mpi.h. */
#include "transport/boot.h"
#include "transport/boot_mpi.h"

#include <dirent.h>
#include <unistd.h>

/* Is there something in the folder? */
static bool has_devices(const char *class)
{
    DIR *devices = opendir(class);
    const struct dirent *entry;
    bool found = false;

    if (!devices)
        return false;
    while (!found && (entry = readdir(devices)))
        found = entry->d_name[0] != '.';
    closedir(devices);
    return found;
}

/* InfiniBand's and the like, Slingshot, BXI, Aries. */
bool boot_has_rdma(void)
{
    return has_devices("/sys/class/infiniband") ||
           has_devices("/sys/class/cxi") || has_devices("/sys/class/bxi") ||
           !access("/dev/kgni0", F_OK);
}

/* KNEM pins what ranks of one host copy from each other. */
bool boot_registers(void)
{
    return boot_has_rdma() || !access("/dev/knem", F_OK);
}
