/*
 * A Myrmics program that hangs until a file appears: worker 1 waits for what
 * worker 0 does not send, or with "barrier" in sys_barrier().
 * Usage: myrmics_stuck recv|barrier FILE
 */
#include <string.h>
#include <unistd.h>

#include "myrmics_check.h"

/* The report names it, so it is neither inlined nor cloned. */
rid_t receive(int from);

__attribute__((noinline)) rid_t receive(int from)
{
    rid_t region = sys_recv(0, from);

    CHECK(region != 0); /* no tail call */
    return region;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    me = sys_get_worker_id();
    workers = sys_get_num_workers();
    CHECK(argc == 3 && workers > 1);
    if (me == 0)
        while (access(argv[2], F_OK))
            usleep(20000);
    if (!strcmp(argv[1], "barrier")) {
        sys_barrier();
    } else if (me == 0) {
        rid_t region = sys_ralloc(0, 0);

        CHECK(sys_alloc(16, region));
        sys_send(region, 1);
    } else if (me == 1) {
        receive(0);
    }
    MPI_Finalize();
    return 0;
}
