/*
 * Requests of one-sided access that no node would send: cut off, stretched, of
 * unknown kinds, about memory that is none, random.  Each is answered once, and
 * touches nothing but what was announced.  They end where a page ends that may
 * not be touched.
 */
#include <sys/mman.h>

#include "memory_common.h"
#include "runtime/messages/messages.h"
#include "runtime/messages/progress.h"
#include "runtime/no_memory.h"
#include "runtime/rma/state.h"
#include "runtime/say.h"

enum { NODES = 2, RANKS = 3, PAGE = 4096, OTHERS = 1 };

struct runtime runtime;
_Atomic uint32_t *runtime_poisoned;

static struct rma_job job;
static runtime_server *server;
static int replies, passed, result;
static size_t replied_bytes;

/* --- What the requests' code calls ---------------------------------------- */

void runtime_serve(uint32_t kind, runtime_server *serve)
{
    REQUIRE(kind == RUNTIME_KIND_RMA);
    server = serve;
}

void runtime_handle(uint32_t kind, const struct runtime_handler *handler)
{
    REQUIRE(kind == RUNTIME_KIND_RMA + 1 && handler->arrived);
}

int runtime_reply(const struct runtime_caller *caller, int err,
                  const void *reply, size_t bytes)
{
    REQUIRE(caller->node == OTHERS && (reply || !bytes));
    replies++;
    result = err;
    replied_bytes = bytes;
    return 0;
}

int rma_agent_pass(const struct rma_request *request,
                   const struct rma_sizes *sizes, const void *in,
                   const struct runtime_caller *caller)
{
    REQUIRE(request->rank == 1 && sizes && in && caller);
    passed++;
    return 0;
}

const struct rma_job *rma_job(void)
{
    return &job;
}

int rma_running(void)
{
    return 0;
}

void runtime_poison(const char *format, ...)
{
    REQUIRE(!format);
}

void runtime_no_memory(const char *to_do, ...)
{
    REQUIRE(!to_do);
}

/* Those that ask are not tested here. */
int runtime_start(void)
{
    REQUIRE(false);
}

int runtime_enter_slow(void)
{
    REQUIRE(false);
}

int runtime_send(const struct runtime_message *m)
{
    REQUIRE(!m);
    return 0;
}

int runtime_call_helping(int node, uint32_t kind, const void *request,
                         size_t request_bytes, void *reply, size_t reply_max,
                         size_t *reply_bytes_out)
{
    REQUIRE(!node && !kind && !request && !request_bytes && !reply &&
            !reply_max && !reply_bytes_out);
    return 0;
}

int rma_agent_ask(const struct rma_request *request,
                  const struct rma_sizes *sizes, const void *in, void *out)
{
    REQUIRE(!request && !sizes && !in && !out);
    return 0;
}

void progress_serve(void)
{
}

/* --- A node of two ranks; this is the first ------------------------------- */

#define GUARD 64

static struct {
    unsigned char before[GUARD], bytes[256], after[GUARD];
} own;

static char *end; /* of the page for requests */

static void start(void)
{
    static int node_of[RANKS] = {0, 0, OTHERS}, local_of[RANKS] = {0, 1, 0};
    char *pages = mmap(NULL, 2 * PAGE + RMA_PIECE_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *shared, *peers;
    bool first;

    REQUIRE(pages != MAP_FAILED);
    end = pages + PAGE + RMA_PIECE_BYTES;
    REQUIRE(!mprotect(end, PAGE, PROT_NONE));
    node_open(&runtime.space, GIB, 0, NODES, 256 * MIB);
    runtime.ranks = RANKS;
    runtime.nodes = NODES;
    runtime.node_of = node_of;
    runtime.local_of = local_of;
    runtime_poisoned = control_poison_flag(&runtime.space);
    job.window_bytes =
        runtime.space.layout.data_bytes + runtime.space.layout.alternate_bytes;
    REQUIRE(!control_alloc_zero(&runtime.space, sizeof(*rma_shared), &shared));
    rma_shared = shared;
    REQUIRE(!rma_shared_init(rma_shared, runtime_poisoned));
    REQUIRE(!control_alloc_zero(&runtime.space, 2 * sizeof(*rma_shared->peers),
                                &peers));
    rma_shared->peers = peers;
    for (int i = 0; i < 2; i++) {
        struct rma_ranges *ranges = &rma_shared->peers[i].ranges;

        REQUIRE(!lock_init(&ranges->lock, LOCK_RANK_RMA, runtime_poisoned));
        REQUIRE(!rma_ranges_add(ranges, (uintptr_t)own.bytes, sizeof(own.bytes),
                                &first));
    }
    REQUIRE(!rma_wire_start() && server);
    memset(own.before, 0x5a, sizeof(own.before));
    memset(own.after, 0x5a, sizeof(own.after));
}

static bool guards_same(void)
{
    for (int i = 0; i < GUARD; i++) {
        if (own.before[i] != 0x5a || own.after[i] != 0x5a)
            return false;
    }
    return true;
}

/* What 8 numbers, or as many bytes, need. */
static struct rma_request valid(enum rma_what what, int rank)
{
    return (struct rma_request){
        .place = RMA_PRIVATE | (uintptr_t)own.bytes,
        .count = what == RMA_COMPARE ? 1 : 8,
        .rank = rank,
        .what = (uint8_t)what,
        .type = RMA_INT64,
        .op = RMA_SUM,
    };
}

static size_t data_bytes(enum rma_what what)
{
    return what == RMA_UPDATE    ? 64
           : what == RMA_COMPARE ? 16
           : what == RMA_WRITE   ? 8
                                 : 0;
}

/* @bytes of it, and of zeros behind it. */
static void arrive(const struct rma_request *request, size_t bytes)
{
    const struct runtime_caller caller = {.node = OTHERS};
    char *message = end - bytes;

    memset(message, 0, bytes);
    memcpy(message, request,
           bytes < sizeof(*request) ? bytes : sizeof(*request));
    replies = passed = 0;
    result = 1;
    server(&caller, message, bytes);
}

static bool is_refused(const struct rma_request *request, size_t data)
{
    arrive(request, sizeof(*request) + data);
    return replies == 1 && !passed && result == DRASYNC_EINVAL &&
           !replied_bytes && guards_same();
}

/* --- Tests ---------------------------------------------------------------- */

static bool is_done(enum rma_what what)
{
    static const size_t wanted[] = {64, 8, 8, 0};
    struct rma_request r = valid(what, 0);

    arrive(&r, sizeof(r) + data_bytes(what));
    return replies == 1 && !passed && !result && replied_bytes == wanted[what];
}

static bool is_passed(enum rma_what what)
{
    struct rma_request r = valid(what, 1);

    arrive(&r, sizeof(r) + data_bytes(what));
    return !replies && passed == 1;
}

static bool lengths(enum rma_what what)
{
    struct rma_request r = valid(what, 0);
    bool good = true;

    for (size_t bytes = 0; bytes < 2 * PAGE; bytes++) {
        if (bytes == sizeof(r) + data_bytes(what))
            continue;
        arrive(&r, bytes);
        good = good && replies == 1 && !passed && result == DRASYNC_EINVAL;
    }
    return good;
}

static bool places(enum rma_what what)
{
    const uint64_t at = RMA_PRIVATE | (uintptr_t)own.bytes;
    const uint64_t wrong[] = {at - 1,
                              at + sizeof(own.bytes),
                              at + sizeof(own.bytes) - 1,
                              RMA_PRIVATE,
                              RMA_PRIVATE | 8,
                              RMA_NOWHERE,
                              RMA_PRIVATE | (uintptr_t)&runtime,
                              job.window_bytes,
                              job.window_bytes - 7,
                              job.window_bytes + 8,
                              RMA_PRIVATE - 8};
    bool good = true;

    for (int rank = 0; rank < 2; rank++) {
        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
            struct rma_request r = valid(what, rank);

            r.place = wrong[i];
            good = good && is_refused(&r, data_bytes(what));
        }
    }
    return good;
}

static bool fields(enum rma_what what)
{
    const int32_t ranks[] = {-1, 2, RANKS, INT32_MAX, INT32_MIN};
    const uint64_t counts[] = {9,
                               RMA_PIECE_BYTES + 1,
                               UINT64_MAX,
                               UINT64_C(1) << 61,
                               (UINT64_C(1) << 61) + 8,
                               UINT64_C(1) << 32};
    bool good = true;

    for (int i = 0; i < 5; i++) {
        struct rma_request r = valid(what, ranks[i]);

        good = good && is_refused(&r, data_bytes(what));
    }
    for (int i = 0; i < 6; i++) {
        struct rma_request r = valid(what, 0);

        r.count = counts[i];
        if (what != RMA_READ || counts[i] > RMA_PIECE_BYTES)
            good = good && is_refused(&r, data_bytes(what));
    }
    for (int i = RMA_WHATS; i < 256; i++) {
        struct rma_request r = valid(what, 0);

        r.what = (uint8_t)i;
        good = good && is_refused(&r, data_bytes(what));
        r = valid(RMA_UPDATE, 0);
        r.type = (uint8_t)(i + RMA_TYPES - RMA_WHATS);
        if (r.type >= RMA_TYPES)
            good = good && is_refused(&r, data_bytes(RMA_UPDATE));
        r = valid(RMA_UPDATE, 0);
        r.op = (uint8_t)(i + RMA_OPS - RMA_WHATS);
        if (r.op >= RMA_OPS)
            good = good && is_refused(&r, data_bytes(RMA_UPDATE));
    }
    return good;
}

static uint64_t next_random(void)
{
    static uint64_t state = 1;
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Bits of a request turned; but its place stays private memory. */
static bool random_bits(void)
{
    bool good = true;

    for (int i = 0; i < 200000; i++) {
        enum rma_what what = next_random() % RMA_WHATS;
        struct rma_request r = valid(what, (int)(next_random() % 2));

        for (uint64_t k = next_random() % 5; k; k--)
            ((unsigned char *)&r)[next_random() % sizeof(r)] ^=
                (unsigned char)(1u << next_random() % 8);
        r.place |= RMA_PRIVATE;
        arrive(&r, sizeof(r) + data_bytes(what));
        good = good && replies + passed == 1 && guards_same();
        if (replies)
            good = good && (!result || result == DRASYNC_EINVAL) &&
                   (!result || !replied_bytes);
    }
    return good;
}

int main(void)
{
    static const char *names[] = {"an update", "a comparison", "a read",
                                  "a write"};
    static const char *what_of[] = {
        "as a node sends it is done", "for another rank goes to its agent",
        "of a wrong length is refused", "of memory that is none is refused",
        "that cannot be is refused"};
    bool (*const test[])(enum rma_what) = {is_done, is_passed, lengths, places,
                                           fields};
    char text[96];

    start();
    for (int t = 0; t < 5; t++) {
        for (int what = 0; what < RMA_WHATS; what++) {
            snprintf(text, sizeof(text), "%s %s", names[what], what_of[t]);
            tap_ok(test[t]((enum rma_what)what), text);
        }
    }
    tap_ok(random_bits(), "random bits: each request is answered once");
    node_close(&runtime.space);
    return tap_end();
}
