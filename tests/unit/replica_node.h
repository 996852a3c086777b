/*
 * replica_node.h - one node's replicated regions, whose peers are the test.
 *
 * This process is rank and node SELF of three.  The test hands in what the
 * other two send (directory(), version(), frees()) and sees what this node
 * sends (sent[]).  When the code under test waits, the next function of
 * `script` runs; with none left the wait ends with DRASYNC_EPEER.  For one file
 * of a program.
 */
#ifndef TESTS_REPLICA_NODE_H
#define TESTS_REPLICA_NODE_H

#include <setjmp.h>
#include <stdbool.h>

#include "memory_common.h"
#include "unchecked.h"
#include "memory/pages.h"
#include "runtime/death.h"
#include "runtime/modules.h"
#include "runtime/no_memory.h"
#include "runtime/record/record.h"
#include "runtime/replica/mappings.h"
#include "runtime/replica/state.h"
#include "runtime/replica/wire.h"
#include "runtime/say.h"
#include "runtime/services/chunks.h"
#include "runtime/thread.h"
#include "runtime/waiting.h"

enum { HOME, SELF, OTHER, NODES };

#define KINDS_MAX   128
#define SENT_MAX    64
#define EVENTS_MAX  8
#define BEGIN_BYTES 128 /* where data begins in an extent, in these tests */

struct runtime runtime;
_Atomic uint32_t *runtime_poisoned;
bool drasync_record_on;
void (*waiting_counter)(struct waiting *w, bool begins);
_Thread_local struct waiting *waiting_mine
    __attribute__((tls_model("initial-exec")));

static struct runtime_shared shared_page;
static int numbers[NODES] = {0, 1, 2}, zeros[NODES];
static const struct runtime_handler *handlers[KINDS_MAX];
static runtime_server *servers[KINDS_MAX];

/* What this node sent to others about the directory. */
static struct {
    int to;
    struct replica_message m;
} sent[SENT_MAX];
static int sent_count;

/* What it said of the job. */
static int died, poisoned;
static jmp_buf after_death;

/* What another node answers a call with, and what was asked. */
static int call_result, calls;
static uint64_t call_reply[2], call_request[3];
static struct {
    int result;
    uint64_t words[2];
} reply;

static void (*script[EVENTS_MAX + 1])(void);
static int script_at;

/* --- What the code under test calls --------------------------------------- */

void runtime_handle(uint32_t kind, const struct runtime_handler *handler)
{
    REQUIRE(kind < KINDS_MAX);
    handlers[kind] = handler;
}

void runtime_serve(uint32_t kind, runtime_server *server)
{
    REQUIRE(kind < KINDS_MAX);
    servers[kind] = server;
}

int runtime_send(const struct runtime_message *m)
{
    REQUIRE(m->node >= 0 && m->node < NODES && m->node != SELF);
    if (m->kind != REPLICA_KIND_DIRECTORY)
        return 0;
    REQUIRE(sent_count < SENT_MAX && m->header_bytes == sizeof(sent->m));
    sent[sent_count].to = m->node;
    memcpy(&sent[sent_count++].m, m->header, sizeof(sent->m));
    return 0;
}

int runtime_call(int node, uint32_t kind, const void *request,
                 size_t request_bytes, void *answer, size_t answer_max,
                 size_t *answer_bytes_out)
{
    REQUIRE(node != SELF && kind == REPLICA_KIND_OBJECT);
    REQUIRE(request_bytes == sizeof(call_request) &&
            answer_max == sizeof(call_reply));
    calls++;
    memcpy(call_request, request, sizeof(call_request));
    memcpy(answer, call_reply, sizeof(call_reply));
    *answer_bytes_out = sizeof(call_reply);
    return call_result;
}

int runtime_reply(const struct runtime_caller *caller, int result,
                  const void *answer, size_t answer_bytes)
{
    (void)caller;
    REQUIRE(answer_bytes == sizeof(reply.words));
    reply.result = result;
    memcpy(reply.words, answer, answer_bytes);
    return 0;
}

void runtime_poison(const char *format, ...)
{
    printf("# poisoned: %s\n", format);
    poisoned++;
}

void runtime_no_memory(const char *to_do, ...)
{
    printf("# no memory: %s\n", to_do);
    poisoned++;
}

void runtime_broken(const char *format, ...)
{
    printf("# broken: %s\n", format);
    poisoned++;
}

void runtime_die(const char *format, ...)
{
    REQUIRE(format[0]);
    died++;
    longjmp(after_death, 1);
}

const char *runtime_poison_text(void)
{
    return "";
}

int runtime_enter_slow(void)
{
    return 0;
}

void runtime_remote_wait(int by)
{
    (void)by;
}

uint64_t runtime_now_us(void)
{
    return 0;
}

int death_check(uint64_t since_us)
{
    (void)since_us;
    return 0;
}

void runtime_end_job(void)
{
    _exit(1);
}

int thread_watch(void)
{
    return 0;
}

void drasync_record_kept(int how)
{
    (void)how;
}

int chunks_ask(uint64_t pages)
{
    (void)pages;
    return DRASYNC_ENOSPACE;
}

int native_map_primary(uint64_t first_page, uint64_t pages);

int native_map_primary(uint64_t first_page, uint64_t pages)
{
    int err = replica_mapping_clear(first_page, pages);

    return err ? err : frames_map_primary(&runtime.space, first_page, pages);
}

int transport_sink_add(struct transport_sink *sink, void *ptr, size_t bytes)
{
    REQUIRE(sink->count < sink->capacity);
    sink->pieces[sink->count++] =
        (struct transport_piece){.ptr = ptr, .bytes = bytes};
    return 0;
}

static bool go_on(void)
{
    if (!script[script_at])
        return false;
    script[script_at++]();
    return true;
}

void doorbell_ring(struct doorbell *d)
{
    atomic_fetch_add(&d->rings, 1);
}

/* There is one thread. */
void wait_futex(_Atomic uint32_t *word, uint32_t value, uint64_t deadline_us)
{
    (void)word, (void)value, (void)deadline_us;
    abort();
}

void wait_futex_wake(_Atomic uint32_t *word, int count)
{
    (void)word, (void)count;
}

void waiting_hide(struct waiting *w)
{
    (void)w;
}

int doorbell_wait(struct doorbell *d, uint32_t seen, uint64_t deadline_us)
{
    (void)deadline_us;
    return atomic_load(&d->rings) != seen || go_on() ? 0 : DRASYNC_EPEER;
}

void waiter_wake(struct waiter *w, int result)
{
    w->result = result;
    atomic_store(&w->word, 2);
}

int waiter_wait(struct waiter *w, uint64_t deadline_us, int *result_out)
{
    (void)deadline_us;
    while (!waiter_done(w))
        if (!go_on())
            return DRASYNC_EPEER;
    *result_out = w->result;
    return 0;
}

/* --- The node, and what others send --------------------------------------- */

static void node_start(void)
{

    node_open(&runtime.space, GIB, SELF, NODES, 256 * MIB);
    runtime_poisoned = control_poison_flag(&runtime.space);
    runtime.shared = &shared_page;
    runtime.rank = runtime.node = SELF;
    runtime.ranks = runtime.nodes = NODES;
    runtime.locals = 1;
    runtime.node_of = numbers;
    runtime.local_of = zeros;
    atomic_store(&runtime.state, RUNTIME_RUNNING);
    REQUIRE(!replica_module.start_leader());
    REQUIRE(!replica_module.start());
}

/* A page that @node hands out; each call another, 64 pages apart. */
static uint64_t page_of(int node)
{
    static uint64_t next[NODES];
    uint64_t page = next[node];

    if (!page)
        for (page = 1; page_home(&runtime.space, page) != node; page++)
            REQUIRE(page < runtime.space.pages);
    next[node] = page + 64;
    return page;
}

static uint32_t rid_at(uint64_t page)
{
    return (uint32_t)page + 1;
}

static unsigned char *memory_at(uint64_t page)
{
    return space_address(&runtime.space, page);
}

static void directory(int from, uint32_t type, uint64_t page,
                      uint64_t incarnation)
{
    const struct replica_message m = {
        .type = type,
        .origin = (uint32_t)from,
        .address = page << PAGE_SHIFT,
        .incarnation = incarnation,
    };

    handlers[REPLICA_KIND_DIRECTORY]->arrived(from, &m, sizeof(m), 0);
}

/* Was it sent?  Then it is as if it had not been, for the next look. */
static bool was_sent(int to, uint32_t type, uint64_t page, uint64_t incarnation)
{
    for (int i = 0; i < sent_count; i++)
        if (sent[i].to == to && sent[i].m.type == type &&
            sent[i].m.address == page << PAGE_SHIFT &&
            sent[i].m.incarnation == incarnation) {
            sent[i].to = -1;
            return true;
        }
    return false;
}

/* Worker @from sends this one the region at @page: of the extent at @first that
 * it cut for it, @bytes bytes of value @fill. */
__attribute__((unused)) static void version(int from, uint64_t page,
                                            uint64_t incarnation,
                                            uint64_t first, uint64_t pages,
                                            uint64_t bytes, int fill)
{
    struct {
        struct replica_version version;
        struct replica_part part;
        struct replica_piece piece;
    } message = {
        .version =
            {.from = from, .to = SELF, .parts = 1, .pieces = 1, .bytes = bytes},
        .part = {.address = page << PAGE_SHIFT, .incarnation = incarnation},
        .piece = {.first_page = first,
                  .pages = pages,
                  .begin_bytes = BEGIN_BYTES,
                  .end_bytes = BEGIN_BYTES + bytes,
                  .worker = from},
    };
    const struct runtime_handler *handler = handlers[REPLICA_KIND_VERSION];
    struct transport_piece place;
    struct transport_sink sink = {.pieces = &place, .capacity = 1};
    uint64_t context;

    REQUIRE(!handler->place(from, &message, sizeof(message), bytes, &sink,
                            &context));
    REQUIRE(sink.count == 1 && place.bytes == bytes);
    memset(place.ptr, fill, bytes);
    handler->arrived(from, &message, sizeof(message), context);
}

/* Is the data of that extent what was sent? */
__attribute__((unused)) static bool shows(uint64_t first, uint64_t bytes,
                                          int fill)
{
    const unsigned char *data = memory_at(first) + BEGIN_BYTES;

    for (uint64_t i = 0; i < bytes; i++)
        if (data[i] != fill)
            return false;
    return true;
}

/* Worker @from frees the object at @ptr, which it had a copy of. */
__attribute__((unused)) static void
freed_by(int from, const void *ptr, uint64_t page, uint64_t incarnation)
{
    const struct replica_wire_free entry = {
        .ptr = (uint64_t)(uintptr_t)ptr,
        .region = page << PAGE_SHIFT,
        .incarnation = incarnation,
        .worker = from,
        .line = 1,
        .file = "there.c",
    };

    if (!setjmp(after_death))
        handlers[REPLICA_KIND_FREE_OBJECTS]->arrived(from, &entry,
                                                     sizeof(entry), 0);
}

/* Another node asks how large the object at @ptr is, or frees it. */
__attribute__((unused)) static int asked(const void *ptr, int free_it)
{
    const uint64_t request[3] = {(uint64_t)(uintptr_t)ptr, (uint64_t)free_it};
    const struct runtime_caller caller = {.node = OTHER};

    servers[REPLICA_KIND_OBJECT](&caller, request, sizeof(request));
    return reply.result;
}

static void play(void (*first)(void), void (*second)(void))
{
    script[0] = first;
    script[1] = second;
    script[2] = NULL;
    script_at = 0;
}

static bool quiet(void)
{
    bool none = !died && !poisoned;

    died = poisoned = 0;
    return none;
}

#endif
