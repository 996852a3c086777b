/* Red zones and quarantine: each mistake is found once, and nothing else is. */
#include "memory_common.h"

#include "memory/extents.h"
#include "memory/frames.h"
#include "memory/heap_checked.h"
#include "memory/heap_words.h"

#define LIFE 7

static const struct heap_who maker = {3, 30}, freer = {4, 40};

static struct heap heap;
static uint64_t queue;
static struct heap_faults faults;
static struct heap_context context;
static struct heap_checked checked;

static int more(void *arg, uint64_t pages_min, uint64_t pages_wanted,
                struct heap_extent *extent_out)
{
    struct extent *extent;
    int err;

    (void)arg;
    (void)pages_min;
    err = extent_new(context.space, pages_wanted, &heap, 1, &extent);
    if (err)
        return err;
    extent_out->first_page = extent->first_page;
    extent_out->pages = pages_wanted;
    return 0;
}

static void open_heap(const struct space *space, unsigned align, uint64_t life)
{
    queue = 0;
    memset(&faults, 0, sizeof(faults));
    context =
        (struct heap_context){.space = space, .owner = &heap, .more = more};
    REQUIRE(!heap_init(&context, &heap, align, NULL, 0));
    heap_checked_begin(&heap);
    checked = (struct heap_checked){
        .context = &context,
        .heap = &heap,
        .queue = &queue,
        .life = life,
        .who = maker,
        .faults = &faults,
    };
}

static char *make(size_t bytes)
{
    void *made;

    checked.who = maker;
    REQUIRE(!heap_checked_alloc(&checked, bytes, &made));
    return made;
}

static int give(void *ptr)
{
    checked.who = freer;
    return heap_checked_free(&checked, ptr);
}

/* Nothing was found, and is by a look at all. */
static int clean(void)
{
    return !heap_checked_walk(&checked) && !faults.count;
}

/* One fault, of that object; a second look finds none. */
static int found(enum heap_wrong wrong, const char *object, uint64_t bytes,
                 uint64_t first, uint64_t last)
{
    const struct heap_fault f = faults.fault[0];
    int once = faults.count == 1;

    faults.count = 0;
    return once && f.wrong == wrong && f.noted &&
           f.object == (uintptr_t)object && f.bytes == bytes &&
           f.first == first && f.last == last && f.made.rank == maker.rank &&
           f.made.stack == maker.stack &&
           (wrong == HEAP_WRITTEN_PAST || f.freed.stack == freer.stack) &&
           clean();
}

static void test_mistakes(size_t bytes, const char *title)
{
    char *object = make(bytes), *other = make(bytes);
    size_t usable = 0;
    int good = !heap_checked_usable(&checked, object, &usable);

    good = good && usable == bytes && clean();
    memset(object, 1, bytes);
    good = good && clean();
    object[bytes] = 1;
    heap_checked_walk(&checked);
    good = good && found(HEAP_WRITTEN_PAST, object, bytes, bytes, bytes);
    object[bytes + HEAP_ZONE_MIN - 1] = 1;
    good = good && !give(object) &&
           found(HEAP_WRITTEN_PAST, object, bytes, bytes + HEAP_ZONE_MIN - 1,
                 bytes + HEAP_ZONE_MIN - 1);
    good = good &&
           heap_checked_usable(&checked, object, &usable) == DRASYNC_EFREED &&
           give(object) == DRASYNC_EFREED &&
           found(HEAP_FREED_TWICE, object, bytes, 0, 0);
    if (bytes) {
        object[bytes - 1] = 1;
        heap_checked_walk(&checked);
        good = good &&
               found(HEAP_WRITTEN_FREED, object, bytes, bytes - 1, bytes - 1);
    }
    good = good && !give(other) && clean();
    tap_ok(good, title);
}

static void test_far(void)
{
    char *object = make(100), *after;

    memset(object, 1, 150);
    heap_checked_walk(&checked);
    tap_ok(faults.count == 1 && !faults.fault[0].noted &&
               faults.fault[0].object == (uintptr_t)object,
           "a note that was overwritten is found");
    faults.count = 0;
    after = make(100);
    tap_ok(clean() && !give(object) && !give(after) && clean(),
           "and the object can be freed");
}

/* Of a size that no other test has, so one lies behind the other. */
static void test_in_front(void)
{
    char *object = make(700), *after = make(700);

    after[-1] = 1;
    heap_checked_walk(&checked);
    tap_ok(faults.count == 1 && !faults.fault[0].noted &&
               faults.fault[0].object == (uintptr_t)object &&
               faults.fault[0].behind == (uintptr_t)after &&
               faults.fault[0].behind_bytes == 700,
           "of a note that was overwritten the object behind it is known");
    faults.count = 0;
    tap_ok(!give(object) && !give(after) && clean(), "and both can be freed");
}

/* What waits counts as freed. */
static void test_used(const struct space *space)
{
    uint64_t one;
    char *a, *b;

    open_heap(space, 16, LIFE);
    a = make(100);
    one = heap_checked_used(&checked);
    b = make(100);
    tap_ok(one >= 100 && heap_checked_used(&checked) == 2 * one && !give(a) &&
               heap_checked_used(&checked) == one && !give(b) &&
               heap_checked_used(&checked) == 0,
           "what was freed and waits is not counted as used");
}

/* Not in any region. */
static bool is_elsewhere(uint64_t word)
{
    return word >= 1000 && word < 2000;
}

static void test_points_out(void)
{
    char *object = make(45), *other = make(24);
    uint64_t inside = 1500, last = 1999, beyond = 1700;

    memset(object, 0, 45);
    memset(other, 0, 24);
    memcpy(object + 32, &inside, sizeof(inside));
    memcpy(other + 16, &last, sizeof(last));
    tap_ok(clean(), "an object may have any address");
    checked.points_out = is_elsewhere;
    heap_checked_walk(&checked);
    tap_ok(faults.count == 2 && faults.fault[0].wrong == HEAP_POINTS_OUT &&
               faults.fault[0].first + faults.fault[1].first == 32 + 16 &&
               faults.fault[0].address + faults.fault[1].address ==
                   1500 + 1999 &&
               faults.fault[0].made.stack == maker.stack,
           "but if it is asked for, one that points out is found, and where");
    faults.count = 0;
    memset(object, 0, 45);
    /* Words of 8 bytes that begin at a multiple of 8, and lie inside. */
    memcpy(object + 4, &beyond, sizeof(beyond));
    memcpy(object + 40, &beyond, 5);
    give(other);
    tap_ok(clean(),
           "not what is no whole word, nor in an object that was freed");
    checked.points_out = NULL;
    give(object);
}

enum { WORDS = 6 };
static const size_t words_bytes[WORDS] = {0, 7, 45, 5000, 40000, 3 * MIB + 8};
static uint64_t words_seen[WORDS], words_at[WORDS], words_strange;
static char *words_object[WORDS];

/* Each object's words, one after the other. */
static uint64_t see_words(void *arg, const struct heap_object *object,
                          uint64_t at, uint64_t count)
{
    int i = 0;

    while (i < WORDS && (uint64_t)(uintptr_t)words_object[i] != object->address)
        i++;
    if (i == WORDS || object->bytes != words_bytes[i] || at != words_at[i] ||
        object->made.stack != maker.stack || count > HEAP_WORDS_AT_ONCE) {
        words_strange++;
        return 0;
    }
    words_seen[i] += count;
    words_at[i] += count * sizeof(uint64_t);
    return *(const uint64_t *)arg;
}

/* A look at all words that may cost @each at a time, where @cost is added to that
 * of some; how many pieces it took, or 0 if it missed any. */
static uint64_t look_at_words(int64_t each, uint64_t cost)
{
    struct heap_words words = {0};
    uint64_t pieces = 0;
    bool more = true;
    int64_t left;

    memset(words_seen, 0, sizeof(words_seen));
    memset(words_at, 0, sizeof(words_at));
    words_strange = 0;
    for (; more; pieces++) {
        left = each;
        more = heap_words_look(&checked, &words, &left, see_words, &cost);
        if (left < -(int64_t)(HEAP_WORDS_AT_ONCE + HEAP_WORDS_SLOT + cost))
            words_strange++;
    }
    for (int i = 0; i < WORDS; i++)
        if (words_seen[i] != words_bytes[i] / 8)
            return 0;
    return words_strange ? 0 : pieces;
}

/* All words of all objects, and of nothing else, in pieces of any size. */
static void test_words(void)
{
    for (int i = 0; i < WORDS; i++)
        words_object[i] = make(words_bytes[i]);
    give(make(200));
    tap_ok(look_at_words(INT64_MAX, 0) == 1, "all words can be looked at");
    tap_ok(look_at_words(1, 0) > 500 && look_at_words(1000, 0) > 100 &&
               look_at_words(1000, 100000) > 500,
           "or some at a time, as what is found costs");
    give(words_object[2]);
    tap_ok(!look_at_words(INT64_MAX, 0) && !words_seen[2] && !words_strange,
           "not those of an object that was freed");
    for (int i = 0; i < WORDS; i++)
        if (i != 2)
            give(words_object[i]);
    tap_ok(clean(), "and nothing is wrong then");
}

/* What was freed is not used again soon, but in the end. */
static void test_quarantine(size_t bytes)
{
    char *object = make(bytes), *again = NULL;
    int soon = 0, count;

    give(object);
    /* An eighth of a heap waits, or a MiB. */
    for (int i = 0; i < (bytes < 1000 ? 100 : 1); i++) {
        again = make(bytes);
        soon |= again == object;
        give(again);
    }
    tap_ok(!soon && clean(),
           bytes < 1000 ? "what was freed waits" : "so does a larger object");
    object[9] = 1;
    for (count = 0; count < 2 * HEAP_QUARANTINE_OBJECTS && !faults.count;
         count++)
        give(make(bytes));
    tap_ok(found(HEAP_WRITTEN_FREED, object, bytes, 9, 9),
           "a write meanwhile is found when it leaves");
    tap_ok(give(object) == DRASYNC_EFREED &&
               found(HEAP_FREED_TWICE, object, bytes, 0, 0),
           "and freeing it again after that, too");
    object[20] = 1;
    for (count = 0; count < HEAP_QUARANTINE_OBJECTS && again != object; count++)
        again = make(bytes);
    tap_ok(again == object && found(HEAP_WRITTEN_FREED, object, bytes, 20, 20),
           "a write before its memory is used again");
}

/* Frames that had notes of another life, at the same addresses. */
static void test_lives(const struct space *space)
{
    struct heap_extent e = {0};
    char *object = make(100);

    give(object);
    memset(object, 1, 100);
    while (heap_extent_next(&context, &heap, &e) > 0)
        e.index += 0;
    /* The same heap again, with all that lies in its first extent. */
    e = (struct heap_extent){
        .first_page = space_page(space, (void *)heap.first_extent), .pages = 1};
    REQUIRE(!heap_init(&context, &heap, 16, &e, 0));
    heap_checked_begin(&heap);
    queue = 0;
    checked.life = LIFE + 1;
    memset(&faults, 0, sizeof(faults));
    for (int i = 0; i < 10; i++)
        make(100);
    tap_ok(clean(), "notes of another life are not believed");
}

static void test_broken(void)
{
    char *object[20];
    int good = 1;

    for (int i = 0; i < 20; i++)
        object[i] = make(64);
    for (int i = 0; i < 10; i++)
        good = good && !give(object[i]);
    /* A link of the queue, and then the queue itself. */
    memset(object[5] + 64, 1, 64);
    for (int i = 10; i < 15; i++)
        good = good && !give(object[i]);
    for (int i = 0; i < 2 * HEAP_QUARANTINE_OBJECTS; i++)
        good = good && !give(make(64));
    memset((void *)(uintptr_t)queue, 1, 32);
    for (int i = 15; i < 20; i++)
        good = good && !give(object[i]);
    for (int i = 0; i < 2 * HEAP_QUARANTINE_OBJECTS; i++)
        good = good && !give(make(64));
    tap_ok(good, "a queue that was overwritten begins anew");
    tap_ok(give((void *)(uintptr_t)queue) == DRASYNC_EFREED &&
               give(object[0] + 16) == DRASYNC_EFREED &&
               give(object[0] + 1) == DRASYNC_EALIGN &&
               give(&faults) == DRASYNC_ENOOBJECT,
           "what is no object is none");
}

/* A heap that is checked no more is a heap. */
static void test_end(void)
{
    char *object = make(100), *freed = make(100);
    void *plain;

    give(freed);
    heap_checked_end(&heap);
    object[101] = 1;
    checked.who = maker;
    tap_ok(!heap_checked_alloc(&checked, 100, &plain) && !give(object) &&
               give(object) == DRASYNC_EFREED && !give(plain) &&
               !heap_checked_walk(&checked) && !faults.count,
           "checked no more, it is like others");
}

static void test_random(void)
{
    static struct {
        char *object;
        size_t bytes;
    } slot[500];
    unsigned seed = 1;
    int good = 1;

    for (int i = 0; i < 50000; i++) {
        unsigned at = (seed = seed * 1103515245 + 12345) >> 8;
        size_t bytes = (at >> 9) % (at % 64 ? 2000 : 1 << 20);

        at %= 500;
        if (slot[at].object) {
            memset(slot[at].object, i, slot[at].bytes);
            good = good && !give(slot[at].object);
            slot[at].object = NULL;
        } else {
            slot[at].object = make(bytes);
            slot[at].bytes = bytes;
            memset(slot[at].object, i, bytes);
        }
        if (i % 1000 == 0)
            good = good && clean();
    }
    tap_ok(good && clean(), "50,000 right calls");
}

int main(void)
{
    struct space space;

    node_open(&space, GIB, 0, 1, GIB);
    open_heap(&space, 16, LIFE);
    test_mistakes(100, "an object of 100 bytes, aligned to 16");
    test_mistakes(0, "an object without bytes");
    test_mistakes(5000, "one of more than a page");
    test_mistakes(3 * MIB, "one with an extent of its own");
    test_far();
    test_in_front();
    test_points_out();
    test_words();
    open_heap(&space, 16, LIFE);
    test_quarantine(200);
    open_heap(&space, 16, LIFE);
    test_quarantine(40000);
    open_heap(&space, 16, LIFE);
    test_used(&space);
    open_heap(&space, 16, LIFE);
    test_broken();
    test_lives(&space);
    test_end();
    open_heap(&space, 64, LIFE);
    test_mistakes(100, "an object of 100 bytes, aligned to 64");
    test_random();
    return tap_end();
}
