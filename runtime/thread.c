/* The one key whose destructor tells the modules that a thread ends. */
#include "runtime/thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "drasync.h"
#include "runtime/modules.h"
#include "runtime/process.h"
#include "runtime/waiting.h"

static _Thread_local bool watched;

/* Threads of the program that were watched, and is this one of those counted? */
static _Atomic uint32_t threads;
static _Thread_local bool counted;

static pthread_key_t key;
static bool key_made;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void thread_ends(void *unused)
{
    int count = 0;

    (void)unused;
    watched = false;
    if (atomic_load(&runtime.state) == RUNTIME_CHILD)
        return;
    while (runtime_modules[count])
        count++;
    while (count-- > 0)
        if (runtime_modules[count]->thread_ends)
            runtime_modules[count]->thread_ends();
}

static void make_key(void)
{
    key_made = !pthread_key_create(&key, thread_ends);
}

void thread_is_ours(void)
{
    counted = true;
}

/* Relaxed: the second to come is the second, and says no more than that. */
static void count_thread(void)
{
    counted = true;
    if (atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed))
        waiting_several();
}

int thread_watch(void)
{
    if (watched)
        return 0;
    pthread_once(&once, make_key);
    if (!key_made || pthread_setspecific(key, &watched))
        return DRASYNC_ENOMEM;
    watched = true;
    if (!counted)
        count_thread();
    return 0;
}
