/*
 * takeover.h - MPI_Init, MPI_Init_thread, MPI_Finalize and MPI_Query_thread
 * taken over, in the one place that both libraries call.
 *
 * @next is the next function of the name that was called, below the library
 * that was entered: a tool's or MPI's own.  The outermost call of several that
 * nest (tools, Fortran, both libraries) does our part; the innermost, which
 * reaches MPI, asks for MPI_THREAD_MULTIPLE.
 *
 * Until MPI is up nothing is printed or allocated, and errno is kept.
 */
#ifndef DRASYNC_SHIM_TAKEOVER_H
#define DRASYNC_SHIM_TAKEOVER_H

int drasync_takeover_init(int (*next)(int *, char ***), int *argc,
                          char ***argv);
int drasync_takeover_init_thread(int (*next)(int *, char ***, int, int *),
                                 int *argc, char ***argv, int required,
                                 int *provided);
int drasync_takeover_finalize(int (*next)(void));
int drasync_takeover_query_thread(int (*next)(int *), int *provided);

/*
 * UCX's call to close a connection, which MPICH makes in MPI_Finalize and nowhere
 * else.  Once all ranks have nothing more to say it is answered here: see
 * transport/boot_leave.c.
 */
void *ucp_disconnect_nb(void *endpoint);
void *drasync_takeover_disconnect(void *(*next)(void *), void *endpoint);

/*
 * Does the executable or a library it loaded refer to a call of ours (and get it
 * from us)?  Libraries of ours do not count.
 */
int drasync_takeover_wanted(void);

#endif /* DRASYNC_SHIM_TAKEOVER_H */
