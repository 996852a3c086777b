/*
 * With DRASYNC_MEMORY=256M, ranks of several nodes, on an MPI with UCX: a network
 * adapter that keeps registrations of memory, as those for InfiniBand do, has the
 * frames that the program sees.
 *
 * The adapter is played.  Below MPI_Isend and MPI_Irecv some pages of large
 * buffers are pinned when they are first used: a pipe holds the frame
 * (vmsplice), as a registration does.  They are let go when UCM, which tells
 * UCX's cache of registrations, says that they were unmapped.  A page that is
 * used again must still be the one in the pipe.
 */
#include "native_check.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/uio.h>
#include <unistd.h>

#define BYTES      ((size_t)96 << 20) /* more than a node keeps (limit.h) */
#define ROUNDS_EACH 3
#define PAGE       ((uintptr_t)4096)
#define PINNED_OF  512 /* one page of so many */
#define PINS_MAX   256
#define LONG_BYTES 65536 /* shorter messages are copied */

/* --- The adapter ---------------------------------------------------------- */

static struct pin {
    uintptr_t page; /* 0: free */
    int pipe[2];
} pins[PINS_MAX];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool playing;
static int copies[2]; /* a pipe to look into others by */
static int dropped, used_again;
static char *back; /* where data comes back to */

static void pin_page(uintptr_t page)
{
    struct iovec piece = {(void *)page, PAGE};
    int i = 0;

    while (i < PINS_MAX && pins[i].page)
        i++;
    CHECK(i < PINS_MAX);
    /* A registration is for writing, so it has the program's own frame. */
    *(volatile char *)page = *(volatile char *)page;
    CHECK(!pipe2(pins[i].pipe, O_CLOEXEC));
    CHECK(vmsplice(pins[i].pipe[1], &piece, 1, 0) == (ssize_t)PAGE);
    pins[i].page = page;
}

static void see_pinned(const struct pin *pin, char *contents_out)
{
    CHECK(tee(pin->pipe[0], copies[1], PAGE, 0) == (ssize_t)PAGE);
    CHECK(read(copies[0], contents_out, PAGE) == (ssize_t)PAGE);
}

static void use_page(uintptr_t page, bool written)
{
    static uint64_t mark;
    char contents[PAGE];
    struct pin *pin = NULL;

    for (int i = 0; i < PINS_MAX && !pin; i++)
        if (pins[i].page == page)
            pin = &pins[i];
    if (!pin) {
        pin_page(page);
        return;
    }
    /* All of it is going to be received. */
    if (written)
        *(uint64_t *)page = ++mark;
    see_pinned(pin, contents);
    CHECK(!memcmp(contents, (void *)page, PAGE));
    used_again++;
}

static void use(const void *data, int bytes, bool written)
{
    uintptr_t step = PINNED_OF * PAGE, at = (uintptr_t)data;

    if (bytes < LONG_BYTES || !playing)
        return;
    pthread_mutex_lock(&mutex);
    for (uintptr_t page = (at + step - 1) / step * step;
         page + PAGE <= at + (uintptr_t)bytes; page += step)
        use_page(page, written);
    pthread_mutex_unlock(&mutex);
}

/* UCM's, as far as it is looked at (ucm/api/ucm.h). */
#define UCM_EVENT_VM_UNMAPPED (1 << 17)
union event {
    struct {
        void *address;
        size_t bytes;
    } unmapped;
};

/* Of malloc's, and no region's. */
static bool is_own(uintptr_t page)
{
    return page - (uintptr_t)back < BYTES;
}

static void on_unmapped(int type, union event *event, void *arg)
{
    uintptr_t from = (uintptr_t)event->unmapped.address,
              to = from + event->unmapped.bytes;

    (void)type;
    (void)arg;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < PINS_MAX; i++) {
        if (!pins[i].page || pins[i].page + PAGE <= from || pins[i].page >= to)
            continue;
        dropped += !is_own(pins[i].page);
        pins[i].page = 0;
        close(pins[i].pipe[0]);
        close(pins[i].pipe[1]);
    }
    pthread_mutex_unlock(&mutex);
}

static bool play(void)
{
    void *ucm = dlopen("libucm.so.0", RTLD_NOW | RTLD_NOLOAD);
    int (*listen)(int events, int priority,
                  void (*call)(int, union event *, void *), void *arg) =
        ucm ? (__typeof__(listen))dlsym(ucm, "ucm_set_event_handler") : NULL;

    /* Under a sanitizer it refuses. */
    if (!listen || listen(UCM_EVENT_VM_UNMAPPED, 1000, on_unmapped, NULL))
        return false;
    CHECK(!pipe2(copies, O_CLOEXEC));
    playing = true;
    return true;
}

/* The host has adapters. */
DIR *opendir(const char *name)
{
    DIR *(*next)(const char *) =
        (__typeof__(next))dlsym(RTLD_NEXT, "opendir");

    return next(strcmp(name, "/sys/class/infiniband") ? name
                                                      : "/sys/class/net");
}

/* --- MPI's, before those of the library ------------------------------------ */

/* This one says where the library looks for the others. */
int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
    int (*next)(MPI_Comm, int *) =
        (__typeof__(next))dlsym(RTLD_NEXT, "PMPI_Comm_rank");

    return next(comm, rank);
}

int PMPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag,
               MPI_Comm comm, MPI_Request *request)
{
    int (*next)(const void *, int, MPI_Datatype, int, int, MPI_Comm,
                MPI_Request *) =
        (__typeof__(next))dlsym(RTLD_NEXT, "PMPI_Isend");

    use(data, count, false);
    return next(data, count, type, to, tag, comm, request);
}

int PMPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag,
               MPI_Comm comm, MPI_Request *request)
{
    int (*next)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) =
        (__typeof__(next))dlsym(RTLD_NEXT, "PMPI_Irecv");

    use(data, count, true);
    return next(data, count, type, from, tag, comm, request);
}

/* --- The program ----------------------------------------------------------- */

static void fill(char *data, int round)
{
    for (size_t at = 0; at < BYTES; at += sizeof(uint64_t))
        *(uint64_t *)(data + at) = at * 64 + (uint64_t)round;
}

static void look(const char *data, int round)
{
    for (size_t at = 0; at < BYTES; at += sizeof(uint64_t))
        CHECK(*(const uint64_t *)(data + at) == at * 64 + (uint64_t)round);
}

/* What @from sends, which is the data of this rank's region. */
static void take_back(int from, int round)
{
    MPI_Request request;

    PMPI_Irecv(back, (int)BYTES, MPI_BYTE, from, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    look(back, round);
}

static void read_and_send(drasync_region_t r, int to, int round)
{
    MPI_Request request;
    void *data;

    OK(drasync_acquire(r, DRASYNC_READ));
    OK(drasync_get_root(r, &data));
    look(data, round);
    PMPI_Isend(data, (int)BYTES, MPI_BYTE, to, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    OK(drasync_release(r));
}

/* A region that one rank makes, all others read and send back, and the first
 * deletes. */
static void go_round(int round)
{
    const int maker = round % check_ranks;
    drasync_region_t r;
    void *data;

    if (check_rank == maker) {
        OK(drasync_new_region(&r));
        OK(drasync_alloc(r, BYTES, &data));
        fill(data, round);
        OK(drasync_set_root(r, data));
        OK(drasync_release(r));
    }
    check_share(&r, maker);
    if (check_rank != maker)
        read_and_send(r, maker, round);
    for (int i = 0; i < check_ranks && check_rank == maker; i++)
        if (i != maker)
            take_back(i, round);
    check_barrier();
    if (check_rank == maker)
        OK(drasync_delete(r));
    check_barrier();
}

int main(int argc, char **argv)
{
    back = malloc(BYTES);
    check_start_threads(&argc, &argv);
    CHECK(back && check_ranks > 1);
    if (!play()) {
        MPI_Finalize();
        puts("adapter: UCX tells nothing");
        return 77;
    }
    for (int round = 0; round < ROUNDS_EACH * check_ranks; round++)
        go_round(round);
    /* The test has seen something: pages were used again, and regions' given
     * up. */
    CHECK(used_again && dropped);
    playing = false;
    free(back);
    return check_end("adapter");
}
