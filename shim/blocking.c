/*
 * MPI's blocking calls as symbols, in both libraries as those of takeover.c:
 * see blocking.h.
 */
#include "shim/blocking.h"
#include "shim/collectives.h"

#include <mpi.h>
#include <stddef.h>
#include <stdlib.h>

#include "shim/counts.h"
#include "shim/next.h"

/* `next` is the next function called @name, and `begin` MPI's own @nonblocking,
 * or NULL if this thread is not to wait by it. */
#define CALL(name, nonblocking)                                                \
    static struct drasync_blocking_call call;                                  \
    if (!drasync_blocking_found(&call))                                        \
        drasync_blocking_find(&call, next_symbol(#name), #name, #nonblocking); \
    __typeof__(&name) next = (__typeof__(&name))call.next;                     \
    if (!next)                                                                 \
        return MPI_ERR_OTHER;                                                  \
    __typeof__(&nonblocking) begin =                                           \
        drasync_blocking_polls() ? (__typeof__(begin))call.own : NULL

/* Until the function returns: this rank is inside @name, which waits for rank
 * @peer of @comm. */
#define INSIDE(name, peer, comm)                                        \
    uint32_t inside __attribute__((cleanup(drasync_blocking_leave))) =  \
        drasync_blocking_enter(WAITING_##name, (comm) == MPI_COMM_WORLD \
                                                   ? (peer)             \
                                                   : WAITING_NOBODY)

/* And it is counted, if `counted` (counts.h). */
#define COUNTED                                                 \
    bool counted __attribute__((cleanup(drasync_counts_end))) = \
        drasync_counts_begin()

static int passed(bool counted, int err)
{
    if (counted && err)
        drasync_counts_unsure();
    return err;
}

/* Inside @call, made at @pc, until what @need says has come. */
static void await(enum waiting_mpi_call call, const struct waiting_need *need,
                  uint32_t needs, const void *pc)
{
    struct waiting_inside inside = {.call = call};

    for (uint32_t i = 0; i < needs; i++)
        if (need[i].count)
            inside.need[inside.needs++] = need[i];
    if (inside.needs)
        drasync_counts_inside(&inside, pc);
}

/* The first of @requests that wait for a message. */
static void await_requests(enum waiting_mpi_call call, int count,
                           const MPI_Request *requests, const void *pc)
{
    struct waiting_need need[WAITING_NEEDS];
    uint32_t needs = 0;

    for (int i = 0; i < count && needs < WAITING_NEEDS; i++)
        needs += drasync_counts_awaited((uint64_t)(uintptr_t)requests[i],
                                        &need[needs]);
    await(call, need, needs, pc);
}

/* `function` is MPI's own @name. */
#define OWN(function, name)                                      \
    static struct drasync_blocking_call name##_call;             \
    if (!drasync_blocking_found(&name##_call))                   \
        drasync_blocking_find(&name##_call, NULL, #name, #name); \
    __typeof__(&name) function = (__typeof__(&name))name##_call.own

/* --- Waiting -------------------------------------------------------------- */

/* A test that is made again and again; what the last one gave. */
struct tested {
    int (*test)(struct tested *w);
    int count, flag, err;
    MPI_Request *requests;
    MPI_Status *status;
    int *index, *indices; /* or the number of them */
    int source, tag;
    MPI_Comm comm;
    void *nonblocking; /* MPI's function that tests */
};

static bool is_over(void *arg)
{
    struct tested *w = arg;

    w->err = w->test(w);
    return w->flag || w->err;
}

/* True: it is over, with w->err.  False: the caller is to wait in MPI. */
static bool waited(struct tested *w)
{
    if (!is_over(w))
        return drasync_blocking_until(is_over, w);
    drasync_blocking_look();
    return true;
}

static int test_one(struct tested *w)
{
    __typeof__(&MPI_Test) test = (__typeof__(test))w->nonblocking;

    return test(w->requests, &w->flag, w->status);
}

/* Wait for what was begun as @request, with @err. */
static int finish(int err, MPI_Request *request, MPI_Status *status)
{
    OWN(test, MPI_Test);
    OWN(wait, MPI_Wait);
    struct tested w = {.test = test_one,
                       .requests = request,
                       .status = status,
                       .nonblocking = (void *)test};

    if (err)
        return err;
    return waited(&w) ? w.err : wait(request, status);
}

static bool enter(bool waits)
{
    if (waits)
        drasync_blocking_inside(true);
    return waits;
}

static void leave(const bool *waits)
{
    if (*waits)
        drasync_blocking_inside(false);
}

/* Until the function returns this thread may @wait inside MPI, and others look
 * for messages. */
#define WITHIN_MPI(wait) \
    bool within __attribute__((cleanup(leave), unused)) = enter(wait)

/* Does an error of a call on @comm raise what MPI_Test would, which knows no
 * communicator and so takes MPI_COMM_WORLD's handler? */
static bool raises_alike(MPI_Comm comm)
{
    OWN(handler, MPI_Comm_get_errhandler);
    OWN(drop, MPI_Errhandler_free);
    MPI_Errhandler here, world;
    bool alike;

    if (comm == MPI_COMM_WORLD)
        return true;
    if (comm == MPI_COMM_NULL || handler(comm, &here))
        return false;
    if (handler(MPI_COMM_WORLD, &world)) {
        drop(&here);
        return false;
    }
    alike = here == world &&
            (here == MPI_ERRORS_RETURN || here == MPI_ERRORS_ARE_FATAL);
    drop(&here);
    drop(&world);
    return alike;
}

/* --- Calls for requests that are there ------------------------------------ */

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    INSIDE(MPI_Wait, WAITING_NOBODY, MPI_COMM_WORLD);
    COUNTED;
    CALL(MPI_Wait, MPI_Test);
    struct tested w = {.test = test_one,
                       .requests = request,
                       .status = status,
                       .nonblocking = (void *)begin};

    if (counted)
        await_requests(WAITING_MPI_Wait, 1, request,
                       __builtin_return_address(0));
    return begin && waited(&w) ? w.err : next(request, status);
}

static void drop_statuses(MPI_Status **statuses)
{
    free(*statuses);
}

static int test_all(struct tested *w)
{
    __typeof__(&MPI_Testall) test = (__typeof__(test))w->nonblocking;

    return test(w->count, w->requests, &w->flag, w->status);
}

/* So many requests MPICH's MPI_Testall looks at in one go.  Of more it takes all
 * for what the last of them are, if nobody asks for statuses (4.0 to 4.3), and
 * aborts if that is not so. */
#define TESTALL_ALIKE 64

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    INSIDE(MPI_Waitall, WAITING_NOBODY, MPI_COMM_WORLD);
    COUNTED;
    CALL(MPI_Waitall, MPI_Testall);
    MPI_Status *unused __attribute__((cleanup(drop_statuses))) = NULL;
    struct tested w = {.test = test_all,
                       .count = count,
                       .requests = requests,
                       .status = statuses,
                       .nonblocking = (void *)begin};

    if (begin && statuses == MPI_STATUSES_IGNORE && count > TESTALL_ALIKE) {
        w.status = unused = malloc((size_t)count * sizeof(*unused));
        if (!unused)
            begin = NULL;
    }

    if (counted)
        await_requests(WAITING_MPI_Waitall, count, requests,
                       __builtin_return_address(0));
    return begin && waited(&w) ? w.err : next(count, requests, statuses);
}

static int test_any(struct tested *w)
{
    __typeof__(&MPI_Testany) test = (__typeof__(test))w->nonblocking;

    return test(w->count, w->requests, w->index, &w->flag, w->status);
}

int MPI_Waitany(int count, MPI_Request requests[], int *index,
                MPI_Status *status)
{
    INSIDE(MPI_Waitany, WAITING_NOBODY, MPI_COMM_WORLD);
    CALL(MPI_Waitany, MPI_Testany);
    struct tested w = {.test = test_any,
                       .count = count,
                       .requests = requests,
                       .index = index,
                       .status = status,
                       .nonblocking = (void *)begin};

    return begin && waited(&w) ? w.err : next(count, requests, index, status);
}

static int test_some(struct tested *w)
{
    __typeof__(&MPI_Testsome) test = (__typeof__(test))w->nonblocking;
    int err = test(w->count, w->requests, w->index, w->indices, w->status);

    w->flag = *w->index != 0; /* MPI_UNDEFINED: there are none */
    return err;
}

int MPI_Waitsome(int count, MPI_Request requests[], int *completed,
                 int indices[], MPI_Status statuses[])
{
    INSIDE(MPI_Waitsome, WAITING_NOBODY, MPI_COMM_WORLD);
    CALL(MPI_Waitsome, MPI_Testsome);
    struct tested w = {.test = test_some,
                       .count = count,
                       .requests = requests,
                       .index = completed,
                       .indices = indices,
                       .status = statuses,
                       .nonblocking = (void *)begin};

    return begin && waited(&w)
               ? w.err
               : next(count, requests, completed, indices, statuses);
}

static int test_probe(struct tested *w)
{
    __typeof__(&MPI_Iprobe) test = (__typeof__(test))w->nonblocking;

    return test(w->source, w->tag, w->comm, &w->flag, w->status);
}

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    INSIDE(MPI_Probe, source, comm);
    CALL(MPI_Probe, MPI_Iprobe);
    struct tested w = {.test = test_probe,
                       .source = source,
                       .tag = tag,
                       .comm = comm,
                       .status = status,
                       .nonblocking = (void *)begin};

    return begin && waited(&w) ? w.err : next(source, tag, comm, status);
}

/* --- Messages ------------------------------------------------------------- */

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int source, int tag,
             MPI_Comm comm, MPI_Status *status)
{
    INSIDE(MPI_Recv, source, comm);
    COUNTED;
    CALL(MPI_Recv, MPI_Irecv);
    struct waiting_need need;
    MPI_Request q;

    if (counted && comm == MPI_COMM_WORLD) {
        drasync_counts_post(source, tag, &need);
        await(WAITING_MPI_Recv, &need, 1, __builtin_return_address(0));
    }
    /* A request from nobody has another status with MPICH. */
    if (!begin || source == MPI_PROC_NULL || !raises_alike(comm)) {
        WITHIN_MPI(begin && source != MPI_PROC_NULL);
        return passed(counted,
                      next(buffer, count, type, source, tag, comm, status));
    }
    return passed(
        counted,
        finish(begin(buffer, count, type, source, tag, comm, &q), &q, status));
}

#define SENDS(name, nonblocking)                                         \
    int name(const void *buffer, int count, MPI_Datatype type, int to,   \
             int tag, MPI_Comm comm)                                     \
    {                                                                    \
        INSIDE(name, to, comm);                                          \
        COUNTED;                                                         \
        CALL(name, nonblocking);                                         \
        MPI_Request q;                                                   \
                                                                         \
        if (counted && comm == MPI_COMM_WORLD)                           \
            drasync_counts_send(to, tag);                                \
        if (!begin || !raises_alike(comm)) {                             \
            WITHIN_MPI(begin != NULL);                                   \
            return next(buffer, count, type, to, tag, comm);             \
        }                                                                \
        return finish(begin(buffer, count, type, to, tag, comm, &q), &q, \
                      MPI_STATUS_IGNORE);                                \
    }

SENDS(MPI_Send, MPI_Isend)
SENDS(MPI_Ssend, MPI_Issend)

/* The send is made, which looks at its arguments, before the receive is posted,
 * which might take a message at once, and started after it, so that a rank that
 * sends to itself ends: as MPI's own, a wrong call takes and sends nothing. */
int MPI_Sendrecv(const void *out, int out_count, MPI_Datatype out_type, int to,
                 int out_tag, void *in, int in_count, MPI_Datatype in_type,
                 int from, int in_tag, MPI_Comm comm, MPI_Status *status)
{
    INSIDE(MPI_Sendrecv, from, comm);
    COUNTED;
    CALL(MPI_Sendrecv, MPI_Irecv);
    OWN(make, MPI_Send_init);
    OWN(start, MPI_Start);
    OWN(end, MPI_Request_free);
    OWN(receive, MPI_Recv);
    struct waiting_need need;
    MPI_Request received, sent;
    int err, err_sent;

    if (counted && comm == MPI_COMM_WORLD) {
        drasync_counts_send(to, out_tag);
        drasync_counts_post(from, in_tag, &need);
        await(WAITING_MPI_Sendrecv, &need, 1, __builtin_return_address(0));
    }
    if (!begin || !raises_alike(comm)) {
        WITHIN_MPI(begin != NULL);
        return passed(counted,
                      next(out, out_count, out_type, to, out_tag, in, in_count,
                           in_type, from, in_tag, comm, status));
    }
    err = make(out, out_count, out_type, to, out_tag, comm, &sent);
    if (err)
        return passed(counted, err);
    if (from != MPI_PROC_NULL)
        err = begin(in, in_count, in_type, from, in_tag, comm, &received);
    if (err) {
        end(&sent);
        return passed(counted, err);
    }
    err_sent = finish(start(&sent), &sent, MPI_STATUS_IGNORE);
    err = from == MPI_PROC_NULL
              ? receive(in, in_count, in_type, from, in_tag, comm, status)
              : finish(MPI_SUCCESS, &received, status);
    end(&sent);
    return passed(counted, err_sent ? err_sent : err);
}

/* --- Collectives ---------------------------------------------------------- */

/*
 * A nonblocking collective meets only nonblocking ones, so all ranks of @comm
 * have to decide alike: MPI_COMM_WORLD, where each rank leads a node or shares its
 * core, and none has a tool in the way.  Elsewhere it stays what it is, and the
 * progress thread looks more often.
 */

#define GIVEN(...) __VA_ARGS__
#define PASS_ON(given)                                                  \
    MPI_Request q;                                                      \
                                                                        \
    if (begin && comm == MPI_COMM_WORLD && drasync_blocking_all_poll()) \
        return finish(begin(GIVEN given, &q), &q, MPI_STATUS_IGNORE);   \
    WITHIN_MPI(begin != NULL);                                          \
    return next given

#define COLLECTIVE(name, nonblocking, waits, declared, given)       \
    int name declared                                               \
    {                                                               \
        INSIDE(name, WAITING_NOBODY, comm);                         \
        COUNTED;                                                    \
        CALL(name, nonblocking);                                    \
                                                                    \
        if (counted && comm == MPI_COMM_WORLD)                      \
            drasync_counts_collective(WAITING_##name, GIVEN waits,  \
                                      __builtin_return_address(0)); \
        PASS_ON(given);                                             \
    }

/* Not counted. */
#define COLLECTIVE_LARGE(name, nonblocking, declared, given) \
    int name declared                                        \
    {                                                        \
        COUNTED;                                             \
        CALL(name, nonblocking);                             \
                                                             \
        if (counted)                                         \
            drasync_counts_unsure();                         \
        PASS_ON(given);                                      \
    }

MPI_COLLECTIVES(COLLECTIVE)
MPI_COLLECTIVES_LARGE(COLLECTIVE_LARGE)

/* --- Tests ---------------------------------------------------------------- */

/* Those that a program makes in a loop of its own. */
#define TEST(name, declared, given, flag) \
    int name declared                     \
    {                                     \
        CALL(name, name);                 \
        int err = next given;             \
                                          \
        if (begin && !err && !*(flag))    \
            drasync_blocking_look();      \
        return err;                       \
    }

TEST(MPI_Test, (MPI_Request * request, int *flag, MPI_Status *status),
     (request, flag, status), flag)
TEST(MPI_Testall,
     (int count, MPI_Request requests[], int *flag, MPI_Status statuses[]),
     (count, requests, flag, statuses), flag)
TEST(MPI_Testany,
     (int count, MPI_Request requests[], int *index, int *flag,
      MPI_Status *status),
     (count, requests, index, flag, status), flag)
TEST(MPI_Testsome,
     (int count, MPI_Request requests[], int *completed, int indices[],
      MPI_Status statuses[]),
     (count, requests, completed, indices, statuses), completed)
TEST(MPI_Iprobe,
     (int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status),
     (source, tag, comm, flag, status), flag)
