/*
 * MPI's one-sided operations to a rank that makes no MPI calls: its progress
 * thread does them.  Any number of ranks; all but the last one ask, the last
 * one waits in its own memory for what they bring.
 *
 * rma_awake [us]   and says how long operations took on average
 */
#include <sched.h>
#include <time.h>

#include "native_check.h"
#include "runtime/rma/rma.h"

#define ROUNDS 50
#define LARGE  ((size_t)2 << 20)

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* One round of @bytes, back and forth; how long it took. */
static void ask(MPI_Win window, int target, char *from, char *to, size_t bytes,
                double took[2])
{
    MPI_Aint at = (MPI_Aint)((size_t)check_rank * 2 * LARGE);
    double begin = now_us();

    rma_awake(rma_job()->node_of[target]);
    MPI_Put(from, (int)bytes, MPI_BYTE, target, at, (int)bytes, MPI_BYTE,
            window);
    MPI_Win_flush(target, window);
    took[0] += now_us() - begin;
    begin = now_us();
    rma_awake(rma_job()->node_of[target]);
    MPI_Get(to, (int)bytes, MPI_BYTE, target, at, (int)bytes, MPI_BYTE, window);
    MPI_Win_flush(target, window);
    took[1] += now_us() - begin;
    CHECK(memcmp(from, to, bytes) == 0);
}

static void asker(MPI_Win window, int target, const char *tell)
{
    char *from = malloc(LARGE), *to = malloc(LARGE);

    CHECK(from && to);
    for (size_t bytes = 8; bytes <= LARGE; bytes *= 512) {
        double took[2] = {0, 0};

        for (int i = 0; i < ROUNDS; i++) {
            memset(from, check_rank + i + 1, LARGE);
            memset(to, 0, LARGE);
            ask(window, target, from, to, bytes, took);
        }
        if (tell && check_rank == 0)
            printf("%zu bytes: put %.1f us, get %.1f us\n", bytes,
                   took[0] / ROUNDS, took[1] / ROUNDS);
    }
    free(from);
    free(to);
}

int main(int argc, char **argv)
{
    MPI_Win window;
    char *memory;
    int target;

    check_start_threads(&argc, &argv);
    OK(rma_enter());
    target = check_ranks - 1;
    memory = calloc((size_t)check_ranks, 2 * LARGE);
    CHECK(memory);
    MPI_Win_create(memory, (MPI_Aint)((size_t)check_ranks * 2 * LARGE), 1,
                   MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    /* On one node nobody serves it. */
    if (rma_job()->nodes == check_ranks && check_ranks > 1) {
        char *done = memory + (size_t)target * 2 * LARGE, one = 1;

        if (check_rank < target) {
            asker(window, target, argc > 1 ? argv[1] : NULL);
            rma_awake(rma_job()->node_of[target]);
            MPI_Put(&one, 1, MPI_BYTE, target, done - memory + check_rank, 1,
                    MPI_BYTE, window);
            MPI_Win_flush(target, window);
        } else {
            for (int r = 0; r < target; r++)
                while (!__atomic_load_n(done + r, __ATOMIC_ACQUIRE))
                    argc > 1 ? (void)0 : (void)sched_yield();
        }
    }
    /* Nobody, and oneself. */
    rma_awake(-1);
    rma_awake(rma_job()->nodes);
    rma_awake(rma_job()->node);
    check_barrier();
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    free(memory);
    return check_end("awake");
}
