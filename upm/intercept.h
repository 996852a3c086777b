/*
 * intercept.h - calls of the C library that are taken over.
 *
 * sigaction(), signal(), sigprocmask() and pthread_sigmask() are taken over: the
 * program sees and sets its own handler, which gets every fault that is not ours,
 * and it never blocks SIGSEGV while pages are protected, since the kernel kills a
 * thread that faults then.  So are pthread_create() (intercept_thread.c) and the
 * calls that give memory to the kernel (intercept_io.c).
 */
#ifndef UPM_INTERCEPT_H
#define UPM_INTERCEPT_H

#include <pthread.h>

/*
 * Catch faults for upm_protect_fault(), if that is not done yet or the program
 * has found a way to undo it.  It stays so to the end of the process: a fault of
 * a page that has just been opened may still be under way.  0 or a negative
 * errno.
 */
int upm_intercept(void);

/* The C library's pthread_create(), for a thread of our own, which the lock of
 * the library may not keep from beginning. */
int upm_thread_create(pthread_t *thread, const pthread_attr_t *attributes,
                      void *(*run)(void *), void *argument);

/* Around fork(), so that the child finds nothing half done; after it in both. */
void upm_intercept_before_fork(void);
void upm_intercept_after_fork(void);

#endif /* UPM_INTERCEPT_H */
