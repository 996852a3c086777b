/*
 * A process dies inside an operation of an engine that it shares: after each of
 * the operation's instructions, a run for each.  It is stepped there by
 * ptrace() and killed.  Who is left finds the engine whole: transients of the
 * dead one end, no object is lost, none ends too early, and each call works.
 */
#include "lifetime_common.h"

#include "memory/sanitizer.h"

#include <sys/ptrace.h>
#include <sys/wait.h>

/* Instructions that are stepped for an operation, unless the test is called with
 * "all" [NAME]; so a long one is not left at each. */
#define STEPS_ALL  (SANITIZED ? 20000 : 100000)
#define POINTS_MIN (SANITIZED ? 3 : 12)
#define SANITIZED  (SANITIZER_ADDRESS || SANITIZER_THREAD)
#define STEPS_MAX  2000000

static struct life life;
static struct life_thread me;
static struct life_transient *begun[4];
static life_handle comm, type, derived;

static bool gone(int32_t process)
{
    return kill(process, 0) && errno == ESRCH;
}

/* No text: it would be of the heap of a process that is gone. */
static life_handle plain_new(uint32_t class, life_handle base)
{
    life_handle handle;

    REQUIRE(!life_new(&me, LIFE_EPOCHS, class, &handle));
    *(struct thing *)life_data(&me, handle) = (struct thing){.base = base};
    if (base)
        life_ref(&me, LIFE_EPOCHS, base);
    return handle;
}

static void drop(life_handle handle)
{
    life_unref(&me, LIFE_EPOCHS, handle);
}

/* --- Operations; the objects that they need are made before --------------- */

struct operation {
    const char *name;
    void (*before)(void);
    void (*run)(void);
    bool unrefs; /* @type is given back, if it came to that */
    /* Objects of which it takes a counted reference along: its own, or those of
     * an object in whose end it died. */
    unsigned lost;
};

static void one_request(void)
{
    begun[0] = request_start(&me, comm, type);
}

static void do_begin(void)
{
    begun[1] = life_begin(&me, LIFE_EPOCHS);
    life_refer(&me, LIFE_EPOCHS, begun[1], 0, comm);
}

static void do_drop(void)
{
    life_drop(&me, LIFE_EPOCHS, begun[0], 1);
}

static void do_end(void)
{
    life_end(&me, LIFE_EPOCHS, begun[0]);
}

/* Of another epoch, so that the receiver is counted in two classes. */
static void two_requests(void)
{
    one_request();
    drop(plain_new(TYPE, 0));
    life_collect(&me, LIFE_EPOCHS);
    begun[1] = life_begin(&me, LIFE_EPOCHS);
    REQUIRE(begun[1]);
}

static void do_pass(void)
{
    life_pass(&me, LIFE_EPOCHS, begun[1], 0, begun[0], 0);
}

static void passed(void)
{
    two_requests();
    do_pass();
}

static void do_end_passed(void)
{
    life_end(&me, LIFE_EPOCHS, begun[1]);
}

static void do_new(void)
{
    life_handle handle;

    if (!life_new(&me, LIFE_EPOCHS, COMM, &handle))
        drop(handle);
}

static void do_unref(void)
{
    drop(type);
}

/* Objects of a chain that all end in the cycle. */
static void a_chain(void)
{
    life_handle base = plain_new(TYPE, 0), next;

    for (int i = 0; i < 3; i++) {
        next = plain_new(TYPE, base);
        drop(base);
        base = next;
    }
    drop(base);
    drop(plain_new(COMM, 0));
}

static void chain_and_request(void)
{
    one_request();
    a_chain();
}

static void do_collect(void)
{
    life_collect(&me, LIFE_EPOCHS);
}

static void do_thread(void)
{
    static struct life_thread other;

    if (life_thread_begin(&life, &other))
        return;
    begun[2] = life_begin(&other, LIFE_EPOCHS);
    life_thread_end(&other);
}

/* Sharing it again with a thread that ended. */
static void thread_and_request(void)
{
    do_thread();
    one_request();
}

static const struct operation operations[] = {
    {"life_begin", one_request, do_begin, false, 0},
    {"life_begin and a new block", NULL, do_begin, false, 0},
    {"life_drop", one_request, do_drop, false, 0},
    {"life_end", one_request, do_end, false, 0},
    {"life_pass", two_requests, do_pass, false, 0},
    {"life_end of a receiver", passed, do_end_passed, false, 0},
    {"life_new", one_request, do_new, false, 1},
    {"life_unref", one_request, do_unref, true, 0},
    {"a cycle", a_chain, do_collect, false, 3},
    {"a cycle beside a request", chain_and_request, do_collect, false, 3},
    {"life_thread_begin", NULL, do_thread, false, 0},
    {"life_thread_begin that adopts", thread_and_request, do_thread, false, 0},
};

/* --- The one that dies ---------------------------------------------------- */

static void child(const struct operation *op)
{
    const struct life_env env = {.process = getpid(), .gone = gone};

    REQUIRE(!ptrace(PTRACE_TRACEME, 0, NULL, NULL));
    REQUIRE(!life_attach(&life, life.shared, &env));
    REQUIRE(!life_class(&life, COMM, sizeof(struct thing), thing_end));
    REQUIRE(!life_class(&life, TYPE, sizeof(struct thing), thing_end));
    REQUIRE(!life_thread_begin(&life, &me));
    if (op->before)
        op->before();
    raise(SIGSTOP);
    op->run();
    raise(SIGSTOP);
    _exit(0);
}

static bool stops(pid_t pid, int signal_number)
{
    int status;

    REQUIRE(waitpid(pid, &status, 0) == pid);
    return WIFSTOPPED(status) && WSTOPSIG(status) == signal_number;
}

/* Kill it after @steps instructions.  How many there were: fewer if it was
 * through; -1: it may not be traced. */
static long die_after(const struct operation *op, long steps)
{
    pid_t pid = fork();
    long done = 0;

    REQUIRE(pid >= 0);
    if (!pid)
        child(op);
    if (!stops(pid, SIGSTOP))
        return -1;
    while (done < steps) {
        REQUIRE(!ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL));
        if (!stops(pid, SIGTRAP))
            break; /* the second SIGSTOP */
        done++;
    }
    REQUIRE(!kill(pid, SIGKILL));
    REQUIRE(waitpid(pid, NULL, 0) == pid);
    return done;
}

/* --- Who is left ---------------------------------------------------------- */

static void engine_shared(void)
{
    const struct life_options options = {
        .scheme = LIFE_EPOCHS, .linger_bytes = 1 << 20, .shared = true};
    const struct life_env env = {.process = getpid(), .gone = gone};
    const uint64_t bytes = sizeof(struct life_shared) + (256 << 10);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    REQUIRE(memory != MAP_FAILED);
    REQUIRE(!life_open(&life, memory, bytes, &options, &env));
    REQUIRE(!life_class(&life, COMM, sizeof(struct thing), thing_end));
    REQUIRE(!life_class(&life, TYPE, sizeof(struct thing), thing_end));
    REQUIRE(!life_thread_begin(&life, &me));
    comm = plain_new(COMM, 0);
    type = plain_new(TYPE, 0);
    derived = plain_new(TYPE, type);
    drop(type); /* the derived one has it */
    type = plain_new(TYPE, 0);
}

static bool is_there(life_handle handle)
{
    uint64_t word = atomic_load(&life_object(life.shared, handle)->word);

    return (word & LIFE_COUNT) > 1 && !(word & LIFE_DEAD);
}

/* What is wrong; NULL: nothing. */
static const char *whole(const struct operation *op)
{
    struct life_stats s;

    life_recover(&me);
    if (outstanding(&life))
        return "a transient of the dead one is left, or a count is wrong";
    if (!is_there(comm) || !is_there(derived) ||
        (!op->unrefs && !is_there(type)))
        return "an object ended too early";
    life_collect(&me, LIFE_EPOCHS);
    life_collect(&me, LIFE_EPOCHS);
    life_stats(&life, &s);
    /* Two of them, the derived one's base, and @type. */
    if (s.live < 3 + (uint64_t)!op->unrefs || s.live > 4 + op->lost)
        return s.live > 4 ? "objects are lost" : "objects have ended";
    if (s.lingering_bytes + 256 > 512)
        return "more lingers than an object";
    /* And all goes on. */
    for (int i = 0; i < 300; i++) {
        life_handle h = plain_new(COMM, derived);
        struct life_transient *t = request_start(&me, h, comm);

        drop(h);
        life_collect(&me, LIFE_EPOCHS);
        if (*(uint64_t *)life_data(&me, h) != derived)
            return "an object with a request ended";
        life_end(&me, LIFE_EPOCHS, t);
    }
    if (is_there(type))
        drop(type);
    drop(comm);
    drop(derived);
    life_collect(&me, LIFE_EPOCHS);
    if (live(&life) > op->lost)
        return "an object does not end";
    drop(plain_new(COMM, 0));
    if (!life_collect(&me, LIFE_EPOCHS))
        return "an object of afterwards does not end";
    return NULL;
}

/* How many things are wrong; -1: it may not be traced. */
static int dies(const struct operation *op, long at, long *steps_out)
{
    const char *wrong;

    engine_shared();
    *steps_out = die_after(op, at);
    if (*steps_out < 0)
        return -1;
    alarm(20);
    wrong = whole(op);
    alarm(0);
    if (wrong)
        printf("# %s, killed after %ld instructions: %s\n", op->name, at,
               wrong);
    life_thread_end(&me);
    munmap(life.shared, sizeof(struct life_shared) + (256 << 10));
    return wrong != NULL;
}

int main(int argc, char **argv)
{
    bool everywhere = argc > 1 && !strcmp(argv[1], "all");
    char title[120];

    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
        const struct operation *op = &operations[i];
        long all, done, points;
        int wrong;

        if (argc > 2 && strcmp(argv[2], op->name))
            continue;
        wrong = dies(op, STEPS_MAX, &all);
        snprintf(title, sizeof(title), "a process that dies in %s harms nobody",
                 op->name);
        if (wrong < 0) {
            tap_skip(title, "ptrace() is not allowed here");
            continue;
        }
        points = everywhere ? all : 2 * STEPS_ALL / (all + 1);
        if (points < POINTS_MIN)
            points = POINTS_MIN;
        for (long at = 0; at < all; at += 1 + all / points)
            wrong += dies(op, at, &done);
        printf("# %s: %ld instructions, %ld of them tried\n", op->name, all,
               all < points ? all : points);
        tap_ok(!wrong && all > 5, title);
    }
    return tap_end();
}
