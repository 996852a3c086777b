/* dart_send and dart_recv: MPI's, by global units, on a communicator of their
 * own, so that nobody else's tags are in the way. */
#include <mpi.h>
#include <stdlib.h>

#include "fronts/dart/front.h"
#include "fronts/dart/large.h"
#include "fronts/dart/message.h"
#include "fronts/dart/team_call.h"
#include "fronts/dart/types.h"

static MPI_Comm messages = MPI_COMM_NULL;
static int tag_max;

dart_ret_t messages_start(void)
{
    int *max = NULL, found = 0;

    if (MPI_Comm_dup(MPI_COMM_WORLD, &messages))
        return DART_ERR_NOMEM;
    MPI_Comm_set_errhandler(messages, MPI_ERRORS_RETURN);
    MPI_Comm_get_attr(messages, MPI_TAG_UB, &max, &found);
    tag_max = found ? *max : 32767;
    return DART_OK;
}

void messages_stop(void)
{
    MPI_Comm_free(&messages);
}

/* One side of a message. */
struct side {
    const void *buffer;
    size_t nelem;
    dart_datatype_t dtype;
    int tag;
    dart_unit_t unit;
};

static dart_ret_t side_check(const char *what, const struct side *side,
                             MPI_Datatype *mpi)
{
    const struct type *type;

    if (!front_up)
        return front_fail(DART_ERR_NOTINIT, "%s: DART does not run", what);
    type = type_of(side->dtype);
    if (!type_in_one_piece(type))
        return front_fail(DART_ERR_INVAL,
                          "%s: no such type, or a strided or indexed one",
                          what);
    if (side->unit < 0 || side->unit >= front_job->ranks)
        return front_fail(DART_ERR_INVAL, "%s: the job has no unit %d", what,
                          (int)side->unit);
    if (side->tag < 0 || side->tag > tag_max)
        return front_fail(DART_ERR_INVAL, "%s: tags are 0 to %d, not %d", what,
                          tag_max, side->tag);
    if (side->nelem && !side->buffer)
        return front_fail(DART_ERR_INVAL, "%s: elements, but no buffer", what);
    if (side->nelem > LARGE_COUNT_MAX / type->bytes)
        return front_fail(DART_ERR_INVAL, "%s: %zu elements are too many", what,
                          side->nelem);
    *mpi = type->mpi;
    return DART_OK;
}

static dart_ret_t outcome(const char *what, int err)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;

    if (!err)
        return DART_OK;
    MPI_Error_string(err, text, &length);
    return front_fail(DART_ERR_OTHER, "%s: MPI says: %s", what, text);
}

/* --- Receiving by polls ------------------------------------------------------- */

struct coming {
    const struct side *from;
    MPI_Message message;
    MPI_Status status;
    int found, error;
};

static bool has_come(void *arg)
{
    struct coming *c = arg;

    c->error = MPI_Improbe(c->from->unit, c->from->tag, messages, &c->found,
                           &c->message, &c->status);
    return c->error || c->found;
}

/* Somewhere else, as it is too long: MPICH ends the job for a message that is cut
 * off, whatever the communicator says, unless its receiver waits in MPI_Recv. */
static int receive_aside(struct coming *c, size_t bytes)
{
    char *spare = malloc(bytes);
    int error = MPI_ERR_NO_MEM;

    if (spare)
        error = team_wait(LARGE(MPI_Imrecv)(spare, (large_count)bytes, MPI_BYTE,
                                            &c->message, &team_request));
    free(spare);
    return error ? error : MPI_ERR_TRUNCATE;
}

static int receive_by_polls(const struct side *from, MPI_Datatype type)
{
    struct coming c = {.from = from};
    MPI_Count bytes = 0;

    team_poll(has_come, &c);
    if (!c.error)
        c.error = MPI_Get_elements_x(&c.status, MPI_BYTE, &bytes);
    if (c.error)
        return c.error;
    if ((size_t)bytes > from->nelem * type_of(from->dtype)->bytes)
        return receive_aside(&c, (size_t)bytes);
    return team_wait(LARGE(MPI_Imrecv)((void *)from->buffer,
                                       (large_count)from->nelem, type,
                                       &c.message, &team_request));
}

/* --- Calls ----------------------------------------------------------------------- */

dart_ret_t dart_send(const void *sendbuf, size_t nelem, dart_datatype_t dtype,
                     int tag, dart_global_unit_t unit)
{
    const char *what = "dart_send";
    struct side to = {sendbuf, nelem, dtype, tag, unit.id};
    MPI_Datatype mpi;
    dart_ret_t ret = side_check(what, &to, &mpi);

    if (ret)
        return ret;
    return outcome(what,
                   WAITING(LARGE(MPI_Send), LARGE(MPI_Isend), sendbuf,
                           (large_count)nelem, mpi, unit.id, tag, messages));
}

dart_ret_t dart_recv(void *recvbuf, size_t nelem, dart_datatype_t dtype,
                     int tag, dart_global_unit_t unit)
{
    const char *what = "dart_recv";
    struct side from = {recvbuf, nelem, dtype, tag, unit.id};
    MPI_Datatype mpi;
    dart_ret_t ret = side_check(what, &from, &mpi);

    if (ret)
        return ret;
    return outcome(what, teams_poll
                             ? receive_by_polls(&from, mpi)
                             : LARGE(MPI_Recv)(recvbuf, (large_count)nelem, mpi,
                                               unit.id, tag, messages,
                                               MPI_STATUS_IGNORE));
}

/* What is sent is on its way while the other is waited for. */
static int exchange(const struct side *to, MPI_Datatype type_to,
                    const struct side *from, MPI_Datatype type_from)
{
    MPI_Request out;
    int error = LARGE(MPI_Isend)(to->buffer, (large_count)to->nelem, type_to,
                                 to->unit, to->tag, messages, &out);
    int error_in;

    if (error)
        return error;
    error_in = receive_by_polls(from, type_from);
    team_request = out;
    error = team_wait(MPI_SUCCESS);
    return error_in ? error_in : error;
}

dart_ret_t dart_sendrecv(const void *sendbuf, size_t send_nelem,
                         dart_datatype_t send_dtype, int send_tag,
                         dart_global_unit_t dest, void *recvbuf,
                         size_t recv_nelem, dart_datatype_t recv_dtype,
                         int recv_tag, dart_global_unit_t src)
{
    const char *what = "dart_sendrecv";
    struct side to = {sendbuf, send_nelem, send_dtype, send_tag, dest.id};
    struct side from = {recvbuf, recv_nelem, recv_dtype, recv_tag, src.id};
    MPI_Datatype mpi_to, mpi_from;
    dart_ret_t ret = side_check(what, &to, &mpi_to);

    if (!ret)
        ret = side_check(what, &from, &mpi_from);
    if (ret)
        return ret;
    if (teams_poll)
        return outcome(what, exchange(&to, mpi_to, &from, mpi_from));
    return outcome(what, LARGE(MPI_Sendrecv)(sendbuf, (large_count)send_nelem,
                                             mpi_to, dest.id, send_tag, recvbuf,
                                             (large_count)recv_nelem, mpi_from,
                                             src.id, recv_tag, messages,
                                             MPI_STATUS_IGNORE));
}
