/* Mutexes that tell who takes them next that their holder died: state.h. */
#include "state.h"

#include "drasync.h"

#include <errno.h>

int robust_open(pthread_mutex_t *lock)
{
    pthread_mutexattr_t how;
    int failed;

    if (pthread_mutexattr_init(&how))
        return DRASYNC_EINTERNAL;
    failed = pthread_mutexattr_setpshared(&how, PTHREAD_PROCESS_SHARED) ||
             pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST) ||
             pthread_mutexattr_settype(&how, PTHREAD_MUTEX_ERRORCHECK) ||
             pthread_mutex_init(lock, &how);
    pthread_mutexattr_destroy(&how);
    return failed ? DRASYNC_EINTERNAL : 0;
}

static enum robust taken(pthread_mutex_t *lock, int result)
{
    switch (result) {
    case 0:
        return ROBUST_TAKEN;
    case EOWNERDEAD:
        pthread_mutex_consistent(lock);
        return ROBUST_DIED;
    default:
        assert(result == EBUSY || result == EDEADLK);
        return ROBUST_BUSY;
    }
}

enum robust robust_take(pthread_mutex_t *lock)
{
    return taken(lock, pthread_mutex_lock(lock));
}

enum robust robust_try(pthread_mutex_t *lock)
{
    return taken(lock, pthread_mutex_trylock(lock));
}

void robust_give(pthread_mutex_t *lock)
{
    int result = pthread_mutex_unlock(lock);

    assert(!result);
    (void)result;
}
