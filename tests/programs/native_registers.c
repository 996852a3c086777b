/*
 * A region goes between nodes.  Afterwards no upper half of a vector register may
 * be in use: the program's SSE code would be up to four times slower until it is.
 */
#include "native_check.h"

enum { ROUNDS = 200, BYTES = 1 << 18 };

/* Are some?  As the processor keeps count (XGETBV with 1), if it does. */
static int upper_halves_in_use(void)
{
#ifdef __x86_64__
    uint32_t a, b, c = 0, d = 0;

    __asm__("cpuid" : "=a"(a), "=b"(b), "+c"(c), "=d"(d) : "0"(1));
    if (!(c & UINT32_C(1) << 27)) /* OSXSAVE */
        return 0;
    c = 1;
    __asm__("cpuid" : "=a"(a), "=b"(b), "+c"(c), "=d"(d) : "0"(0xd));
    if (!(a & 4))
        return 0;
    __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(1));
    return (a & 4) != 0;
#else
    return 0;
#endif
}

int main(int argc, char **argv)
{
    drasync_region_t region = NULL;
    char *bytes = NULL;

    check_start(&argc, &argv);
    if (check_rank == 0) {
        void *v;

        OK(drasync_new_region(&region));
        OK(drasync_alloc(region, BYTES, &v));
        bytes = memset(v, 0, BYTES);
        OK(drasync_release(region));
    }
    check_share(&region, 0);
    check_share(&bytes, 0);
    for (int round = 0; round < ROUNDS; round++) {
        int writes = round % check_ranks == check_rank;

        OK(drasync_acquire(region, writes ? DRASYNC_WRITE : DRASYNC_READ));
        CHECK(!upper_halves_in_use());
        if (writes)
            bytes[round]++;
        OK(drasync_release(region));
        CHECK(!upper_halves_in_use());
        check_barrier();
        CHECK(!upper_halves_in_use());
    }
    return check_end("registers");
}
