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

/* This thread's stack, or false. */
static bool find_stack(uintptr_t *from_out, uintptr_t *to_out)
{
    pthread_attr_t attributes;
    void *stack = NULL;
    size_t bytes = 0;
    int err = pthread_getattr_np(pthread_self(), &attributes);

    if (err)
        return false;
    err = pthread_attr_getstack(&attributes, &stack, &bytes);
    pthread_attr_destroy(&attributes);
    *from_out = (uintptr_t)stack;
    *to_out = *from_out + bytes;
    return !err;
}

/* The first area that has a part of [from, to), or NULL.  Under the lock; without
 * it as a hint, between upm_areas_enter() and upm_areas_leave(). */
static struct upm_area *first_in(uintptr_t from, uintptr_t to)
{
    struct upm_area *area;

    for (size_t i = 0; (area = upm_area_next(i)); i++)
        if (from < area->start + area->bytes && area->start < to)
            return area;
    return NULL;
}

/* No area has a part of this thread's stack from here on.  Where areas are given
 * by the program, none comes meanwhile: so most threads take no lock. */
static void leave_stack(void)
{
    struct upm_area *area;
    uintptr_t from, to;
    bool hot = atomic_load(&upm.discovers);

    if ((!hot && !upm_area_next(0)) || !find_stack(&from, &to))
        return;
    upm_areas_enter();
    hot = hot || first_in(from, to);
    upm_areas_leave();
    if (!hot)
        return;
    pthread_mutex_lock(&upm.lock);
    while ((area = first_in(from, to)))
        upm_forget(area);
    upm_count();
    upm_unlock();
}

static void *begin_thread(void *argument)
{
    struct begin begin = *(struct begin *)argument;
    int state;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    free(argument);
    leave_stack();
    upm_protect_release(begin.hold);
    pthread_setcancelstate(state, NULL);
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
