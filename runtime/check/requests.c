/* Requests that are under way, to tell at the end of those nobody waited for. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/check/state.h"
#include "runtime/process.h"

#define BUCKETS 4096

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct check_request *bucket[BUCKETS];

static struct check_request **place_of(const void *request)
{
    /* Its generation is in the high bits: request.h. */
    uint64_t number = (uintptr_t)request;

    return &bucket[(number ^ number >> 22) % BUCKETS];
}

void check_request_begins(const void *request, drasync_region_t region,
                          enum drasync_mode mode)
{
    const struct check_done done = {check_stack_here(), gettid(), (int)mode,
                                    false};
    struct check_request *r;

    if (!(runtime.options.check & OPTIONS_CHECK_LEAKS))
        return;
    r = malloc(sizeof(*r));
    if (!r)
        return;
    *r = (struct check_request){
        .request = request, .region = (uintptr_t)region, .done = done};
    pthread_mutex_lock(&mutex);
    r->next = *place_of(request);
    *place_of(request) = r;
    pthread_mutex_unlock(&mutex);
}

void check_request_gone(const void *request)
{
    struct check_request **p = place_of(request), *r;

    pthread_mutex_lock(&mutex);
    while (*p && (*p)->request != request)
        p = &(*p)->next;
    r = *p;
    if (r)
        *p = r->next;
    pthread_mutex_unlock(&mutex);
    free(r);
}

static int by_stack(const void *a, const void *b)
{
    const struct check_request *const *x = a, *const *y = b;

    return ((*x)->done.stack > (*y)->done.stack) -
           ((*x)->done.stack < (*y)->done.stack);
}

void check_requests_each(void (*each)(const struct check_request *request,
                                      void *arg),
                         void *arg)
{
    const struct check_request **list;
    size_t count = 0, n = 0;

    pthread_mutex_lock(&mutex);
    for (int i = 0; i < BUCKETS; i++)
        for (struct check_request *r = bucket[i]; r; r = r->next)
            count++;
    list = calloc(count + 1, sizeof(*list));
    for (int i = 0; list && i < BUCKETS; i++)
        for (struct check_request *r = bucket[i]; r; r = r->next)
            list[n++] = r;
    if (list)
        qsort(list, n, sizeof(*list), by_stack);
    for (size_t i = 0; i < n; i++)
        each(list[i], arg);
    free(list);
    pthread_mutex_unlock(&mutex);
}
