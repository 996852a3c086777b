/* dart_send and dart_recv: MPI's, by global units, on a communicator of their
 * own, so that nobody else's tags are in the way. */
#include <mpi.h>

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

static int receive(void *buffer, large_count count, MPI_Datatype type, int unit,
                   int tag, MPI_Comm comm)
{
    return LARGE(MPI_Recv)(buffer, count, type, unit, tag, comm,
                           MPI_STATUS_IGNORE);
}

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
    return outcome(what,
                   WAITING(receive, LARGE(MPI_Irecv), recvbuf,
                           (large_count)nelem, mpi, unit.id, tag, messages));
}

/* Both are begun before either is waited for. */
static int exchange(const struct side *to, MPI_Datatype type_to,
                    const struct side *from, MPI_Datatype type_from)
{
    MPI_Request in;
    int error, error_in;

    error = LARGE(MPI_Irecv)((void *)from->buffer, (large_count)from->nelem,
                             type_from, from->unit, from->tag, messages, &in);
    if (error)
        return error;
    error = LARGE(MPI_Isend)(to->buffer, (large_count)to->nelem, type_to,
                             to->unit, to->tag, messages, &team_request);
    if (error)
        MPI_Cancel(&in);
    else
        error = team_wait(error);
    team_request = in;
    error_in = team_wait(MPI_SUCCESS);
    return error ? error : error_in;
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
