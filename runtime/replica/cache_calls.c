/* sys_alloc() and sys_free() in a cached heap: short, with few stores. */
#include "runtime/process.h"
#include "runtime/replica/cache.h"

/*
 * Allocating and freeing where nothing stands in the way.  Nearly all calls are
 * those of the thread that locks are biased to (lock.h), in a heap of its own
 * that has a cache (cache.h).  They are done here in one straight piece,
 * with few stores (memory/heap_cache.h): nothing is called on the way but in
 * the end, and no more is kept at a time than there are registers that need not
 * be saved.  `objdump -d` shows whether that is so: no push in either function.
 * Everything else goes the long way (object.c).
 */

/* Above a heap's address and the notes, the word of lock.h has how many
 * calls are still answered, less one: it is negative when none is. */
#define CALL ((uint64_t)1 << 56)

/* So many are answered between two times that the notes are sorted, and so
 * often before a call goes the long way. */
#define ROUND  127u
#define ROUNDS (REPLICA_CACHE_CALLS / ROUND)

_Static_assert(ROUND <= REPLICA_NOTES_MAX &&
                   REPLICA_NOTES_MAX < HEAP_CACHE_NOTES &&
                   REPLICA_CACHE_CALLS % ROUND == 0,
               "there are never too many");

/* How many there were, and will be in this round; and rounds that follow. */
static _Atomic uint64_t calls_until;
static unsigned rounds;

/* What a front wants to be called otherwise. */
static _Atomic(replica_alloc_fn *) slow_alloc;
static _Atomic(replica_free_fn *) slow_free;

uint64_t replica_cache_calls(void)
{
    uint64_t until = atomic_load_explicit(&calls_until, memory_order_relaxed);
    uint64_t word =
        atomic_load_explicit(&replica_inbox()->inside, memory_order_relaxed);

    return (int64_t)word < 0 ? until : until - word / CALL - 1;
}

/* For the thread that locks are biased to, in no heap. */
static void begin_round(void)
{
    uint64_t until = atomic_load_explicit(&calls_until, memory_order_relaxed);

    replica_cache_note(replica_noting);
    atomic_store_explicit(&calls_until, until + ROUND, memory_order_relaxed);
    atomic_store_explicit(replica_bias_word, (ROUND - 1) * CALL,
                          memory_order_relaxed);
}

static inline uint64_t read_word(void)
{
    return atomic_load_explicit(replica_bias_word, memory_order_relaxed);
}

int replica_cache_allow(replica_alloc_fn *alloc, replica_free_fn *free)
{
    int first;

    atomic_store_explicit(&slow_alloc, alloc, memory_order_relaxed);
    atomic_store_explicit(&slow_free, free, memory_order_relaxed);
    if (!replica_bias_chosen() || (int64_t)read_word() >= 0 || rounds)
        return 0;
    first = !atomic_load_explicit(&calls_until, memory_order_relaxed);
    rounds = ROUNDS - 1;
    begin_round();
    return !first;
}

static inline void *by_slow_alloc(const char *file, int line, size_t size_bytes,
                                  uint32_t rid)
{
    return atomic_load_explicit(&slow_alloc, memory_order_relaxed)(
        file, line, size_bytes, rid);
}

static inline void by_slow_free(const char *file, int line, void *ptr)
{
    atomic_load_explicit(&slow_free, memory_order_relaxed)(file, line, ptr);
}

/* Is there another round?  It begins then. */
static int next_round(void)
{
    if (!replica_bias_chosen() || !rounds || !runtime_running())
        return 0;
    rounds--;
    begin_round();
    return 1;
}

void replica_cache_calls_end(void)
{
    atomic_store_explicit(&calls_until, replica_cache_calls(),
                          memory_order_relaxed);
    atomic_store_explicit(replica_bias_word, REPLICA_BIAS_NONE,
                          memory_order_relaxed);
    rounds = 0;
}

/* Out of a heap. */
static inline void leave(uint64_t word)
{
    biased_leave(replica_bias_word, word);
}

/* Not as it mostly is: the round is over, or a stack is empty. */
static __attribute__((noinline, cold)) void *
alloc_again(const char *file, int line, size_t size_bytes, uint32_t rid)
{
    uint64_t word = read_word();

    if ((int64_t)word < 0) {
        if (!next_round())
            return by_slow_alloc(file, line, size_bytes, rid);
    } else {
        if (replica_noting != replica_cache_at(rid) || !(word % CALL))
            return by_slow_alloc(file, line, size_bytes, rid);
        replica_cache_note(replica_noting);
    }
    return replica_cache_alloc(file, line, size_bytes, rid);
}

/* In a heap, where the extent of what is on top of a stack has no number. */
static __attribute__((noinline, cold)) void *
take_stray(struct replica_cache *cache, uint64_t class, uint64_t word)
{
    void *ptr = heap_cache_take_stray(&replica_caches_shared, &cache->slots,
                                      (unsigned)class);

    leave(word - CALL);
    return ptr;
}

/* The same, but what was made of it is made again: a register less. */
static inline uint64_t anew(uint64_t value)
{
    __asm__("" : "+r"(value));
    return value;
}

void *replica_cache_alloc(const char *file, int line, size_t size_bytes,
                          uint32_t rid)
{
    _Atomic uint64_t *at = replica_bias_word;
    uint64_t word = atomic_load_explicit(at, memory_order_relaxed);
    struct replica_cache *cache = replica_cache_at(rid);
    uint64_t class = heap_cache_class(size_bytes);
    void *ptr;

    if ((int64_t)word < 0 || cache->key != replica_cache_key(rid))
        return alloc_again(file, line, size_bytes, rid);
    /* From here on the key tells what @rid is. */
    if (!heap_cache_has(&cache->slots, class) ||
        !replica_heap_bias(cache->heap, &cache->bias, at, word))
        return alloc_again(file, line, size_bytes, (uint32_t)cache->key - 1);
    class = anew(class);
    ptr = heap_cache_take(&replica_caches_shared, &cache->slots, class);
    if (__builtin_expect(!ptr, 0))
        return take_stray(cache, class, word);
    biased_leave(at, word - CALL);
    return ptr;
}

/* The round is over, @ptr is in a part that was not met last in its block, or
 * the notes are of another cache. */
static __attribute__((noinline, cold)) void free_again(const char *file,
                                                       int line, void *ptr)
{
    struct heap_caches *caches = &replica_caches_shared;

    if ((int64_t)read_word() < 0) {
        if (!next_round())
            return by_slow_free(file, line, ptr);
    } else {
        if (!heap_parts_meet(&caches->parts, ptr) ||
            !heap_cache_in(
                heap_parts_met(&caches->parts, ptr, HEAP_CACHE_BLOCK_SHIFT),
                ptr))
            return by_slow_free(file, line, ptr);
        replica_cache_note(replica_cache_with(
            heap_parts_met(&caches->parts, ptr, HEAP_CACHE_BLOCK_SHIFT)
                ->magazine));
    }
    replica_cache_free(file, line, ptr);
}

void replica_cache_free(const char *file, int line, void *ptr)
{
    struct heap_caches *caches = &replica_caches_shared;
    _Atomic uint64_t *at = replica_bias_word;
    uint64_t word = atomic_load_explicit(at, memory_order_relaxed);
    const struct heap_part *part;
    struct replica_cache *cache;
    uint64_t note;

    if ((int64_t)word < 0)
        return free_again(file, line, ptr);
    part = heap_parts_met(&caches->parts, ptr, HEAP_CACHE_BLOCK_SHIFT);
    cache = replica_noting;
    if (!heap_cache_in(part, ptr) || part->magazine != &cache->slots)
        return free_again(file, line, ptr);
    if (!replica_heap_bias(cache->heap, &cache->bias, at, word))
        return by_slow_free(file, line, ptr);
    if (heap_cache_free(part, ptr, &note)) {
        biased_leave(at, word);
        return by_slow_free(file, line, ptr);
    }
    replica_notes[word / REPLICA_NOTE & 0xff] = note;
    biased_leave(at, word + REPLICA_NOTE - CALL);
}
