/*
 * dart_initialization.h - start and end of DART in a process.
 */
#ifndef DART_INITIALIZATION_H_INCLUDED
#define DART_INITIALIZATION_H_INCLUDED

#include <stdbool.h>

#include <dash/dart/if/dart_types.h>
#include <dash/dart/if/dart_util.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Start DART.  Collective over MPI_COMM_WORLD; one thread.  MPI is started too
 * if nobody has, and then ends with the process.  May be called again after
 * dart_exit(), any number of times.  @argc and @argv are not changed, and may
 * be NULL.
 *   DART_ERR_OTHER  DART runs already; MPI was finalized; several nodes, and
 *                   MPI does not give MPI_THREAD_MULTIPLE
 *   DART_ERR_NOMEM
 * What one unit cannot do is an error on all, and DART does not run.  It can be
 * tried again, but for the first one in a process: what failed of DRASync itself
 * then, fails for good.
 */
dart_ret_t dart_init(int *argc, char ***argv) DART_NOTHROW;

/*
 * The same, and *thread_safety becomes DART_THREAD_MULTIPLE if MPI gave the
 * program MPI_THREAD_MULTIPLE, else DART_THREAD_SINGLE.  It is not read.
 *   DART_ERR_INVAL  @thread_safety is NULL
 */
dart_ret_t
dart_init_thread(int *argc, char ***argv,
                 dart_thread_support_level_t *thread_safety) DART_NOTHROW;

/*
 * End DART.  Collective over MPI_COMM_WORLD; one thread.  Memory, teams and
 * locks that are left end with it, locks that somebody has too; operations that
 * are under way must have been completed, waiting for a lock among them.  MPI
 * goes on, and is the program's to finalize if the program started it.
 */
dart_ret_t dart_exit(void) DART_NOTHROW;

/* Is this process between dart_init() and dart_exit()? */
bool dart_initialized(void) DART_NOTHROW;

/* End the job at once with this exit status, by MPI_Abort where MPI runs. */
void dart_abort(int errorcode) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif

#endif /* DART_INITIALIZATION_H_INCLUDED */
