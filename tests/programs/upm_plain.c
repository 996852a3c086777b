/*
 * A program that knows nothing of UPMlib: thread N uses a block of an array that
 * the main thread has initialised, until the pages of the block are on the node
 * that the thread is on.  Run by tests/programs/upm_guest.c.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGE    4096
#define PAGES   512
#define THREADS 2
#define BLOCK   (PAGES / THREADS)

/* Bounds the run, in seconds, where no page moves. */
#define SECONDS_MAX 60

static char array[PAGES * PAGE] __attribute__((aligned(PAGE)));
static _Atomic int over;

static void *use(void *argument)
{
    unsigned self = *(unsigned *)argument;
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(self, &set);
    sched_setaffinity(0, sizeof(set), &set);
    while (!atomic_load(&over)) {
        for (unsigned i = self * BLOCK; i < (self + 1) * BLOCK; i++)
            ((volatile char *)array)[i * PAGE]++;
    }
    return NULL;
}

/* The array's first and last page may belong to nobody. */
static unsigned misplaced(void)
{
    void *pages[PAGES];
    int status[PAGES];
    unsigned wrong = 0;

    for (unsigned i = 0; i < PAGES; i++)
        pages[i] = array + i * PAGE;
    syscall(SYS_move_pages, 0, PAGES, pages, NULL, status, 0);
    for (unsigned i = 1; i < PAGES - 1; i++)
        wrong += status[i] != (int)(i / BLOCK);
    return wrong;
}

int main(void)
{
    unsigned self[THREADS] = {0, 1}, wrong = PAGES;
    pthread_t thread[THREADS];
    time_t end = time(NULL) + SECONDS_MAX;

    memset(array, 1, sizeof(array));
    for (unsigned i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, use, &self[i]);
    while (wrong && time(NULL) < end) {
        usleep(50000);
        wrong = misplaced();
    }
    atomic_store(&over, 1);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    printf("# %u pages misplaced\n", wrong);
    return wrong > 0;
}
