/* Threads of one process: what ThreadSanitizer should see. */
#include "memory_common.h"
#include "memory_look.h"

#include "memory/extents.h"
#include "memory/frames.h"
#include "memory/heap.h"
#include "memory/pages.h"

#include <pthread.h>
#include <stdatomic.h>

#define WRITERS 2
#define ROUNDS  4000

static struct space space;
static _Atomic int writers_left;
static _Atomic int wrong;
static _Atomic uint64_t found;

/* Makes and deletes extents whose owner says the same as the incarnation. */
static void *write_extents(void *arg)
{
    uint64_t number = (uintptr_t)arg << 32;
    struct extent *extent[4] = {0};
    int i;

    for (i = 0; i < ROUNDS; i++) {
        int at = i % 4;

        if (extent[at] && extent_delete(&space, extent[at]))
            atomic_store(&wrong, 1);
        number++;
        if (extent_new(&space, (uint64_t)at + 1, (void *)(uintptr_t)number,
                       number, &extent[at]))
            atomic_store(&wrong, 1);
    }
    for (i = 0; i < 4; i++)
        if (extent_delete(&space, extent[i]))
            atomic_store(&wrong, 1);
    atomic_fetch_sub(&writers_left, 1);
    return NULL;
}

static void *read_extents(void *arg)
{
    struct extent_copy copy;
    uint64_t page = 1;

    (void)arg;
    while (atomic_load(&writers_left)) {
        page = page % 64 + 1;
        if (extent_find(&space, space_address(&space, page), &copy))
            continue;
        atomic_fetch_add(&found, 1);
        if ((uintptr_t)copy.owner != copy.incarnation ||
            page < copy.first_page || page - copy.first_page >= copy.pages)
            atomic_store(&wrong, 1);
    }
    return NULL;
}

static void lookups(void)
{
    pthread_t writer[WRITERS], reader;
    uintptr_t i;

    atomic_store(&writers_left, WRITERS);
    REQUIRE(!pthread_create(&reader, NULL, read_extents, NULL));
    for (i = 0; i < WRITERS; i++)
        REQUIRE(
            !pthread_create(&writer[i], NULL, write_extents, (void *)(i + 1)));
    for (i = 0; i < WRITERS; i++)
        pthread_join(writer[i], NULL);
    pthread_join(reader, NULL);
    tap_ok(!atomic_load(&wrong),
           "a lookup sees whole extents while others come and go");
}

static void *churn(void *arg)
{
    uint64_t index = (uintptr_t)arg, offset, i;
    void *ptr;

    for (i = 0; i < ROUNDS; i++) {
        if (control_alloc_zero(&space, 8 + i % 500, &ptr)) {
            atomic_store(&wrong, 1);
            break;
        }
        *(uint64_t *)ptr = index;
        if (frames_take(&space, i % 5 + 1, &offset)) {
            atomic_store(&wrong, 1);
            break;
        }
        *(uint64_t *)space_window(&space, offset, 8) = index;
        if (*(uint64_t *)ptr != index ||
            *(uint64_t *)space_window(&space, offset, 8) != index ||
            frames_give(&space, offset, i % 5 + 1))
            atomic_store(&wrong, 1);
        control_free(&space, ptr);
    }
    return NULL;
}

static void allocators(void)
{
    pthread_t thread[3];
    struct control_stats stats;
    uintptr_t i;

    for (i = 0; i < 3; i++)
        REQUIRE(!pthread_create(&thread[i], NULL, churn, (void *)i));
    for (i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    control_get_stats(&space, &stats);
    tap_ok(!atomic_load(&wrong) && !stats.objects,
           "three threads use control memory and frames at once");
}

struct region {
    struct heap heap;
    struct heap_context context;
};

static int more(void *arg, uint64_t pages_min, uint64_t pages_wanted,
                struct heap_extent *extent_out)
{
    struct extent *extent;
    int err = extent_new(&space, pages_wanted, arg, 1, &extent);

    (void)pages_min;
    if (err)
        return err;
    extent_out->first_page = atomic_load(&extent->first_page);
    extent_out->pages = pages_wanted;
    return 0;
}

static void *use_heap(void *arg)
{
    struct region *region = arg;
    void **list = NULL, *ptr;
    int i;

    for (i = 0; i < 20000; i++) {
        if (heap_alloc(&region->context, &region->heap, (size_t)i % 300,
                       &ptr)) {
            atomic_store(&wrong, 1);
            break;
        }
        *(void **)ptr = list;
        list = ptr;
    }
    while (list) {
        ptr = *list;
        if (heap_free(&region->context, &region->heap, list))
            atomic_store(&wrong, 1);
        list = ptr;
    }
    return NULL;
}

static void heaps(void)
{
    static struct region region[2];
    pthread_t thread[2];
    int i;

    for (i = 0; i < 2; i++) {
        region[i].context = (struct heap_context){.space = &space,
                                                  .owner = &region[i],
                                                  .more = more,
                                                  .arg = &region[i]};
        REQUIRE(!heap_init(&region[i].context, &region[i].heap, 16, NULL, 0));
        REQUIRE(!pthread_create(&thread[i], NULL, use_heap, &region[i]));
    }
    for (i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    tap_ok(!atomic_load(&wrong) && !region[0].heap.used_bytes &&
               !region[1].heap.used_bytes,
           "two threads use two heaps at once");
}

int main(void)
{
    node_open(&space, 256 * MIB, 0, 1, 0);
    lookups();
    allocators();
    heaps();
    node_close(&space);
    return tap_end();
}
