/*
 * Work stealing by message passing, and on one host in a shared window
 * (steal_mpi_window.h).  By messages: who has nothing to do asks another rank,
 * which looks for such messages now and then and sends half of its tasks, or
 * none.  That all is done is found out by a token that goes round (Dijkstra,
 * Feijen, van Gasteren 1983): a rank that sent tasks makes it dirty, and if it
 * comes back clean to rank 0, nobody had anything.
 */
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"
#include "steal_mpi_window.h"

/* Between looks at messages. */
#define NODES_BETWEEN 256

/* With fewer tasks a rank keeps them; more than that are not sent at once. */
#define TASKS_MIN 8
#define TASKS_MAX 8192

enum { TAG_ASK, TAG_TASKS, TAG_TOKEN, TAG_END };

struct worker {
    struct program program;
    struct task *came;     /* room for what was asked for */
    MPI_Request asked;     /* null: nobody was */
    struct task *sent;     /* what was sent last */
    MPI_Request sending;   /* null: it is there */
    int have_token, token; /* 1: dirty */
    int dirty;             /* this rank: sent tasks since it had the token */
    int over;
};

/* --- Stealing ------------------------------------------------------------ */

static void ask(struct worker *w)
{
    int victim = program_victim(&w->program);

    MPI_Irecv(w->came, (int)(TASKS_MAX * sizeof(*w->came)), MPI_BYTE, victim,
              TAG_TASKS, MPI_COMM_WORLD, &w->asked);
    MPI_Send(NULL, 0, MPI_BYTE, victim, TAG_ASK, MPI_COMM_WORLD);
}

/* Take in the answer, if it is there. */
static void test_answer(struct worker *w)
{
    MPI_Status status;
    int done, bytes;

    MPI_Test(&w->asked, &done, &status);
    if (!done)
        return;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    if (bytes > 0)
        memcpy(
            stack_add(&w->program.stack, (size_t)bytes / sizeof(struct task)),
            w->came, (size_t)bytes);
}

/* Send the oldest half to @rank, which asked; they are the roots of the largest
 * parts. */
static void answer(struct worker *w, int rank)
{
    size_t count = stack_count(&w->program.stack);
    size_t half = count < TASKS_MIN ? 0 : count / 2;

    if (half == 0) {
        MPI_Send(NULL, 0, MPI_BYTE, rank, TAG_TASKS, MPI_COMM_WORLD);
        return;
    }
    if (half > TASKS_MAX)
        half = TASKS_MAX;
    MPI_Wait(&w->sending, MPI_STATUS_IGNORE);
    memcpy(w->sent, stack_take_oldest(&w->program.stack, half),
           half * sizeof(*w->sent));
    MPI_Isend(w->sent, (int)(half * sizeof(*w->sent)), MPI_BYTE, rank,
              TAG_TASKS, MPI_COMM_WORLD, &w->sending);
    w->dirty = 1;
}

/* --- The end ------------------------------------------------------------- */

/* This rank has nothing and waits for no answer, so no tasks are under way to
 * it: it gives the token on, or, rank 0, sees what it says. */
static void pass_token(struct worker *w)
{
    int rank = w->program.rank, ranks = w->program.ranks;

    w->have_token = 0;
    if (rank == 0) {
        if (!w->token && !w->dirty) {
            for (int r = 1; r < ranks; r++)
                MPI_Send(NULL, 0, MPI_BYTE, r, TAG_END, MPI_COMM_WORLD);
            w->over = 1;
            return;
        }
        w->token = 0;
    }
    w->token |= w->dirty && rank != 0;
    w->dirty = 0;
    MPI_Send(&w->token, 1, MPI_INT, (rank + 1) % ranks, TAG_TOKEN,
             MPI_COMM_WORLD);
}

/* Receive what there is; returns whether there was something. */
static int look(struct worker *w)
{
    MPI_Status status;
    int there;

    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
    if (!there)
        return 0;
    switch (status.MPI_TAG) {
    case TAG_ASK:
        MPI_Recv(NULL, 0, MPI_BYTE, status.MPI_SOURCE, TAG_ASK, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        answer(w, status.MPI_SOURCE);
        break;
    case TAG_TOKEN:
        MPI_Recv(&w->token, 1, MPI_INT, status.MPI_SOURCE, TAG_TOKEN,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        w->have_token = 1;
        break;
    default:
        MPI_Recv(NULL, 0, MPI_BYTE, status.MPI_SOURCE, TAG_END, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        w->over = 1;
    }
    return 1;
}

/* All is done, but ranks may have asked others that do not know yet: each says
 * no until all have had their answers. */
static void say_no(struct worker *w)
{
    MPI_Request all = MPI_REQUEST_NULL;
    int waiting = 0, done = 0;

    while (!done) {
        while (look(w))
            ;
        if (w->asked != MPI_REQUEST_NULL)
            test_answer(w);
        else if (!waiting++)
            MPI_Ibarrier(MPI_COMM_WORLD, &all);
        else
            MPI_Test(&all, &done, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&w->sending, MPI_STATUS_IGNORE);
}

/* --- The search ---------------------------------------------------------- */

static void idle(struct worker *w)
{
    if (w->asked != MPI_REQUEST_NULL)
        test_answer(w);
    else if (w->have_token)
        pass_token(w);
    else
        ask(w);
    if (w->asked != MPI_REQUEST_NULL)
        sched_yield();
}

static void search(void *context)
{
    struct worker *w = context;
    struct program *program = &w->program;

    while (!w->over) {
        tree_visit(&program->tree, &program->stack, NODES_BETWEEN,
                   &program->found);
        while (look(w))
            ;
        if (stack_count(&program->stack) == 0 && !w->over)
            idle(w);
    }
    say_no(w);
}

static void prepare(void *context)
{
    struct worker *w = context;

    w->have_token = w->program.rank == 0;
    w->token = 1; /* rank 0 sends it round at least once */
    w->dirty = 0;
    w->over = 0;
}

int main(int argc, char **argv)
{
    struct worker w = {.asked = MPI_REQUEST_NULL, .sending = MPI_REQUEST_NULL};
    struct window *window;
    int status;

    status = program_start(&w.program, "steal_mpi", &argc, &argv);
    if (status >= 0)
        return status;
    window = window_open(&w.program);
    if (window) {
        status = program_run(&w.program, window_prepare, window_search, window);
        window_close(window);
    } else {
        w.came = report_malloc(TASKS_MAX * sizeof(*w.came));
        w.sent = report_malloc(TASKS_MAX * sizeof(*w.sent));
        status = program_run(&w.program, prepare, search, &w);
        free(w.came);
        free(w.sent);
    }
    MPI_Finalize();
    return status;
}
