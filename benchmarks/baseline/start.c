/* How a job on the baseline begins and ends: ranges, workers, schedulers. */
#include "base.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define SPACE_MIN ((uint64_t)1 << 20)
#define SPACE_MAX ((uint64_t)1 << 43)

/*
 * Where the range may lie; the last ones suit small spaces under checkers.
 * ThreadSanitizer lets programs use only the lowest 512 GiB and ends them where
 * another address is tried.
 */
#ifdef __SANITIZE_THREAD__
#define SPACE_DEFAULT ((uint64_t)1 << 36)
static const uint64_t candidates[] = {
    UINT64_C(0x001000000000),
    UINT64_C(0x004000000000),
};
#else
#define SPACE_DEFAULT ((uint64_t)1 << 40)
static const uint64_t candidates[] = {
    UINT64_C(0x200000000000), UINT64_C(0x300000000000),
    UINT64_C(0x100000000000), UINT64_C(0x080000000000),
    UINT64_C(0x004000000000), UINT64_C(0x001000000000),
};
#endif

struct bl_state bl;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum { IDLE, RUNNING, ENDED } phase;
static int own_mpi;

int bl_running(void)
{
    return phase == RUNNING;
}

int bl_core(void)
{
    int rank = 0, up = 0, down = 0;

    if (phase == RUNNING)
        return bl.rank;
    MPI_Initialized(&up);
    MPI_Finalized(&down);
    if (up && !down)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

void bl_say(const char *kind, const char *file, int line, const char *format,
            va_list args)
{
    char text[1024];
    int used;

    fflush(stdout);
    used = snprintf(text, sizeof text, "Core %d: %s: ", bl_core(), kind);
    vsnprintf(text + used, sizeof text - (size_t)used, format, args);
    /* In one piece, so that lines of several ranks do not mix. */
    dprintf(STDERR_FILENO, "%s [%s:%d]\n", text, file, line);
}

/* The launcher drops output that it has not read when a job is aborted: wait,
 * a second at most, until it has taken all from the pipe. */
static void wait_until_read(int fd)
{
    const struct timespec nap = {0, 1000000};
    int unread, i;

    for (i = 0; i < 1000; i++) {
        if (ioctl(fd, FIONREAD, &unread) || unread == 0)
            return;
        nanosleep(&nap, NULL);
    }
}

void bl_stop(void)
{
    int up = 0, down = 0;

    MPI_Initialized(&up);
    MPI_Finalized(&down);
    fflush(stdout);
    wait_until_read(STDOUT_FILENO);
    wait_until_read(STDERR_FILENO);
    if (up && !down)
        MPI_Abort(MPI_COMM_WORLD, 1);
    _Exit(1);
}

void bl_fail(const char *file, int line, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    bl_say("Error", file, line, format, args);
    va_end(args);
    bl_stop();
}

/* All ranks find the same mistake in the set-up; the first one tells. */
static void refuse(const char *format, ...)
{
    va_list args;

    if (bl.rank == 0) {
        fputs("libmyrmics: ", stderr);
        va_start(args, format);
        vfprintf(stderr, format, args);
        va_end(args);
        fputs("\n", stderr);
        bl_stop();
    }
    MPI_Barrier(bl.comm);
    _Exit(1);
}

/* A size in bytes, as DRASync's variables have it: K, M, G or T may follow, and
 * B or iB; 0 if it is none. */
static uint64_t parse_size(const char *text)
{
    static const char units[] = "kKmMgGtT";
    const char *unit;
    uint64_t value;
    char *end;

    if (*text < '0' || *text > '9')
        return 0;
    errno = 0;
    value = strtoull(text, &end, 10);
    unit = *end ? strchr(units, *end) : NULL;
    if (unit) {
        unsigned shift = 10 * ((unsigned)(unit - units) / 2 + 1);

        end++;
        if (value > UINT64_MAX >> shift)
            return 0;
        value <<= shift;
    }
    if (*end && strcasecmp(end, "B") && (!unit || strcasecmp(end, "iB")))
        return 0;
    return errno ? 0 : value;
}

/* What the first rank's environment says goes for all. */
static void read_settings(uint64_t *space_out)
{
    const char *schedulers = getenv("MYRMICS_SCHEDULERS");
    const char *space = getenv("MYRMICS_SPACE");
    uint64_t settings[2] = {1, SPACE_DEFAULT};
    char *end;

    if (schedulers) {
        settings[0] = strtoul(schedulers, &end, 10);
        if (*schedulers < '0' || *schedulers > '9' || *end)
            settings[0] = 0;
    }
    if (space)
        settings[1] = parse_size(space);
    MPI_Bcast(settings, sizeof settings, MPI_BYTE, 0, bl.comm);
    if (settings[0] < 1)
        refuse("MYRMICS_SCHEDULERS must be a number from 1 on");
    if (settings[0] >= (uint64_t)bl.ranks)
        refuse("%llu scheduler%s and a worker need at least %llu ranks; this "
               "job has %d",
               (unsigned long long)settings[0], settings[0] == 1 ? "" : "s",
               (unsigned long long)settings[0] + 1, bl.ranks);
    if (settings[1] < SPACE_MIN * settings[0] || settings[1] > SPACE_MAX)
        refuse("MYRMICS_SPACE must be a size from 1M for each scheduler to 8T");
    bl.schedulers = (int)settings[0];
    bl.workers = bl.ranks - bl.schedulers;
    *space_out = settings[1];
}

/* The range of addresses: the first candidate that is free on all ranks. */
static void map_range(uint64_t bytes)
{
    size_t i;

    for (i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        void *wanted = (void *)(uintptr_t)candidates[i];
        int free_here, free_everywhere;
        void *got;

        got = mmap(wanted, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
                       MAP_FIXED_NOREPLACE,
                   -1, 0);
        free_here = got == wanted;
        MPI_Allreduce(&free_here, &free_everywhere, 1, MPI_INT, MPI_MIN,
                      bl.comm);
        if (free_everywhere) {
            madvise(got, bytes, MADV_DONTDUMP);
            bl.base = got;
            bl.pages = (uint32_t)(bytes >> BL_PAGE_SHIFT);
            return;
        }
        if (got != MAP_FAILED)
            munmap(got, bytes);
    }
    refuse("no range of %llu bytes of addresses is free on all ranks; set "
           "MYRMICS_SPACE to less",
           (unsigned long long)bytes);
}

static void count_processors(void)
{
    cpu_set_t set;
    MPI_Comm node;
    int ranks;

    MPI_Comm_split_type(bl.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &ranks);
    MPI_Comm_free(&node);
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        bl.crowded = ranks > CPU_COUNT(&set);
}

static int real_finalize(void)
{
    int (*next)(void) = (int (*)(void))dlsym(RTLD_NEXT, "MPI_Finalize");

    return next ? next() : PMPI_Finalize();
}

static void end_scheduler(void)
{
    struct bl_wait wait = {0};
    MPI_Request request;
    int done = 0;

    bl_record_close();
    while (bl.outbox.count)
        bl_outbox_reap(&bl.outbox, bl.outbox.count);
    MPI_Ibarrier(bl.comm, &request);
    while (MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done)
        bl_pause(&wait);
    phase = ENDED;
    MPI_Comm_free(&bl.comm);
    real_finalize();
    exit(0);
}

/* Data that nobody received must not keep its sender from ending. */
static void end_worker(void)
{
    struct bl_request bye = {.op = BL_OP_BYE};
    struct bl_wait wait = {0};
    MPI_Request request;
    int done = 0, i;

    bl_record_close();
    for (i = 0; i < bl.schedulers; i++)
        MPI_Send(&bye, sizeof bye, MPI_BYTE, bl.workers + i, BL_TAG_REQUEST,
                 bl.comm);
    while (bl.outbox.count) {
        bl_outbox_reap(&bl.outbox, bl.outbox.count);
        bl_exchange_discard();
        bl_pause(&wait);
    }
    MPI_Ibarrier(bl.comm, &request);
    while (MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done) {
        bl_exchange_discard();
        bl_pause(&wait);
    }
    phase = ENDED;
    bl_copies_close(&bl.copies);
    free(bl.outbox.spare);
    MPI_Comm_free(&bl.workers_comm);
    MPI_Comm_free(&bl.comm);
}

static void finalize_own_mpi(void)
{
    int down = 1;

    MPI_Finalized(&down);
    if (!down)
        MPI_Finalize();
}

static void start(void)
{
    struct bl_wait wait = {0};
    MPI_Request request;
    uint64_t space = 0;
    int up, done = 0;

    MPI_Initialized(&up);
    if (!up) {
        MPI_Init(NULL, NULL);
        own_mpi = 1;
    }
    MPI_Comm_size(MPI_COMM_WORLD, &bl.ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &bl.rank);
    /* Others may come much later: yield the processor while waiting. */
    bl.crowded = 1;
    MPI_Comm_idup(MPI_COMM_WORLD, &bl.comm, &request);
    while (MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done)
        bl_pause(&wait);
    bl.crowded = 0;
    read_settings(&space);
    map_range(space);
    count_processors();
    if (bl.rank < bl.workers && bl_copies_open(&bl.copies, bl.pages)) {
        fprintf(stderr, "libmyrmics: no memory for the page table\n");
        bl_stop();
    }
    MPI_Comm_split(bl.comm, bl.rank < bl.workers ? 0 : MPI_UNDEFINED, bl.rank,
                   &bl.workers_comm);
    phase = RUNNING;
    bl_record_open();
    if (bl.rank >= bl.workers) {
        bl_scheduler_serve();
        end_scheduler();
    }
    if (own_mpi)
        atexit(finalize_own_mpi);
}

void bl_enter(void)
{
    pthread_mutex_lock(&lock);
    if (phase == IDLE)
        start();
}

void bl_enter_call(const char *file, int line)
{
    bl_enter();
    if (phase == ENDED)
        bl_fail(file, line, "Called after MPI_Finalize");
}

void bl_leave(void)
{
    pthread_mutex_unlock(&lock);
}

void bl_pause_unlocked(struct bl_wait *wait)
{
    bl_leave();
    bl_pause(wait);
    pthread_mutex_lock(&lock);
}

/* Taken over from MPI: what this library started ends before MPI does. */
int MPI_Finalize(void)
{
    if (phase == RUNNING) {
        pthread_mutex_lock(&lock);
        end_worker();
        pthread_mutex_unlock(&lock);
    }
    return real_finalize();
}
