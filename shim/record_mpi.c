/*
 * libdrasync_record.so: the MPI calls that a recorded program makes itself.
 *
 * Preloaded before all others when DRASYNC_RECORD is used.  It is a library of
 * its own so that nobody else's MPI calls come by here.  What libdrasync.so
 * does with MPI goes through PMPI and is not seen.  Ranks are taken as those of
 * MPI_COMM_WORLD.  Not linked to MPI, and to libdrasync.so and libmyrmics.so
 * (which records itself, for comparison) only weakly: it is loaded into mpirun
 * and every shell too.
 */
#include <mpi.h>
#include <time.h>

#include "runtime/record/record.h"
#include "shim/collectives.h"
#include "shim/next.h"

#pragma weak drasync_record_on
#pragma weak drasync_record_begin
#pragma weak drasync_record_end
#pragma weak drasync_record_poll

/* libmyrmics.so's */
int myrmics_record_on(void);
void myrmics_record_begin(void);
void myrmics_record_end(int kind, uint64_t a, uint64_t b, uint64_t c);
void myrmics_record_poll(int found);
#pragma weak myrmics_record_on
#pragma weak myrmics_record_begin
#pragma weak myrmics_record_end
#pragma weak myrmics_record_poll

static bool own(void)
{
    return &drasync_record_on && drasync_record_on;
}

static bool recording(void)
{
    return own() || (myrmics_record_on && myrmics_record_on());
}

static void begin(void)
{
    if (own())
        drasync_record_begin();
    else
        myrmics_record_begin();
}

static void end(int kind, uint64_t rank, uint64_t tag, uint64_t bytes)
{
    if (own())
        drasync_record_end(kind, rank, tag, bytes);
    else if (recording())
        myrmics_record_end(kind, rank, tag, bytes);
}

static void poll(int found)
{
    if (own())
        drasync_record_poll(found);
    else if (recording())
        myrmics_record_poll(found);
}

static uint64_t clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t bytes_of(int count, MPI_Datatype type)
{
    static __typeof__(&PMPI_Type_size) size_of;
    int bytes = 0;

    if (!size_of)
        size_of = NEXT(PMPI_Type_size);
    if (size_of)
        size_of(type, &bytes);
    return (uint64_t)count * (uint64_t)bytes;
}

int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag,
             MPI_Comm comm)
{
    int err;

    REAL(MPI_Send);
    if (!recording() || dest == MPI_PROC_NULL)
        return real(buf, count, type, dest, tag, comm);
    begin();
    err = real(buf, count, type, dest, tag, comm);
    end(RECORD_MPI_SEND, (uint64_t)dest, (uint64_t)tag, bytes_of(count, type));
    return err;
}

int MPI_Recv(void *buf, int count, MPI_Datatype type, int source, int tag,
             MPI_Comm comm, MPI_Status *status)
{
    MPI_Status own = {.MPI_SOURCE = source, .MPI_TAG = tag};
    int err;

    REAL(MPI_Recv);
    if (!recording() || source == MPI_PROC_NULL)
        return real(buf, count, type, source, tag, comm, status);
    if (status == MPI_STATUS_IGNORE)
        status = &own;
    begin();
    err = real(buf, count, type, source, tag, comm, status);
    end(RECORD_MPI_RECV, (uint64_t)status->MPI_SOURCE,
        (uint64_t)status->MPI_TAG, bytes_of(count, type));
    return err;
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag,
               MPI_Status *status)
{
    int err;

    REAL(MPI_Iprobe);
    err = real(source, tag, comm, flag, status);
    poll(*flag);
    return err;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    int err;

    REAL(MPI_Test);
    err = real(request, flag, status);
    poll(*flag);
    return err;
}

/* --- Calls of all ranks --------------------------------------------------- */

static int size_of(MPI_Comm comm)
{
    static __typeof__(&PMPI_Comm_size) real;
    int size = 0;

    if (!real)
        real = NEXT(PMPI_Comm_size);
    if (real)
        real(comm, &size);
    return size;
}

/* A barrier in the replay, which has no others than those of all ranks.  MPI lets
 * any collective call be one, and a program that is right takes it for none. */
#define COLLECTIVE(name, nonblocking, waits, declared, given)         \
    int name declared                                                 \
    {                                                                 \
        int err;                                                      \
                                                                      \
        REAL(name);                                                   \
        if (!recording() || size_of(comm) != size_of(MPI_COMM_WORLD)) \
            return real given;                                        \
        begin();                                                      \
        err = real given;                                             \
        end(RECORD_MPI_BARRIER, 0, 0, 0);                             \
        return err;                                                   \
    }

MPI_COLLECTIVES(COLLECTIVE)
COLLECTIVE(MPI_Exscan, MPI_Iexscan, (COUNTS_NOBODY, 0),
           (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op,
            MPI_Comm comm),
           (in, out, count, type, op, comm))
/* Where the barrier begins is where it stands in the record. */
COLLECTIVE(MPI_Ibarrier, MPI_Ibarrier, (COUNTS_NOBODY, 0),
           (MPI_Comm comm, MPI_Request *request), (comm, request))

/* A program marks with it what it measures: 1 begins, 0 ends. */
int MPI_Pcontrol(const int level, ...)
{
    REAL(MPI_Pcontrol);
    if (recording()) {
        begin();
        end(RECORD_MARK, (uint64_t)level, clock_ns(), 0);
    }
    return real(level);
}
