/*
 * Runs on the runtime itself, below the public API: starts it inside MPI, lets
 * the ranks of a node wake each other and the nodes send to each other, and
 * says what it saw.  Arguments choose what to do; see the Bats files.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory/control.h"
#include "runtime/death.h"
#include "runtime/messages/messages.h"
#include "runtime/process.h"
#include "runtime/shared.h"
#include "runtime/wait.h"

#define KIND_ECHO    RUNTIME_KIND_TEST
#define KIND_BULK    (RUNTIME_KIND_TEST + 1)
#define KIND_NOBODYS 31
#define BULK_BYTES   ((size_t)5 << 20)

static _Atomic int bulk_arrived, bulk_sent;
static char *bulk_in[64]; /* by node */

static void fail(const char *what, int err)
{
    fprintf(stderr, "probe: rank %d: %s: %s\n", runtime.rank, what,
            drasync_strerror(err));
    MPI_Abort(MPI_COMM_WORLD, 3);
}

/* Everybody of the node rings the next one's bell, 1000 times round. */
static void ring_round(void)
{
    struct runtime_shared *shared = runtime.shared;
    struct doorbell *own = &runtime_self()->doorbell;
    struct doorbell *next =
        &shared->ranks[(runtime.local + 1) % runtime.locals].doorbell;

    MPI_Barrier(MPI_COMM_WORLD);
    for (uint32_t i = 0; i < 1000; i++) {
        if (runtime.local == 0)
            doorbell_ring(next);
        while (doorbell_read(own) == i) {
            int err = doorbell_wait(own, i, WAIT_FOREVER);
            if (err)
                fail("doorbell", err);
        }
        if (runtime.local != 0)
            doorbell_ring(next);
    }
}

/* The program's own messages, between all ranks. */
static void talk_in_pairs(void)
{
    enum { BYTES = 100000 };
    char *out = calloc(1, BYTES), *in = calloc(1, BYTES);

    for (int i = 0; i < 3 * runtime.ranks; i++) {
        int to = (runtime.rank + i) % runtime.ranks;
        int from = (runtime.rank + 3 * runtime.ranks - i) % runtime.ranks;

        MPI_Sendrecv(out, BYTES, MPI_BYTE, to, 0, in, BYTES, MPI_BYTE, from, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    free(out);
    free(in);
}

static void echo(const struct runtime_caller *caller, const void *request,
                 size_t bytes)
{
    runtime_reply(caller, 7, request, bytes);
}

static int bulk_place(int from, const void *header, size_t header_bytes,
                      uint64_t bulk_bytes, struct transport_sink *sink,
                      uint64_t *context_out)
{
    (void)header;
    (void)header_bytes;
    *context_out = (uint64_t)from;
    if (bulk_bytes != BULK_BYTES)
        return DRASYNC_EINVAL;
    bulk_in[from] = malloc(BULK_BYTES);
    return transport_sink_add(sink, bulk_in[from], BULK_BYTES);
}

static void bulk_here(int from, const void *header, size_t header_bytes,
                      uint64_t context)
{
    (void)header;
    (void)header_bytes;
    for (size_t i = 0; i < BULK_BYTES; i++) {
        if (bulk_in[from][i] != (char)(i * 31 + (size_t)from))
            fail("bulk data is wrong", DRASYNC_EINTERNAL);
    }
    free(bulk_in[from]);
    if (context != (uint64_t)from)
        fail("bulk context is wrong", DRASYNC_EINTERNAL);
    atomic_fetch_add(&bulk_arrived, 1);
}

static void bulk_over(int to, uint64_t context, int result)
{
    if (context != (uint64_t)to + 100 || result)
        fail("bulk sent", result);
    atomic_fetch_add(&bulk_sent, 1);
}

static const struct runtime_handler bulk_handler = {
    .place = bulk_place,
    .arrived = bulk_here,
    .sent = bulk_over,
};

/* Calls of every other node, small and large. */
static void call_nodes(void)
{
    size_t large = 200000, got;
    char *request = malloc(large), *reply = malloc(large);

    memset(request, 'x', large);
    for (int node = 0; node < runtime.nodes; node++) {
        if (node == runtime.node)
            continue;
        for (int i = 0; i < 200; i++) {
            size_t bytes = i % 20 == 19 ? large : (size_t)i;
            request[0] = (char)i;
            int err = runtime_call(node, KIND_ECHO, request, bytes, reply,
                                   large, &got);
            if (err != 7)
                fail("call", err);
            if (got != bytes || memcmp(request, reply, bytes))
                fail("reply differs", DRASYNC_EINTERNAL);
        }
    }
    free(request);
    free(reply);
}

/* From control memory, which all ranks of a node see. */
static void send_bulk(void)
{
    void *data;
    int err = control_alloc(&runtime.space, BULK_BYTES, &data);

    if (err)
        fail("control_alloc", err);
    for (size_t i = 0; i < BULK_BYTES; i++)
        ((char *)data)[i] = (char)(i * 31 + (size_t)runtime.node);
    for (int node = 0; node < runtime.nodes; node++) {
        struct transport_piece pieces[] = {
            {data, 100},
            {(char *)data + 100, BULK_BYTES - 100},
        };
        struct runtime_message message = {
            .node = node,
            .kind = KIND_BULK,
            .header = "bulk",
            .header_bytes = 4,
            .pieces = pieces,
            .pieces_count = 2,
            .context = (uint64_t)node + 100,
        };
        if (node == runtime.node)
            continue;
        err = runtime_send(&message);
        if (err)
            fail("send", err);
    }
}

/* Take @count of the addresses that the runtime would try. */
static void occupy(int count)
{
    uintptr_t addresses[SPACE_CANDIDATES_MAX];
    struct runtime_options options;
    struct space_layout layout;
    char why[OPTIONS_LINE_BYTES];

    options_read(&options, why, sizeof(why));
    space_layout_for(options.space_bytes, &layout);
    int candidates = space_candidates(&layout, addresses);
    for (int i = 0; i < candidates && i < count; i++)
        mmap((void *)addresses[i], 4096, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

#define LOAD(field) \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define GO_ON BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/*
 * From now on a call of the system that the start makes does @what (of
 * SECCOMP_RET_*): the one that makes the node's files, on a leader; the one that
 * opens them through /proc, on another rank; or the one that maps them.  Status
 * 77 where there are no filters for calls.
 */
static void filter_at(const char *step, uint32_t what)
{
    struct sock_filter files[] = {
        LOAD(nr),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, what),
        GO_ON,
    };
    struct sock_filter proc[] = {
        LOAD(nr),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
        LOAD(args[2]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, O_RDWR | O_CLOEXEC | O_NONBLOCK, 0,
                 1),
        BPF_STMT(BPF_RET | BPF_K, what),
        GO_ON,
    };
    struct sock_filter map[] = {
        LOAD(nr),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3),
        LOAD(args[3]),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MAP_FIXED_NOREPLACE, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, what),
        GO_ON,
    };
    struct sock_fprog program = {sizeof(map) / sizeof(map[0]), map};

    if (!strcmp(step, "files"))
        program = (struct sock_fprog){sizeof(files) / sizeof(files[0]), files};
    if (!strcmp(step, "proc"))
        program = (struct sock_fprog){sizeof(proc) / sizeof(proc[0]), proc};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
        printf("no filters for system calls: %s\n", strerror(errno));
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 77);
    }
}

/* As where /proc is closed to ranks, but to those whose number is a multiple of
 * the nodes' size: those lead a node, and are refused @step, if any. */
static void close_proc(const char *step)
{
    if (step)
        filter_at(step, SECCOMP_RET_ERRNO | EPERM);
}

/* No file can be opened here from now on. */
static void leave_no_descriptors(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit))
        fail("getrlimit", DRASYNC_EINTERNAL);
    limit.rlim_cur = 3;
    if (setrlimit(RLIMIT_NOFILE, &limit) || open("/", O_RDONLY) >= 0)
        fail("setrlimit", DRASYNC_EINTERNAL);
}

/* Node 0 sends what nobody knows. */
static void send_broken(void)
{
    const struct runtime_message m = {
        .node = 1, .kind = KIND_NOBODYS, .header = "?", .header_bytes = 1};

    if (runtime.node == 0)
        runtime_send(&m);
}

/* MPI has no communicators left, and returns errors. */
static void exhaust(void)
{
    MPI_Comm one;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    while (MPI_Comm_dup(MPI_COMM_WORLD, &one) == MPI_SUCCESS)
        continue;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "start";
    int err, level, rank;

    if (!strcmp(what, "unstarted")) {
        /* The runtime starts MPI, and ends it at exit. */
        err = runtime_enter();
        printf("unstarted: %d %d\n", err, runtime.rank);
        return err;
    }
    MPI_Init_thread(&argc, &argv,
                    strcmp(what, "single") ? MPI_THREAD_MULTIPLE
                                           : MPI_THREAD_SINGLE,
                    &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!strcmp(what, "occupied") && rank == 1)
        occupy(2);
    if (!strcmp(what, "full") && rank == 1)
        occupy(SPACE_CANDIDATES_MAX);
    if (!strcmp(what, "dies") && argc > 3 && rank == atoi(argv[2]))
        filter_at(argv[3], SECCOMP_RET_KILL_PROCESS);
    if (!strcmp(what, "refused") && argc > 3 && rank == atoi(argv[2]))
        filter_at(argv[3], SECCOMP_RET_ERRNO | EPERM);
    if (!strcmp(what, "closed") && argc > 2)
        close_proc(rank % atoi(argv[2]) ? "proc" : argc > 3 ? argv[3] : NULL);
    if (!strcmp(what, "exhausted"))
        exhaust();
    runtime_serve(KIND_ECHO, echo);
    runtime_handle(KIND_BULK, &bulk_handler);
    err = runtime_start();
    if (err) {
        printf("start: %s\n", drasync_errname(err));
        MPI_Finalize();
        return 2;
    }
    printf("rank %d of %d is %d of %d on node %d of %d\n", runtime.rank,
           runtime.ranks, runtime.local, runtime.locals, runtime.node,
           runtime.nodes);
    fflush(stdout);
    ring_round();
    if (!strcmp(what, "nodes")) {
        call_nodes();
        if (runtime.leader)
            send_bulk();
    }
    if (!strcmp(what, "pairs"))
        talk_in_pairs();
    if (!strcmp(what, "broken"))
        send_broken();
    if (!strcmp(what, "descriptors")) {
        /* Here nothing can be opened: nobody has died for that. */
        leave_no_descriptors();
        err = death_look();
        if (err)
            fail("all live", err);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (!strcmp(what, "killed") || !strcmp(what, "blind")) {
        if (!strcmp(what, "blind") && runtime.rank < runtime.ranks - 1)
            leave_no_descriptors();
        /* The last rank dies; the others wait for it. */
        int result;
        struct waiter never = {0};
        MPI_Barrier(MPI_COMM_WORLD);
        if (runtime.rank == runtime.ranks - 1)
            raise(SIGKILL);
        err = waiter_wait(&never, WAIT_FOREVER, &result);
        printf("rank %d: %s\n", runtime.rank, drasync_errname(err));
        return 1;
    }
    if (!strcmp(what, "locked")) {
        /* The last rank dies with a lock; the others want it, or wait. */
        int result;
        struct waiter never = {0};
        struct lock *lock = &runtime.shared->trees[0];
        bool last = runtime.rank == runtime.ranks - 1;
        err = last ? lock_take(lock) : 0;
        MPI_Barrier(MPI_COMM_WORLD);
        if (last)
            raise(SIGKILL);
        if (runtime.node == runtime.node_of[runtime.ranks - 1])
            err = lock_take(lock);
        else
            err = waiter_wait(&never, WAIT_FOREVER, &result);
        printf("rank %d: %s\n", runtime.rank, drasync_errname(err));
        return 1;
    }
    if (!strcmp(what, "receive")) {
        /* The last rank dies; the others wait for it inside MPI. */
        MPI_Barrier(MPI_COMM_WORLD);
        if (runtime.rank == runtime.ranks - 1)
            raise(SIGKILL);
        MPI_Recv(&err, 1, MPI_INT, runtime.ranks - 1, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        return 1;
    }
    if (!strcmp(what, "exits"))
        return 0;
    err = runtime_stop();
    if (err)
        fail("stop", err);
    if (!strcmp(what, "nodes") && runtime.leader &&
        (bulk_arrived != runtime.nodes - 1 || bulk_sent != runtime.nodes - 1))
        fail("bulk messages are missing after the stop", DRASYNC_EINTERNAL);
    MPI_Finalize();
    if (runtime.rank == 0)
        printf("probe: done\n");
    return 0;
}
