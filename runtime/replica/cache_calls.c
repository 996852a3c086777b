/* sys_alloc() and sys_free() in a cached heap: short, with few stores. */
#include "runtime/process.h"
#include "runtime/replica/cache.h"

/*
 * Allocating and freeing where nothing stands in the way.  Nearly all calls are
 * those of a thread in a heap that it has a cache of (cache.h).  They are done
 * here in one straight piece, with few stores (memory/heap_cache.h): nothing is
 * called on the way but in the end, and no more is kept at a time than there are
 * registers that need not be saved.  `objdump -d` shows whether that is so: no
 * push in either function.  Everything else goes the long way (object.c).
 */

/* So many are answered between two times that the notes are sorted, and so
 * often before a call goes the long way. */
#define ROUND  127u
#define ROUNDS (REPLICA_CACHE_CALLS / ROUND)

_Static_assert(ROUND <= REPLICA_NOTES_MAX &&
                   REPLICA_NOTES_MAX < HEAP_CACHE_NOTES &&
                   REPLICA_CACHE_CALLS % ROUND == 0,
               "there are never too many");

/* What a front wants to be called otherwise. */
static _Atomic(replica_alloc_fn *) slow_alloc;
static _Atomic(replica_free_fn *) slow_free;

uint64_t replica_cache_calls(void)
{
    struct replica_caches *c;
    uint64_t calls = 0;

    for (c = atomic_load(&replica_caches_all); c; c = c->next) {
        uint64_t word = atomic_load_explicit(c->inside, memory_order_relaxed);

        calls += atomic_load_explicit(&c->calls_until, memory_order_relaxed);
        if ((int64_t)word >= 0)
            calls -= word / REPLICA_CALL + 1;
    }
    return calls;
}

static inline uint64_t read_word(void)
{
    return atomic_load_explicit(replica_caches_mine->inside,
                                memory_order_relaxed);
}

/* For a thread that has caches. */
static void begin_round(void)
{
    struct replica_caches *mine = replica_caches_mine;
    uint64_t until =
        atomic_load_explicit(&mine->calls_until, memory_order_relaxed);

    replica_cache_note(mine->noting);
    atomic_store_explicit(&mine->calls_until, until + ROUND,
                          memory_order_relaxed);
    atomic_store_explicit(mine->inside, (ROUND - 1) * REPLICA_CALL,
                          memory_order_release); /* as in take_notes() */
}

int replica_cache_allow(replica_alloc_fn *alloc, replica_free_fn *free)
{
    struct replica_caches *mine = replica_caches_mine;
    int first;

    /* All threads read these at each call. */
    if (atomic_load_explicit(&slow_free, memory_order_relaxed) != free) {
        atomic_store_explicit(&slow_alloc, alloc, memory_order_relaxed);
        atomic_store_explicit(&slow_free, free, memory_order_relaxed);
    }
    if (!replica_caches_have() || (int64_t)read_word() >= 0 || mine->rounds)
        return 0;
    first = !atomic_load_explicit(&mine->calls_until, memory_order_relaxed);
    mine->rounds = ROUNDS - 1;
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
    struct replica_caches *mine = replica_caches_mine;

    if (!replica_caches_have() || !mine->rounds || !runtime_running())
        return 0;
    mine->rounds--;
    begin_round();
    return 1;
}

void replica_cache_calls_end(void)
{
    struct replica_caches *mine = replica_caches_mine;
    uint64_t word = read_word();

    if ((int64_t)word >= 0)
        atomic_store_explicit(
            &mine->calls_until,
            atomic_load_explicit(&mine->calls_until, memory_order_relaxed) -
                word / REPLICA_CALL - 1,
            memory_order_relaxed);
    atomic_store_explicit(mine->inside, REPLICA_NO_CALLS, memory_order_release);
    mine->rounds = 0;
}

/* Are there notes of @cache, and enough for objects that could be made anew as
 * well?  Sort them then. */
static int sort_for(struct replica_cache *cache, unsigned at_least)
{
    if (replica_caches_mine->noting != cache ||
        (read_word() & REPLICA_NOTES) / REPLICA_NOTE < at_least)
        return 0;
    replica_cache_note(cache);
    return 1;
}

/* An object from the piece of @cache, without a lock; or NULL. */
static void *bump(struct replica_cache *cache, uint64_t class)
{
    _Atomic uint64_t *at = replica_caches_mine->inside;
    uint64_t word = atomic_load_explicit(at, memory_order_relaxed);
    void *ptr;

    if (!replica_cache_enter(cache, replica_cache_heap(cache), at, word))
        return NULL;
    ptr = heap_cache_bump(&cache->slots, class);
    biased_leave(at, ptr ? word - REPLICA_CALL : word);
    return ptr;
}

/* Not as it mostly is: the round is over, or a stack is empty. */
static __attribute__((noinline, cold)) void *
alloc_again(const char *file, int line, size_t size_bytes, uint32_t rid)
{
    struct replica_cache *cache;
    unsigned class;
    void *ptr;

    if ((int64_t)read_word() < 0) {
        if (!next_round())
            return by_slow_alloc(file, line, size_bytes, rid);
        return replica_cache_alloc(file, line, size_bytes, rid);
    }
    cache = replica_cache_at(replica_caches_mine, rid);
    class = (unsigned)heap_cache_class(size_bytes);
    if (cache->key != replica_cache_key(rid) || class == HEAP_CACHE_NO_CLASS ||
        heap_cache_has(&cache->slots, class))
        return by_slow_alloc(file, line, size_bytes, rid);
    if (!sort_for(cache, HEAP_CACHE_BATCH)) {
        ptr = bump(cache, class);
        if (ptr)
            return ptr;
        sort_for(cache, 1);
    }
    if (!heap_cache_has(&cache->slots, class))
        return by_slow_alloc(file, line, size_bytes, rid);
    return replica_cache_alloc(file, line, size_bytes, rid);
}

/* The thread is not in any heap, or must not be. */
static inline void leave(void)
{
    biased_leave(replica_caches_mine->inside,
                 read_word() & ~REPLICA_INSIDE_HEAP);
}

/* What the cache has is void. */
static __attribute__((noinline, cold)) void *
alloc_outside(const char *file, int line, size_t size_bytes, uint32_t rid)
{
    leave();
    return by_slow_alloc(file, line, size_bytes, rid);
}

/* The same, or no object is there. */
static __attribute__((noinline, cold)) void free_outside(const char *file,
                                                         int line, void *ptr)
{
    leave();
    by_slow_free(file, line, ptr);
}

/* In a heap, where the extent of what is on top of a stack has no number. */
static __attribute__((noinline, cold)) void *
take_stray(struct replica_cache *cache, uint64_t class)
{
    struct replica_caches *mine = replica_caches_mine;
    void *ptr =
        heap_cache_take_stray(&mine->shared, &cache->slots, (unsigned)class);

    biased_leave(mine->inside,
                 (read_word() & ~REPLICA_INSIDE_HEAP) - REPLICA_CALL);
    return ptr;
}

/* The same, but what was made of it, or read there, is made or read again: a
 * register less. */
#define ANEW(value) __asm__("" : "+r"(value))

/* The thread comes into its cache, and its word is *@word then; 0: it must leave
 * at once. */
static inline int come_in(const struct replica_caches *mine,
                          const struct replica_cache *cache, uint64_t *word)
{
    struct replica_heap *heap = replica_cache_heap(cache);

    *word += (uintptr_t)heap;
    return biased_try(mine->inside, *word, &heap->epoch, &cache->epoch);
}

/* And goes out, with @more in its word. */
static inline void go_out(const struct replica_caches *mine, uint64_t word,
                          uint64_t more)
{
    biased_leave(mine->inside, (word & ~REPLICA_INSIDE_HEAP) + more);
}

void *replica_cache_alloc(const char *file, int line, size_t size_bytes,
                          uint32_t rid)
{
    struct replica_caches *mine = replica_caches_mine;
    uint64_t word = atomic_load_explicit(mine->inside, memory_order_relaxed);
    struct replica_cache *cache = replica_cache_at(mine, rid);
    uint64_t class = heap_cache_class(size_bytes), note;
    void *ptr;

    if ((int64_t)word < 0 || cache->key != replica_cache_key(rid))
        return alloc_again(file, line, size_bytes, rid);
    /* From here on the key tells what @rid is. */
    ANEW(mine);
    ANEW(cache);
    note = mine->shared.note[word / REPLICA_NOTE & 0xff];
    if (note >> 56 == class && mine->noting == cache) {
        if (!come_in(mine, cache, &word))
            return alloc_outside(file, line, size_bytes,
                                 (uint32_t)cache->key - 1);
        ptr = heap_cache_take_noted(
            &mine->shared, mine->shared.note[word / REPLICA_NOTE & 0xff]);
        if (__builtin_expect(!ptr, 0))
            return alloc_outside(file, line, size_bytes,
                                 (uint32_t)cache->key - 1);
        go_out(mine, word, -REPLICA_NOTE - REPLICA_CALL);
        return ptr;
    }
    if (!heap_cache_has(&cache->slots, class))
        return alloc_again(file, line, size_bytes, (uint32_t)cache->key - 1);
    if (!come_in(mine, cache, &word))
        return alloc_outside(file, line, size_bytes, (uint32_t)cache->key - 1);
    ANEW(class);
    ptr = heap_cache_take(&mine->shared, &cache->slots, class);
    if (__builtin_expect(!ptr, 0))
        return take_stray(cache, class);
    go_out(mine, word, -REPLICA_CALL);
    return ptr;
}

/* The round is over, @ptr is in a part that was not met last in its block, or
 * the notes are of another cache. */
static __attribute__((noinline, cold)) void free_again(const char *file,
                                                       int line, void *ptr)
{
    struct heap_caches *caches = &replica_caches_mine->shared;

    if ((int64_t)read_word() < 0) {
        if (!next_round())
            return by_slow_free(file, line, ptr);
    } else {
        if (!heap_parts_meet(&caches->parts, ptr) ||
            !heap_cache_in(heap_cache_met(caches, ptr), ptr))
            return by_slow_free(file, line, ptr);
        replica_cache_note(
            replica_cache_with(heap_cache_met(caches, ptr)->magazine));
    }
    replica_cache_free(file, line, ptr);
}

void replica_cache_free(const char *file, int line, void *ptr)
{
    struct replica_caches *mine = replica_caches_mine;
    uint64_t word = atomic_load_explicit(mine->inside, memory_order_relaxed);
    const struct heap_part *part;
    struct replica_cache *cache;
    uint64_t note;

    if ((int64_t)word < 0)
        return free_again(file, line, ptr);
    part = heap_cache_met(&mine->shared, ptr);
    ANEW(part);
    cache = mine->noting;
    if (!heap_cache_in(part, ptr) || part->magazine != &cache->slots)
        return free_again(file, line, ptr);
    ANEW(mine);
    if (!come_in(mine, cache, &word) || heap_cache_free(part, ptr, &note))
        return free_outside(file, line, ptr);
    mine->shared.note[(word / REPLICA_NOTE & 0xff) + 1] = note;
    go_out(mine, word, REPLICA_NOTE - REPLICA_CALL);
}
