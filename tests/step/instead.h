/*
 * instead.h - included before the code under test: its system calls and locks go
 * to the engine, and its thread locals to a section that the engine swaps.
 */
#ifndef TESTS_STEP_INSTEAD_H
#define TESTS_STEP_INSTEAD_H

#include "tests/step/calls.h"

/* The code is not compiled for ThreadSanitizer's own library. */
#define MEMORY_SANITIZER_H
#define SANITIZER_ADDRESS 0
#define SANITIZER_THREAD  0

#define _Thread_local __attribute__((section("step_locals")))
#define __thread _Thread_local
#define tls_model(x)

#define syscall       step_syscall
#define sched_yield   step_sched_yield
#define clock_gettime step_clock_gettime
#define memcpy        step_memcpy
#define memset        step_memset

#define clock_nanosleep step_clock_nanosleep

#define malloc(bytes)        step_malloc(bytes)
#define calloc(count, bytes) step_calloc(count, bytes)
#define realloc              step_realloc
#define free                 step_give_back
#define aligned_alloc        step_aligned_alloc

#define pthread_mutex_lock    step_mutex_lock
#define pthread_mutex_trylock step_mutex_trylock
#define pthread_mutex_unlock  step_mutex_unlock

#define pthread_create step_pthread_create
#define pthread_join   step_pthread_join
#define prctl          step_prctl

#define poll            step_poll
#define read            step_read
#define write           step_write
#define close           step_close
#define pipe2           step_pipe2
#define timerfd_create  step_timerfd_create
#define timerfd_settime step_timerfd_settime

#endif /* TESTS_STEP_INSTEAD_H */
