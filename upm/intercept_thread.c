/*
 * pthread_create() of the program.  A stack that is protected kills its thread:
 * a handler of SIGSEGV needs it.  The memory of a stack may be a hot area when
 * the thread begins: the program's own (pthread_attr_setstack()), or, where areas
 * are found without a call, one that the C library kept of an earlier thread.  So
 * that is not protected until the thread has taken its stack out of the areas;
 * while it lives, discover.c leaves the stack out.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "upm/intercept.h"
#include "upm/next.h"
#include "upm/source_protect.h"
#include "upm/state.h"

struct begin {
    void *(*run)(void *);
    void *argument;
    unsigned hold;
};

static void *begin_thread(void *argument)
{
    struct begin begin = *(struct begin *)argument;

    free(argument);
    pthread_mutex_lock(&upm.lock);
    struct upm_area *area = upm_area_find((uintptr_t)&begin);
    if (area)
        upm_forget(area);
    pthread_mutex_unlock(&upm.lock);
    upm_protect_release(begin.hold);
    return begin.run(begin.argument);
}

/* The stack in @attributes, if it is the program's. */
static unsigned hold_stack(const pthread_attr_t *attributes)
{
    void *stack = NULL;
    size_t bytes = 0;

    if (upm.discovers)
        return upm_protect_hold_all();
    if (!attributes || pthread_attr_getstack(attributes, &stack, &bytes))
        return 0;
    return stack ? upm_protect_hold((uintptr_t)stack, bytes) : 0;
}

int upm_thread_create(pthread_t *thread, const pthread_attr_t *attributes,
                      void *(*run)(void *), void *argument)
{
    return UPM_NEXT(pthread_create)(thread, attributes, run, argument);
}

int pthread_create(pthread_t *restrict thread,
                   const pthread_attr_t *restrict attributes,
                   void *(*run)(void *), void *restrict argument)
{
    struct begin *begin = malloc(sizeof(*begin));

    if (!begin)
        return EAGAIN;
    *begin = (struct begin){run, argument, hold_stack(attributes)};
    unsigned hold = begin->hold;
    int err = upm_thread_create(thread, attributes, begin_thread, begin);
    if (err) {
        upm_protect_release(hold);
        free(begin);
    }
    return err;
}
