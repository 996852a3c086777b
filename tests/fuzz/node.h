/*
 * node.h - for targets that are a node of the runtime: its memory, what other
 * nodes send, handed to dispatch.c as the transport does, and stubs of what
 * stands around it.  For one file of a program.
 *
 * Four ranks on three nodes.  node_begin() makes the node once; the target then
 * starts its modules, and calls node_keep().  After each input node_restore()
 * makes control memory what it was.
 */
#ifndef TESTS_FUZZ_NODE_H
#define TESTS_FUZZ_NODE_H

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include "drasync.h"
#include "memory/control.h"
#include "memory/space.h"
#include "runtime/death.h"
#include "runtime/messages/dispatch.h"
#include "runtime/messages/messages.h"
#include "runtime/no_memory.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/shared.h"
#include "runtime/wait.h"
#include "runtime/waiting.h"
#include "tests/fuzz/fuzz.h"

enum { RANKS = 4, NODES = 3 };

#define NODE_MEMORY_BYTES ((uint64_t)64 << 20)
#define WORDS_MAX         16
#define LATER_MAX         8
#define KEPT_MAX          64

struct runtime runtime;
_Atomic uint32_t *runtime_poisoned;
void (*waiting_counter)(struct waiting *w, bool begins);
_Thread_local struct waiting *waiting_mine
    __attribute__((tls_model("initial-exec")));

void waiting_hide(struct waiting *w)
{
    (void)w;
}

/* The job is over: nothing else comes. */
static bool node_over;
/* A message was too long to be sent; nobody may go on as if it had been. */
static bool node_refused;
static jmp_buf node_died; /* runtime_die() goes there */

/* --- What the code under test calls --------------------------------------- */

int runtime_send(const struct runtime_message *m)
{
    static volatile char last;

    FUZZ_HOLDS(m->node >= 0 && m->node < NODES && m->node != runtime.node);
    FUZZ_HOLDS(m->kind < RUNTIME_KINDS_MAX);
    node_refused |= m->header_bytes > RUNTIME_HEADER_BYTES_MAX;
    if (m->header_bytes > RUNTIME_HEADER_BYTES_MAX)
        return DRASYNC_EINVAL;
    if (m->header_bytes)
        last = ((const char *)m->header)[m->header_bytes - 1];
    (void)last;
    return 0;
}

void runtime_poison(const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    FUZZ_HOLDS(vsnprintf(text, sizeof(text), format, args) > 0);
    va_end(args);
    node_over = true;
}

void runtime_no_memory(const char *to_do, ...)
{
    FUZZ_HOLDS(to_do[0]);
    node_over = true;
}

void runtime_broken(const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    FUZZ_HOLDS(vsnprintf(text, sizeof(text), format, args) > 0);
    va_end(args);
    node_over = true;
}

void runtime_die(const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    FUZZ_HOLDS(vsnprintf(text, sizeof(text), format, args) > 0);
    va_end(args);
    longjmp(node_died, 1);
}

void runtime_end_job(void)
{
    longjmp(node_died, 1);
}

void runtime_poisoned_by(int node, const char *text, size_t bytes)
{
    FUZZ_HOLDS(node >= 0 && node < NODES && (text || !bytes));
    node_over = true;
}

const char *runtime_poison_text(void)
{
    return "";
}

int runtime_enter_slow(void)
{
    return DRASYNC_EPEER;
}

int runtime_start(void)
{
    return DRASYNC_EPEER;
}

void runtime_remote_wait(int by)
{
    (void)by;
}

int runtime_wait_remote(struct waiter *waiter, uint64_t deadline_us,
                        int *result_out)
{
    return waiter_wait(waiter, deadline_us, result_out);
}

int runtime_wait_near(struct waiter *waiter, uint64_t deadline_us,
                      int *result_out)
{
    return waiter_wait(waiter, deadline_us, result_out);
}

/* The time, if a target says it. */
static const uint64_t *node_now_us;

uint64_t runtime_now_us(void)
{
    return node_now_us ? *node_now_us : 0;
}

int death_check(uint64_t since_us)
{
    (void)since_us;
    return 0;
}

int death_refused(int err)
{
    return err;
}

/* There is one thread: what others do meanwhile, if they are there. */
static void (*node_waits)(void);

void wait_futex(_Atomic uint32_t *word, uint32_t value, uint64_t deadline_us)
{
    (void)word, (void)value, (void)deadline_us;
    FUZZ_HOLDS(node_waits);
    node_waits();
}

void wait_futex_wake(_Atomic uint32_t *word, int count)
{
    (void)word, (void)count;
}

void doorbell_ring(struct doorbell *d)
{
    atomic_fetch_add(&d->rings, 1);
}

int doorbell_wait(struct doorbell *d, uint32_t seen, uint64_t deadline_us)
{
    (void)deadline_us;
    return atomic_load(&d->rings) != seen ? 0 : DRASYNC_EPEER;
}

void waiter_wake(struct waiter *w, int result)
{
    w->result = result;
    atomic_store(&w->word, 2);
}

int waiter_wait(struct waiter *w, uint64_t deadline_us, int *result_out)
{
    (void)deadline_us;
    *result_out = w->result;
    return waiter_done(w) ? 0 : DRASYNC_EPEER;
}

uint64_t wait_deadline_us(uint64_t timeout_us)
{
    return timeout_us;
}

struct runtime_rank *runtime_self(void)
{
    return &runtime.shared->ranks[runtime.local];
}

void shutdown_done_arrived(int from, const void *header, size_t header_bytes)
{
    FUZZ_HOLDS(from >= 0 && (header || !header_bytes));
}

void shutdown_stop_arrived(int from, const void *header, size_t header_bytes)
{
    FUZZ_HOLDS(from >= 0 && (header || !header_bytes));
}

/* --- The node -------------------------------------------------------------- */

static void node_begin(int self)
{
    static int node_of[RANKS] = {0, 1, 2, 1}, local_of[RANKS] = {0, 0, 0, 1};
    static int leader_of[NODES] = {0, 1, 2};
    struct space_layout layout;
    uint32_t mask;
    int data_fd, control_fd;

    FUZZ_HOLDS(!space_layout_for(NODE_MEMORY_BYTES, &layout));
    FUZZ_HOLDS(!space_probe(&layout, &mask, NULL, 0) && mask);
    FUZZ_HOLDS(!space_files_new(&layout, &data_fd, &control_fd));
    FUZZ_HOLDS(!space_map(&runtime.space, &layout, __builtin_ctz(mask), data_fd,
                          control_fd, NULL, 0));
    FUZZ_HOLDS(!control_create(&runtime.space, self, NODES, NODE_MEMORY_BYTES));
    runtime_poisoned = control_poison_flag(&runtime.space);
    runtime.shared = control_user(&runtime.space);
    runtime.rank = runtime.node = self;
    runtime.ranks = RANKS;
    runtime.nodes = NODES;
    runtime.locals = self == 1 ? 2 : 1;
    runtime.leader = true;
    runtime.node_of = node_of;
    runtime.local_of = local_of;
    runtime.leader_of = leader_of;
    atomic_store(&runtime.state, RUNTIME_RUNNING);
}

/* Control memory, as runs of the pages that it has. */
static struct kept {
    off_t begin, end;
    char *copy;
} kept[KEPT_MAX];

/* The next run of pages from @at on; false: none. */
static bool next_data(off_t at, off_t *begin_out, off_t *end_out)
{
    *begin_out = lseek(runtime.space.control_fd, at, SEEK_DATA);
    if (*begin_out < 0)
        return false;
    *end_out = lseek(runtime.space.control_fd, *begin_out, SEEK_HOLE);
    FUZZ_HOLDS(*end_out > *begin_out);
    return true;
}

static void node_keep(void)
{
    off_t at = 0;

    for (int i = 0; next_data(at, &kept[i].begin, &kept[i].end); i++) {
        size_t bytes = (size_t)(kept[i].end - kept[i].begin);

        FUZZ_HOLDS(i + 1 < KEPT_MAX && (kept[i].copy = malloc(bytes)));
        memcpy(kept[i].copy, runtime.space.control + kept[i].begin, bytes);
        at = kept[i].end;
    }
}

/* Pages of control memory that were not there. */
static void drop(off_t begin, off_t end)
{
    if (begin < end)
        FUZZ_HOLDS(!fallocate(runtime.space.control_fd,
                              FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, begin,
                              end - begin));
}

static void node_restore(void)
{
    off_t begin, end, at = 0;

    /* New pages lie between those that were there, or behind them. */
    while (next_data(at, &begin, &end)) {
        at = end;
        for (int i = 0; kept[i].copy && begin < end; i++) {
            if (kept[i].end <= begin)
                continue;
            drop(begin, kept[i].begin < end ? kept[i].begin : end);
            begin = kept[i].end;
        }
        drop(begin, end);
    }
    for (int i = 0; kept[i].copy; i++) {
        char *here = runtime.space.control + kept[i].begin;
        off_t bytes = kept[i].end - kept[i].begin;

        for (off_t page = 0; page < bytes; page += (off_t)PAGE_BYTES)
            if (memcmp(here + page, kept[i].copy + page, PAGE_BYTES))
                memcpy(here + page, kept[i].copy + page, PAGE_BYTES);
    }
}

/* --- What arrives ----------------------------------------------------------- */

/* What an input cannot know, as words that it puts into messages by number. */
static uint64_t node_words[WORDS_MAX];
static unsigned node_words_count;

__attribute__((unused)) static void node_word(uint64_t word)
{
    FUZZ_HOLDS(node_words_count < WORDS_MAX);
    node_words[node_words_count++] = word;
}

static void put_words(struct fuzz_input *in, char *message, size_t bytes)
{
    for (uint64_t count = fuzz_number(in, 1) % 4; count; count--) {
        size_t at = fuzz_number(in, 1) * 8;
        uint64_t which = fuzz_number(in, 1);

        if (at + 8 <= bytes && node_words_count)
            memcpy(message + at, &node_words[which % node_words_count], 8);
    }
}

/* Messages whose data is still on its way. */
static struct later {
    int rank;
    uint32_t kind;
    void *message;
    size_t bytes;
    uint64_t context;
} later[LATER_MAX];
static int later_count;

/* The first of them arrives. */
static void node_later(void)
{
    if (!later_count)
        return;
    struct later now = later[0];

    memmove(later, later + 1, (size_t)--later_count * sizeof(later[0]));
    dispatch_events.arrived(NULL, now.rank, now.kind, now.message, now.bytes,
                            now.context);
    free(now.message);
}

static void fill(const struct transport_sink *sink)
{
    for (size_t i = 0; i < sink->count; i++)
        memset(sink->pieces[i].ptr, 1, sink->pieces[i].bytes);
}

/* What a target makes of a message of @kind so that more of them mean something;
 * the bytes of data that follow it, @bulk if it does not care. */
static uint64_t (*node_adapt)(uint32_t kind, void *message, size_t bytes,
                              uint64_t bulk);

/* Where what is handled lies; freed here, also if the handler dies. */
static void *handled;

/* As a transport does it: placed, filled, arrived, at once or later.  @message is
 * malloc()ed, and freed here.  False: it was refused. */
static bool node_deliver(int rank, uint32_t kind, void *message, size_t bytes,
                         uint64_t bulk, bool delay)
{
    struct transport_sink sink = {0};
    uint64_t context = 0;

    handled = message;
    int err = dispatch_events.place(NULL, rank, kind, handled, bytes, bulk,
                                    &sink, &context);
    FUZZ_HOLDS(err || sink.bytes == bulk);
    if (!err)
        fill(&sink);
    transport_sink_free(&sink);
    if (!err && bulk && delay && later_count < LATER_MAX) {
        later[later_count++] =
            (struct later){rank, kind, handled, bytes, context};
        handled = NULL;
        return true;
    }
    if (!err)
        dispatch_events.arrived(NULL, rank, kind, handled, bytes, context);
    free(handled);
    handled = NULL;
    return !err;
}

static void node_arrive(struct fuzz_input *in, int rank, uint32_t kind)
{
    bool delay = fuzz_number(in, 1) & 1;
    uint64_t bulk = fuzz_number(in, 3);
    size_t bytes;

    handled = fuzz_message(in, &bytes);
    put_words(in, handled, bytes);
    if (node_adapt)
        bulk = node_adapt(kind, handled, bytes, bulk);
    node_deliver(rank, kind, handled, bytes, bulk, delay);
}

/*
 * An input, which @command reads one command of until nothing is left or the job
 * is over; then what was late arrives.
 */
static void node_run(const uint8_t *data, size_t bytes,
                     void (*command)(struct fuzz_input *in))
{
    static struct fuzz_input in; /* not in what longjmp() may forget */

    in = (struct fuzz_input){data, bytes};
    node_over = node_refused = false;
    if (!setjmp(node_died)) {
        while (in.left && !node_over)
            command(&in);
        while (later_count)
            node_later();
        FUZZ_HOLDS(node_over || !node_refused);
    }
    free(handled);
    handled = NULL;
    while (later_count)
        free(later[--later_count].message);
}

static uint32_t kinds_first, kinds_count;

static void message_command(struct fuzz_input *in)
{
    int rank = (int)(fuzz_number(in, 1) % RANKS);
    uint32_t kind = (uint32_t)fuzz_number(in, 1);

    if (kind == 254)
        node_later();
    else if (rank != runtime.rank)
        node_arrive(in, rank,
                    kind == 255 ? (uint32_t)fuzz_number(in, 1)
                                : kinds_first + kind % kinds_count);
}

/*
 * An input: messages, each the rank that it is from, a kind of the @count from
 * @first on or any (255), whether its data is late, how much that is, and the
 * message with words put into it; or (254) what was late arrives.
 */
__attribute__((unused)) static void
node_input(const uint8_t *data, size_t bytes, uint32_t first, uint32_t count)
{
    kinds_first = first;
    kinds_count = count;
    node_run(data, bytes, message_command);
}

#endif
