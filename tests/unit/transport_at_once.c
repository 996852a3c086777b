/*
 * How long messages are that UCX sends at once, as its variable says, and
 * whether a launcher says that there are several hosts.
 */
#include <stdint.h>
#include <stdlib.h>

#include "transport/boot_mpi.h"
#include "tap.h"

static bool hosts(const char *name, const char *value, const char *other,
                  const char *value_of_other)
{
    bool several;

    setenv(name, value, 1);
    if (other)
        setenv(other, value_of_other, 1);
    several = boot_several_hosts();
    unsetenv(name);
    if (other)
        unsetenv(other);
    return several;
}

int main(void)
{
    static const char *const names[] = {"PMI_SIZE", "MPI_LOCALNRANKS",
                                        "SLURM_STEP_NUM_NODES",
                                        "FLUX_JOB_NNODES"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unsetenv(names[i]);
    tap_ok(boot_at_once_of("65536") == 65536 &&
               boot_at_once_of("64k") == 65536 &&
               boot_at_once_of("64KB") == 65536 &&
               boot_at_once_of("1M") == 1 << 20 &&
               boot_at_once_of("2g") == (size_t)2 << 30,
           "a number, with and without a unit");
    tap_ok(boot_at_once_of("inter:64k") == 65536 &&
               boot_at_once_of("intra:1k,inter:64k") == 65536 &&
               boot_at_once_of("auto,inter:64k") == 65536 &&
               boot_at_once_of("inter:auto,intra:64k") == 0,
           "that of other hosts");
    tap_ok(boot_at_once_of("inf") == SIZE_MAX &&
               boot_at_once_of("inter:inf") == SIZE_MAX &&
               boot_at_once_of("18446744073709551615g") == SIZE_MAX,
           "any length");
    tap_ok(boot_at_once_of("auto") == 0 && boot_at_once_of("") == 0 &&
               boot_at_once_of("-1") == 0 && boot_at_once_of("0") == 0 &&
               boot_at_once_of("intra:64k") == 0,
           "what says nothing");
    tap_ok(!boot_several_hosts(), "without a launcher");
    tap_ok(!hosts("PMI_SIZE", "4", "MPI_LOCALNRANKS", "4") &&
               hosts("PMI_SIZE", "4", "MPI_LOCALNRANKS", "2") &&
               !hosts("PMI_SIZE", "4", NULL, NULL),
           "Hydra's");
    tap_ok(!hosts("SLURM_STEP_NUM_NODES", "1", NULL, NULL) &&
               hosts("SLURM_STEP_NUM_NODES", "2", NULL, NULL) &&
               hosts("FLUX_JOB_NNODES", "12", NULL, NULL),
           "Slurm's and Flux'");
    tap_ok(!hosts("PMI_SIZE", "4", "MPI_LOCALNRANKS", "many"),
           "what is no number");
    return tap_end();
}
