/*
 * recording.c - DRASYNC_RECORD for the baseline: workers write what they do as
 * ranks of DRASync would, schedulers what requests cost them.  For
 * libdrasync_record.so, which sees the program's own MPI calls, the recorder
 * has other names here: both libraries may be in one process.
 */
#include "base.h"
#include "runtime/record/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void myrmics_record_begin(void);
void myrmics_record_end(int kind, uint64_t a, uint64_t b, uint64_t c);
void myrmics_record_poll(int found);
int myrmics_record_on(void);

/* Requests of one kind that this scheduler has served. */
struct served {
    uint64_t count, ns;
};

static struct {
    FILE *file; /* a scheduler's; NULL: nothing is recorded */
    uint64_t clock_ns;
    struct served other, query;
} served;

static void cannot(const char *path, int error)
{
    if (error)
        bl_fail("DRASYNC_RECORD", 0, "cannot write %s.%d: %s", path, bl.rank,
                strerror(error));
}

static int open_served(const char *path)
{
    served.file = drasync_record_file(path, bl.rank);
    if (!served.file)
        return errno;
    served.clock_ns = drasync_record_clock_cost_ns();
    return 0;
}

void bl_record_open(void)
{
    const char *path = getenv("DRASYNC_RECORD");

    if (!path || !*path)
        return;
    if (bl.rank >= bl.workers)
        cannot(path, open_served(path));
    else
        cannot(path, drasync_record_open(path, bl.rank, bl.workers, 0));
}

void bl_record_close(void)
{
    const char *path = getenv("DRASYNC_RECORD");

    if (!served.file) {
        drasync_record_finish();
        cannot(path, drasync_record_close());
        return;
    }
    fprintf(served.file,
            "drasync-record 1 scheduler %d of %d\n"
            "requests %llu %llu\nqueries %llu %llu\n",
            bl.rank - bl.workers, bl.schedulers,
            (unsigned long long)served.other.count,
            (unsigned long long)served.other.ns,
            (unsigned long long)served.query.count,
            (unsigned long long)served.query.ns);
    cannot(path, fclose(served.file) ? errno : 0);
    served.file = NULL;
}

uint64_t bl_record_clock(void)
{
    return served.file ? drasync_record_thread_ns() : 0;
}

void bl_record_served(uint32_t op, uint64_t since_ns)
{
    struct served *kind = &served.other;
    uint64_t ns;

    if (!served.file || op == BL_OP_BYE)
        return;
    if (op == BL_OP_QUERY || op == BL_OP_PART)
        kind = &served.query;
    kind->count++;
    ns = drasync_record_thread_ns() - since_ns;
    kind->ns += ns > served.clock_ns ? ns - served.clock_ns : 0;
}

/* --- For the program's own MPI calls -------------------------------------- */

int myrmics_record_on(void)
{
    return record_wanted();
}

void myrmics_record_begin(void)
{
    drasync_record_begin();
}

void myrmics_record_end(int kind, uint64_t a, uint64_t b, uint64_t c)
{
    drasync_record_end(kind, a, b, c);
}

void myrmics_record_poll(int found)
{
    drasync_record_poll(found);
}
