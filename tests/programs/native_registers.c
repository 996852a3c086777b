/*
 * A region goes between nodes.  Afterwards no upper half of a vector register may
 * be in use: the program's SSE code would be up to four times slower until it is.
 * With an argument: only say, by the status, whether the processor tells.
 */
#include "native_check.h"

enum { ROUNDS = 200, BYTES = 1 << 18 };

#ifdef __x86_64__

/* Does the processor keep count of what is in use, for XGETBV with 1? */
static int processor_tells(void)
{
    uint32_t a, b, c = 0, d = 0;

    __asm__("cpuid" : "=a"(a), "=b"(b), "+c"(c), "=d"(d) : "0"(1));
    if (!(c & UINT32_C(1) << 27) || !(c & UINT32_C(1) << 28)) /* OSXSAVE, AVX */
        return 0;
    c = 1;
    __asm__("cpuid" : "=a"(a), "=b"(b), "+c"(c), "=d"(d) : "0"(0xd));
    return (a & 4) != 0;
}

static int upper_halves_in_use(void)
{
    uint32_t a, d;

    __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(1));
    return (a & 4) != 0;
}

#else

static int processor_tells(void)
{
    return 0;
}

static int upper_halves_in_use(void)
{
    return 0;
}

#endif

int main(int argc, char **argv)
{
    drasync_region_t region = NULL;
    char *bytes = NULL;

    if (argc > 1)
        return !processor_tells();
    CHECK(processor_tells());
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
