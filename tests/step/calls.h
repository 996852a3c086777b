/* calls.h - what takes the place of system calls and locks; see instead.h. */
#ifndef TESTS_STEP_CALLS_H
#define TESTS_STEP_CALLS_H

#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* futex and membarrier; any other fails the run. */
long step_syscall(long number, ...);
int step_sched_yield(void);
int step_clock_gettime(clockid_t clock, struct timespec *time_out);
/* Relative, and nothing interrupts it. */
int step_clock_nanosleep(clockid_t clock, int flags,
                         const struct timespec *time, struct timespec *left);
void *step_memcpy(void *to, const void *from, size_t bytes);
void *step_memset(void *at, int value, size_t bytes);

/* Of step_alloc(); what is freed is not used again. */
void *step_malloc(size_t bytes);
void *step_calloc(size_t count, size_t bytes);
void *step_realloc(void *ptr, size_t bytes);
void step_give_back(void *ptr);
void *step_aligned_alloc(size_t alignment, size_t bytes); /* never given back */

/* A mutex of one process, as large as theirs at most. */
int step_mutex_lock(pthread_mutex_t *mutex);
int step_mutex_trylock(pthread_mutex_t *mutex);
int step_mutex_unlock(pthread_mutex_t *mutex);

/* The thread is one of the scenario's: step_thread_body() runs what it is to. */
int step_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                        void *(*start)(void *arg), void *arg);
int step_pthread_join(pthread_t thread, void **result_out);
void step_thread_body(void);

/* Nothing. */
int step_prctl(int what, ...);

/* Pipes and timers: descriptors.c. */
int step_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
ssize_t step_read(int fd, void *to, size_t bytes);
ssize_t step_write(int fd, const void *from, size_t bytes);
int step_close(int fd);
int step_pipe2(int ends[2], int flags);
int step_timerfd_create(int clock, int flags);
int step_timerfd_settime(int fd, int flags, const struct itimerspec *to,
                         struct itimerspec *before_out);

#endif /* TESTS_STEP_CALLS_H */
