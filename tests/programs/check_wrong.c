/*
 * One touch that no hold allows, or a wrong call: what checked mode says of it is
 * compared with golden text.
 *
 *   check_wrong WHAT     see tests/bats/check.bats
 *
 * Rank 0 makes a region with a list of numbers; the last rank goes wrong.
 */
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "drasync.h"

#define NOINLINE __attribute__((noinline))

/* The last call of a function leaves its frame. */
#define KEEP __asm__ volatile("")

#define NUMBERS 100

static const char *what;
static int rank, ranks;
static region top;
static int *numbers;

static int is(const char *name)
{
    return !strcmp(what, name);
}

NOINLINE static int read_number(const int *at)
{
    return *(const volatile int *)at;
}

NOINLINE static void write_number(int *at, int value)
{
    *(volatile int *)at = value;
}

NOINLINE static void take(region r, int mode)
{
    acquire_region(r, mode);
    KEEP;
}

NOINLINE static void give(region r)
{
    release_region(r);
    KEEP;
}

NOINLINE static void make(void)
{
    top = new_region();
    numbers = ralloc(top, NUMBERS * sizeof(*numbers));
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = i;
    drasync_set_root(top, numbers);
    drasync_publish("the numbers", top);
    give(top);
    KEEP;
}

NOINLINE static void find(void)
{
    drasync_lookup("the numbers", DRASYNC_FOREVER, &top);
    MPI_Bcast(&numbers, sizeof(numbers), MPI_BYTE, 0, MPI_COMM_WORLD);
}

NOINLINE static void delete (region r)
{
    take(r, WRITE);
    delete_region(r);
    KEEP;
}

/* --- The program's own SIGSEGV -------------------------------------------- */

static sigjmp_buf back;

static void own_handler(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    (void)context;
    siglongjmp(back, 1);
}

/* Comes back, so that the fault does. */
static void own_handler_once(int number)
{
    static const char line[] = "the program's handler had its fault\n";

    (void)number;
    if (write(STDOUT_FILENO, line, sizeof(line) - 1) < 0)
        _exit(1);
}

static void set_handler_once(void)
{
    struct sigaction action = {.sa_handler = own_handler_once,
                               .sa_flags = (int)SA_RESETHAND};

    sigaction(SIGSEGV, &action, NULL);
}

static void set_handler(void)
{
    struct sigaction action = {.sa_sigaction = own_handler,
                               .sa_flags = SA_SIGINFO};

    sigaction(SIGSEGV, &action, NULL);
}

/* A page of its own, which it may not read. */
NOINLINE static void own_fault(void)
{
    int *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (is("handler"))
        set_handler();
    if (is("handler_once"))
        set_handler_once();
    /* Now a call that comes first again. */
    take(top, READ);
    for (volatile int i = 0; i < 2; i++)
        if (sigsetjmp(back, 1) == 0)
            read_number(page);
        else if (i == 1)
            printf("the program's handler had its fault\n");
    fflush(stdout);
    give(top);
    read_number(&numbers[1]);
    KEEP;
}

/* --- Wrong ---------------------------------------------------------------- */

NOINLINE static void touch_below(void)
{
    region r = new_region(), below = new_subregion(r);
    int *n = ralloc(below, sizeof(*n));

    write_number(n, 1);
    give(r);
    take(r, READ);
    read_number(n);
    take(below, READ);
    give(r);
    read_number(n);
    give(below);
    read_number(n);
    KEEP;
}

NOINLINE static void *thread(void *unused)
{
    (void)unused;
    read_number(&numbers[3]);
    return NULL;
}

NOINLINE static void touch_by_thread(void)
{
    pthread_t other;

    for (int i = 0; i < 2; i++) {
        if (i == 0)
            take(top, READ);
        pthread_create(&other, NULL, thread, NULL);
        pthread_join(other, NULL);
        if (i == 0)
            give(top);
    }
}

NOINLINE static void call_system(void)
{
    int ends[2];

    if (pipe(ends) || write(ends[1], &rank, sizeof(rank)) != sizeof(rank))
        return;
    if (read(ends[0], numbers, sizeof(*numbers)) < 0)
        printf("read: %s\n", strerror(errno));
    take(top, WRITE);
    printf("read under a hold: %zd bytes\n",
           read(ends[0], numbers, sizeof(*numbers)));
    give(top);
    fflush(stdout);
}

NOINLINE static void touch(void)
{
    if (is("none"))
        read_number(&numbers[3]);
    if (is("write"))
        write_number(&numbers[3], 1);
    if (is("read_write")) {
        take(top, READ);
        read_number(&numbers[3]);
        write_number(&numbers[3], 1);
        give(top);
    }
    if (is("released")) {
        take(top, READ);
        read_number(&numbers[3]);
        give(top);
        read_number(&numbers[3]);
    }
    if (is("deleted")) {
        delete (top);
        read_number(&numbers[3]);
    }
    if (is("below"))
        touch_below();
    if (is("other_thread"))
        touch_by_thread();
    if (is("nowhere"))
        read_number((int *)((char *)top + (UINT64_C(1) << 30)));
    if (is("handler") || is("handler_before") || is("handler_once"))
        own_fault();
    if (is("twice"))
        for (int i = 0; i < 2; i++) {
            take(top, READ);
            give(top);
            read_number(&numbers[3]);
            read_number(&numbers[4]);
        }
    if (is("system_call"))
        call_system();
    KEEP;
}

/* The touch is MPI's, which has a lock then that the answer of another node
 * needs. */
static void receive_unheld(void)
{
    int sent[5] = {1, 2, 3, 4, 5};

    if (rank == 0)
        MPI_Send(sent, 5, MPI_INT, ranks - 1, 0, MPI_COMM_WORLD);
    if (rank == ranks - 1)
        MPI_Recv(numbers, 5, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* --- Handles -------------------------------------------------------------- */

/* All ranks: the last one deletes, and all use the handle. */
NOINLINE static void use_stale(void)
{
    if (rank == ranks - 1)
        delete (top);
    MPI_Barrier(MPI_COMM_WORLD);
    /* What would have its address. */
    for (int i = 0; i < 10; i++)
        if (rank == ranks - 1)
            drasync_delete(new_region());
    if (is("stale") && rank == ranks - 1)
        printf("%s\n", drasync_errname(drasync_acquire(top, DRASYNC_READ)));
    if (is("stale_there") && rank == 0)
        take(top, READ);
    KEEP;
}

NOINLINE static void use_finished(void)
{
    drasync_request_t request, copy;

    drasync_iacquire(top, DRASYNC_READ, &request);
    copy = request;
    drasync_wait(&request, DRASYNC_FOREVER);
    printf("%s\n", drasync_errname(drasync_wait(&copy, 0)));
    give(top);
}

NOINLINE static void *give_in_thread(void *unused)
{
    (void)unused;
    give(top);
    return NULL;
}

NOINLINE static void give_wrong(void)
{
    pthread_t other;

    take(top, READ);
    pthread_create(&other, NULL, give_in_thread, NULL);
    pthread_join(other, NULL);
    printf("%s\n", drasync_errname(drasync_release(top)));
    KEEP;
}

/* Allocates and frees under READ. */
NOINLINE static void change_unheld(void)
{
    void *object;

    take(top, READ);
    printf("%s\n", drasync_errname(drasync_alloc(top, 8, &object)));
    printf("%s\n", drasync_errname(drasync_free(numbers)));
    give(top);
}

/* What is no object, and never was one. */
NOINLINE static void free_no_object(void)
{
    char *mine = malloc(NUMBERS), *inside = (char *)numbers;
    void *moved;
    int local;

    take(top, WRITE);
    printf("%s\n", drasync_errname(drasync_free(mine)));
    drasync_free(&local);
    drasync_free((void *)8);
    printf("%s\n", drasync_errname(drasync_free(inside + 16)));
    printf("%s\n", drasync_errname(drasync_free(inside + 4)));
    drasync_free(top);
    drasync_free((char *)top + 8);
    drasync_free((char *)top + (UINT64_C(1) << 30));
    printf("%s\n", drasync_errname(drasync_realloc(mine, 8, top, &moved)));
    drasync_realloc(inside + 32, 8, NULL, &moved);
    /* An object that was freed is none of these. */
    drasync_free(numbers);
    if (is("no_object"))
        drasync_free(numbers);
    give(top);
    free(mine);
    KEEP;
}

/* What is no handle, and never was one. */
static int nothing(drasync_region_t r, const void *arg, size_t arg_bytes,
                   void *answer, size_t answer_bytes)
{
    (void)r;
    (void)arg;
    (void)arg_bytes;
    (void)answer;
    (void)answer_bytes;
    return DRASYNC_ENOTHELD;
}

NOINLINE static void use_no_handle(void)
{
    drasync_function_t function;
    void *object;

    printf("%s\n", drasync_errname(drasync_acquire(NULL, DRASYNC_READ)));
    drasync_acquire((region)&object, DRASYNC_READ);
    drasync_acquire((region)((char *)top + 4000), DRASYNC_READ);
    drasync_alloc(NULL, 8, &object);
    drasync_get_root(top, &object);
    drasync_set_root(top, NULL);
    drasync_give(NULL, 0, 0);
    drasync_give(top, 0, 0);
    drasync_register("nothing", nothing, &function);
    drasync_run(NULL, function, DRASYNC_READ, NULL, 0, NULL, 0);
    /* The function's result is no error of the region. */
    printf("%s\n", drasync_errname(drasync_run(top, function, DRASYNC_READ,
                                               NULL, 0, NULL, 0)));
    KEEP;
}

/* Ends the job. */
NOINLINE static void allocate_unheld(void)
{
    ralloc(top, 8);
    KEEP;
}

NOINLINE static void look_and_leave(void)
{
    take(top, READ);
    KEEP;
}

NOINLINE static void look_and_give(void)
{
    take(top, READ);
    give(top);
    KEEP;
}

/* The first of three holds stays; and then WRITE is asked for. */
NOINLINE static void leave_first(void)
{
    look_and_leave();
    look_and_give();
    look_and_give();
    if (is("upgrade"))
        printf("%s\n", drasync_errname(drasync_acquire(top, DRASYNC_WRITE)));
    KEEP;
}

/* Another rank holds it. */
NOINLINE static void delete_held(void)
{
    region held = top;

    if (is("busy_below") && rank == 0) {
        take(top, WRITE);
        held = new_subregion(top);
        give(top);
    }
    MPI_Bcast(&held, sizeof(held), MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank == 1 && is("busy"))
        look_and_leave();
    else if (rank == 1)
        take(held, READ);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s\n", drasync_errname(drasync_delete(top)));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        give(held);
    KEEP;
}

int main(int argc, char **argv)
{
    what = argc > 1 ? argv[1] : "";
    if (is("handler_before"))
        set_handler();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0)
        make();
    find();
    if (is("held") && rank == 0)
        take(top, WRITE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == ranks - 1) {
        touch();
        if (is("held"))
            write_number(&numbers[5], 1);
    }
    if (is("received"))
        receive_unheld();
    if (is("stale") || is("stale_there"))
        use_stale();
    if (is("finished") && rank == 0)
        use_finished();
    if (is("wrong_release") && rank == 0)
        give_wrong();
    if (is("unheld") && rank == 0)
        change_unheld();
    if (is("no_handle") && rank == 0)
        use_no_handle();
    if ((is("no_object") || is("no_object_all")) && rank == 0)
        free_no_object();
    if (is("ralloc") && rank == 0)
        allocate_unheld();
    if ((is("first") || is("upgrade")) && rank == 0)
        leave_first();
    if (is("busy") || is("busy_below"))
        delete_held();
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    if (is("held") && rank == 0)
        give(top);
    MPI_Finalize();
    if (rank == 0)
        printf("over\n");
    return 0;
}
