/*
 * steal_mpi_window.h - work stealing between ranks of one host: pools of tasks
 * in a window that they share.
 */
#ifndef STEAL_MPI_WINDOW_H
#define STEAL_MPI_WINDOW_H

#include "program.h"

struct window;

/* NULL if the ranks are not all on one host.  Collective, as the others. */
struct window *window_open(struct program *program);
void window_close(struct window *window);

/* program_run()'s functions; @context is a window. */
void window_prepare(void *context);
void window_search(void *context);

#endif /* STEAL_MPI_WINDOW_H */
