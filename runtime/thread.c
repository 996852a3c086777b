/* The one key whose destructor tells the modules that a thread ends. */
#include "runtime/thread.h"

#include <pthread.h>
#include <stdbool.h>

#include "drasync.h"
#include "runtime/modules.h"
#include "runtime/process.h"

static _Thread_local bool watched;

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

int thread_watch(void)
{
    if (watched)
        return 0;
    pthread_once(&once, make_key);
    if (!key_made || pthread_setspecific(key, &watched))
        return DRASYNC_ENOMEM;
    watched = true;
    return 0;
}
