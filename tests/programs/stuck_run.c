/* As stuck.c: programs that hang over what they run where the data is. */
#include <pthread.h>
#include <string.h>

#include "tests/programs/stuck.h"

static int nothing(drasync_region_t r, const void *arg, size_t arg_bytes,
                   void *answer, size_t answer_bytes)
{
    (void)r, (void)arg, (void)arg_bytes, (void)answer, (void)answer_bytes;
    return 0;
}

static drasync_request_t begun;
static drasync_function_t f_nothing;

/* It goes on, and is in no call. */
static void *begin(void *tree)
{
    drasync_request_t request;

    must(drasync_irun(tree, f_nothing, DRASYNC_WRITE, NULL, 0, NULL, 0,
                      &request),
         "run");
    __atomic_store_n(&begun, request, __ATOMIC_RELEASE);
    until_over();
    must(drasync_run_flush(), "flush");
    return NULL;
}

/* Another thread than that which began it waits for it. */
static void wait_for_other(region tree, drasync_function_t function)
{
    pthread_t thread;

    f_nothing = function;
    must(pthread_create(&thread, NULL, begin, tree), "thread");
    while (!__atomic_load_n(&begun, __ATOMIC_ACQUIRE))
        usleep(1000);
    must(drasync_wait(&begun, DRASYNC_FOREVER), "wait");
    must(pthread_join(thread, NULL), "thread");
}

/* A hold, and a function, whichever comes first. */
static void wait_for_any(region tree, drasync_function_t function)
{
    drasync_request_t request[2];
    int index;

    must(drasync_iacquire(tree, DRASYNC_READ, &request[0]), "acquire");
    must(drasync_irun(tree, function, DRASYNC_READ, NULL, 0, NULL, 0,
                      &request[1]),
         "run");
    for (int i = 0; i < 2; i++) {
        must(drasync_wait_any(2, request, DRASYNC_FOREVER, &index), "wait");
        if (index == 0)
            release_region(tree);
    }
}

/* All others run a function on what rank 0 has, for READ if @how is "-reads", and
 * wait for it as @how says. */
static void runs(const char *how)
{
    drasync_function_t function;
    drasync_request_t request;
    region tree = shared_region("tree", 0);

    must(drasync_register("nothing", nothing, &function), "register");
    if (rank == 0)
        acquire_region(tree, strcmp(how, "-reads") ? WRITE : READ);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        until_over();
    if (rank == 0)
        release_region(tree);
    else if (!strcmp(how, "-flush")) {
        must(drasync_run_ff(tree, function, DRASYNC_WRITE, NULL, 0), "run");
        must(drasync_run_flush(), "flush");
    } else if (!strcmp(how, "-wait")) {
        must(drasync_irun(tree, function, DRASYNC_WRITE, NULL, 0, NULL, 0,
                          &request),
             "run");
        must(drasync_wait(&request, DRASYNC_FOREVER), "wait");
    } else if (!strcmp(how, "-other")) {
        wait_for_other(tree, function);
    } else if (!strcmp(how, "-any")) {
        wait_for_any(tree, function);
    } else
        must(drasync_run(tree, function, DRASYNC_WRITE, NULL, 0, NULL, 0),
             "run");
}

int main(int argc, char **argv)
{
    const char *what = started(&argc, &argv);

    if (strncmp(what, "run", 3))
        return 2;
    runs(what + 3);
    MPI_Finalize();
    return 0;
}
