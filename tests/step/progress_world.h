/*
 * progress_world.h - the leader of one node of two, for runtime/messages/
 * progress*.c: threads of its program, and a transport that has an answer for
 * whoever waits, once somebody polls.
 *
 * Who uses the transport writes to it, so that two at once are a race; when it
 * is closed its memory is given back.
 */
#ifndef TESTS_STEP_PROGRESS_WORLD_H
#define TESTS_STEP_PROGRESS_WORLD_H

#include "step.h"

#include "runtime/wait.h"

#define WORLD_WAITERS 2

extern struct waiter world_waiters[WORLD_WAITERS];
extern int world_sent; /* messages */

/* For begin(): a leader whose progress thread is step_thread_body() and ends
 * after @threads threads of the program; 0: a rank that is no leader. */
void world_begin(int threads);

/* A thread of the program ends; the last one ends the progress thread. */
void world_thread_ends(void);

/* Waiter @i waits for the other node, and then has its answer. */
void world_ask(int i);
void world_answered(int i);

/* For step_scenario.idle_us: how long all may sleep as things are. */
uint64_t world_idle_us(void);

#endif /* TESTS_STEP_PROGRESS_WORLD_H */
