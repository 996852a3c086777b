/* Lines of a record, written by the rank that they are about: see record.h. */
#include "runtime/record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Regions with allocations between two lines that are told apart. */
#define TALLIES_MAX 64

struct tally {
    uint64_t region, count, bytes, frees;
};

bool drasync_record_on;

static struct {
    pthread_mutex_t mutex;
    FILE *file;
    struct tally tallies[TALLIES_MAX];
    unsigned tallies_count;
    int error;         /* of the first write that failed */
    uint64_t clock_ns; /* what a look at the clock takes */
} record = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* Of the thread that calls.  Without gaps: the loader has little room for what
 * libraries have for each thread (tests/bats/loading.bats). */
static _Thread_local struct {
    bool started, polling;
    uint16_t kept; /* of what is sent */
    unsigned depth;
    uint64_t last_ns;    /* end of the last call, by the thread's clock */
    uint64_t begin_ns;   /* of this call */
    uint64_t poll_ns;    /* first look in vain */
    uint64_t wait_ns;    /* waits since the last line */
    uint64_t life[2];    /* of the regions */
    uint64_t known, got; /* their versions */
} self __attribute__((tls_model("initial-exec")));

uint64_t drasync_record_thread_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The shortest of many: others may use the core meanwhile. */
uint64_t drasync_record_clock_cost_ns(void)
{
    uint64_t least = UINT64_MAX, last = drasync_record_thread_ns(), now;

    for (int i = 0; i < 200; i++, last = now) {
        now = drasync_record_thread_ns();
        if (now - last < least)
            least = now - last;
    }
    return least;
}

/* From @since to @now, without the look at the clock at the end. */
static uint64_t spent(uint64_t since, uint64_t now)
{
    uint64_t ns = now - since;

    return ns > record.clock_ns ? ns - record.clock_ns : 0;
}

/* The mutex is held. */
static void flush_tallies(void)
{
    for (unsigned i = 0; i < record.tallies_count; i++) {
        const struct tally *t = &record.tallies[i];

        fprintf(record.file, "a %llu %llu %llu %llu\n",
                (unsigned long long)t->region, (unsigned long long)t->count,
                (unsigned long long)t->bytes, (unsigned long long)t->frees);
    }
    record.tallies_count = 0;
}

static unsigned arguments(int kind)
{
    switch (kind) {
    case RECORD_SEND:
        return 4;
    case RECORD_RECV:
    case RECORD_MPI_SEND:
    case RECORD_MPI_RECV:
    case RECORD_ASK:
        return 3;
    case RECORD_NEW:
    case RECORD_ACQUIRE:
    case RECORD_HINT:
    case RECORD_MARK:
        return 2;
    case RECORD_BARRIER:
    case RECORD_MPI_BARRIER:
        return 0;
    default:
        return 1;
    }
}

/* What drasync_record_versions() said; under the mutex. */
static void write_versions(int kind)
{
    if (!self.got)
        return;
    if (kind == RECORD_ACQUIRE)
        fprintf(record.file, " %llu", (unsigned long long)self.known);
    fprintf(record.file, " %llu", (unsigned long long)self.got);
}

static void write_line(int kind, uint64_t program_ns, uint64_t call_ns,
                       const uint64_t *values)
{
    pthread_mutex_lock(&record.mutex);
    if (record.file) {
        flush_tallies();
        fprintf(record.file, "%c %llu %llu", kind,
                (unsigned long long)program_ns, (unsigned long long)call_ns);
        for (unsigned i = 0; i < arguments(kind); i++) {
            fprintf(record.file, " %llu", (unsigned long long)values[i]);
            if (i < 2 && self.life[i])
                fprintf(record.file, ".%llu", (unsigned long long)self.life[i]);
        }
        write_versions(kind);
        if (fputc('\n', record.file) == EOF && !record.error)
            record.error = errno;
    }
    pthread_mutex_unlock(&record.mutex);
}

void drasync_record_begin(void)
{
    if (self.depth++)
        return;
    self.begin_ns = drasync_record_thread_ns();
    self.kept = 0;
    self.life[0] = self.life[1] = 0;
    self.known = self.got = 0;
    if (!self.started) {
        self.started = true;
        self.last_ns = self.begin_ns;
    }
    self.polling = false;
}

void drasync_record_kept(int how)
{
    self.kept = (uint16_t)how;
}

void drasync_record_lives(uint64_t region, uint64_t second, uint64_t since_ns)
{
    if (self.depth != 1)
        return;
    self.life[0] = region;
    self.life[1] = second;
    self.begin_ns += drasync_record_thread_ns() - since_ns;
}

void drasync_record_versions(uint64_t known, uint64_t got, uint64_t since_ns)
{
    if (self.depth != 1)
        return;
    self.known = known;
    self.got = got;
    self.begin_ns += drasync_record_thread_ns() - since_ns;
}

void drasync_record_end(int kind, uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t values[] = {a, b, c, self.kept};
    uint64_t now, program_ns;

    if (--self.depth)
        return;
    now = drasync_record_thread_ns();
    program_ns = spent(self.last_ns, self.begin_ns);
    program_ns -= program_ns < self.wait_ns ? program_ns : self.wait_ns;
    write_line(kind, program_ns, spent(self.begin_ns, now), values);
    self.wait_ns = 0;
    self.last_ns = drasync_record_thread_ns();
}

void drasync_record_vain(void)
{
    if (--self.depth)
        return;
    self.wait_ns += drasync_record_thread_ns() - self.begin_ns;
}

void drasync_record_poll(int found)
{
    uint64_t now;

    if (self.depth || !found == self.polling)
        return;
    now = drasync_record_thread_ns();
    if (found)
        self.wait_ns += now - self.poll_ns;
    else
        self.poll_ns = now;
    self.polling = !found;
}

void drasync_record_alloc(uint64_t region, uint64_t count, uint64_t bytes,
                          uint64_t frees)
{
    unsigned i = 0;

    if (self.depth)
        return;
    pthread_mutex_lock(&record.mutex);
    while (i < record.tallies_count && record.tallies[i].region != region)
        i++;
    if (i == TALLIES_MAX) {
        if (record.file)
            flush_tallies();
        i = record.tallies_count = 0;
    }
    if (i == record.tallies_count)
        record.tallies[record.tallies_count++] =
            (struct tally){region, 0, 0, 0};
    record.tallies[i].count += count;
    record.tallies[i].bytes += bytes;
    record.tallies[i].frees += frees;
    pthread_mutex_unlock(&record.mutex);
}

uint64_t drasync_record_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t drasync_record_name(const char *name)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * UINT64_C(1099511628211);
    return hash;
}

/* --- Start and end -------------------------------------------------------- */

/* A new descriptor, its mode as it should be: what was there may be anybody's. */
static int file_open(const char *name)
{
    const mode_t mode = S_IRUSR | S_IWUSR;
    int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, mode);
    struct stat file;

    if (fd < 0)
        return -1;
    if (fstat(fd, &file) ||
        (S_ISREG(file.st_mode) && (fchmod(fd, mode) || ftruncate(fd, 0)))) {
        int error = errno;

        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

FILE *drasync_record_file(const char *path, int rank)
{
    char *name;
    FILE *file;

    if (asprintf(&name, "%s.%d", path, rank) < 0) {
        errno = ENOMEM;
        return NULL;
    }
    int fd = file_open(name);
    free(name);
    if (fd < 0)
        return NULL;
    file = fdopen(fd, "w");
    if (!file)
        close(fd);
    return file;
}

/* The child's exit would write what the parent does later, too, into whatever has
 * the descriptor by then. */
static void in_child(void)
{
    if (record.file) {
        __fpurge(record.file);
        close(fileno(record.file));
    }
    record.file = NULL;
    drasync_record_on = false;
}

int drasync_record_open(const char *path, int rank, int ranks, int node)
{
    int err = pthread_atfork(NULL, NULL, in_child);

    if (err)
        return err;
    record.file = drasync_record_file(path, rank);
    if (!record.file)
        return errno;
    fprintf(record.file, "drasync-record 1 rank %d of %d node %d\n", rank,
            ranks, node);
    record.clock_ns = drasync_record_clock_cost_ns();
    drasync_record_on = true;
    return 0;
}

void drasync_record_finish(void)
{
    if (!record_wanted())
        return;
    drasync_record_begin();
    drasync_record_end(RECORD_END, drasync_record_clock(), 0, 0);
}

int drasync_record_close(void)
{
    int error;

    pthread_mutex_lock(&record.mutex);
    if (record.file && fclose(record.file) && !record.error)
        record.error = errno;
    error = record.error;
    record.file = NULL;
    drasync_record_on = false;
    pthread_mutex_unlock(&record.mutex);
    return error;
}
