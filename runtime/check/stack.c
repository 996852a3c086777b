/* Stacks: taken where a call is made, each kept once. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/backtrace.h"
#include "runtime/check/state.h"

#define BUCKETS 65536

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint32_t bucket[BUCKETS];
/* Entries do not change once their number is known; slot 0 is none. */
static _Atomic(struct check_stack *) kept[CHECK_STACKS_MAX];
static uint32_t count = 1;

static uint64_t hash_of(void *const *frame, int frames)
{
    uint64_t hash = (uint64_t)frames;

    for (int i = 0; i < frames; i++)
        hash = (hash ^ (uint64_t)(uintptr_t)frame[i]) *
               UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}

static struct check_stack *stack_of(uint32_t number)
{
    /* Acquire pairs with the release in enter(): so is what is in it. */
    return atomic_load_explicit(&kept[number], memory_order_acquire);
}

static uint32_t find(uint64_t hash, void *const *frame, int frames)
{
    for (uint32_t n = bucket[hash % BUCKETS]; n; n = stack_of(n)->next) {
        const struct check_stack *s = stack_of(n);

        if (s->hash == hash && s->frames == frames &&
            !memcmp(s->frame, frame, (size_t)frames * sizeof(*frame)))
            return n;
    }
    return 0;
}

static uint32_t enter(uint64_t hash, void *const *frame, int frames)
{
    struct check_stack *s =
        count < CHECK_STACKS_MAX ? calloc(1, sizeof(*s)) : NULL;

    if (!s)
        return 0;
    s->hash = hash;
    s->frames = frames;
    memcpy(s->frame, frame, (size_t)frames * sizeof(*frame));
    s->next = bucket[hash % BUCKETS];
    bucket[hash % BUCKETS] = count;
    atomic_store_explicit(&kept[count], s, memory_order_release);
    return count++;
}

uint32_t check_stack_here(void)
{
    void *frame[CHECK_FRAMES_MAX];
    int frames = backtrace_take(frame, CHECK_FRAMES_MAX);
    uint64_t hash;
    uint32_t number;

    if (frames <= 0)
        return 0;
    hash = hash_of(frame, frames);
    pthread_mutex_lock(&mutex);
    number = find(hash, frame, frames);
    if (!number)
        number = enter(hash, frame, frames);
    pthread_mutex_unlock(&mutex);
    return number;
}

const struct check_stack *check_stack_of(uint32_t number)
{
    return number < CHECK_STACKS_MAX ? stack_of(number) : NULL;
}

void check_stack_at(ucontext_t *context, struct check_stack *out)
{
    unw_cursor_t cursor;
    unw_word_t at;

    out->frames = 0;
    if (unw_init_local2(&cursor, context, UNW_INIT_SIGNAL_FRAME))
        return;
    do {
        if (unw_get_reg(&cursor, UNW_REG_IP, &at))
            return;
        out->frame[out->frames++] = (void *)(uintptr_t)at;
    } while (out->frames < CHECK_FRAMES_MAX && unw_step(&cursor) > 0);
}
