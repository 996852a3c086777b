/* Start and end through MPI: see boot.h. */
#include "transport/boot.h"
#include "transport/boot_mpi.h"
#include "transport/mpi_table.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drasync.h"

static void (*finalize_hook)(void);

#define FAILURE_BYTES 256

static char failure[FAILURE_BYTES]; /* written once, before failure_known */
static _Atomic int failure_known;   /* 1: being written, 2: there */

/* MPICH's texts end with the cause, below the calls that it came through. */
static const char *last_line(char *text)
{
    size_t length = strlen(text);

    while (length && text[length - 1] == '\n')
        text[--length] = 0;
    return strrchr(text, '\n') ? strrchr(text, '\n') + 1 : text;
}

/* Apart from boot_failed(), which is called each time the network is looked at:
 * the text takes time to clear. */
static void note_failure(const char *name, int result)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0, unknown = 0;

    if (!atomic_compare_exchange_strong(&failure_known, &unknown, 1))
        return;
    if (mpi.Error_string(result, text, &length))
        text[0] = 0;
    snprintf(failure, sizeof(failure), "MPI_%s failed: %.200s", name,
             text[0] ? last_line(text) : "MPI does not say why");
    atomic_store(&failure_known, 2); /* pairs with boot_failure()'s load */
}

bool boot_failed(const char *name, int result)
{
    if (result == MPI_SUCCESS)
        return false;
    note_failure(name, result);
    return true;
}

const char *boot_failure(void)
{
    return atomic_load(&failure_known) == 2 ? failure : NULL;
}

/* All ranks have closed in order, and MPI_Finalize needs help. */
static bool leave;

/* An attribute of MPI_COMM_SELF is deleted by MPI_Finalize before anything
 * else; it reaches us where MPI_Finalize itself could not be taken over, and
 * below all tools.  Attributes go in the reverse of the order they came in, so
 * ours, which is early, sees what others do in theirs. */
static int on_finalize(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm;
    (void)keyval;
    (void)value;
    (void)extra;
    if (finalize_hook)
        finalize_hook();
    if (leave)
        boot_leave();
    return MPI_SUCCESS;
}

static int watch_finalize(void (*hook)(void))
{
    static int keyval = MPI_KEYVAL_INVALID;

    finalize_hook = hook;
    if (keyval != MPI_KEYVAL_INVALID)
        return 0;
    if (boot_failed("Comm_create_keyval",
                    mpi.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize,
                                           &keyval, NULL)) ||
        boot_failed("Comm_set_attr",
                    mpi.Comm_set_attr(MPI_COMM_SELF, keyval, &finalize_hook)))
        return DRASYNC_EINTERNAL;
    return 0;
}

int boot_open(void (*at_finalize)(void), void (*meanwhile)(void),
              struct boot **out)
{
    static struct boot boot;

    if (watch_finalize(at_finalize))
        return DRASYNC_EINTERNAL;
    boot = (struct boot){.all = MPI_COMM_NULL, .meanwhile = meanwhile};
    mpi.Comm_rank(MPI_COMM_WORLD, &boot.rank);
    mpi.Comm_size(MPI_COMM_WORLD, &boot.ranks);
    *out = &boot;
    return 0;
}

int boot_rank(const struct boot *boot)
{
    return boot->rank;
}

int boot_ranks(const struct boot *boot)
{
    return boot->ranks;
}

int boot_join(struct boot *boot, const struct boot_places *places)
{
    MPI_Request request;

    boot->places = *places;
    if (places->nodes == 1)
        return 0;
    if (boot_failed("Comm_idup",
                    mpi.Comm_idup(MPI_COMM_WORLD, &boot->all, &request)) ||
        !boot_await(boot, "Comm_idup", &request)) {
        boot->all = MPI_COMM_NULL;
        return DRASYNC_EPEER;
    }
    mpi.Comm_set_errhandler(boot->all, MPI_ERRORS_RETURN);
    return 0;
}

bool boot_neighbours(const struct boot *boot)
{
    return boot->places.neighbours;
}

void boot_close(struct boot *boot, bool alone)
{
    if (!boot)
        return;
    finalize_hook = NULL;
    if (alone || boot_finalized())
        return;
    leave = boot->places.leave;
    if (boot->all != MPI_COMM_NULL)
        mpi.Comm_free(&boot->all);
}
