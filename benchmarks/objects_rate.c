/*
 * objects_rate - the neighbour message rate of "Minimizing MPI resource
 * contention in multithreaded multicore environments" (2010), with each way to
 * know when a communicator and a datatype are no longer used (lifetime/).
 *
 * N threads of a process, each with a peer of its own.  An iteration posts 12
 * receives and 12 sends of 0 bytes and waits for all: 24 requests, each with a
 * reference to the same communicator and datatype as all others.  The transport
 * is a queue in this process: a send puts a packet into it, the peer's turn
 * hands it on as its own, a receive is matched by context, source and tag.  An
 * endpoint has a lock, as MPICH's have: MPI does not know that one thread alone
 * uses it.  The thread plays its peer itself, for which there is no core.
 *
 * 10 iterations of warm-up and 10,000 that are timed, in parts, of which the
 * best counts: in others the kernel gave a core to somebody else.
 *
 * Cases: derived objects and predefined ones, by 1 thread and by as many as
 * there are cores; and the object part alone, without messages.
 */
#include "benchmarks/common.h"

#include "benchmarks/engine_row.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define POSTED          12
#define WARM_UP         10
#define PARTS           20
#define ITERATIONS      10000
#define ITERATIONS_TINY 100
#define RING            16
#define THREADS_MAX     64
#define ENGINE_BYTES    ((uint64_t)4 << 20)

enum kind { DERIVED, PREDEFINED, PART };

static const char *const cases[] = {"derived_1",    "derived_n", "predefined_1",
                                    "predefined_n", "part_1",    "part_n"};
static const char *const rivals[] = {"hybrid", "naive", "mutex", "suppressed",
                                     "nothing"};

static struct bench bench = {
    .name = "objects_rate",
    .unit = "M/s",
    .kind = BENCH_RATE,
    .what =
        "Messages of 0 bytes, 12 receives and 12 sends at a time, by threads "
        "that\nshare a communicator and a datatype; each way to count their "
        "uses.\n",
    .runs = 9,
    .cases = cases,
    .cases_count = 6,
    .main_case = 2,
    .rivals = rivals,
    .rivals_count = 5,
};

/* In a transient: a request. */
struct request {
    struct life_transient *next; /* posted after it */
    uint32_t context, source, tag, done;
};

struct packet {
    uint32_t context, source, tag, bytes;
};

/* From one to another: written by one, read by the other. */
struct queue {
    _Alignas(64) _Atomic uint32_t in;
    _Alignas(64) _Atomic uint32_t out;
    struct packet packet[RING];
};

struct endpoint {
    _Alignas(64) struct queue there, here; /* to the peer, and from it */
    pthread_mutex_t lock;
    struct life_transient *first, **last; /* posted receives */
    struct life_thread me;
    pthread_t thread;
    int number;
    double begin_ns[PARTS], end_ns[PARTS];
};

static struct {
    struct life life;
    life_handle comm, type;
    int iterations;
    enum kind kind;
    enum life_scheme scheme;
    pthread_barrier_t begin;
    cpu_set_t cores;
} all;

static struct request *request_of(struct life_transient *t)
{
    return (struct request *)(void *)t->data;
}

/* Release and acquire: the packet comes with the count. */
static inline void put(struct queue *q, const struct packet *p)
{
    uint32_t in = atomic_load_explicit(&q->in, memory_order_relaxed);

    q->packet[in % RING] = *p;
    atomic_store_explicit(&q->in, in + 1, memory_order_release);
}

static inline bool get(struct queue *q, struct packet *p)
{
    uint32_t out = atomic_load_explicit(&q->out, memory_order_relaxed);

    if (out == atomic_load_explicit(&q->in, memory_order_acquire))
        return false;
    *p = q->packet[out % RING];
    atomic_store_explicit(&q->out, out + 1, memory_order_release);
    return true;
}

/* A request with what it needs of its communicator and datatype. */
static inline __attribute__((always_inline)) struct life_transient *
start(struct endpoint *e, enum life_scheme scheme, uint32_t tag)
{
    const struct engine_object *comm = life_data(&e->me, all.comm);
    struct life_transient *t = engine_begin(&e->me, scheme);
    struct request *r;

    life_refer(&e->me, scheme, t, 0, all.comm);
    life_refer(&e->me, scheme, t, 1, all.type);
    r = request_of(t);
    r->next = NULL;
    r->context = comm->context;
    r->source = 1;
    r->tag = tag;
    r->done = 0;
    return t;
}

static inline __attribute__((always_inline)) struct life_transient *
receive(struct endpoint *e, enum life_scheme scheme, uint32_t tag)
{
    struct life_transient *t = start(e, scheme, tag);

    pthread_mutex_lock(&e->lock);
    *e->last = t;
    e->last = &request_of(t)->next;
    pthread_mutex_unlock(&e->lock);
    return t;
}

static inline __attribute__((always_inline)) struct life_transient *
send(struct endpoint *e, enum life_scheme scheme, uint32_t tag)
{
    const struct engine_object *type = life_data(&e->me, all.type);
    struct life_transient *t = start(e, scheme, tag);
    struct request *r = request_of(t);

    pthread_mutex_lock(&e->lock);
    put(&e->there, &(struct packet){r->context, 1, tag, type->bytes});
    pthread_mutex_unlock(&e->lock);
    r->done = 1;
    return t;
}

static void peers_turn(struct endpoint *e)
{
    struct packet p;

    while (get(&e->there, &p))
        put(&e->here, &p);
}

static void matched(struct endpoint *e, const struct packet *p)
{
    struct life_transient **link = &e->first;

    for (; *link; link = &request_of(*link)->next) {
        struct request *r = request_of(*link);

        if (r->context != p->context || r->source != p->source ||
            r->tag != p->tag)
            continue;
        r->done = 1;
        *link = r->next;
        if (!*link)
            e->last = link;
        return;
    }
    bench_require(false, "a message that nobody receives");
}

static void progress(struct endpoint *e)
{
    struct packet p;

    peers_turn(e);
    pthread_mutex_lock(&e->lock);
    while (get(&e->here, &p))
        matched(e, &p);
    pthread_mutex_unlock(&e->lock);
}

static inline __attribute__((always_inline)) void
messages(struct endpoint *e, enum life_scheme scheme)
{
    struct life_transient *t[2 * POSTED];

    for (uint32_t i = 0; i < POSTED; i++)
        t[i] = receive(e, scheme, i);
    for (uint32_t i = 0; i < POSTED; i++)
        t[POSTED + i] = send(e, scheme, i);
    for (int i = 0; i < 2 * POSTED; i++) {
        while (!request_of(t[i])->done)
            progress(e);
        life_end(&e->me, scheme, t[i]);
    }
}

static inline __attribute__((always_inline)) void
objects(struct endpoint *e, enum life_scheme scheme)
{
    struct life_transient *t[2 * POSTED];

    for (int i = 0; i < 2 * POSTED; i++) {
        t[i] = engine_begin(&e->me, scheme);
        life_refer(&e->me, scheme, t[i], 0, all.comm);
        life_refer(&e->me, scheme, t[i], 1, all.type);
    }
    for (int i = 0; i < 2 * POSTED; i++) {
        bench_keep(t[i]);
        life_end(&e->me, scheme, t[i]);
    }
}

/* With the scheme known when it is compiled. */
static inline __attribute__((always_inline)) void run(struct endpoint *e,
                                                      enum life_scheme scheme)
{
    for (int part = -1; part < PARTS; part++) {
        pthread_barrier_wait(&all.begin);
        if (part >= 0)
            e->begin_ns[part] = bench_now_ns();
        for (int i = part < 0 ? WARM_UP : all.iterations; i > 0; i--)
            if (all.kind == PART)
                objects(e, scheme);
            else
                messages(e, scheme);
        if (part >= 0)
            e->end_ns[part] = bench_now_ns();
    }
}

static void *work(void *arg)
{
    struct endpoint *e = arg;

    sched_setaffinity(0, sizeof(all.cores), &all.cores);
    bench_pin(e->number);
    engine_join(&all.life, &e->me);
    e->last = &e->first;
    pthread_mutex_init(&e->lock, NULL);
    switch (all.scheme) {
    case LIFE_NOTHING:
        run(e, LIFE_NOTHING);
        break;
    case LIFE_NAIVE:
        run(e, LIFE_NAIVE);
        break;
    case LIFE_MUTEX:
        run(e, LIFE_MUTEX);
        break;
    case LIFE_SUPPRESSED:
        run(e, LIFE_SUPPRESSED);
        break;
    case LIFE_HYBRID:
        run(e, LIFE_HYBRID);
        break;
    case LIFE_EPOCHS:
        run(e, LIFE_EPOCHS);
        break;
    }
    life_thread_end(&e->me);
    return NULL;
}

/* From the first thread's beginning to the last one's end. */
static double part_ns(const struct endpoint *e, int threads, int part)
{
    double begin = e[0].begin_ns[part], end = e[0].end_ns[part];

    for (int i = 1; i < threads; i++) {
        if (e[i].begin_ns[part] < begin)
            begin = e[i].begin_ns[part];
        if (e[i].end_ns[part] > end)
            end = e[i].end_ns[part];
    }
    return end - begin;
}

/* Millions of messages a second, of all threads: what is sent, as the paper
 * counts. */
static double threads_rate(struct endpoint *e, int threads)
{
    double best = 0, now;

    bench_require(!pthread_barrier_init(&all.begin, NULL, (unsigned)threads),
                  "pthread_barrier_init");
    for (int i = 0; i < threads; i++) {
        e[i].number = i;
        bench_require(!pthread_create(&e[i].thread, NULL, work, &e[i]),
                      "pthread_create");
    }
    for (int i = 0; i < threads; i++)
        bench_require(!pthread_join(e[i].thread, NULL), "pthread_join");
    pthread_barrier_destroy(&all.begin);
    for (int part = 0; part < PARTS; part++) {
        now = part_ns(e, threads, part);
        if (!part || now < best)
            best = now;
    }
    return threads * (double)all.iterations * POSTED * 1e3 / best;
}

static double rate(enum life_scheme scheme)
{
    int threads = bench.now & 1 ? bench.cores : 1;
    struct endpoint *e =
        aligned_alloc(64, (size_t)threads * sizeof(struct endpoint));
    struct life_thread me;
    double result;

    bench_require(e != NULL, "aligned_alloc");
    memset(e, 0, (size_t)threads * sizeof(struct endpoint));
    all.scheme = scheme;
    all.kind = (enum kind)(bench.now / 2);
    engine_open(&all.life, scheme, sizeof(struct life_shared) + ENGINE_BYTES,
                sizeof(struct request), 0);
    engine_join(&all.life, &me);
    all.comm = engine_object(&me, ENGINE_COMM, all.kind == PREDEFINED);
    all.type = engine_object(&me, ENGINE_TYPE, all.kind == PREDEFINED);
    result = threads_rate(e, threads);
    engine_close(&all.life, &me);
    free(e);
    return result;
}

static double ours(void *arg)
{
    (void)arg;
    return rate(engine_schemes[0]);
}

static double theirs(void *arg)
{
    (void)arg;
    return rate(engine_schemes[BENCH_THEIRS + bench.rival]);
}

static double median(int number, int side)
{
    return bench_median(bench.value[number][side], bench.count[number][side]);
}

/* The comparisons: sides by sides, cases by cases. */
static void add_fields(void)
{
    enum { OURS, HYBRID, NAIVE, NOTHING = 5 };

    bench_extra(&bench, "hybrid_naive_1", median(0, HYBRID) / median(0, NAIVE));
    bench_extra(&bench, "hybrid_naive_n", median(1, HYBRID) / median(1, NAIVE));
    bench_extra(&bench, "ours_hybrid_1", median(0, OURS) / median(0, HYBRID));
    bench_extra(&bench, "ours_hybrid_n", median(1, OURS) / median(1, HYBRID));
    bench_extra(&bench, "ours_nothing_1", median(0, OURS) / median(0, NOTHING));
    bench_extra(&bench, "ours_nothing_n", median(1, OURS) / median(1, NOTHING));
    bench_extra(&bench, "derived_1", median(0, OURS) / median(2, OURS));
    bench_extra(&bench, "derived_n", median(1, OURS) / median(3, OURS));
    bench_extra(&bench, "part_naive_1", median(4, OURS) / median(4, NAIVE));
    bench_extra(&bench, "part_naive_n", median(5, OURS) / median(5, NAIVE));
}

int main(int argc, char **argv)
{
    bench_begin(&bench, argc, argv);
    all.iterations = (bench.tiny ? ITERATIONS_TINY : ITERATIONS) / PARTS;
    sched_getaffinity(0, sizeof(all.cores), &all.cores);
    bench.cores = CPU_COUNT(&all.cores);
    if (bench.cores > THREADS_MAX)
        bench.cores = THREADS_MAX;
    bench_compare(&bench, ours, theirs, NULL);
    add_fields();
    return bench_finish(&bench);
}
