/*
 * dart_leaves: a program leaves without dart_exit() and MPI_Finalize while a
 * thread of it waits in DART for a unit that never comes.
 */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "dart_check.h"

/* A thread that has worked for so long inside dart_barrier() polls for others. */
#define POLLED_MS 20

static void *wait_in_vain(void *unused)
{
    dart_barrier(DART_TEAM_ALL);
    return unused;
}

static long worked_ms(pthread_t thread)
{
    struct timespec worked = {0};
    clockid_t clock;

    assert(!pthread_getcpuclockid(thread, &clock));
    assert(!clock_gettime(clock, &worked));
    return (long)worked.tv_sec * 1000 + worked.tv_nsec / 1000000;
}

int main(void)
{
    dart_thread_support_level_t level;
    pthread_t thread;
    int given;

    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &given);
    assert(dart_init_thread(NULL, NULL, &level) == DART_OK);
    assert(level == DART_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (me != 1)
        pause(); /* mpirun ends who is left */
    assert(!pthread_create(&thread, NULL, wait_in_vain, NULL));
    while (worked_ms(thread) < POLLED_MS)
        sched_yield();
    puts("leaving");
    exit(0);
}
