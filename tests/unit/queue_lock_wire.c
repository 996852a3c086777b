/*
 * Messages of locks that no node would send: of a wrong length, about what is
 * no lock, in the name of others, random.  Each is refused, and changes
 * nothing; or it is about a lock that there is.
 */
#include "memory_common.h"
#include "runtime/messages/messages.h"
#include "runtime/modules.h"
#include "runtime/services/queue_lock.h"
#include "runtime/services/queue_lock_state.h"
#include "runtime/shared.h"
#include "tests/unit/refused.h"

enum { NODES = 3, SELF = 1, OTHER = 2, KINDS = 6, BYTES_MAX = 32 };

enum { ASK, GIVEN, FOLLOW, LEFT, PUSH, PUSHED };

static const size_t length[KINDS] = {24, 16, 16, 16, 16, 16};

static struct runtime_shared shared;
struct runtime runtime;
_Atomic uint32_t *runtime_poisoned;

static const struct runtime_handler *handlers[KINDS];
static int sent, woken, rung;

/* --- What the messages' code calls ---------------------------------------- */

void runtime_handle(uint32_t kind, const struct runtime_handler *handler)
{
    REQUIRE(kind - RUNTIME_KIND_QUEUE_LOCK < KINDS);
    handlers[kind - RUNTIME_KIND_QUEUE_LOCK] = handler;
}

int runtime_send(const struct runtime_message *m)
{
    REQUIRE(m->node >= 0 && m->node < NODES && m->node != SELF);
    sent++;
    return 0;
}

void waiter_wake(struct waiter *w, int result)
{
    w->result = result;
    atomic_store(&w->word, 2);
    woken++;
}

void doorbell_ring(struct doorbell *d)
{
    atomic_fetch_add(&d->rings, 1);
    rung++;
}

/* --- One lock, and what is none ------------------------------------------- */

static struct queue_tail *tail;
static struct queue_entry *first, *second, *freed;
static struct {
    unsigned char bytes[sizeof(struct queue_entry)];
} * none;

static uint64_t name_at(int node, const void *at)
{
    uint64_t offset = (uint64_t)((const char *)at - runtime.space.control);

    return (uint64_t)node << NAME_NODE_BIT |
           offset / CONTROL_ALIGN_BYTES << NAME_PLACE_BIT | NAME_BIT;
}

static void *object(size_t bytes)
{
    void *at;

    REQUIRE(!control_alloc_zero(&runtime.space, bytes, &at));
    return at;
}

static void as_new(void)
{
    memset(first, 0, sizeof(*first));
    memset(second, 0, sizeof(*second));
    memset(tail, 0, sizeof(*tail));
    first->magic = second->magic = ENTRY_MAGIC;
    tail->magic = TAIL_MAGIC;
    memset(none, 0x5a, sizeof(*none));
    refused = sent = woken = rung = 0;
}

static void make(void)
{
    tail = object(sizeof(*tail));
    first = object(sizeof(*first));
    second = object(sizeof(*second));
    none = object(sizeof(*none));
    freed = object(sizeof(*freed));
    freed->magic = ENTRY_MAGIC;
    control_free(&runtime.space, freed);
    as_new();
}

/* As a node would send it: 64-bit words. */
static void valid(int kind, uint64_t m[BYTES_MAX / 8])
{
    const uint64_t there = name_at(OTHER, first);

    memset(m, 0, BYTES_MAX);
    m[0] = (uintptr_t)tail;
    m[1] = there;
    if (kind == GIVEN) {
        m[0] = name_at(SELF, first);
        m[1] = 0;
    } else if (kind == FOLLOW) {
        m[0] = name_at(SELF, first);
    }
}

static void arrive(int kind, const void *m, size_t bytes)
{
    handlers[kind]->arrived(OTHER, m, bytes, 0);
}

static bool nothing_changed(void)
{
    static const struct queue_entry entry = {.magic = ENTRY_MAGIC};
    static const struct queue_tail empty = {.magic = TAIL_MAGIC};

    return !sent && !woken && !rung && !memcmp(first, &entry, sizeof(entry)) &&
           !memcmp(second, &entry, sizeof(entry)) &&
           !memcmp(tail, &empty, sizeof(empty));
}

static bool none_changed(void)
{
    for (size_t i = 0; i < sizeof(*none); i++) {
        if (none->bytes[i] != 0x5a)
            return false;
    }
    return true;
}

/* --- Tests ---------------------------------------------------------------- */

static bool is_taken(int kind)
{
    uint64_t m[BYTES_MAX / 8];

    as_new();
    valid(kind, m);
    arrive(kind, m, length[kind]);
    return !refused && !nothing_changed();
}

static bool is_refused(int kind, const void *m, size_t bytes)
{
    as_new();
    arrive(kind, m, bytes);
    return refused == 1 && nothing_changed() && none_changed();
}

static bool lengths(int kind)
{
    uint64_t m[BYTES_MAX / 8];
    bool good = true;

    valid(kind, m);
    for (size_t bytes = 0; bytes <= BYTES_MAX; bytes++) {
        if (bytes != length[kind])
            good = good && is_refused(kind, m, bytes);
    }
    return good;
}

static bool word_refused(int kind, int word, const uint64_t *wrong, int count)
{
    uint64_t m[BYTES_MAX / 8];
    bool good = true;

    for (int i = 0; i < count; i++) {
        valid(kind, m);
        m[word] = wrong[i];
        if (!is_refused(kind, m, length[kind])) {
            printf("# kind %d word %d: wrong[%d] was taken\n", kind, word, i);
            good = false;
        }
    }
    return good;
}

/* What is no tail; no entry here; no name of the sender's. */
static bool words(void)
{
    const uint64_t tails[] = {0,
                              1,
                              UINT64_MAX,
                              (uintptr_t)tail + 8,
                              (uintptr_t)tail + 64,
                              (uintptr_t)first,
                              (uintptr_t)none,
                              (uintptr_t)freed,
                              (uintptr_t)&runtime,
                              (uintptr_t)runtime.space.control};
    const uint64_t entries[] = {0,
                                UINT64_MAX,
                                name_at(SELF, first) & ~NAME_BIT,
                                name_at(SELF, tail),
                                name_at(SELF, none),
                                name_at(SELF, freed),
                                name_at(0, first),
                                name_at(OTHER, first),
                                name_at(NODES, first),
                                name_at(SELF, first) | NAME_PLACE_MASK};
    const uint64_t names[] = {0,
                              UINT64_MAX,
                              name_at(OTHER, first) & ~NAME_BIT,
                              name_at(NODES, first),
                              name_at(SELF, none),
                              name_at(SELF, freed)};
    const uint64_t others[] = {name_at(0, first), name_at(SELF, first)};
    const int n = sizeof(tails) / sizeof(*tails), names_n = 6;

    return word_refused(ASK, 0, tails, n) && word_refused(LEFT, 0, tails, n) &&
           word_refused(PUSHED, 0, tails, n) &&
           word_refused(GIVEN, 0, entries, n) &&
           word_refused(FOLLOW, 0, entries, n) &&
           word_refused(ASK, 1, names, names_n) &&
           word_refused(LEFT, 1, names, names_n) &&
           word_refused(FOLLOW, 1, names, names_n) &&
           word_refused(PUSHED, 1, names, names_n) &&
           word_refused(ASK, 1, others, 2) && word_refused(LEFT, 1, others, 2);
}

static bool given_twice(void)
{
    uint64_t m[BYTES_MAX / 8];

    as_new();
    valid(GIVEN, m);
    arrive(GIVEN, m, length[GIVEN]);
    arrive(GIVEN, m, length[GIVEN]);
    return woken == 1 && refused == 1;
}

static uint64_t next_random(void)
{
    static uint64_t state = 1;
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static bool random_bytes(void)
{
    uint64_t m[BYTES_MAX / 8];
    bool good = true;

    for (int i = 0; i < 200000; i++) {
        int kind = (int)(next_random() % KINDS);
        int changes = (int)(next_random() % 4);

        as_new();
        valid(kind, m);
        for (int k = 0; k < changes; k++)
            ((unsigned char *)m)[next_random() % length[kind]] ^=
                (unsigned char)(1u << next_random() % 8);
        if (changes == 3)
            m[next_random() % 2] = next_random();
        arrive(kind, m, length[kind]);
        good = good && refused <= 1 && (!refused || nothing_changed()) &&
               none_changed();
    }
    return good;
}

int main(void)
{
    static const char *names[KINDS] = {"ask",  "given", "follow",
                                       "left", "push",  "pushed"};
    char text[64];

    node_open(&runtime.space, GIB, SELF, NODES, 256 * MIB);
    runtime.shared = &shared;
    runtime.node = SELF;
    runtime.nodes = NODES;
    runtime_poisoned = control_poison_flag(&runtime.space);
    REQUIRE(!queue_lock_module.start());
    make();
    for (int kind = 0; kind < KINDS; kind++) {
        snprintf(text, sizeof(text), "'%s' as a node sends it is taken",
                 names[kind]);
        tap_ok(is_taken(kind), text);
        snprintf(text, sizeof(text), "'%s' of a wrong length is refused",
                 names[kind]);
        tap_ok(lengths(kind), text);
    }
    tap_ok(words(), "what is no lock, nor the sender's name, is refused");
    tap_ok(given_twice(), "a lock that is given twice is refused");
    tap_ok(random_bytes(), "random changes are refused whole, or are valid");
    node_close(&runtime.space);
    return tap_end();
}
