/*
 * dart_pipeline: very many transfers under way at a time, small and large ones,
 * by several threads; each unit in its own part of the others' memory.
 */
#include <pthread.h>

#include "dart_check.h"

#define SMALL   3000 /* at a time; more than wait without being answered */
#define LARGE   6
#define WORDS   ((size_t)40000) /* of a large one */
#define THREADS 3
#define ROUNDS  2

#define PART_WORDS (SMALL + LARGE * WORDS)

static dart_gptr_t memory; /* for each unit and thread a part, on each unit */

static int64_t value(int unit, int thread, int round, size_t word)
{
    return (
        int64_t)(((size_t)(unit * THREADS + thread) * ROUNDS + (size_t)round) *
                     PART_WORDS +
                 word);
}

static dart_gptr_t part(int target, int thread, size_t word)
{
    size_t parts = (size_t)(me * THREADS + thread);

    return at_offset(on_unit(memory, target),
                     (parts * PART_WORDS + word) * sizeof(int64_t));
}

/* Put all of a part there, with handles or without. */
static void put_all(int target, int thread, int64_t *from, bool handles)
{
    static _Thread_local dart_handle_t handle[SMALL + LARGE];
    size_t n = 0;

    for (size_t i = 0; i < SMALL + LARGE; i++) {
        size_t word = i < SMALL ? i : SMALL + (i - SMALL) * WORDS;
        size_t words = i < SMALL ? 1 : WORDS;
        dart_gptr_t to = part(target, thread, word);

        assert((handles
                    ? dart_put_handle(to, from + word, words, DART_TYPE_LONG,
                                      DART_TYPE_LONG, &handle[n++])
                    : dart_put(to, from + word, words, DART_TYPE_LONG,
                               DART_TYPE_LONG)) == DART_OK);
    }
    if (!handles) {
        assert(dart_flush(part(target, thread, 0)) == DART_OK);
    } else if (thread % 2) {
        int32_t done = 0;

        while (!done)
            assert(dart_testall(handle, n, &done) == DART_OK);
    } else {
        assert(dart_waitall(handle, n) == DART_OK);
    }
}

/* Get it back, and compare. */
static void get_all(int target, int thread, int64_t *to, const int64_t *as,
                    bool handles)
{
    static _Thread_local dart_handle_t handle[SMALL + LARGE];
    size_t n = 0;

    memset(to, 0xff, PART_WORDS * sizeof(*to));
    for (size_t i = 0; i < SMALL + LARGE; i++) {
        size_t word = i < SMALL ? i : SMALL + (i - SMALL) * WORDS;
        size_t words = i < SMALL ? 1 : WORDS;
        dart_gptr_t from = part(target, thread, word);

        assert((handles
                    ? dart_get_handle(to + word, from, words, DART_TYPE_LONG,
                                      DART_TYPE_LONG, &handle[n++])
                    : dart_get(to + word, from, words, DART_TYPE_LONG,
                               DART_TYPE_LONG)) == DART_OK);
    }
    if (handles)
        assert(dart_waitall_local(handle, n) == DART_OK);
    else
        assert(dart_flush_local_all(memory) == DART_OK);
    assert(!memcmp(to, as, PART_WORDS * sizeof(*to)));
}

/* What was begun before is there when a blocking one is that came after it. */
static void mixed(int target, int thread, int64_t *buffer)
{
    int64_t got = -1;

    for (int i = 0; i < 100; i++) {
        buffer[0] = i;
        assert(dart_put(part(target, thread, 0), buffer, 1, DART_TYPE_LONG,
                        DART_TYPE_LONG) == DART_OK);
        assert(dart_flush_local(part(target, thread, 0)) == DART_OK);
        buffer[0] = -1;
        assert(dart_flush_all(memory) == DART_OK);
        assert(dart_get_blocking(&got, part(target, thread, 0), 1,
                                 DART_TYPE_LONG, DART_TYPE_LONG) == DART_OK);
        assert(got == i);
    }
}

static void *work(void *arg)
{
    int thread = (int)(intptr_t)arg;
    int64_t *out = malloc(PART_WORDS * sizeof(*out));
    int64_t *in = malloc(PART_WORDS * sizeof(*in));

    assert(out && in);
    for (int round = 0; round < ROUNDS; round++) {
        for (int target = 0; target < units; target++) {
            for (size_t i = 0; i < PART_WORDS; i++)
                out[i] = value(me, thread, round + target, i);
            put_all(target, thread, out, round % 2);
            get_all(target, thread, in, out, !(round % 2));
        }
    }
    mixed((me + 1) % units, thread, out);
    free(out);
    free(in);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    int level;

    assert(!MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level));
    assert(level == MPI_THREAD_MULTIPLE);
    check_begin();
    assert(dart_team_memalloc_aligned(DART_TEAM_ALL,
                                      (size_t)(units * THREADS) * PART_WORDS,
                                      DART_TYPE_LONG, &memory) == DART_OK);
    for (int i = 0; i < THREADS; i++)
        assert(!pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i));
    for (int i = 0; i < THREADS; i++)
        assert(!pthread_join(threads[i], NULL));
    barrier();
    assert(dart_team_memfree(memory) == DART_OK);
    check_end();
    MPI_Finalize();
    return 0;
}
